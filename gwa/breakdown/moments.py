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
from numpy.typing import NDArray

from gwa.breakdown.cell_keys import Key, by_clock, first_day, numbered_by
from gwa.metrics.presence import recorded as recorded_time
from gwa.metrics.waiting import CONDITIONS, Waiting, waiting
from gwa.store.store import Store
from gwa.util.units import DAY

PLACED: Final = """
select place, {columns} from (select place, job_id as waiter, {day} as day from {table} as sampled) as sampled
inner join (select job_id, {keys} from all_jobs) as told on job_id = waiter order by place
"""
"""Of each moment of the whole log, the day and what its job is told apart by."""


@dataclass(frozen=True)
class _Coded:
    """A column as *codes*, which are places in the *values* that occur."""

    codes: NDArray[np.int64]
    values: Sequence[object]


def moments(store: Store, keys: Sequence[Key], days: int, largest: int) -> pa.Table | None:
    """
    Return the cells of the waiting of the jobs of *store*; None where it is not known why they waited.

    Columns are ``day``, the first of so many *days*; the *keys*, with the *largest* classes of each;
    ``condition``; the number of ``moments``, and the ``seconds`` that they stand for.
    """
    found = waiting(store)
    if found.why_unknown or not len(found.places):
        return None
    placed = store.whole.arrow(_query(store.whole, found, keys, days))
    conditions = np.full(found.all_moments, -1)
    conditions[found.places] = found.conditions
    conditions = conditions[np.from_dlpack(placed["place"].combine_chunks())]
    columns = dict(_columns(placed.filter(pa.array(conditions >= 0)), keys, largest))
    columns["condition"] = _Coded(conditions[conditions >= 0], list(CONDITIONS))
    counted, number = _counted(columns)
    return pa.table({**counted, "moments": number, "seconds": number * found.seconds})


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
        codes = np.from_dlpack(column.indices.fill_null(len(shown) - 1).cast("int64"))
        yield key.name, _Coded(np.array([values.index(one) for one in shown])[codes], values)
    day, codes = np.unique(np.from_dlpack(placed["day"].combine_chunks()), return_inverse=True)
    yield "day", _Coded(codes, day.tolist())


def _counted(columns: Mapping[str, _Coded]) -> tuple[dict[str, pa.Array], NDArray[np.int64]]:
    """Return the rows that differ in any of *columns*, in their order, and how often each occurs."""
    codes = pa.table({name: one.codes for name, one in columns.items()})
    cells = codes.group_by(codes.column_names).aggregate([([], "count_all")])
    cells = cells.sort_by([(name, "ascending") for name in columns])
    values = {name: pa.array(one.values).take(cells[name].combine_chunks()) for name, one in columns.items()}
    return values, np.asarray(cells["count_all"], np.int64)
