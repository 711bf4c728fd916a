"""
A subset of a trace: the jobs of a period, of some queues, groups or users, or any that SQL can name.

A report on a subset is a report on a trace that holds nothing else; only the size of the system, unless
sites are chosen, and the account of the conversion stay those of the whole. Of a period, it counts the jobs
submitted in it, but levels such as busy processors are of all jobs that overlap it.

A condition in SQL is checked by `gwa.store.engines.restricted`: it reads jobs, by functions that read
nothing else. One that only compares is a part of each query of the analysis. Any other runs once, in a
process of its own (`gwa.store.confined`), since one function may take all memory; then the numbers of the
jobs that meet it are what is filtered by.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import ArgumentError, DefinitionError, EngineError, QueryError, TraceError
from gwa.store.confined import Confined
from gwa.store.engines.duckdb import literal
from gwa.store.engines.restricted import check_condition, is_bounded, parser
from gwa.store.schema import SITE
from gwa.store.store import Store, submitted_in
from gwa.store.system import System
from gwa.util.units import DAY

TABLES_OF_CONDITIONS: Final = ("jobs", "dependencies", "source_ids")
"""The tables that a condition may read."""

SHOWN: Final = 8
"""The number of names that an error message lists."""

MAXIMUM_NAME: Final = 100
"""No longer name is compared with others."""

MAXIMUM_NAMES: Final = 20_000
"""The largest names that one is compared with, which takes a second at most."""

MOMENT: Final = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d))?)?)?")

FIELDS: Final = {
    "queue": "queue_id",
    "group": "group_id",
    "user": "user_id",
    "project": "project_id",
    "site": SITE,
}
"""The SQL of the names by which jobs are chosen."""

NAMED: Final = {"site": "site or cluster"}
"""What messages call them where their own name is not enough."""

EXAMPLES: Final = {"period": "2007-03", "condition": "n_procs > 1"}


@dataclass(frozen=True)
class Subset:
    """
    What a trace is filtered by: a job must meet all conditions that are given.

    Parameters
    ----------
    period
        The time that is looked at: a year, month, day or minute such as ``2007``, ``2007-03``,
        ``2007-03-05`` or ``2007-03-05T14:30``, in the time zone of the trace, or two of them as
        ``2007-03..2007-05``, of which the last is included. Where times count from an unknown start
        it is the number of a day, or two: ``3`` or ``3..10``.
    queues, groups, users, sites, projects
        Names, of which the job's queue, group, user, site (cluster) or project must be one.
    where
        An SQL condition on the fields of a job, such as ``n_procs > 1``; it may read other jobs, but no file.

    Examples
    --------
    >>> print(Subset(period="2007-03", queues=("short", "long"), where="n_procs > 1"))
    period 2007-03; queue short, long; where n_procs > 1

    """

    period: str | None = None
    queues: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    where: str | None = None
    sites: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise `ArgumentError` for a period or a condition that is empty, as an unset variable is."""
        for name, text in (("period", self.period), ("condition", self.where)):
            if text is not None and not text.strip():
                raise ArgumentError(f"the {name} is empty, expected one such as {EXAMPLES[name]}")

    def __bool__(self) -> bool:
        """Whether there is any condition."""
        return bool(self.period or self.is_selective)

    @property
    def is_selective(self) -> bool:
        """Whether other jobs of the same time may be left out."""
        return bool(self.where or any(_names(self).values()))

    def __str__(self) -> str:
        """Return the conditions in words, for the head of a report."""
        conditions = [f"period {self.period}"] if self.period else []
        conditions += [f"{name} {', '.join(values)}" for name, values in _names(self).items() if values]
        return "; ".join(conditions + ([f"where {self.where}"] if self.where else []))


def select(store: Store, subset: Subset) -> Store:
    """
    Return the jobs of *store* that are in *subset*, as a store that is open as long as *store* is.

    Raise `TraceError` where there are none, or where the condition is not valid SQL, and
    `DefinitionError` for a period that is none.
    """
    for name, values in _names(subset).items():
        _check_names(store, name, values)
    if subset.sites:
        of_sites = f"{SITE} in ({', '.join(map(literal, subset.sites))})"
        store = store.filtered(of_sites, sites=subset.sites)
    files = _chosen(store, subset) if subset.where else ()
    wheres = [_is_in(file) for file in files] or [subset.where or ""]
    condition, of_all = _condition(subset, wheres[0]), _condition(subset, wheres[-1])
    period = bounds(subset.period, store.system) if subset.period else None
    query = f"select count(*) from jobs where {condition}{submitted_in(period)}"
    try:
        store.localize()
        jobs = store.row(query)[0]
    except (duckdb.Error, EngineError) as error:
        raise _no_condition(subset, error) from error
    if not jobs:
        raise TraceError(f"the trace has no jobs that fit: {subset}{_extent(store)}")
    return store.filtered(condition, period, of_all=of_all, files=[str(file) for file in files])


def _chosen(store: Store, subset: Subset) -> tuple[Path, ...]:
    """
    Return files with the numbers of the jobs that meet the condition; none where it may run anywhere.

    There is a second one of the jobs of all times, where those of the store are of a period.
    """
    where = subset.where or ""
    try:
        with parser() as database:
            check_condition(database, where, TABLES_OF_CONDITIONS)
            runs_anywhere = store.database.name != "duckdb" or is_bounded(database, where)
    except DefinitionError as error:
        raise _no_condition(subset, error) from error
    if store.resolve:
        return (store.resolve(where),)
    return () if runs_anywhere else store.once((_chosen, where), lambda: _found(store, where))


def _found(store: Store, where: str) -> tuple[Path, ...]:
    """Return files as `_chosen` does, which a process makes."""
    with Confined(store) as confined:
        try:
            tables = ("jobs",) if store.has_all_times else ("jobs", "all_jobs")
            return tuple(confined.jobs(where, table=name) for name in tables)
        except QueryError as error:
            reason = str(error).splitlines()[0].removeprefix("the query failed: ")
            raise ArgumentError(f"the condition '{where}' fails: {reason}") from error


def _is_in(file: Path) -> str:
    """Return the condition that the number of a job stands in a *file*."""
    return f"job_id in (select job_id from read_parquet({literal(str(file))}))"


def _no_condition(subset: Subset, error: Exception) -> ArgumentError:
    """Return what is said of a condition that is refused, or that fails."""
    reason = str(error).splitlines()[0]
    return ArgumentError(f"'{subset.where}' is not a condition on jobs such as run_time > 3600: {reason}")


def _names(subset: Subset) -> dict[str, tuple[str, ...]]:
    """Return the names that are wanted, by what they are names of."""
    return {kind: getattr(subset, f"{kind}s") for kind in FIELDS}


def _condition(subset: Subset, where: str | None) -> str:
    """Return the conditions but the period as one in SQL, *where* for that of the subset."""
    conditions = [f"({where}\n)"] if where else []
    for name, values in _names(subset).items():
        if values:
            conditions.append(f"{FIELDS[name]} in ({', '.join(map(literal, values))})")
    return " and ".join(conditions) or "true"


def _check_names(store: Store, kind: str, values: tuple[str, ...]) -> None:
    """Refuse a name that no job has, and list those that there are."""
    if not values:
        return
    field = FIELDS[kind]
    count = f"select {field} as name, count(*) as n from jobs where {field} is not null group by {field}"
    names = [name for name, _ in store.rows(f"{count} order by n desc, name")]
    for value in values:
        if value not in names:
            raise ArgumentError(
                f"no job has the {NAMED.get(kind, kind)} '{value[:80]}', {_instead(value, names)}"
            )


def _instead(value: str, names: list[str]) -> str:
    """Return what to expect instead of a name that is none of *names*: the nearest ones, or the largest."""
    near = get_close_matches(value[:MAXIMUM_NAME], names[:MAXIMUM_NAMES], 3)
    folded = [name for name in names if name.casefold() == value.casefold()]
    if found := list(dict.fromkeys([*folded, *near])):
        return f"did you mean {' or '.join(found)}?"
    some = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
    return f"expected one of: {some or 'none is recorded'}"


def _extent(store: Store) -> str:
    """Return from when to when there are any, in words."""
    first, last = store.row("select min(submit_time), max(submit_time) from jobs")
    if first is None:
        return ""
    if store.system.relative:
        return f": its days are 1 to {int(last // DAY) + 1}"
    days = [datetime.fromtimestamp(moment, store.system.timezone).date() for moment in (first, last)]
    return f": they were submitted from {days[0]} to {days[1]}"


def bounds(period: str, system: System) -> tuple[float, float]:
    """
    Return the first second of *period* and the first one after it.

    >>> bounds("2007-03", System(zone="UTC", relative=False))
    (1172707200.0, 1175385600.0)
    >>> bounds("2..3", System())
    (86400.0, 259200.0)
    """
    first, dots, last = period.partition("..")
    unit = _days if system.relative else _dates
    begin, end = unit(first, period, system)[0], unit(last if dots else first, period, system)[1]
    if end <= begin:
        raise ArgumentError(f"the period '{period}' ends before it begins")
    return begin, end


def _days(text: str, period: str, _: System) -> tuple[float, float]:
    """Return the bounds of a day that has a number only."""
    number = re.fullmatch(r"\s*(?:day)?\s*(\d{1,6})\s*", text)
    if not number:
        raise ArgumentError(
            f"the period is '{period}', expected numbers of days such as 3 or 3..10:"
            " the times of this trace count from an unknown start"
        )
    return (int(number[1]) - 1) * float(DAY), int(number[1]) * float(DAY)


def _dates(text: str, period: str, system: System) -> tuple[float, float]:
    """Return the bounds of a year, a month, a day or a minute in the time zone of *system*."""
    try:
        first, parts = moment(text)
        zoned = first.replace(tzinfo=system.timezone)
        return zoned.timestamp(), after(zoned, parts).timestamp()
    except (ValueError, OverflowError):
        raise ArgumentError(
            f"the period is '{period}', expected dates such as 2007, 2007-03, 2007-03-05 or 2007-03..2007-05,"
            " or a name such as last-month"
        ) from None


def moment(text: str) -> tuple[datetime, int]:
    """
    Return when a year, month, day or minute begins, in no zone, and of how many parts its *text* is: 1 to 4.

    Raise `ValueError` where it is none.

    >>> moment("2007-03")
    (datetime.datetime(2007, 3, 1, 0, 0), 2)
    """
    match = MOMENT.fullmatch(text.strip())
    if not match:
        raise ValueError(f"'{text}' is not a date")
    given = [int(part) for part in match.groups() if part]
    year, month, day, hour, minute = given + [1, 1, 1, 0, 0][len(given) :]
    return datetime(year, month, day, hour, minute), min(len(given), 4)  # noqa: DTZ001 - the caller knows


def after(moment: datetime, parts: int) -> datetime:
    """Return the end of the year, month, day or minute that begins at *moment* and was written in *parts*."""
    match parts:
        case 1:
            return moment.replace(year=moment.year + 1)
        case 2:
            return moment.replace(year=moment.year + moment.month // 12, month=moment.month % 12 + 1)
        case 3:
            return moment + timedelta(days=1)
    return moment + timedelta(minutes=1)
