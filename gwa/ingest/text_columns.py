"""Rows of texts made in Python that the engine reads as columns of Arrow, without parsing them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from gwa.ingest.batch import EncodedRecords, RecordAssembler
from gwa.ingest.pieces import Pieces
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import LineBlock, LineLayout, Reject, line_blocks
from gwa.ingest.spec import TableSpec
from gwa.util.arrow_columns import whole_numbers

if TYPE_CHECKING:
    import pyarrow as pa

ROW_LINE: Final = "row_line"
"""The column of the numbers of lines."""

BLOCK_SIZE: Final = 1 << 20
"""Bytes of lines taken apart at a time: cells in the processor's cache are read twice as fast."""

BLOCKS_PER_BATCH: Final = 8
"""Blocks that are handed to the engine at a time."""


@dataclass
class TextColumns:
    """Rows of texts as *batches* of Arrow, whose last column has the numbers of their lines."""

    table_spec: TableSpec
    batches: list["pa.RecordBatch"] = field(default_factory=list)
    total: int = 0
    comments: int = 0
    rejects: list[Reject] = field(default_factory=list)

    def append(self, columns: Sequence["pa.Array"], lines: NDArray[np.int64]) -> None:
        """Append rows that begin in *lines*."""
        import pyarrow as pa

        names = [*self.table_spec.columns, ROW_LINE]
        self.batches.append(pa.RecordBatch.from_arrays([*columns, whole_numbers(lines)], names))

    def count(self, records: EncodedRecords, others: int) -> None:
        """Count *records*, which are among the rows, and as many *others* that were not records before."""
        self.total += records.total + others
        self.comments += records.comments
        self.rejects += records.rejects

    def load(self, rows: Pieces, folder: Path) -> None:
        """Append the rows to *rows*; text that is not a value of a column's type becomes missing."""
        del folder
        if not self.batches:
            return
        import pyarrow as pa

        table = pa.Table.from_batches(self.batches)
        cells = [
            _typed(name, sql) if table[name].null_count < table.num_rows else "null"
            for name, sql in self.table_spec.columns.items()
        ]
        position = ["getvariable('file_no')", ROW_LINE] if self.table_spec.numbered else []
        rows.database.register("text_columns", table)
        try:
            rows.append(f"select {', '.join([*cells, *position])} from text_columns")
        finally:
            rows.database.unregister("text_columns")


def _typed(name: str, sql: str) -> str:
    return name if sql == "varchar" else f"try_cast({name} as {sql})"


def batches_of_blocks(
    source: Source,
    table_spec: TableSpec,
    assembler: RecordAssembler,
    add: Callable[[TextColumns, LineBlock], None],
) -> Iterator[TextColumns | EncodedRecords]:
    """Yield the rows that *add* makes of each block of *source*, and what *assembler* is left with."""
    blocks = line_blocks(source, LineLayout("", table_spec.comment), BLOCK_SIZE)
    while group := list(islice(blocks, BLOCKS_PER_BATCH)):
        rows = TextColumns(table_spec)
        for block in group:
            add(rows, block)
        yield rows
    rest = EncodedRecords(table_spec)
    assembler.flush(rest)
    yield rest
