"""
Columns of whole numbers as planes of bytes, for a page that unpacks them with a few lines of its own.

A plane holds one byte of each value, the lowest first, and a column as many planes as its largest value
needs. Bytes of the same rank resemble each other, so that one gzip over all planes is smaller than the same
cells as Parquet, and needs no library to be read.
"""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

MICRO: Final = 1_000_000
"""Amounts that are not whole are counted in millionths."""

MAXIMUM_WHOLE: Final = 2**53
"""From here on a double does not hold each whole number."""


@dataclass(frozen=True)
class PlaneColumn:
    """A column called *name*: how many *planes* it has, and by what its numbers are divided (*scale*)."""

    name: str
    planes: int
    scale: int


@dataclass(frozen=True)
class PlaneTable:
    """A table: the number of its *rows*, and its *columns* in the order of their planes."""

    rows: int
    columns: tuple[PlaneColumn, ...]


def packed(tables: Mapping[str, Mapping[str, ArrayLike]]) -> tuple[dict[str, PlaneTable], bytes]:
    """
    Return the layout of each of *tables*, in the order of their names, and the planes of all columns as gzip.

    Columns are arrays of one length, of numbers that are not negative, by their names. The same numbers give
    the same bytes. Raise `ValueError` for a number that is negative or not finite, and for columns of a table
    that differ in length.
    """
    layout: dict[str, PlaneTable] = {}
    planes: list[bytes] = []
    for table, columns in sorted(tables.items()):
        arrays = {name: np.asarray(values, np.float64) for name, values in columns.items()}
        if len({len(values) for values in arrays.values()}) > 1:
            raise ValueError(f"{table}: its columns differ in length")
        made = [_column(f"{table}.{name}", name, values) for name, values in arrays.items()]
        layout[table] = PlaneTable(len(next(iter(arrays.values()), ())), tuple(column for column, _ in made))
        planes.extend(content for _, content in made)
    return layout, gzip.compress(b"".join(planes), 9, mtime=0)


def unpacked(layout: Mapping[str, PlaneTable], content: bytes) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return the tables of which `packed` made a *layout* and its *content*."""
    planes, start = np.frombuffer(gzip.decompress(content), np.uint8), 0
    tables: dict[str, dict[str, NDArray[np.float64]]] = {}
    for name, table in layout.items():
        tables[name] = {}
        for column in table.columns:
            end = start + column.planes * table.rows
            bytes_of = planes[start:end].reshape(column.planes, table.rows).astype(np.float64)
            weights = 256.0 ** np.arange(column.planes)
            tables[name][column.name] = weights @ bytes_of / column.scale
            start = end
    return tables


def _column(where: str, name: str, values: NDArray[np.float64]) -> tuple[PlaneColumn, bytes]:
    """Return a column and the bytes of its planes."""
    if len(values) and not (np.isfinite(values).all() and values.min() >= 0):
        raise ValueError(f"{where}: a number is negative or not finite")
    scale = 1 if _fits(values, 1) or not _fits(np.round(values * MICRO), 1) else MICRO
    numbers = np.round(values * scale).astype(np.uint64)
    planes = max(1, (int(numbers.max()).bit_length() + 7) // 8) if len(numbers) else 1
    lowest_first = numbers.astype("<u8").view(np.uint8).reshape(-1, 8).T[:planes]
    return PlaneColumn(name, planes, scale), lowest_first.tobytes()


def _fits(values: NDArray[np.float64], scale: int) -> bool:
    """Whether all *values* times a *scale* are whole numbers that a double holds."""
    scaled = values * scale
    return bool(np.all(scaled == np.floor(scaled)) and np.all(scaled < MAXIMUM_WHOLE))
