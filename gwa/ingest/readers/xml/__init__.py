"""
Read records of XML, wherever they stand: in a container, in several concatenated documents, or in text.

A record is recognised by the name of its element alone. Namespaces and prefixes are ignored, declared or
not, and so is everything around records: document types, and with them entities, are skipped
unread, so a record that needs an entity is refused. The declared encoding is ignored, too:
bytes that are not UTF-8 are read as Latin-1. Options:

``records``
    the names of the elements that are records; each other element outside records counts as a comment.
``containers``
    names of elements that contain records and are not counted.
``paths``
    the path to the value of each column of the table ``source``: see `gwa.ingest.readers.xml.paths`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gwa.ingest.bulk_insert import insert_rows
from gwa.ingest.pieces import Pieces
from gwa.ingest.source.compressed import Source
from gwa.ingest.spec import TableSpec

if TYPE_CHECKING:
    from gwa.ingest.readers.xml.records import ParsedBlock

MAXIMUM_WORKERS: Final = 2
"""With more processes than this the engine cannot keep up."""

BLOCKS_PARSED_HERE: Final = 2
"""The number of blocks that are parsed before other processes are started."""

BLOCKS_PER_BATCH: Final = 8
"""The number of blocks that are handed to the engine at a time."""


def batches(source: Source, table_spec: TableSpec) -> Iterator["XmlRows"]:
    """Yield the records of *source*; malformed ones are rejects."""
    # lxml is imported only when there is something to parse.
    from gwa.ingest.readers.xml.pool import shared
    from gwa.ingest.readers.xml.records import Parser

    parser = Parser(tuple(table_spec.columns), table_spec.options)
    blocks = parser.tags.blocks(source)
    workers = min(source.processes, MAXIMUM_WORKERS)
    parsed = chain(map(parser.parse, islice(blocks, BLOCKS_PARSED_HERE)), shared(blocks, parser, workers))
    while group := list(islice(parsed, BLOCKS_PER_BATCH)):
        yield XmlRows(group, table_spec)


@dataclass
class XmlRows:
    """Records of several blocks, ready to be loaded."""

    blocks: Sequence["ParsedBlock"]
    table_spec: TableSpec

    def __post_init__(self) -> None:
        """Add up the counts of the blocks."""
        self.total = sum(block.total for block in self.blocks)
        self.comments = sum(block.comments for block in self.blocks)
        self.rejects = [reject for block in self.blocks for reject in block.rejects]

    def load(self, rows: Pieces, folder: Path) -> None:
        """Append the records to *rows*; text that is not a value of a column's type becomes missing."""
        insert_rows(rows, self.table_spec, (block.data for block in self.blocks), folder, missing="")
