"""
Read records of XML, wherever they stand: in a container, in many documents one after the other, in text.

A record is an element by its name alone. Namespaces and prefixes do not count, declared or not, and
neither does what stands around records: document types, and with them entities, are passed over
unread, so a record that needs one is refused. The encoding that a document declares is not believed:
what is no UTF-8 is read as Latin-1. Options:

``records``
    the names of the elements that are records; each other element beside them is counted as a comment.
``containers``
    names of elements that hold records and are not counted.
``paths``
    for each column of the table ``source`` where its value stands: see `gwa.ingest.readers.xml.paths`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from gwa.ingest.bulk_insert import load
from gwa.ingest.source.compressed import Source
from gwa.ingest.spec import TableSpec

if TYPE_CHECKING:
    from gwa.ingest.readers.xml.records import Found

ALONE: Final = 2
"""So many blocks are parsed before it is worth while to start other processes."""

TOGETHER: Final = 8
"""So many blocks are handed to the engine at a time."""


def batches(source: Source, shape: TableSpec) -> Iterator["XmlRows"]:
    """Yield the records of *source*; those that are broken are rejects."""
    # lxml is imported only where there is something to parse.
    from gwa.ingest.readers.xml.pool import shared
    from gwa.ingest.readers.xml.records import Parser

    parser = Parser(tuple(shape.columns), shape.options)
    blocks = parser.tags.blocks(source)
    found = chain(map(parser.found, islice(blocks, ALONE)), shared(blocks, parser))
    while some := list(islice(found, TOGETHER)):
        yield XmlRows(some, shape)


@dataclass
class XmlRows:
    """Records of several blocks, ready to be loaded."""

    found: Sequence["Found"]
    shape: TableSpec

    def __post_init__(self) -> None:
        """Take the account of the records."""
        self.total = sum(one.total for one in self.found)
        self.remarks = sum(one.remarks for one in self.found)
        self.rejects = [reject for one in self.found for reject in one.rejects]

    def load(self, database: duckdb.DuckDBPyConnection, table: str, folder: Path) -> None:
        """Append the records to *table*; text that is no value of a column's type becomes missing."""
        load(database, table, self.shape, (one.data for one in self.found), folder, missing="")
