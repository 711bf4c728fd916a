"""
The tables of classes of jobs: one list of what each shows, and where.

A view is a dimension, an order and some measures. Packages add views by an entry point in the group
``gwa.views``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from gwa.breakdown.breakdown import RANKINGS, breakdown
from gwa.breakdown.dimensions import Dimension, by_name, dimensions
from gwa.breakdown.records import Records
from gwa.report.document import Column, Table
from gwa.store.store import Store
from gwa.util import plugins
from gwa.words.formatting import number
from gwa.words.message import Message, message, within_sentence

ENTRY_POINTS: Final = "gwa.views"

MAXIMUM_ROWS: Final = 36
"""Longer tables of classes in an order of their own show the last rows."""


@dataclass(frozen=True)
class View:
    """
    A table of the classes of a *dimension* in a *section*.

    Its order is the first of *rankings* that the log records. It shows *measures*, by default those that
    are not minor. One that is *minor* is in exports only: a page shows the same rows elsewhere.
    """

    id: str
    section: str
    dimension: str
    rankings: tuple[str, ...] = ("by_cpu",)
    measures: tuple[str, ...] = ()
    minor: bool = False

    def table(self, store: Store) -> Table | None:
        """Return the table, None where the log of *store* does not record what it is of."""
        dimension = by_name(self.dimension)
        for ranking in self.rankings:
            records = breakdown(store, dimension, ranking)
            if records is not None:
                return self._table(dimension, records, ranking) if records.rows else None
        return None

    def _table(self, dimension: Dimension, records: Records, ranking: str) -> Table:
        rows, note = records.rows, ""
        if not dimension.is_ranked and len(rows) > MAXIMUM_ROWS:
            rows = rows[-MAXIMUM_ROWS:]
            note = message(
                "The last {maximum_rows} of {rows}.",
                maximum_rows=MAXIMUM_ROWS,
                rows=number(len(records.rows)),
            )
        title = _title(dimension, ranking, len(rows))
        shown = Records(records.id, title, self._columns(records.columns), rows, note)
        return replace(shown.table(self.id), minor=self.minor)

    def _columns(self, columns: Sequence[Column]) -> Sequence[Column]:
        if not self.measures:
            return columns
        return [replace(one, minor=False) for one in columns if one.key in ("id", *self.measures)]


def _title(dimension: Dimension, ranking: str, rows: int) -> Message:
    """Return the title of the table of the largest classes of a dimension or, in their own order, of all."""
    of_one, title = within_sentence(dimension.heading), RANKINGS[ranking].title
    if not dimension.is_ranked:
        return message("Jobs by {lower}", lower=of_one)
    if rows == 1:
        return message("The only {lower}, by {title}", lower=of_one, title=title)
    return message("Top {rows} {family} by {title}", rows=number(rows), family=dimension.title, title=title)


def _of_each_dimension() -> Iterator[View]:
    """Yield the tables of all that is measured of each dimension: hours and weekdays are drawn on pages."""
    for one in dimensions():
        id_ = f"{one.name}-by-cpu" if one.is_ranked else f"by-{one.name}"
        yield View(id_, one.name, one.name, minor=one.name in {"hours", "weekdays"})


USE_OF_GPUS: Final = (
    "gpu_seconds", "gpu_known_share", "efficiency_gpu", "gpu_idle_seconds", "wasted_gpu_seconds"
)  # fmt: skip

OWN: Final = (
    View("users-by-jobs", "users", "users", ("by_jobs",), minor=True),
    View("groups-by-jobs", "groups", "groups", ("by_jobs",), minor=True),
    View("gpu-idle-users", "gpus", "users", ("by_gpu_idle", "by_gpu_waste"), USE_OF_GPUS),
    View("gpu-idle-projects", "gpus", "projects", ("by_gpu_idle", "by_gpu_waste"), USE_OF_GPUS, minor=True),
)  # fmt: skip


@cache
def views() -> tuple[View, ...]:
    """Return all views: those of gwa, then those that entry points add."""
    return (*_of_each_dimension(), *OWN, *plugins.added(ENTRY_POINTS, View))


def tables(store: Store, section: str) -> Iterator[Table]:
    """Yield the tables of a *section*, of what the log of *store* records."""
    made = (one.table(store) for one in views() if one.section == section)
    yield from (table for table in made if table is not None)
