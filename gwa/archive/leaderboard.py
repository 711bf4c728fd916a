"""
The leaderboard that a site shows: ``leaderboard.json`` in its folder, as `gwa model rank` writes it.

Either the file of that name in the folder of ``-o``, which has the traces and notes, or what ``--json``
prints. A site does not compute it, since that takes long and needs logs that are not part of the site.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gwa.errors import DefinitionError
from gwa.report.document import Column
from gwa.words.unit import Value

NAME: Final = "leaderboard.json"
MAXIMUM_BYTES: Final = 4_000_000


@dataclass(frozen=True)
class Board:
    """Models from best to worst: *columns* and *rows*, the *traces* compared on, how to read it, *notes*."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    traces: str = ""
    legend: str = ""
    notes: Sequence[str] = ()


def read_board(site: Path) -> Board | None:
    """Return the leaderboard in the folder *site*, if any; raise `DefinitionError` for a wrong one."""
    path = site / NAME
    if not path.exists():
        return None
    try:
        if not path.resolve().is_relative_to(site.resolve()) or path.stat().st_size > MAXIMUM_BYTES:
            raise DefinitionError(f"{path}: leads out of {site} or is too large for a leaderboard")
        content = json.loads(path.read_text(encoding="utf-8"))
        board = _of_rows(content) if isinstance(content, list) else _of_report(content)
        if all(len(row) == len(board.columns) and all(map(_is_value, row)) for row in board.rows):
            return board
    except (OSError, ValueError, LookupError, TypeError, StopIteration, RecursionError) as error:
        if isinstance(error, DefinitionError):
            raise
    raise DefinitionError(
        f"{path}: is not a leaderboard, expected what 'gwa model rank TRACE… --json' prints"
    )


def _of_report(content: Any) -> Board:  # noqa: ANN401 - any JSON
    """Return the leaderboard of a report that was written as JSON."""
    blocks = content["sections"][0]["blocks"]
    table = next(item for item in blocks if item["kind"] == "table")
    columns = [Column(item["key"], str(item["label"]), str(item["unit"])) for item in table["columns"]]  # type: ignore[arg-type]
    notes = [str(item["text"]) for item in blocks if item["kind"] == "note"]
    return Board(columns, table["rows"], str(content["subtitle"]), str(table["note"]), notes)


def _of_rows(rows: list[dict[str, Value]]) -> Board:
    """Return the leaderboard of rows with named cells."""
    from gwa.evaluation.standings import COLUMNS, LEGEND

    columns = [column for column in COLUMNS if column.key in rows[0]]
    return Board(columns, [[row[column.key] for column in columns] for row in rows], legend=LEGEND)


def _is_value(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)
