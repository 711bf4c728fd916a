"""
Hand rows that were made in Python to the engine: as lines of text, which it takes faster than objects.

A row is a line of cells, the last of which is the number of the line where the row stands in its source.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

if TYPE_CHECKING:
    from gwa.ingest.spec import TableSpec

SEPARATOR: Final = "\x1f"
"""What parts the cells of a row: a character that no XML may hold, and no other log does."""

MISSING: Final = "\x1e"
"""What stands for a missing cell, where an empty one is a text."""

LONGEST: Final = 1 << 20
"""The longest row in characters, each of which takes up to four bytes."""

TOO_LONG: Final = f"its values are longer than {LONGEST} characters"

_BREAKS: Final = str.maketrans(f"{SEPARATOR}\n\r\0", "    ")
"""What would end a cell or a row; in a cell it becomes a blank."""


def row(cells: Sequence[str], line: int) -> str | None:
    r"""
    Return the *cells* as a row that stands in *line*, None where it is too long.

    >>> row(["a", "b\nc"], 7)
    'a\x1fb c\x1f7\n'
    """
    text = SEPARATOR.join(cells)
    if "\n" in text or "\r" in text or "\0" in text or text.count(SEPARATOR) >= len(cells):
        text = SEPARATOR.join(cell.translate(_BREAKS) for cell in cells)
    return f"{text}{SEPARATOR}{line}\n" if len(text) <= LONGEST else None


def load(
    database: duckdb.DuckDBPyConnection,
    table: str,
    shape: "TableSpec",
    rows: Iterable[bytes],
    folder: Path,
    missing: str = MISSING,
) -> None:
    """
    Append *rows* to *table*; text that is no value of a column's type becomes missing.

    *folder* is for a file that is needed meanwhile.
    """
    path = folder / "rows.txt"
    with path.open("wb") as file:
        file.writelines(rows)
    try:
        database.execute(_insert(table, shape), {"path": str(path), "missing": missing}).fetchall()
    finally:
        path.unlink()


def _insert(table: str, shape: "TableSpec") -> str:
    """Return the statement; names and types come from a converter's definition, never from data."""
    cells = ", ".join(f"'{name}': 'varchar'" for name in shape.columns)
    wanted = [
        name if sql == "varchar" else f"try_cast({name} as {sql})" for name, sql in shape.columns.items()
    ]
    place = ["getvariable('file_no')", "row_line"] if shape.numbered else []
    return (
        f"insert into {table} select {', '.join([*wanted, *place])} from read_csv($path, delim='{SEPARATOR}',"
        " header=false, auto_detect=false, comment='', quote='', escape='', new_line='\\n', nullstr=$missing,"
        f" max_line_size={5 * LONGEST}, buffer_size={5 * LONGEST}, columns={{{cells}, 'row_line': 'bigint'}})"
    )
