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

NO_RANKS: Final = {
    "model", "place", "common_place", "deviation", "measures", "floors", "waits", "spread", "waits_off",
    "scheduler",
}  # fmt: skip
"""The columns of which the least is not the best, or that no model is ranked by."""


@dataclass(frozen=True)
class Board:
    """
    Models from best to worst: *columns* and *rows*, the *traces* compared on, how to read it, *notes*.

    What was *found* is the answer of the report that it was read from, if it was read from one.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    traces: str = ""
    legend: str = ""
    notes: Sequence[str] = ()
    found: str = ""

    @property
    def answer(self) -> str:
        """Which model is the best, and whether the next is farther behind than seeds vary; may be empty."""
        rank, spread = (self._column(key) for key in ("rank", "deviation"))
        models = [place for place, value in enumerate(rank) if value is not None]
        if self.found or len(models) < 2 or not any(spread):  # noqa: PLR2004 - a model alone; a seed has no spread
            return self.found
        best, second = sorted(models, key=lambda place: rank[place] or 0.0)[:2]
        gap = (rank[second] or 0.0) - (rank[best] or 0.0)
        is_beyond = gap > (spread[best] or 0.0) + (spread[second] or 0.0)
        return (
            f"{self.rows[best][0]} is the best of {len(models)} models: its mean rank is {rank[best]:.2f},"
            f" that of the next, {self.rows[second][0]}, {rank[second]:.2f},"
            f" which is {'more' if is_beyond else 'no more'} than seeds vary."
        )

    def shade(self, row: Sequence[Value], place: int) -> int:
        """Return how dark the cell of a row in a column of ranks is: 5 for the best, 0 for no rank."""
        key = self.columns[place].key
        values = [value for value in self._column(key) if value is not None]
        own = _number(row[place])
        if key in NO_RANKS or own is None:
            return 0
        least, most = min(values), max(values)
        return 5 if least == most else 1 + int(4.999 * (most - own) / (most - least))

    def _column(self, key: str) -> list[float | None]:
        """Return the numbers of a column, empty without it; None where a row has none."""
        keys = [column.key for column in self.columns]
        return [_number(row[keys.index(key)]) for row in self.rows] if key in keys else []

    def text(self, value: Value, place: int) -> str:
        """Return a value as it stands in its column: all of a column with two digits, or all whole."""
        if value is None:
            return "–"
        if isinstance(value, str):
            return value
        is_whole = all(one is None or one.is_integer() for one in self._column(self.columns[place].key))
        return f"{value:,.0f}" if is_whole else f"{value:,.2f}"


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
    from gwa.evaluation.standings import LEGEND

    blocks = [item for section in content["sections"] for item in section["blocks"]]
    table = next(item for item in blocks if item["kind"] == "table" and item["id"] == "leaderboard")
    columns = [Column(item["key"], str(item["label"]), str(item["unit"])) for item in table["columns"]]  # type: ignore[arg-type]
    notes = [str(item["text"]) for item in blocks if item["kind"] == "note"]
    found = str(content.get("answer", ""))
    return Board(columns, table["rows"], str(content["subtitle"]), str(table["note"]) or LEGEND, notes, found)


def _of_rows(rows: list[dict[str, Value]]) -> Board:
    """Return the leaderboard of rows with named cells."""
    from gwa.evaluation.standings import COLUMNS, LEGEND

    columns = [column for column in COLUMNS if column.key in rows[0]]
    return Board(columns, [[row[column.key] for column in columns] for row in rows], legend=LEGEND)


def _number(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _is_value(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)
