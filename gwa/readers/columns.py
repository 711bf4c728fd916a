"""Parse parts of lines as typed columns, with DuckDB's reader and its account of bad lines."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb
import numpy as np

from gwa.readers.lines import SHOWN, Part, Reject

MISSING: Final = ("-1", "-1.0", "-1.00", "-1.000000")
"""How text formats write a missing value."""

_VALUE = re.compile(r"Could not convert string \"(.*)\" to", re.DOTALL)


@dataclass(frozen=True)
class Columns:
    """The *columns* of a text table and their SQL types, its *delimiter* and its *missing* marks."""

    columns: Mapping[str, str]
    delimiter: str = " "
    missing: tuple[str, ...] = MISSING


def load(
    database: duckdb.DuckDBPyConnection, table: str, part: Part, shape: Columns, folder: Path
) -> list[Reject]:
    """
    Append *part* to *table* and return the lines that could not be parsed.

    DuckDB parses a file with all cores; *folder* is where that file is written meanwhile. Every
    column is read, since only columns that a query reads are checked.
    """
    if not part.data:
        return []
    path = folder / "part.txt"
    path.write_bytes(part.data)
    try:
        database.execute(
            _insert(table, shape), {"path": str(path), "missing": list(shape.missing)}
        ).fetchall()
        bad = database.execute(
            "select line, arg_min(column_name, column_idx), arg_min(error_type::varchar, column_idx),"
            f" arg_min(error_message, column_idx), any_value(csv_line[:{SHOWN}])"
            " from reject_errors group by line order by line"
        ).fetchall()
        # DuckDB appends to these tables at each read; what was reported is not wanted again.
        database.execute("delete from reject_errors")
        database.execute("delete from reject_scans")
    finally:
        path.unlink()
    lines = part.line_numbers(np.array([row[0] - 1 for row in bad], np.int64))
    return [
        Reject(int(line), _reason(name, kind, message), str(text).strip())
        for line, (_, name, kind, message, text) in zip(lines, bad, strict=True)
    ]


def _insert(table: str, shape: Columns) -> str:
    """Return the statement; names and types come from a converter's definition, never from data."""
    columns = ", ".join(f"'{name}': '{sql}'" for name, sql in shape.columns.items())
    return (
        f"insert into {table} select * from read_csv($path, delim='{shape.delimiter}', header=false,"
        " auto_detect=false, comment='', quote='', escape='', new_line='\\n', max_line_size=2097152,"
        f" nullstr=$missing, store_rejects=true, columns={{{columns}}})"
    )


def _reason(name: str | None, kind: str, message: str) -> str:
    """Say in a few words what DuckDB says of a bad line."""
    if kind == "CAST":
        value = _VALUE.search(message)
        shown = value.group(1)[:40] if value else "?"
        return f"{name} is '{shown}', expected a number"
    return kind.lower()
