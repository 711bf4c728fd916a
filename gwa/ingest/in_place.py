"""
Read logs where they stand: plain text that needs no repair is scanned by the engine, and stored nowhere.

To write the rows to Parquet first takes longer than all of the mapping. Of each line it is made sure before
that it is a row; a text of which one is not is read the careful way, by its reader.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Final, Protocol

from gwa.errors import TraceError
from gwa.ingest.checkpoint import SourceFile
from gwa.ingest.counting import RowCounts
from gwa.ingest.mapping import Refused
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.head import FileHead
from gwa.ingest.spec import ConverterSpec
from gwa.ingest.staging import STAGING, define_view, describe_file, reading_progress, table_for
from gwa.store.engines.config import LARGE_BLOCK
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util.filenames import is_text

MAXIMUM_TEXTS: Final = 32
"""Each query opens all of them."""

MINIMUM_BYTES: Final = 4_000_000
"""Of a smaller log, to store the rows takes no longer, and fewer instructions."""

BYTES_OF_ROW: Final = 400
"""The engine's memory for what is kept of each row; with less it is written to disk."""


class Text(Protocol):
    """What a reader has found out about a file that the engine reads as it stands."""

    path: Path
    size: int
    comments: int
    lines: int

    def select(self, file_no: int) -> str:
        """Return the SELECT of the rows of the table, as those of a file of that number."""


@dataclass(frozen=True)
class TextInPlace:
    """A *text* and the description of its *file*, which is the one of that number on its device."""

    text: Text
    file: SourceFile
    inode: int

    @property
    def is_unchanged(self) -> bool:
        """Whether the file is still there, with all that it held."""
        try:
            found = self.text.path.stat()
        except OSError:
            return False
        return found.st_ino == self.inode and found.st_size >= self.text.size


def plain_texts(
    heads: Sequence[FileHead], spec: ConverterSpec, options: ReadOptions
) -> list[TextInPlace] | None:
    """
    Return the files as texts that are read in place, None if one of them is not.

    Neither are they where rows are to be kept, nor in little memory, of which the engine's blocks take most,
    nor where all of them are small.
    """
    reader = import_module(f"gwa.ingest.readers.{spec.reader}")
    is_limited = options.engine is not None and options.engine.memory is not None
    is_possible = hasattr(reader, "plain_text") and not spec.preparation
    if not is_possible or is_limited or options.rows_folder or not 0 < len(heads) <= MAXIMUM_TEXTS:
        return None
    if sum(head.path.stat().st_size for head in heads if head.path.is_file()) < MINIMUM_BYTES:
        return None
    found = list[TextInPlace]()
    with reading_progress(heads, [], options) as bar:
        for head in heads:
            table, table_spec = table_for(head, spec)
            if table != "source" or not is_text(str(head.path)) or not head.path.is_file():
                return None
            table_spec = replace(table_spec, options={**options.format_options, **table_spec.options})
            source = Source(head.path, LARGE_BLOCK)
            try:
                text: Text | None = reader.plain_text(source, table_spec)
                if not text:
                    return None
                counts = RowCounts(rows=text.lines + text.comments, comments=text.comments)
                file = describe_file(head, source, spec.table_read.comment, table, counts, options.cluster)
            finally:
                source.close()
            found.append(TextInPlace(text, file, head.path.stat().st_ino))
            bar.advance(source.size)
    return found


def megabytes_in_place(rows: int) -> int:
    """Return the engine's memory, beyond that of grouping, for reading a number of *rows* in place."""
    return ceil(rows * BYTES_OF_ROW / 1e6)


def define_texts(store: Store, spec: ConverterSpec, texts: Sequence[TextInPlace], first: int = 0) -> Refused:
    """
    Let the table ``source`` be the rows of *texts*, none of which is refused before it is mapped.

    The number of their *first* file is given.
    """
    selects = (f"({each.text.select(number)})" for number, each in enumerate(texts, first))
    rows = " union all by name ".join(selects)
    store.connection.execute(f"create or replace temp view {STAGING}source as {rows}")
    for table in spec.tables:
        define_view(store, table)
    return Refused()


def require_unchanged(texts: Sequence[TextInPlace] | None) -> None:
    """Raise `TraceError` if one of *texts* was replaced or cut while it was read."""
    for each in texts or ():
        if not each.is_unchanged:
            message = (
                f"{each.text.path}: was replaced or cut while it was read: read it again, or a copy of it"
            )
            raise TraceError(message)
