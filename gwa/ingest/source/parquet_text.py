"""
The cells of Parquet as text.

Parquet has no durations: Arrow writes them as whole numbers and says in a note of its own, ``ARROW:schema``,
what they are. Without the note, 90 seconds of a table of pandas would read 90000000000.
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Final

import duckdb

DIGITS: Final = {"s": 0, "ms": 3, "us": 6, "ns": 9}
"""Decimals of a second that each unit of durations has."""

NOTE: Final = b"ARROW:schema"


def durations(database: duckdb.DuckDBPyConnection, path: str) -> Mapping[str, str]:
    """Return the columns of the Parquet file at *path* that are durations, each with its unit."""
    query = "select value from parquet_kv_metadata($path) where key = $key"
    notes = database.execute(query, {"path": path, "key": NOTE}).fetchall()
    if not notes:
        return {}
    import pyarrow as pa

    try:
        schema = pa.ipc.read_schema(pa.py_buffer(b64decode(notes[0][0])))
    except (ValueError, OSError, pa.ArrowException):
        return {}  # an unreadable note says nothing of the columns
    return {field.name: field.type.unit for field in schema if pa.types.is_duration(field.type)}


def duration_text(column: str, unit: str) -> str:
    """Return the SQL for durations as ISO 8601 writes them (``PT90.500S``); *column* is quoted."""
    digits = DIGITS[unit]
    size = f"abs({column})"
    decimals = f" || '.' || lpad(({size} % {10**digits})::varchar, {digits}, '0')" if digits else ""
    return f"if({column} < 0, '-PT', 'PT') || ({size} // {10**digits}){decimals} || 'S'"
