"""
The cube: the jobs of a trace in so few cells that a page can filter them.

There are two tables of cells. ``jobs`` counts the jobs submitted in each day, and ``usage`` adds up what jobs
held in each day, in which those count that run over midnight; a day is that of the log's own clock. Both have
the same dimensions. Sums are exact for each selection; quantiles are those of the classes. A third table,
``days``, says how long each day is, and how much of it the log knows the load of.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from itertools import chain, pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gwa.breakdown.cell_keys import MONDAY, Key, by_clock, first_day, joined, numbered_by
from gwa.breakdown.dimensions import Dimension, recorded
from gwa.breakdown.held import amounts_of_runs, held_jobs, recorded_amounts
from gwa.breakdown.measures import measured_jobs
from gwa.breakdown.moments import moments
from gwa.errors import ArgumentError, TraceError
from gwa.metrics.calendar import MAXIMUM_DAYS, Calendar
from gwa.metrics.local_time import cyclic
from gwa.metrics.presence import has_boxes, unfinished
from gwa.metrics.presence import recorded as recorded_time
from gwa.metrics.stillness import stillness
from gwa.metrics.timeline import exact
from gwa.metrics.totals import totals
from gwa.metrics.waits import queued
from gwa.metrics.window import window
from gwa.store.store import Period, Store
from gwa.util.atomic import whole, write_whole
from gwa.util.units import DAY, HOUR

MAXIMUM_CELLS: Final = 150_000
"""How many cells both tables have together at most."""

SOME_JOBS: Final = 2 * MAXIMUM_CELLS
"""As many jobs are tried first: where they have too many cells of a grain, so have all."""

FILES: Final = ("jobs.parquet", "usage.parquet", "days.parquet", "moments.parquet", "grain.json")
"""What `Cube.write` writes; moments where the cube has them."""


@dataclass(frozen=True)
class Grain:
    """
    How fine the cells are.

    They are of *days* days, have the *largest* classes of each dimension of names, *octaves* classes of waits
    to a doubling (none without any), and the hour of submission where they *have_hours*.
    """

    days: int
    largest: int
    octaves: int
    have_hours: bool = False


GRAINS: Final = (
    Grain(1, 1000, 2, have_hours=True),
    Grain(1, 1000, 2),
    Grain(1, 200, 2),
    Grain(1, 50, 2),
    Grain(7, 200, 2),
    Grain(7, 50, 1),
    Grain(28, 20, 1),
    Grain(28, 10, 0),
    Grain(364, 5, 0),
    Grain(3640, 0, 0),
)
"""
From the finest on: the first that has no more than `MAXIMUM_CELLS` is taken, or the last.

That everybody can be found is worth more than hours of submission: all users of a log take about as many
cells as its largest ones.
"""

WAIT: Final = (
    "case when {wait} >= 1 then cast(floor(2 * log2({wait})) as bigint) when wait_time >= 0 then -1 end"
)
"""
The half octave of a wait, which is from when the job could have started.

It begins at 2 to the power of half this number of seconds; -1 is below 1 s.
"""

HALVES: Final = 2
"""Classes of waits to a doubling, of the finest grains."""

MINIMUM_NAMED: Final = 3
"""Where cells of one job alone are withheld, it is known how many jobs are in them."""

HELD: Final = "held_by"
"""How many jobs held something, for cells of few to be withheld; it is not published."""

EPOCH: Final = date(1970, 1, 1)

COUNT: Final = "select count(*) as n from ({query}) as cells"

DAYS: Final = """
select cast(day as bigint) as day, cast(seconds as double) as seconds,
    cast(known_seconds as double) as known_seconds, cast(accounted_seconds as double) as accounted_seconds
from (values {rows}) as days(day, seconds, known_seconds, accounted_seconds) where {condition} order by day
"""

HELD_IN_BINS: Final = """
{days} as days
inner join (select * from (values {bins}) as bins(day, since, until, known, accounted)) as bins
on on_day = day and end_time > since and start_time < until
"""

NOTHING: Final = """
(
    select *, 'unknown' as outcome, cast(null as bigint) as day, true as known, true as accounted
    from jobs where false
) as nothing
"""


@dataclass(frozen=True)
class WithheldCells:
    """
    What cells are not in a cube, since fewer than a *minimum* of jobs are in them.

    *jobs* and *usage* are the numbers of cells that are withheld of both tables. The log has *at_least* to
    *at_most* jobs, as far as the cube shows: their exact number would give away that of the last cell. Where
    one cell alone is below the minimum, the smallest other goes with it, for the same reason.
    """

    minimum: int
    jobs: int
    usage: int
    at_least: int
    at_most: int


@dataclass(frozen=True)
class Cube:
    """
    The cells of a trace, how fine they are (*grain*), and what a stated minimum leaves out (*withheld*).

    *jobs* are cells of jobs by the day of submission: ``day``, in days since 1 January 1970 by the log's
    clock, or since its own time 0; the dimensions; ``outcome``, ``wait`` and ``hour``; then the number of
    ``jobs`` and the seconds held by those that ran, for their whole run.

    *usage* are cells of what jobs held in a ``day``, with the dimensions and ``outcome``, whether the log is
    ``known`` to have the load of that time, and whether it is ``accounted`` for: outside missing rows and
    stillness of a day or more. A day in which that changes has several. Where jobs list several runs,
    ``restarted_seconds`` are those of ``cpu_seconds`` that were held by runs which were not their job's last.

    *days* are each ``day`` of *usage*, how many ``seconds`` it has, within the period of the trace, in how
    many of them the load is known (``known_seconds``), and accounted for as well (``accounted_seconds``).

    *moments* are cells of why jobs waited, where that was asked for and is known: `gwa.breakdown.moments`.
    """

    jobs: pa.Table
    usage: pa.Table
    days: pa.Table
    grain: Grain
    withheld: WithheldCells | None = None
    moments: pa.Table | None = None

    def write(self, folder: Path) -> tuple[Path, ...]:
        """
        Write the tables as Parquet, and the grain as JSON, into *folder*; return the files.

        The moments of a cube that was there before go, where this one has none.
        """
        from pyarrow import parquet

        *paths, grain = (folder / name for name in FILES)
        tables = zip(paths, (self.jobs, self.usage, self.days, self.moments), strict=True)
        made = {file: table for file, table in tables if table is not None}
        for file in paths:
            if file not in made:
                file.unlink(missing_ok=True)
        for file, table in made.items():
            with whole(file) as path:
                parquet.write_table(table, path, compression="zstd")
        said = asdict(self.grain) | ({"withheld": asdict(self.withheld)} if self.withheld else {})
        write_whole(grain, json.dumps(said, indent=1) + "\n")
        return (*made, grain)


def lies_within_a_century(store: Store) -> bool:
    """Return whether the times of jobs can be days of a calendar: wrong ones lie thousands of years apart."""
    span = recorded_time(store)
    return span is None or span[1] - span[0] <= MAXIMUM_DAYS * DAY


def cube(store: Store, minimum: int | None = None, *, has_moments: bool = False) -> Cube:
    """
    Return the cube of the jobs of *store*: the finest of at most `MAXIMUM_CELLS`, or the coarsest.

    Cells of fewer jobs than a *minimum* are withheld; without one it has moments of waiting where
    *has_moments*. Raise `ArgumentError` for one below `MINIMUM_NAMED`,
    `TraceError` where jobs lie more than a century apart: there would be millions of days.
    """
    if minimum is not None and minimum < MINIMUM_NAMED:
        raise ArgumentError(f"minimum is {minimum}, expected at least {MINIMUM_NAMED}: cells of 1 tell")
    if not lies_within_a_century(store):
        raise TraceError(
            "jobs lie more than a century apart, so some times are wrong: choose those that are right with"
            " --period or --where"
        )
    shown = [one for one in recorded(store) if one.in_cube]
    cells = _Cells(store, shown, has_holders=minimum is not None)
    jobs, usage = store.arrow(cells.jobs()), store.arrow(cells.usage())
    days = _days(store, cells.grain)
    if minimum is not None:
        return _withhold(Cube(jobs, usage.drop_columns([HELD]), days, cells.grain), usage[HELD], minimum)
    return Cube(jobs, usage, days, cells.grain, moments=cells.moments() if has_moments else None)


def _withhold(whole: Cube, held: pa.ChunkedArray, minimum: int) -> Cube:
    """Return a cube without cells of fewer jobs than a *minimum*; cells of usage have those of *held*."""
    jobs, shown = whole.jobs["jobs"].to_numpy(), {}
    below = int((jobs < minimum).sum())
    for name, count in (("jobs", jobs), ("usage", held.to_numpy())):
        shown[name] = _shown(count, minimum)
    published = jobs[shown["jobs"]]
    number = {name: int((~kept).sum()) for name, kept in shown.items()}
    # A cell that went with another was the smallest that would have been shown.
    rest = (number["jobs"] - below) * int(published.min(initial=jobs.max(initial=0)))
    told = WithheldCells(
        minimum,
        **number,
        at_least=int(published.sum()) + number["jobs"],
        at_most=int(published.sum()) + below * (minimum - 1) + rest,
    )
    tables = {name: getattr(whole, name).filter(pa.array(kept)) for name, kept in shown.items()}
    return replace(whole, **tables, withheld=told)


def _shown(count: NDArray[np.int64], minimum: int) -> NDArray[np.bool_]:
    """Return which cells are shown, by their numbers of jobs: none alone is withheld."""
    kept: NDArray[np.bool_] = count >= minimum
    if int((~kept).sum()) == 1 and kept.any():
        kept = kept & (np.arange(kept.size) != np.flatnonzero(kept)[np.argmin(count[kept])])
    return kept


class _Cells:
    """
    The cells of the grains that may be fine enough, and the first that is.

    Those of the finest are kept in the engine, with numbers in the place of names, and those of the others
    made of them. Where fewer than a minimum of jobs are withheld, the engine keeps what each user held, too:
    how many held something in several days is the most of any of them in a day.
    """

    def __init__(self, store: Store, shown: Sequence[Dimension], *, has_holders: bool) -> None:
        self._store, self._has_holders = store, has_holders
        self._keys = [Key.of(store, one, classes) for one in shown if (classes := one.of(store))]
        self._amounts = list(recorded_amounts(store))
        self._weights = list(_weights(store))
        self._held = [*self._amounts, *amounts_of_runs(store)]
        grains = GRAINS if has_holders else self._possible()
        finest = _finest(grains)
        if has_holders:
            finest = replace(finest, largest=max((len(one.names) for one in self._keys), default=0))
        self._jobs = store.keep_once("cube_jobs", self._of_jobs(finest, _jobs(store, self._keys)))
        self._usage = store.keep_once("cube_usage", self._of_usage(finest, _usage(store, self._keys)))
        self.grain = next((grain for grain in grains if self._are_few(grain)), grains[-1])

    def _possible(self) -> Sequence[Grain]:
        """Return the grains without those of which some jobs have too many cells already."""
        if totals(self._store).jobs <= MAXIMUM_CELLS:
            return GRAINS
        first = _jobs(self._store, self._keys, SOME_JOBS)
        some = self._store.keep_once("cube_some", self._of_jobs(_finest(GRAINS), first))
        number = 0
        while number < len(GRAINS) - 1 and self._count(self._of_jobs(GRAINS[number], some)) > MAXIMUM_CELLS:
            number += 1
        self._store.drop(some)
        return GRAINS[number:]

    def _are_few(self, grain: Grain) -> bool:
        """Whether both tables have no more cells of a *grain* than they may have together."""
        rest = MAXIMUM_CELLS - self._count(self._of_jobs(grain, self._jobs))
        return rest >= 0 and self._count(self._of_usage(grain, self._usage)) <= rest

    def _count(self, cells: str) -> int:
        return int(self._store.row(COUNT.format(query=cells))[0])

    def jobs(self) -> str:
        """Return the query of the cells of jobs."""
        sums = {"jobs": "bigint"} | dict.fromkeys((*self._amounts, *self._weights), "double")
        columns = self._columns_of_jobs(self.grain)
        return self._with_names(self._of_jobs(self.grain, self._jobs), columns, sums)

    def usage(self) -> str:
        """Return the query of the cells of usage."""
        sums = dict.fromkeys(self._held, "double") | ({HELD: "bigint"} if self._has_holders else {})
        columns = self._columns_of_usage(self.grain)
        return self._with_names(self._of_usage(self.grain, self._usage), columns, sums)

    def moments(self) -> pa.Table | None:
        """Return the cells of waiting."""
        return moments(self._store, self._keys, self.grain.days, self.grain.largest)

    def _with_names(self, cells: str, columns: Iterable[str], sums: Mapping[str, str]) -> str:
        """Return the query of *cells* with names, where rows that follow each other differ least."""
        named = {one.name: one.named(self.grain.largest) for one in self._keys}
        shown = {name: name for name in columns} | named
        shown |= {name: f"cast({name} as {kind})" for name, kind in sums.items()}
        order = ", ".join(dict.fromkeys((*named, *columns)))
        return f"select * from {_rows(shown, f'({cells}) as numbered')} order by {order}"

    def _of_jobs(self, grain: Grain, table: str) -> str:
        """Return the query of the cells of a *grain*, of jobs or of finer cells in a *table*."""
        sums = {name: f"sum({name})" for name in (*self._amounts, *self._weights)}
        return _cells(self._columns_of_jobs(grain), {"jobs": "sum(jobs)", **sums}, table)

    def _of_usage(self, grain: Grain, table: str) -> str:
        """Return the query of the cells of a *grain*, of what jobs held or of finer cells in a *table*."""
        sums = {name: f"sum({name})" for name in self._held}
        if self._has_holders:
            # A job that runs for days is in a cell of each: of several days, no more are sure than of one.
            sums[HELD] = f"{'sum' if grain.days == 1 else 'max'}({HELD})"
        return _cells(self._columns_of_usage(grain), sums, table)

    def _columns_of_jobs(self, grain: Grain) -> dict[str, str]:
        columns = self._shared(grain)
        if grain.octaves:
            columns["wait"] = "wait" if grain.octaves == HALVES else "cast(floor(wait / 2.0) * 2 as bigint)"
        return columns | ({"hour": "hour"} if grain.have_hours else {})

    def _columns_of_usage(self, grain: Grain) -> dict[str, str]:
        return self._shared(grain) | {"known": "known", "accounted": "accounted"}

    def _shared(self, grain: Grain) -> dict[str, str]:
        """Return the SQL of the columns that both tables have, by name."""
        keys = {one.name: one.among(grain.largest) for one in self._keys}
        return {"day": first_day(grain.days), **keys, "outcome": "outcome"}


def _cells(columns: Mapping[str, str], sums: Mapping[str, str], table: str) -> str:
    """Return the query that groups a *table* by *columns*, and its *sums*: SQL by name."""
    keys = ", ".join(f"{sql} as {name}" for name, sql in columns.items())
    added = ", ".join(f"{sql} as {name}" for name, sql in sums.items())
    return f"select {keys}, {added} from {table} group by {', '.join(columns.values())}"


def _finest(grains: Sequence[Grain]) -> Grain:
    """Return the coarsest grain of whose cells those of *grains* can be made: the first has least days."""
    return Grain(
        grains[0].days,
        max(one.largest for one in grains),
        max(one.octaves for one in grains),
        have_hours=any(one.have_hours for one in grains),
    )


def _jobs(store: Store, keys: Sequence[Key], maximum: int | None = None) -> str:
    """Return the table of what cells of jobs are made of, a row for each job or *maximum* of them."""
    span = recorded_time(store.whole)
    seconds = by_clock(store, "submit_time", span) if span else "submit_time"
    columns = {
        "day": numbered_by(seconds, DAY), "hour": cyclic(numbered_by(seconds, HOUR), 24),
        **{one.name: one.sql for one in keys}, "outcome": "outcome",
        "wait": WAIT.format(wait=queued(store)), "jobs": "1",
        **_decimals(recorded_amounts(store), "case when run_time >= 0 then run_time else 0 end"),
        **_weights(store),
    }  # fmt: skip
    jobs = measured_jobs(store)
    if maximum is not None:
        jobs = f"(select * from {jobs} limit {maximum}) as first_jobs"
    return _rows(columns, f"{jobs} {joined(keys)}")


def _rows(columns: Mapping[str, str], table: str) -> str:
    """Return the table of *columns*, SQL by name, of the rows of a *table*."""
    selected = ", ".join(f"{sql} as {name}" for name, sql in columns.items())
    return f"(select {selected} from {table}) as uncounted"


def _weights(store: Store) -> dict[str, str]:
    """
    Return the SQL of ``core_seconds``, by which waits are weighed, where that is not ``cpu_seconds``.

    Of jobs that had not ended when the log did, it counts the run time until then.
    """
    if "cpu_seconds" not in recorded_amounts(store) or not unfinished(store):
        return {}
    return {"core_seconds": exact("coalesce(core_seconds, 0)")}


def _usage(store: Store, keys: Sequence[Key]) -> str:
    """Return the table of what each job held in each bin: a day, or the part of one that is known."""
    span = recorded_time(store.whole)
    amounts = {**recorded_amounts(store), **amounts_of_runs(store)}
    columns = {"day": "day", **{one.name: f"{one.name}_number" for one in keys}}
    columns |= {name: name for name in ("outcome", "known", "accounted")} | {HELD: _holders(store, span)}
    numbered = "".join(f", {one.sql} as {one.name}_number" for one in keys)
    if span is None:
        nothing = f"(select *{numbered} from {NOTHING} {joined(keys)}) as nothing_held"
        return _rows(columns | dict.fromkeys(amounts, "cast(0 as decimal(38, 6))"), nothing)
    first, last = (numbered_by(by_clock(store, moment, span), DAY) for moment in ("start_time", "end_time"))
    held = f"{held_jobs(store)} as held {joined(keys)}"
    days = f"(select *{numbered}, unnest(generate_series({first}, {last})) as on_day from {held})"
    bins = ", ".join(
        f"({one.day}, {one.since!r}, {one.until!r}, {one.is_known}, {one.is_accounted})"
        for one in _bins(store, span)
    )
    table = HELD_IN_BINS.format(days=days, bins=bins)
    inside = "(least(end_time, until) - greatest(start_time, since))"
    return _rows(columns | _decimals(amounts, inside), table)


def _holders(store: Store, span: Period | None) -> str:
    """Return the SQL of what counts the jobs that held something in a day: of several boxes, the first."""
    if not has_boxes(store) or span is None:
        return "1"
    before = numbered_by(by_clock(store, "previous_end", span), DAY)
    return f"case when previous_end is null or {before} < on_day then 1 else 0 end"


def _days(store: Store, grain: Grain) -> pa.Table:
    """Return the days, or the first day of each interval, their seconds, and those whose load is known."""
    span = recorded_time(store.whole)
    seconds: dict[int, list[float]] = {}
    for one in _bins(store, span) if span else ():
        lengths = seconds.setdefault(_first_of(one.day, grain), [0.0, 0.0, 0.0])
        counts = (True, one.is_known, one.is_known and one.is_accounted)
        for place, is_counted in enumerate(counts):
            lengths[place] += one.until - one.since if is_counted else 0.0
    rows = ", ".join(f"({day}, {', '.join(map(repr, lengths))})" for day, lengths in seconds.items())
    return store.arrow(DAYS.format(rows=rows or "(0, 0, 0, 0)", condition="true" if rows else "false"))


def capacities(store: Store, grain: Grain) -> dict[int, float]:
    """Return, by the days of a cube, the processor-seconds that there were in the time accounted for."""
    span = recorded_time(store.whole)
    found: dict[int, float] = {}
    for one in _bins(store, span) if span else ():
        if one.is_known and one.is_accounted:
            first = _first_of(one.day, grain)
            found[first] = found.get(first, 0.0) + (store.system.capacity((one.since, one.until)) or 0.0)
    return found


def _first_of(day: int, grain: Grain) -> int:
    """Return the first day of the interval that a *day* is in: of a Monday, where they are whole weeks."""
    return day if grain.days == 1 else (day + MONDAY) // grain.days * grain.days - MONDAY


def _decimals(amounts: Mapping[str, str], seconds: str) -> dict[str, str]:
    """Return the SQL of *amounts* in some *seconds*, as decimals, whose sums are exact."""
    return {name: exact(sql.format(seconds=seconds)) for name, sql in amounts.items()}


class _Bin(NamedTuple):
    """A day, or the part of one from *since* to *until*, in which it does not change what the log knows."""

    day: int
    since: float
    until: float
    is_known: bool
    is_accounted: bool


def _bins(store: Store, span: Period) -> Iterator[_Bin]:
    """Yield the days of a *span* within the period of *store*, cut where it changes what the log knows."""
    calendar = Calendar.of(*span, store.system.timezone, relative=store.system.relative)
    zero = calendar.first if calendar.dates is None else (calendar.dates[0] - EPOCH).days
    first, last = store.period or (calendar.edges[0], calendar.edges[-1])
    known = window(store).period or (last, last)
    gaps = [(stretch.begin, stretch.end) for stretch in stillness(store).unaccounted]
    borders = [first, last, *known, *chain.from_iterable(gaps)]
    cuts = np.clip(borders, calendar.edges[0], calendar.edges[-1])
    for since, until in pairwise(np.union1d(calendar.edges, cuts).tolist()):
        if first <= since and until <= last:
            day = zero + int(np.searchsorted(calendar.edges, since, side="right")) - 1
            is_known = bool(known[0] <= since and until <= known[1])
            is_accounted = not any(begin <= since and until <= end for begin, end in gaps)
            yield _Bin(day, since, until, is_known, is_accounted)
