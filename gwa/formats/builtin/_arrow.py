"""Rows of cells whose types nobody vouches for, as typed columns; rows that do not fit are refused."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from gwa.ingest.source.lines import SHOWN, Reject
from gwa.store.schema import BY_NAME, Field

UNFIT: Final = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)
"""What Arrow raises where a column is not of one type."""


def typed(
    rows: Sequence[tuple[object, ...]], places: Mapping[str, int], first: int
) -> tuple[pa.Table, list[Reject]]:
    """
    Return the fields of *rows* as a table, and the rows that were refused, numbered from *first*.

    *places* says in which cell a field stands. Whole columns are converted at once; only a column in
    which something is odd is looked at cell by cell.
    """
    columns = list(zip(*rows, strict=True))
    reasons: dict[int, str] = {}
    arrays = {}
    for name, place in places.items():
        field, cells = BY_NAME[name], columns[place]
        arrays[name] = _texts(cells) if field.is_text else _numbers(field, cells, reasons)
    table = pa.table(arrays)
    if reasons:
        kept = np.ones(len(rows), np.bool_)
        kept[list(reasons)] = False
        table = table.filter(pa.array(kept))
    return table, [Reject(first + row, why, _shown(rows[row])) for row, why in sorted(reasons.items())]


def _texts(cells: Sequence[object]) -> pa.Array:
    try:
        texts = pa.array(cells, pa.string())
        texts.validate(full=True)
    except UNFIT:
        return pa.array([text(cell) for cell in cells], pa.string())
    return texts


def text(cell: object) -> str | None:
    """Return a cell as text; bytes are UTF-8, or else Latin-1."""
    if cell is None:
        return None
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="gwa-latin-1")
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _numbers(field: Field, cells: Sequence[object], reasons: dict[int, str]) -> pa.Array:
    kind = pa.int64() if field.name == "job_id" else pa.float64()
    try:
        return pa.array(cells, kind)
    except UNFIT:
        numbers: list[float | None] = []
        for row, cell in enumerate(cells):
            try:
                numbers.append(_number(field, cell))
            except ValueError:
                numbers.append(None)
                shown = (text(cell) or "")[:40]
                reasons.setdefault(row, f"{field.name} is '{shown}', expected a number")
        return pa.array(numbers, kind)


def _number(field: Field, cell: object) -> float | None:
    """Return a cell as a number, None where it is empty; raise `ValueError` for other text."""
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
    # What is no number of a job becomes missing, and is counted when the jobs are numbered anew.
    return int(cell) if abs(cell) < 1 << 63 and cell == int(cell) else None


def _shown(row: Sequence[object]) -> str:
    return "\t".join("" if cell is None else text(cell) or "" for cell in row)[:SHOWN]
