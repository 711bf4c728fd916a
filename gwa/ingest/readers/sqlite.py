"""
Read the rows that a query finds in a SQLite file, all cells as text; a row is known by its number.

Option: ``query``, one SELECT that yields the columns of the table in their order. It comes from a format,
never from data, and the tables that it names are plain ones.
"""

import sqlite3
from collections.abc import Iterator
from typing import Final

from gwa.errors import TraceError
from gwa.ingest.batch import EncodedRecords
from gwa.ingest.bulk_insert import MISSING_CELL
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.sqlite import read_only
from gwa.ingest.spec import TableSpec

BATCH_ROWS: Final = 20_000
"""Rows held in memory at a time."""


def batches(source: Source, table_spec: TableSpec) -> Iterator[EncodedRecords]:
    """Yield the rows of *source*; raise `TraceError` where the file is damaged."""
    done = 0
    try:
        with read_only(source.path) as database:
            cursor = database.execute(table_spec.options["query"])
            while rows := cursor.fetchmany(BATCH_ROWS):
                batch = EncodedRecords(table_spec)
                for number, row in enumerate(rows, done + 1):
                    batch.append(number, [_cell(value) for value in row])
                yield batch
                done += len(rows)
    except sqlite3.Error as error:
        raise TraceError(f"{source.path}: cannot be read beyond row {done}: {error}") from error


def _cell(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="gwa-latin-1")
    return MISSING_CELL if value is None else str(value)
