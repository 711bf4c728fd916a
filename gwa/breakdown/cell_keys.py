"""What cells of a trace are told apart by: classes of its dimensions, by number, and stretches of time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from gwa.breakdown.dimensions import Classes, Dimension
from gwa.breakdown.sums import sums
from gwa.metrics.calendar import MAXIMUM_DAYS
from gwa.metrics.local_time import local
from gwa.store.engines.duckdb import literal
from gwa.store.store import Period, Store
from gwa.util.units import DAY

OTHERS: Final = "*"
"""What the classes of a dimension are called that are not among its largest."""

MONDAY: Final = 3
"""1 January 1970 was a Thursday: weeks begin four days later, or three days before."""

SIZE: Final = "coalesce(cpu_seconds, 0) desc, jobs desc, key"

BY_SIZE: Final = f"select key from {{table}} order by {SIZE}"

PLACED: Final = """
left join (
    select key as {name}_key, row_number() over (order by {order}) as {name}_place from {table}
) as placed_{name} on {key} = {name}_key
"""


@dataclass(frozen=True)
class Key:
    """
    A dimension by whose classes jobs are grouped: by number, which takes a fraction of the time of names.

    *key* is the SQL of the class of a job, *sql* that of its number, *joined* what is joined to the jobs for
    that, and *names* those of the classes by number. Ranked ones are numbered from 1, the largest, and 0 is
    all others; their *key* is the name.
    """

    name: str
    key: str
    sql: str
    joined: str
    names: Mapping[Any, str]
    is_ranked: bool

    @classmethod
    def of(cls, store: Store, dimension: Dimension, classes: Classes) -> Self:
        """Return the key of a *dimension* with its *classes*."""
        name = dimension.name
        if not dimension.is_ranked:
            return cls(name, classes.key, classes.key, "", classes.names or {}, is_ranked=False)
        names = dict(enumerate(by_size(store, dimension), 1))
        # Of a period, those who only ran or waited in it have no place, and are among the others.
        sql = f"case when {classes.key} is not null then coalesce({name}_place, 0) end"
        joined = PLACED.format(name=name, order=SIZE, table=sums(store, dimension), key=classes.key)
        return cls(name, classes.key, sql, joined, names, is_ranked=True)

    def among(self, largest: int) -> str:
        """Return the SQL of the number, 0 where the class is not among the *largest*."""
        if not self.is_ranked:
            return self.name
        name = self.name
        return f"case when {name} <= {largest} then {name} when {name} is not null then 0 end"

    def named(self, largest: int) -> str:
        """Return the SQL of the name of a number `among` the *largest*."""
        cases = " ".join(
            f"when {literal(key) if isinstance(key, str) else key} then {literal(name)}"
            for key, name in self.names_among(largest).items()
        )
        return f"case {self.name} {cases} end"

    def names_among(self, largest: int) -> dict[Any, str]:
        """Return the names of the numbers `among` the *largest*."""
        if not self.is_ranked:
            return dict(self.names)
        return {0: OTHERS} | {key: name for key, name in self.names.items() if key <= largest}

    def name_of(self, largest: int) -> Callable[[Any], str | None]:
        """Return what tells the name of a class `among` the *largest* by its *key*; None of what has none."""
        if not self.is_ranked:
            return self.names.get
        shown = set(self.names_among(largest).values())
        return lambda key: key if key in shown or key is None else OTHERS


def by_size(store: Store, dimension: Dimension) -> list[str]:
    """Return all classes of a ranked dimension, the largest by CPU time, then by jobs, first."""
    rows = store.rows(BY_SIZE.format(table=sums(store, dimension)))
    return [str(key) for (key,) in rows]


def joined(keys: Sequence[Key]) -> str:
    """Return the SQL that joins to jobs what the numbers of *keys* are made of."""
    return "".join(one.joined for one in keys)


def numbered_by(seconds: str, width: int) -> str:
    """Return the SQL of the number of the stretch of a *width* in which *seconds* lie."""
    return f"cast(floor({seconds} / {float(width)!r}) as bigint)"


def by_clock(store: Store, moment: str, span: Period) -> str:
    """Return the SQL of a *moment* in seconds by the log's clock or, where dates are unknown, as it is."""
    if store.system.relative or span[1] - span[0] > MAXIMUM_DAYS * DAY:
        return moment
    return local(store, moment, span)


def first_day(days: int) -> str:
    """Return the SQL of the first of each *days* days: of a Monday, where they are whole weeks."""
    if days == 1:
        return "day"
    return f"cast(floor((day + {MONDAY}) / {float(days)!r}) * {days} - {MONDAY} as bigint)"
