"""
The cells of waiting: in how many of its moments each condition held.

A moment is one of those of `gwa.metrics.waiting`, each of as many seconds waited. It counts in the day in
which it lies, not in that of the job's submission.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gwa.breakdown.cell_keys import Key, by_clock, first_day, numbered_by
from gwa.metrics.presence import recorded as recorded_time
from gwa.metrics.timeline import Ints
from gwa.metrics.waiting import CONDITIONS, Waiting, waiting
from gwa.store.store import Store
from gwa.util.units import DAY

PLACED: Final = """
select place, {columns} from (select place, job_id as waiter, {day} as day from {table} as sampled) as sampled
inner join (select job_id, {keys} from all_jobs) as told on job_id = waiter order by place
"""
"""Of each moment of the whole log, the day and what its job is told apart by."""

INDEX: Final = 4
"""The bytes of an index of Arrow."""

MOST_NUMBERS: Final = 2**62
"""Of more combinations of values those that occur are numbered again."""


@dataclass(frozen=True)
class _Coded:
    """A column as *codes*, which are places in the *values* that occur: names, or days."""

    codes: Ints
    values: Sequence[str | None] | Ints

    def arrow(self, rows: Ints) -> pa.Array:
        """Return the values of some *rows*."""
        values = _numbers(self.values) if isinstance(self.values, np.ndarray) else _texts(self.values)
        return values.take(_numbers(self.codes[rows]))


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
    columns = dict(_columns(placed, keys, largest))
    columns["condition"] = _Coded(conditions, list(CONDITIONS))
    rows, number = _distinct(columns, np.flatnonzero(conditions >= 0))
    table = {name: one.arrow(rows) for name, one in columns.items()}
    return pa.table({**table, "moments": _numbers(number), "seconds": _numbers(number * found.seconds)})


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
        unknown = np.from_dlpack(column.is_null().cast("uint8")) > 0
        indices = np.frombuffer(column.indices.buffers()[1], np.int32, len(column), column.offset * INDEX)
        codes = np.where(unknown, len(shown) - 1, indices)
        yield key.name, _Coded(np.array([values.index(one) for one in shown])[codes], values)
    day, codes = np.unique(np.from_dlpack(placed["day"].combine_chunks()), return_inverse=True)
    yield "day", _Coded(codes, day)


def _distinct(columns: Mapping[str, _Coded], rows: Ints) -> tuple[Ints, Ints]:
    """Return the first of the *rows* that are alike in all *columns*, and how many each stands for."""
    numbers, size = np.zeros(len(rows), np.int64), 1
    for one in columns.values():
        size *= len(one.values)
        if size > MOST_NUMBERS:
            numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
            size = len(rows) * len(one.values)
        numbers = numbers * len(one.values) + one.codes[rows]
    _, first, number = np.unique(numbers, return_index=True, return_counts=True)
    return rows[first], number


# Arrow's own ways from Python and NumPy import pandas, which takes as long as all else of a page.


def _numbers(values: NDArray[Any]) -> pa.Array:
    """Return numbers as an array of Arrow."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def _texts(values: Sequence[str | None]) -> pa.StringArray:
    """Return texts, missing where None, as an array of Arrow."""
    texts = [(one or "").encode() for one in values]
    ends = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    known = np.packbits([one is not None for one in values], bitorder="little")
    buffers = (pa.py_buffer(content) for content in (ends, b"".join(texts), known))
    return pa.StringArray.from_buffers(len(texts), *buffers)
