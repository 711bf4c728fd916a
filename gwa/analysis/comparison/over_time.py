"""What traces did over time: their days as strips on one axis, their months as cells of one colour scale."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, pairwise
from typing import Final

import numpy as np

from gwa.analysis.comparison.period_changes import LAST, period_values
from gwa.breakdown.cube import EPOCH, Cube, cube, lies_within_a_century
from gwa.breakdown.dimensions import OUTCOME_NAMES
from gwa.metrics.calendar import Calendar
from gwa.metrics.intervals import Stretches
from gwa.metrics.outcomes import OUTCOMES
from gwa.metrics.periods import known_until
from gwa.metrics.stillness import in_gaps
from gwa.metrics.timeline import Floats
from gwa.report.document import Block, Note
from gwa.report.figures.bars import bars
from gwa.report.figures.heatmap import heatmap
from gwa.report.figures.strips import Strip, strips
from gwa.store.store import Store
from gwa.util.units import DAY
from gwa.words.message import Message, Verbatim, joined, message
from gwa.words.unit import Unit

MAXIMUM_MONTHS: Final = 60
"""Of longer logs the last months are shown."""

FAR_APART: Final = 2.0
"""The maximum length of one calendar for all traces, as a multiple of the longest of them."""


@dataclass(frozen=True)
class Months:
    """The *names* of the months of a log, their *edges* in seconds, and the values of each, by measure."""

    names: tuple[str, ...]
    edges: Floats
    values: dict[str, Floats]


@dataclass(frozen=True)
class OverTime:
    """
    The days and months of the trace called *name*.

    *days* are its edges, in seconds by its own clock, and *held* what jobs of each outcome held in each day:
    as a share of the machine where its *size* is stated, else processors. None where that is not known.
    """

    name: str
    days: Floats | None
    held: dict[str, Floats]
    size: int | None
    months: Months | None
    is_dated: bool


def over_time(name: str, store: Store) -> OverTime:
    """Return what the trace in *store* did over time."""
    cpus = store.system.size
    days: Floats | None = None
    held: dict[str, Floats] = {}
    if lies_within_a_century(store) and store.has("n_procs") and store.has("run_time"):
        cells = cube(store)
        if cells.days.num_rows and "cpu_seconds" in cells.usage.schema.names:
            days, held = _held(cells, cpus or 1)
    return OverTime(Verbatim(name), days, held, cpus, months(store), not store.system.relative)


def _held(cells: Cube, capacity: int) -> tuple[Floats, dict[str, Floats]]:
    """Return the edges of the days of *cells*, and by outcome what was held on average, over *capacity*."""
    first = cells.days["day"].to_numpy()
    known = dict(zip(first.tolist(), cells.days["seconds"].to_numpy().tolist(), strict=True))
    days = np.arange(first[0], first[-1] + 1, cells.grain.days)
    lengths = np.array([known.get(day, 0.0) for day in days.tolist()])
    usage = cells.usage
    place = np.searchsorted(days, usage["day"].to_numpy())
    seconds = np.nan_to_num(usage["cpu_seconds"].to_numpy().astype(np.float64))
    outcomes = np.asarray(usage["outcome"].to_pylist())
    held: dict[str, Floats] = {}
    for outcome in OUTCOMES:
        total = np.bincount(place, seconds * (outcomes == outcome), len(days))[: len(days)]
        with np.errstate(divide="ignore", invalid="ignore"):
            held[outcome] = np.where(lengths > 0, total / (lengths * capacity), np.nan)
    edges: Floats = np.append(days, days[-1] + cells.grain.days).astype(np.float64) * DAY
    return edges, held


def months(store: Store) -> Months | None:
    """
    Return the months of a trace or of its period, and what was measured in each.

    Of months after the log's knowledge of the load ends nothing is known. None where no job has a submission
    time.
    """
    calendar = calendar_months(store)
    if calendar is None:
        return None
    names, borders, known = calendar
    whole = int(np.searchsorted(borders[:-1], known))
    seen = np.minimum(borders[: whole + 1], known)
    values = period_values(store, Stretches(tuple(seen.tolist())))
    system = store.system
    if "busy" in values:
        values["busy"] = np.where(in_gaps(store, seen), np.nan, values["busy"])
    if "busy" in values and system.largest:
        sizes = [system.mean_size(month) for month in pairwise(seen.tolist())]
        values["utilization"] = values["busy"] / np.array(sizes, dtype=np.float64)
    unknown = np.full(len(names) - whole, np.nan)
    return Months(
        names,
        np.append(seen, borders[whole + 1 :]),
        {name: np.append(column, unknown) for name, column in values.items()},
    )


def calendar_months(store: Store) -> tuple[tuple[str, ...], Floats, float] | None:
    """
    Return the names and the borders of the months of a trace or of its period, and when its knowledge ends.

    None where no job has a submission time, or some are wrong by a century.
    """
    submitted = store.row("select min(submit_time), max(submit_time) from jobs")
    if submitted[0] is None or not lies_within_a_century(store):
        return None
    first, known, last = _shown(store, *submitted)
    edges, names = Calendar.of(first, last, store.system.timezone, relative=store.system.relative).months()
    borders = np.unique(np.clip(edges, first, last))  # a period that ends with a month has none after it
    return tuple(names[: borders.size - 1]), borders, known


def _shown(store: Store, first: float, last: float) -> tuple[float, float, float]:
    """
    Return when the months begin, when what the log knows ends and when the months end.

    *first* and *last* are the submissions. Of a period, months begin with it or with the log.
    """
    known = known_until(store)
    known, last = (known if known > first else last) + LAST, max(known, last) + LAST
    if store.period is None:
        return first, known, last
    (begin,) = store.whole.row("select min(submit_time) from jobs")
    return max(store.period[0], begin), min(known, store.period[1]), min(last, store.period[1])


def strips_of(courses: Sequence[OverTime]) -> Iterator[Block]:
    """Yield the days of all traces as strips, by the calendar or, where that is long, from their start."""
    known = [(course, course.days) for course in courses if course.days is not None]
    without = [course.name for course in courses if course.days is None]
    if known:
        shares = all(course.size for course, _ in known)
        on_calendar = _is_on_calendar(courses)
        shown = [_strip(course, days, shares=shares, on_calendar=on_calendar) for course, days in known]
        yield strips(
            "use-over-time",
            message("Use over time"),
            shown,
            {str(key): name for key, name in OUTCOME_NAMES.items()},
            _dates([days for _, days in known])
            if on_calendar
            else message("Days since the start of each log"),
            message("Busy share of the machine") if shares else message("Busy processors"),
            message("The use of {n} systems, day by day, by how jobs ended.", n=len(shown)),
            zone="UTC" if on_calendar else None,
        )
    if without:
        names = joined(", ", map(Verbatim, without))
        yield Note(message("Not drawn over time, for want of times or processors: {names}.", names=names))


def _dates(days: Sequence[Floats]) -> Message:
    """Return from which day to which the strips are."""
    first, last = min(float(each[0]) for each in days), max(float(each[-1]) for each in days)
    ends = [(EPOCH + timedelta(seconds=moment)).isoformat() for moment in (first, last - DAY)]
    return message(
        "{first} – {last}, by the clock of each log", first=Verbatim(ends[0]), last=Verbatim(ends[1])
    )


def _is_on_calendar(courses: Sequence[OverTime]) -> bool:
    """Whether all traces have dates, and these are so near that one calendar shows them."""
    spans = [(each[0], each[-1]) for course in courses if (each := _edges(course)) is not None]
    whole = max(end for _, end in spans) - min(begin for begin, _ in spans)
    longest = max(end - begin for begin, end in spans)
    return all(course.is_dated for course in courses) and bool(whole <= FAR_APART * longest)


def _edges(course: OverTime) -> Floats | None:
    if course.days is None and course.months is not None:
        return course.months.edges
    return course.days


def _strip(course: OverTime, days: Floats, *, shares: bool, on_calendar: bool) -> Strip:
    """Return the strip of a trace; one that is not on a calendar says when it begins and ends."""
    scale = 1.0 if shares or not course.size else float(course.size)
    held = {name: values * scale for name, values in course.held.items()}
    unit: Unit = "fraction" if shares else "count"
    level = scale if course.size else None
    name = course.name
    if not on_calendar and course.is_dated and course.months:
        name = Verbatim(f"{name}, {course.months.names[0]} – {course.months.names[-1]}")
    return Strip(name, days if on_calendar else days - days[0], held, unit, level)


def month_figures(courses: Sequence[OverTime]) -> Iterator[Block]:
    """Yield how busy the systems were and how long jobs waited, month by month, side by side."""
    known = [(course.name, course.months) for course in courses if course.months]
    columns = _columns([each for _, each in known], on_calendar=bool(known) and _is_on_calendar(courses))
    if len(columns) < 2:  # noqa: PLR2004 - one cell is no picture
        return
    shown: tuple[tuple[str, Message, Message, Unit], ...] = (
        ("utilization", message("Utilization by month"), message("Utilization"), "fraction"),
        ("median_wait", message("Median wait by month"), message("Median wait"), "seconds"),
    )
    for measure, title, label, unit in shown:
        rows = [(name, each, each.values[measure]) for name, each in known if measure in each.values]
        if not any(np.isfinite(values).any() for _, _, values in rows):
            continue
        name = f"months-{measure.replace('_', '-')}"
        alt = message("{title} of {n} traces.", title=title, n=len(rows))
        placed = [_placed(each, values, columns) for _, each, values in rows]
        if len(known) == 1:  # a row of cells says less than bars
            yield bars(name, title, columns, placed[0], message("Month"), label, alt, unit=unit)
        else:
            names = [name for name, _, _ in rows]
            yield heatmap(name, title, placed, names, columns, alt, unit=unit, ylabel=label)


def _columns(known: Sequence[Months], *, on_calendar: bool) -> list[str]:
    """Return the months of all traces, or numbers of months where those would be too many."""
    dated = sorted(set(chain.from_iterable(each.names for each in known)))
    longest = max((len(each.names) for each in known), default=0)
    if on_calendar:
        return dated[-MAXIMUM_MONTHS:]
    return [message("month {number}", number=n + 1) for n in range(min(longest, MAXIMUM_MONTHS))]


def _placed(each: Months, values: Floats, columns: Sequence[str]) -> list[float]:
    """Return the values of a trace in the *columns*; nan in those that it does not have."""
    by_name = dict(zip(each.names, values.tolist(), strict=True))
    if any(column in by_name for column in columns):
        return [by_name.get(column, np.nan) for column in columns]
    kept: list[float] = values.tolist()[: len(columns)]
    return kept + [np.nan] * (len(columns) - len(kept))
