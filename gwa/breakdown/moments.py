"""
The cells of waiting: in how many of its moments each condition held.

A moment is one of those of `gwa.metrics.waiting`, each of as many seconds waited. It counts in the day in
which it lies, not in that of the job's submission.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from gwa.breakdown.cell_keys import Key, by_clock, first_day, numbered_by
from gwa.metrics.presence import recorded as recorded_time
from gwa.metrics.timeline import Ints
from gwa.metrics.waiting import CONDITIONS, Waiting, waiting
from gwa.store.store import Store
from gwa.util.arrow_columns import filled, numbers, texts
from gwa.util.units import DAY

PLACED: Final = """
select place, {columns} from (select place, job_id as waiter, {day} as day from {table} as sampled) as sampled
inner join (select job_id, {keys} from all_jobs) as told on job_id = waiter order by place
"""
"""Of each moment of the whole log, the day and what its job is told apart by."""

LARGEST_CODE: Final = 2**62
"""Rows are told apart by one number each, which is no larger."""


@dataclass(frozen=True)
class _Coded:
    """A column as *codes*, which are places in the *values* that occur: names, or days."""

    codes: Ints
    values: Sequence[str | None] | Ints

    def arrow(self, rows: Ints) -> pa.Array:
        """Return the values of some *rows*."""
        values = numbers(self.values) if isinstance(self.values, np.ndarray) else texts(self.values)
        return values.take(numbers(self.codes[rows]))


def moments(store: Store, keys: Sequence[Key], days: int, largest: int) -> pa.Table | None:
    """
    Return the cells of the waiting of the jobs of *store*; None where it is not known why they waited.

    Columns are ``day``, the first day of each *days*; the *keys*, with the *largest* classes of each;
    ``condition``; the number of ``moments``, and the ``seconds`` that they stand for.
    """
    found = waiting(store)
    if found.why_unknown or not len(found.places):
        return None
    placed = store.whole.arrow(_query(store.whole, found, keys, days))
    conditions = np.full(found.all_moments, -1)
    conditions[found.places] = found.conditions
    conditions = conditions[np.from_dlpack(placed["place"].combine_chunks())]
    columns = dict(_columns(placed, keys, largest))
    columns["condition"] = _Coded(conditions, list(CONDITIONS))
    rows, number = _distinct(columns, np.flatnonzero(conditions >= 0))
    table = {name: one.arrow(rows) for name, one in columns.items()}
    return pa.table({**table, "moments": numbers(number), "seconds": numbers(number * found.seconds)})


def _query(whole: Store, found: Waiting, keys: Sequence[Key], days: int) -> str:
    span = recorded_time(whole)
    return PLACED.format(
        columns=", ".join((f"{first_day(days)} as day", *(one.name for one in keys))),
        day=numbered_by(by_clock(whole, "moment", span) if span else "moment", DAY),
        table=found.table,
        keys=", ".join(f"{one.key} as {one.name}" for one in keys) or "1 as one",
    )


def _columns(placed: pa.Table, keys: Sequence[Key], largest: int) -> Iterator[tuple[str, _Coded]]:
    """Yield the columns of the cells but their condition: those that differ least come first."""
    for key in keys:
        column = placed[key.name].combine_chunks().dictionary_encode()
        shown = [*map(key.name_of(largest), column.dictionary.to_pylist()), None]
        values = list(dict.fromkeys(shown))
        codes = filled(column.indices, len(shown) - 1).astype(np.int64)
        yield key.name, _Coded(np.array([values.index(one) for one in shown])[codes], values)
    day, codes = np.unique(np.from_dlpack(placed["day"].combine_chunks()), return_inverse=True)
    yield "day", _Coded(codes, day)


def _distinct(columns: Mapping[str, _Coded], rows: Ints) -> tuple[Ints, Ints]:
    """Return the first of the *rows* that are alike in all *columns*, and how many each stands for."""
    row_codes, size = np.zeros(len(rows), np.int64), 1
    for one in columns.values():
        size *= len(one.values)
        if size > LARGEST_CODE:
            row_codes = np.unique(row_codes, return_inverse=True)[1].astype(np.int64)
            size = len(rows) * len(one.values)
        row_codes = row_codes * len(one.values) + one.codes[rows]
    _, first, number = np.unique(row_codes, return_index=True, return_counts=True)
    return rows[first], number
