"""Make what a page filters of the cube of a trace."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gwa.analysis.base import Chapter, analyses
from gwa.analysis.budget_sentence import phrases
from gwa.analysis.first_lists import LIST_PHRASES, first_lists
from gwa.analysis.sections.breakdowns import SECTIONS
from gwa.analysis.waiting_bar import waiting_bar
from gwa.analysis.waiting_sentences import PHRASES as WAITING_PHRASES
from gwa.breakdown.budget import budget
from gwa.breakdown.cell_keys import OTHERS, by_size
from gwa.breakdown.cube import EPOCH, Cube, capacities, cube, lies_within_a_century
from gwa.breakdown.dimensions import OUTCOME_NAMES, Dimension, recorded
from gwa.breakdown.held import KNOWN_OF, RESTARTED
from gwa.breakdown.planes import packed
from gwa.metrics.calendar import Calendar
from gwa.metrics.outcomes import OUTCOMES
from gwa.metrics.presence import recorded as recorded_time
from gwa.metrics.stillness import stillness
from gwa.metrics.usage import usage
from gwa.metrics.waiting import CONDITIONS
from gwa.report.course import Course
from gwa.report.explorer import Choice, Explorer, Mark
from gwa.store.resources import GPU
from gwa.store.store import Period, Store
from gwa.util.arrow_columns import filled
from gwa.words.hours import LABELS

Codes = NDArray[np.float64]

KEYS: Final = {"qos": "qos"}
"""The key of a dimension in an address, where it is not its name without the plural."""

ASKED: Final = ("wait.held.share",)
"""Facts of the whole trace that the page asks for: from when waits count decides which of them it shows."""

AMOUNTS: Final = ("cpu_seconds", "gpu_seconds")
"""What the page adds up."""

MEASURED: Final = ("gpu_used_seconds", KNOWN_OF["gpu_used_seconds"])
"""What it adds up of the use of GPUs, and the time of which that is known."""

ASIDE: Final = (Chapter.SIZES, Chapter.ARRIVALS)
"""Chapters on which few act."""

DETAILS: Final = (
    "overview", "budget", "capacity", "utilization", "demand", "usage", "waits", "slowdown", "wait-bounds",
    "estimates", "efficiency", "synthetic-workloads", "nodes", "memory", "energy", "gpus", "changes",
)  # fmt: skip
"""Sections that the first screen answers in short, or that add details to another one."""

TIMES: Final = {"months": "month", "weekdays": "weekday", "hours": "hour"}
"""The keys of the classes of times, by the names of their dimensions."""

PICTURES: Final = {
    "figure-utilization": ("busy", "day"), "figure-arrivals": ("submitted", "day"),
    "figure-waits": ("waits", "all"), "figure-waits-months": ("monthly", "month"),
    "figure-week": ("week", "hour"),
    "outcomes": ("ends", "outcome"), "outcomes-users": ("incomplete", "user"),
    "outcomes-months": ("incomplete", "month"), "figure-outcomes-months": ("incomplete", "month"),
}  # fmt: skip
"""Tables and figures that are not of one dimension: their kind, and the key of their classes."""

WAITS: Final = ("month", "hour", "request", "project")
"""The keys of the classes of which waits have a figure and a table of their own."""

SHORTEST_WAIT: Final = 2
"""The code of the class of waits from one second on: 0 is unknown, 1 less than a second."""

MINIMUM_JOBS: Final = 2
"""Of a single job there is nothing to choose."""


def explorer(store: Store, facts: Mapping[str, Any]) -> Explorer | None:
    """
    Return the cells of *store* as its page takes them.

    There are none where no two jobs have a time of submission, or some lie more than a century apart. Some
    values of the whole are taken from *facts*, by their ids.
    """
    if not lies_within_a_century(store):
        return None
    cells = cube(store, has_moments=True)
    jobs = cells.jobs
    if not cells.days.num_rows or filled(jobs["jobs"]).sum() < MINIMUM_JOBS:
        return None
    shown = _telling([one for one in recorded(store) if one.name in jobs.schema.names], jobs)
    choices = [_choice(store, one, cells) for one in shown]
    days = _all_days(cells)
    first, end = _first_and_end(store, days, cells.grain.days)
    tables = {
        "days": _days(store, cells, days, first),
        "jobs": _jobs(cells, jobs, days, choices, shown),
        "usage": _usage(cells, days, choices, shown),
        **_moments(cells, days, choices, shown),
    }
    layout, content = packed(tables)
    cpus, sizes = store.system.size, tuple(_sizes(store))
    octaves, told = cells.grain.octaves if store.has("wait_time") else 0, _budget(store)
    return Explorer(
        tuple(choices),
        {name: OUTCOME_NAMES[name] for name in OUTCOMES},
        {name: asdict(table) for name, table in layout.items()},
        content,
        cpus,
        {name: facts[name] for name in ASKED if facts.get(name) is not None},
        tuple(_marks(store)),
        first,
        end,
        cells.grain.days,
        store.system.relative,
        octaves,
        tuple(_aside()),
        dict(_follows(store, choices, shown, cells)),
        _course(store, tables, cpus, first, end - 1),
        told,
        dict(_phrases()),
        first_lists(tables, choices, octaves, is_bound=told["is_bound"]),
        sizes,
        waiting_bar(store),
    )


def _phrases() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the templates of all that the first screen says, by name."""
    yield from phrases().items()
    yield from ((f"label_{name}", (label,)) for name, label in LABELS.items())
    yield from ((f"list_{name}", (text,)) for name, text in LIST_PHRASES.items())
    yield from ((f"waiting_{name}", (text,)) for name, text in WAITING_PHRASES.items())


def _budget(store: Store) -> dict[str, Any]:
    """Return how the hours of *store* are told apart, for its parts."""
    found, gpus = budget(store), usage(store, GPU)
    return {
        "kind": found.kind,
        "is_told": found.is_told,
        "is_bound": found.is_bound,
        "has_unknown_runs": found.has_unknown_runs,
        "knows_outages": found.outages is not None,
        "gpus": None if store.is_selection or gpus.inferred else gpus.total,
    }


def _telling(dimensions: Sequence[Dimension], jobs: pa.Table) -> list[Dimension]:
    """Return the *dimensions* that tell jobs apart, without those that do it as another before them."""
    found: dict[str, Dimension] = {}
    columns = {one.name: _encoded(jobs, one.name) for one in dimensions}
    codes = {name: filled(column.indices, -1) for name, column in columns.items()}
    classes = {name: len(np.unique(values)) for name, values in codes.items()}
    for one in dimensions:
        pairs = (
            len(np.unique(np.stack([codes[one.name], codes[other]]), axis=1).T)
            for other in found
            if classes[other] == classes[one.name]
        )
        if classes[one.name] > 1 and classes[one.name] not in pairs:
            found[one.name] = one
    return list(found.values())


def _choice(store: Store, dimension: Dimension, cells: Cube) -> Choice:
    """Return what can be chosen of a *dimension*: of names, the largest first."""
    classes = dimension.of(store)
    tables = (cells.jobs, cells.usage, *([cells.moments] if cells.moments else []))
    present = {value for table in tables for value in _distinct(table, dimension.name)}
    if classes is not None and classes.names is not None:
        names = [name for name in classes.names.values() if name in present]
        return _named(dimension, names, 0)
    keys = by_size(store, dimension)
    names = [key for key in keys if key in present and key != OTHERS]
    # Of a period, those who only ran in it are not among the keys: how many others there are is not known.
    is_counted = OTHERS in present and store.period is None
    return _named(dimension, names, len(keys) - len(names) if is_counted else 0)


def _named(dimension: Dimension, names: Sequence[str], others: int) -> Choice:
    key = KEYS.get(dimension.name, dimension.name.removesuffix("s"))
    return Choice(
        key, dimension.heading, dimension.title, tuple(names), others, has_own_order=not dimension.is_ranked
    )


def _distinct(table: pa.Table, name: str) -> list[Any]:
    values: list[Any] = _encoded(table, name).dictionary.to_pylist()
    return values


def _first_and_end(store: Store, days: NDArray[np.int64], step: int) -> tuple[int, int]:
    """
    Return the numbers of the first day of the log, or of the period asked for, and of that after its last.

    Where *days* are the first ones of weeks, the first week begins before the log and the last ends after it.
    """
    span = recorded_time(store)
    if step == 1 or span is None:
        return int(days[0]), int(days[-1]) + step
    begin, last = span
    calendar, zero = _numbered(store, (begin, max(begin, last - 1)))  # at midnight the day is over
    end = min(int(days[-1]) + step, zero + len(calendar.edges) - 1)
    return max(int(days[0]), zero), max(end, int(days[-1]) + 1)


def _numbered(store: Store, span: Period) -> tuple[Calendar, int]:
    """Return the days of a *span*, and the number of their first one."""
    calendar = Calendar.of(*span, store.system.timezone, relative=store.system.relative)
    return calendar, calendar.first if calendar.dates is None else (calendar.dates[0] - EPOCH).days


def _all_days(cells: Cube) -> NDArray[np.int64]:
    """Return the days of all cells, in order."""
    tables = (cells.days, cells.jobs, *([cells.moments] if cells.moments else []))
    return np.unique(np.concatenate([filled(table["day"].drop_null()) for table in tables])).astype(np.int64)


def _days(store: Store, cells: Cube, days: NDArray[np.int64], first: int) -> dict[str, Codes]:
    """
    Return the columns of the days: how far each is from the *first* one, and its seconds.

    Where the size of the system changed, they have the processor-seconds that there were, too.
    """
    found = {"day": np.maximum(days - first, 0).astype(np.float64)}
    places = np.searchsorted(days, filled(cells.days["day"]))
    for name in ("seconds", "known_seconds", "accounted_seconds"):
        found[name] = np.zeros(len(days))
        found[name][places] = filled(cells.days[name], np.nan)
    if store.system.sizes:
        there = capacities(store, cells.grain)
        found["capacity"] = np.array([there.get(day, 0.0) for day in days.tolist()])
    return found


def _jobs(
    cells: Cube,
    jobs: pa.Table,
    days: NDArray[np.int64],
    choices: Sequence[Choice],
    shown: Sequence[Dimension],
) -> dict[str, Codes]:
    columns = _shared(jobs, days, choices, shown) | _outcomes(jobs)
    if cells.grain.octaves:
        columns["wait"] = _waits(jobs, cells.grain.octaves)
    if cells.grain.have_hours:
        columns["hour"] = filled(jobs["hour"])
    amounts = _amounts(jobs)
    if "core_seconds" in jobs.schema.names:  # of jobs, core-hours are what waits are weighed by
        amounts["cpu_seconds"] = filled(jobs["core_seconds"])
    return columns | {"jobs": filled(jobs["jobs"]), **amounts}


def _usage(
    cells: Cube, days: NDArray[np.int64], choices: Sequence[Choice], shown: Sequence[Dimension]
) -> dict[str, Codes]:
    columns = _shared(cells.usage, days, choices, shown) | _outcomes(cells.usage)
    told = {name: filled(cells.usage[name], np.nan) for name in ("known", "accounted")}
    return columns | told | _amounts(cells.usage, *MEASURED, RESTARTED)


def _shared(
    table: pa.Table, days: NDArray[np.int64], choices: Sequence[Choice], shown: Sequence[Dimension]
) -> dict[str, Codes]:
    """Return the columns that all tables have: the place of the day, the last where unknown, and codes."""
    places = np.searchsorted(days, filled(table["day"], days[-1] + 1))
    columns = {"day": places.astype(np.float64)}
    for choice, dimension in zip(choices, shown, strict=True):
        codes = {name: code for code, name in enumerate((*choice.names, OTHERS, None))}
        columns[choice.key] = _coded(table, dimension.name, codes)
    return columns


def _outcomes(table: pa.Table) -> dict[str, Codes]:
    return {"outcome": _coded(table, "outcome", {name: code for code, name in enumerate(OUTCOMES)})}


def _moments(
    cells: Cube, days: NDArray[np.int64], choices: Sequence[Choice], shown: Sequence[Dimension]
) -> dict[str, dict[str, Codes]]:
    """Return the table of moments of waiting, where the cube has it."""
    if cells.moments is None:
        return {}
    codes: dict[str | None, int] = {name: code for code, name in enumerate(CONDITIONS)}
    columns = _shared(cells.moments, days, choices, shown)
    columns["condition"] = _coded(cells.moments, "condition", codes)
    return {"moments": columns | {"moments": filled(cells.moments["moments"])}}


def _coded(table: pa.Table, name: str, codes: Mapping[str | None, int]) -> Codes:
    """Return the code of each value of a column."""
    column = _encoded(table, name)
    of_place = [codes[value] for value in column.dictionary.to_pylist()]
    places = filled(column.indices, len(of_place)).astype(np.int64)
    return np.array([*of_place, codes.get(None, 0)], np.float64)[places]


def _waits(jobs: pa.Table, octaves: int) -> Codes:
    """Return the class of each wait: of half octaves or whole ones."""
    halves = filled(jobs["wait"], np.nan)
    classes = np.floor(halves * octaves / 2) + SHORTEST_WAIT
    return np.where(np.isnan(halves), 0.0, np.where(halves < 0, 1.0, classes))


def _encoded(table: pa.Table, name: str) -> pa.DictionaryArray:
    """Return a column as its distinct values and where each row has which."""
    return table[name].combine_chunks().dictionary_encode()


def _amounts(table: pa.Table, *further: str) -> dict[str, Codes]:
    return {name: filled(table[name]) for name in (*AMOUNTS, *further) if name in table.schema.names}


def _course(
    store: Store, tables: Mapping[str, Mapping[str, Codes]], cpus: int | None, first: int, last: int
) -> Course | None:
    """Return what was held in each day; None where processors are not recorded."""
    usage, lengths = tables["usage"], tables["days"]["seconds"]
    if "cpu_seconds" not in usage:
        return None
    held: dict[str, Codes] = {
        name: np.bincount(
            usage["day"].astype(np.int64), usage["cpu_seconds"] * (usage["outcome"] == code), len(lengths)
        ).astype(np.float64)
        for code, name in enumerate(OUTCOMES)
    }
    names = (
        str(day) if store.system.relative else (EPOCH + timedelta(days=day)).isoformat()
        for day in (first, last)
    )
    return Course(held, lengths, cpus, *names)


def _aside() -> Iterator[str]:
    """Yield the ids of the sections that stand folded."""
    yield from (one.id for one in SECTIONS)
    yield from (one.id for one in analyses() if one.chapter in ASIDE or one.id in DETAILS)


def _follows(
    store: Store, choices: Sequence[Choice], shown: Sequence[Dimension], cells: Cube
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the ids of the tables and figures that follow a selection, with what they show."""
    keys = {"day", "all", "outcome", *_times(store, cells)}
    for choice, dimension in zip(choices, shown, strict=True):
        keys.add(choice.key)
        if dimension.is_ranked:
            yield f"{dimension.name}-by-cpu", ("amounts", choice.key, "cpu_seconds")
            yield f"{dimension.name}-by-jobs", ("amounts", choice.key, "jobs")
        else:
            yield f"by-{dimension.name}", ("amounts", choice.key)
    for name, key in TIMES.items():
        if key in keys:
            yield f"by-{name}", ("amounts", key)
    are_waits_known = cells.grain.octaves > 0
    for key in WAITS:
        if are_waits_known and key in keys:
            yield f"waits-{key}", ("waits", key)
            yield f"figure-waits-{key}", ("waits", key)
    for name, (kind, key) in PICTURES.items():
        needs_waits = kind in {"waits", "monthly"}
        if key in keys and (not needs_waits or are_waits_known):
            yield name, (kind, key)


def _times(store: Store, cells: Cube) -> Iterator[str]:
    """Yield the keys of the classes of times that cells distinguish: of hours, and of days with a date."""
    if cells.grain.have_hours:
        yield "hour"
    if cells.grain.days == 1 and not store.system.relative:
        yield from ("month", "weekday")


def _marks(store: Store) -> Iterator[Mark]:
    """Yield the outages, and the stretches in which the log does not tell what ran."""
    found = stillness(store)
    for stretch in (*found.of("outage"), *found.unaccounted):
        since, until = _in_days(store, stretch.begin, stretch.end)
        yield Mark(stretch.kind, since, until)


def _sizes(store: Store) -> Iterator[tuple[float, int]]:
    """Yield since which day there were how many processors, where that changed."""
    span = recorded_time(store.whole)
    if span and store.system.sizes:
        for begin, _, cpus in store.system.sizes_in(span):
            yield _in_days(store, begin)[0], cpus


def _in_days(store: Store, *moments: float) -> list[float]:
    """Return *moments* as numbers of days with fractions; none where the log has no time."""
    span = recorded_time(store.whole)
    if span is None:
        return []
    calendar, zero = _numbered(store, span)
    numbers = zero + np.arange(len(calendar.edges), dtype=np.float64)
    return [float(number) for number in np.interp(moments, calendar.edges, numbers)]
