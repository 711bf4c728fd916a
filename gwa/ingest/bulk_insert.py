"""
Insert rows made in Python into the engine: as lines of text, which it reads faster than objects.

A row is a line of cells; the last cell is the number of the row's line in its source.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gwa.ingest.pieces import Pieces
    from gwa.ingest.spec import TableSpec

CELL_SEPARATOR: Final = "\x1f"
"""Separates the cells of a row: a character that XML forbids and other logs do not use."""

MISSING_CELL: Final = "\x1e"
"""Stands for a missing cell, as opposed to an empty text."""

MAXIMUM_ROW_LENGTH: Final = 1 << 20
"""In characters, each of which takes up to four bytes."""

TOO_LONG: Final = f"its values are longer than {MAXIMUM_ROW_LENGTH} characters"

_BLANKED: Final = str.maketrans(f"{CELL_SEPARATOR}\n\r\0", "    ")
"""Characters that would end a cell or a row; inside a cell each becomes a blank."""


def encode_row(cells: Sequence[str], line: int) -> str | None:
    r"""
    Encode *cells* as the row of *line*; None if it is too long.

    >>> encode_row(["a", "b\nc"], 7)
    'a\x1fb c\x1f7\n'
    """
    text = CELL_SEPARATOR.join(cells)
    if "\n" in text or "\r" in text or "\0" in text or text.count(CELL_SEPARATOR) >= len(cells):
        text = CELL_SEPARATOR.join(cell.translate(_BLANKED) for cell in cells)
    return f"{text}{CELL_SEPARATOR}{line}\n" if len(text) <= MAXIMUM_ROW_LENGTH else None


def insert_rows(
    pieces: "Pieces",
    table_spec: "TableSpec",
    rows: Iterable[bytes],
    folder: Path,
    missing: str = MISSING_CELL,
) -> None:
    """
    Append encoded *rows* to the *pieces* of a table.

    Text that is not a value of a column's type becomes missing. *folder* is for a temporary file.
    """
    path = folder / "rows.txt"
    with path.open("wb") as file:
        file.writelines(rows)
    try:
        pieces.append(_select(table_spec), {"path": str(path), "missing": missing})
    finally:
        path.unlink()


def _select(table_spec: "TableSpec") -> str:
    """Return the SQL; names and types come from a converter's definition, never from data."""
    cells = ", ".join(f"'{name}': 'varchar'" for name in table_spec.columns)
    values = [
        name if sql == "varchar" else f"try_cast({name} as {sql})" for name, sql in table_spec.columns.items()
    ]
    position = ["getvariable('file_no')", "row_line"] if table_spec.numbered else []
    size = 5 * MAXIMUM_ROW_LENGTH
    return (
        f"select {', '.join([*values, *position])}"
        f" from read_csv($path, delim='{CELL_SEPARATOR}', header=false, auto_detect=false, comment='',"
        " quote='', escape='', new_line='\\n', nullstr=$missing,"
        f" max_line_size={size}, buffer_size={size}, columns={{{cells}, 'row_line': 'bigint'}})"
    )
