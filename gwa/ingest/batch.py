"""What a reader yields: batches of rows, ready to be appended to a table of the engine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from gwa.errors import DefinitionError
from gwa.ingest.bulk_insert import MISSING_CELL, TOO_LONG, encode_row, insert_rows
from gwa.ingest.pieces import Pieces
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH, LineBlock, LineLayout, Reject, line_blocks
from gwa.ingest.spec import TableSpec
from gwa.util import plugins

if TYPE_CHECKING:
    from gwa.ingest.source.compressed import Source

RECORD_BLOCK_SIZE: Final = 1 << 23
"""Bytes of lines treated at a time: as objects of Python they take many times as much."""

MAXIMUM_RECORD_LINES: Final = 100
"""A record that continues on more lines than this is not put together."""


class Batch(Protocol):
    """
    Some rows of a source.

    *total* counts all rows met, *comments* those of them that are comments or blank. Rows that `load`
    does not append are in *rejects*. All three are complete only after `load`.
    """

    @property
    def total(self) -> int:
        """The number of rows met."""

    @property
    def comments(self) -> int:
        """How many of them are comments or blank."""

    @property
    def rejects(self) -> list[Reject]:
        """Those that are refused."""

    def load(self, rows: Pieces, folder: Path) -> None:
        """Append them to the *rows* of the table; *folder* is for temporary files."""


class Reader(Protocol):
    """Reads a source in batches."""

    def __call__(self, source: "Source", table_spec: TableSpec) -> Iterator[Batch]:
        """Yield the rows of *source*."""


def find_reader(name: str) -> Reader:
    """Return the function ``batches`` of the module *name* of `gwa.ingest.readers`."""
    known = plugins.names("gwa.ingest.readers")
    if name not in known:
        raise DefinitionError(f"there is no reader '{name}', expected one of {', '.join(known)}")
    reader: Reader = import_module(f"gwa.ingest.readers.{name}").batches
    return reader


@dataclass
class Deferred:
    """A batch that *make* makes when it is loaded, on the thread that does so."""

    make: Callable[[], Batch] | None
    total: int = 0
    comments: int = 0
    rejects: list[Reject] = field(default_factory=list)

    def load(self, rows: Pieces, folder: Path) -> None:
        """Make the batch, append its rows to *rows*, and forget them."""
        assert self.make  # noqa: S101 - it is loaded once
        batch, self.make = self.make(), None
        batch.load(rows, folder)
        self.total, self.comments, self.rejects = batch.total, batch.comments, batch.rejects


@dataclass
class EncodedRecords:
    """Records assembled in Python, each an encoded row; an empty text is distinct from a missing one."""

    table_spec: TableSpec
    rows: list[str] = field(default_factory=list)
    total: int = 0
    comments: int = 0
    rejects: list[Reject] = field(default_factory=list)

    def add(self, line: int, values: Mapping[str, str | None]) -> None:
        """Append a record that begins in *line*, given by the names of its columns."""
        cells = (values.get(name) for name in self.table_spec.columns)
        self.append(line, [MISSING_CELL if cell is None else cell for cell in cells])

    def append(self, line: int, cells: Sequence[str]) -> None:
        """Append a record that begins in *line*, given in the order of the columns."""
        text = encode_row(cells, line)
        if text is None:
            self.reject(line, TOO_LONG, "".join(cells)[:REJECT_TEXT_LENGTH])
            return
        self.total += 1
        self.rows.append(text)

    def add_comment(self) -> None:
        """Count a record that counts as a comment."""
        self.total += 1
        self.comments += 1

    def reject(self, line: int, reason: str, text: str) -> None:
        """Count a record that cannot be read."""
        self.total += 1
        self.rejects.append(Reject(line, reason, text))

    def load(self, rows: Pieces, folder: Path) -> None:
        """Append the records to *rows*; text that is not a value of a column's type becomes missing."""
        if self.rows:
            insert_rows(rows, self.table_spec, ("".join(self.rows).encode(),), folder)


def made(batch: Batch) -> Batch:
    """Return *batch*, made on this thread if that was deferred."""
    return batch.make() if isinstance(batch, Deferred) and batch.make else batch


class RecordAssembler(Protocol):
    """Puts records together from lines, one record at a time."""

    def take(self, number: int, line: str, batch: EncodedRecords) -> None:
        """Continue the current record with a line, or begin another one; add complete ones to *batch*."""

    def flush(self, batch: EncodedRecords) -> None:
        """Add the current record, if there is one, to *batch*."""


def assemble(source: "Source", table_spec: TableSpec, assembler: RecordAssembler) -> Iterator[EncodedRecords]:
    """Yield the records that *assembler* makes of the lines of *source*."""
    for block in line_blocks(source, LineLayout("", table_spec.comment), RECORD_BLOCK_SIZE):
        batch = _batch_of(block, table_spec)
        for number, line in block.numbered_lines():
            assembler.take(number, line, batch)
        yield batch
    batch = EncodedRecords(table_spec)
    assembler.flush(batch)
    yield batch


def assemble_others(
    block: LineBlock, is_read: NDArray[np.bool_], table_spec: TableSpec, assembler: RecordAssembler
) -> EncodedRecords:
    """Return what *assembler* makes of the lines of *block* but those read as whole records already."""
    batch, following = _batch_of(block, table_spec), 0
    lines, ends = block.line_numbers(np.arange(len(is_read))), block.ends
    for row in np.flatnonzero(~is_read).tolist():
        if row > following:
            assembler.flush(batch)
        begin = ends[row - 1] if row else 0
        assembler.take(int(lines[row]), block.data[begin : ends[row] - 1].decode(), batch)
        following = row + 1
    if following < len(is_read):
        assembler.flush(batch)
    return batch


def _batch_of(block: LineBlock, table_spec: TableSpec) -> EncodedRecords:
    """Return the batch of *block*, with what is not in its data counted."""
    skipped = block.total - block.data_lines
    return EncodedRecords(table_spec, total=skipped, comments=block.comments, rejects=block.rejects)
