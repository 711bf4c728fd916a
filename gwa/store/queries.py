"""
The queries that analyses may ask of a trace, whichever engine answers them.

Queries are written in DuckDB's dialect, in the subset that `gwa.store.engines.spark_sql` translates without
changing a result: no quantiles, skewness or kurtosis (they come from value counts), and a total order where
rows are numbered or cut off.
"""

import hashlib
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from gwa.statistics.sample import Sample
from gwa.store.engines.base import Database, Parameters
from gwa.store.schema import NAMES, ran

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

T = TypeVar("T")

MAXIMUM_DISTINCT: Final = 500_000
"""A sample has no more distinct values: fits take memory and time for each."""

MAXIMUM_KEPT: Final = 1_000_000
"""Distinct values of samples that are kept, at 16 bytes each, for when another section asks for them."""

WHOLE: Final = frozenset({"jobs", "ran"})
"""The views whose samples several sections ask for."""

SURELY: Final = 4
"""Engines estimate numbers of distinct values to some 10 %: this many times the limit is surely beyond it."""

SIGNIFICANT_BITS: Final = (16, 11, 6)
"""To how many bits values are rounded where they are too many; of 6 bits, doubles have fewer."""


class Queries:
    """
    The jobs of a trace behind an engine, and what is asked of them.

    There are four views. ``jobs`` are those of the trace or, of a period, those submitted in it; ``ran`` are
    those of them that ran. ``all_jobs`` and ``all_ran`` are the same without the period: levels, such as
    busy processors, need the jobs that ran in the period though they were submitted before.
    """

    def __init__(self, database: Database) -> None:
        """Ask *database*, which may have no jobs yet."""
        self.database = database
        self._temporary: set[str] = set()
        self._made: dict[Hashable, Any] = {}
        self._samples: dict[tuple[str, str], Sample] = {}
        self._jobs = self._all_jobs = ""

    def rows(self, sql: str, parameters: Parameters = None) -> list[tuple[Any, ...]]:
        """Return the rows that *sql* yields."""
        return self.database.ask(sql, parameters).fetchall()

    def row(self, sql: str) -> tuple[Any, ...]:
        """Return the one row that *sql* yields."""
        (row,) = self.rows(sql)
        return row

    def arrays(self, sql: str) -> "dict[str, NDArray[Any]]":
        """Return the columns that *sql* yields as NumPy arrays; missing values are masked."""
        return self.database.ask(sql).fetchnumpy()

    def frame(self, sql: str = "select * from jobs") -> "pd.DataFrame":
        """Return what *sql* yields as a pandas DataFrame."""
        return self.database.ask(sql).df()

    def arrow(self, sql: str = "select * from jobs") -> "pa.Table":
        """Return what *sql* yields as an Arrow table."""
        return self.database.arrow(sql)

    def sample(self, expression: str, table: str = "jobs") -> Sample:
        """
        Return the distinct values of *expression* over *table*, with counts: always small.

        Of more than `MAXIMUM_DISTINCT` values, such as the memory used by millions of jobs, each is rounded
        to 16 significant bits, an error of 8 in a million, or to fewer if that leaves too many.
        """
        sample = self._samples.get((expression, table)) or self._counted(expression, table)
        kept = sum(one.values.size for one in self._samples.values())
        if table in WHOLE and kept + sample.values.size <= MAXIMUM_KEPT:  # several sections ask
            self._samples[expression, table] = sample
        return sample

    def _counted(self, expression: str, table: str) -> Sample:
        exact = f"(select cast({expression} as double) as value from {table}) as v"
        rounded = [_to_bits(exact, bits) for bits in SIGNIFICANT_BITS]
        for values in rounded if self._surely_too_many(expression, table) else [exact, *rounded]:
            counted = self.arrays(
                f"select value, count(*) as n from {values}"
                f" where value is not null group by value limit {MAXIMUM_DISTINCT + 1}"
            )
            if len(counted["value"]) <= MAXIMUM_DISTINCT:
                break
        distinct, counts = np.asarray(counted["value"], np.float64), np.asarray(counted["n"], np.int64)
        order = distinct.argsort()  # the engine would sort those beyond the limit, too
        return Sample(distinct[order], counts[order])

    def _surely_too_many(self, expression: str, table: str) -> bool:
        """Whether a field has too many values even if an estimate, which takes no time, is far too high."""
        many = SURELY * MAXIMUM_DISTINCT
        if table not in WHOLE or self.known.get(expression, 0) < many:
            return False
        return bool(self.row(f"select approx_count_distinct({expression}) as n from {table}")[0] >= many)

    def sorted_rows(self, rows: str, order: str) -> tuple[str, str]:
        """
        Return the source of the query *rows* in an *order*, and what windows over it say of their own.

        Where the engine keeps the order, that is nothing: a window would sort all again, and slower.
        """
        if self.database.keeps_order:
            return f"({rows} order by {order}) as ordered", ""
        return f"({rows}) as ordered", f"order by {order}"

    def keep(self, name: str, select: str) -> str:
        """Run *select* the first time, keep what it yields as table *name* until closing; return the name."""
        if name not in self._temporary:
            self.database.keep(name, select)
            self._temporary.add(name)
        return name

    def keep_once(self, kind: str, select: str) -> str:
        """Keep what *select* yields as `keep` does, as a table of that *kind*, and return its name."""
        return self.keep(f"{kind}_{hashlib.sha256(select.encode()).hexdigest()[:16]}", select)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what *make* finds out about the jobs, which it is asked once for each *key*."""
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found

    def drop(self, *names: str) -> None:
        """Give up tables that `keep` made."""
        for name in self._temporary.intersection(names):
            self.database.drop(name)
            self._temporary.remove(name)

    @cached_property
    def known(self) -> dict[str, int]:
        """How many jobs record each field."""
        counts = ", ".join(f"count({name}) as {name}" for name in NAMES)
        return dict(zip(NAMES, self.row(f"select {counts} from jobs"), strict=True))

    def has(self, field: str) -> bool:
        """Whether any job records *field*."""
        return self.known[field] > 0

    def show(self, jobs: str, all_jobs: str = "") -> None:
        """Let the views be of what the queries yield, until the store is closed; *all_jobs* of any period."""
        self._jobs, self._all_jobs = jobs, all_jobs or jobs
        self._made.clear()
        self._samples.clear()
        self.database.view("jobs", jobs)
        self.database.view("ran", ran("jobs"))
        self.database.view("all_jobs", self._all_jobs)
        self.database.view("all_ran", ran("all_jobs"))


def _to_bits(values: str, bits: int) -> str:
    """
    Return the source of *values*, each rounded to *bits* significant bits: unchanged if it has no more.

    Their scales are made in a query of their own: within a case they would be computed twice.
    """
    scale = f"pow(2.0, greatest(floor(log2(abs(value))), -1000) - {bits - 1})"
    return (
        "(select case when value = 0 then 0.0 else round(value / scale) * scale end as value"
        f" from (select value, {scale} as scale from {values}) as scaled) as rounded"
    )
