"""Cells of tables of other programs as text."""


def cell_text(cell: object) -> str | None:
    """Convert a cell to text; bytes are UTF-8, or else Latin-1."""
    if cell is None:
        return None
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="gwa-latin-1")
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
