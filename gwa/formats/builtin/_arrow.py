"""Convert rows of untyped cells to typed columns; rows with malformed numbers are refused."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from gwa.formats.builtin._cells import cell_text
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH, Reject
from gwa.store.schema import BY_NAME, Field

TYPE_ERRORS: Final = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)
"""Raised by Arrow if a column is not of one type."""


def typed_table(
    rows: Sequence[tuple[object, ...]], positions: Mapping[str, int], first: int
) -> tuple[pa.Table, list[Reject]]:
    """
    Convert *rows* to a table of fields, and return it with the refused rows, numbered from *first*.

    *positions* maps fields to positions of cells. Whole columns are converted at once; only a column
    with a cell of another type is converted cell by cell.
    """
    columns = list(zip(*rows, strict=True))
    reasons: dict[int, str] = {}
    arrays = {}
    for name, position in positions.items():
        field, cells = BY_NAME[name], columns[position]
        arrays[name] = _text_array(cells) if field.is_text else _number_array(field, cells, reasons)
    table = pa.table(arrays)
    if reasons:
        is_kept = np.ones(len(rows), np.bool_)
        is_kept[list(reasons)] = False
        table = table.filter(pa.array(is_kept))
    rejects = [Reject(first + row, reason, _row_text(rows[row])) for row, reason in sorted(reasons.items())]
    return table, rejects


def _text_array(cells: Sequence[object]) -> pa.Array:
    try:
        texts = pa.array(cells, pa.string())
        texts.validate(full=True)
    except TYPE_ERRORS:
        return pa.array([cell_text(cell) for cell in cells], pa.string())
    return texts


def _number_array(field: Field, cells: Sequence[object], reasons: dict[int, str]) -> pa.Array:
    arrow_type = pa.int64() if field.name == "job_id" else pa.float64()
    try:
        return pa.array(cells, arrow_type)
    except TYPE_ERRORS:
        numbers: list[float | None] = []
        for row, cell in enumerate(cells):
            try:
                numbers.append(_number(field, cell))
            except ValueError:
                numbers.append(None)
                value = (cell_text(cell) or "")[:40]
                reasons.setdefault(row, f"{field.name} is '{value}', expected a number")
        return pa.array(numbers, arrow_type)


def _number(field: Field, cell: object) -> float | None:
    """Convert a cell to a number, None if it is empty; raise `ValueError` for other text."""
    if isinstance(cell, bytes):
        if not cell.strip():
            return None
        if b"_" in cell:
            raise ValueError
        cell = float(cell)
    if not isinstance(cell, int | float):
        return None
    if field.name != "job_id":
        return float(cell)
    # An invalid job number becomes missing, which is counted as a repair when the jobs are renumbered.
    return int(cell) if abs(cell) < 1 << 63 and cell == int(cell) else None


def _row_text(row: Sequence[object]) -> str:
    return "\t".join("" if cell is None else cell_text(cell) or "" for cell in row)[:REJECT_TEXT_LENGTH]
