"""
Energy that jobs used, recorded or estimated, and the carbon dioxide and money that it stands for.

A job without a record of its energy is estimated to draw, from start to end, what `System` says of each of
the processors, GPUs and nodes that it holds. Power is taken to be constant over the run of a job.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial, reduce
from math import gcd
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.carbon import Carbon
from gwa.metrics.presence import counted, unlisted, with_boxes
from gwa.metrics.timeline import exact_sum, level
from gwa.metrics.usage import FIELDS, seconds
from gwa.store.runs import END, START
from gwa.store.schema import NAMES
from gwa.store.store import Store
from gwa.util.units import KILOWATT_HOUR, YEAR

Floats = NDArray[np.float64]

DRAWN: Final = {"watts_per_cpu": "n_procs", "watts_per_gpu": "n_gpus", "watts_per_node": "n_nodes"}
"""What draws each of the powers that a system states."""

JOBS: Final = f"""
select {{fields}}, {START} as start_time, {END} as end_time,
    coalesce(energy, {{estimate}}) as joules, energy is not null as is_recorded
from {{jobs}} where {{once}}(energy is not null or {{estimate}} is not null)
"""

BOXES: Final = """
select {fields}, start_time, end_time, coalesce(energy * share, {estimate}) as joules,
    energy is not null as is_recorded
from (select {others}, seconds as run_time, start_time, end_time, share from {boxes} as listed) as box
where energy is not null or {estimate} is not null
"""


@dataclass(frozen=True)
class Energy:
    """The kilowatt hours that *jobs* used, and those of them that are *estimated*, of how many jobs."""

    jobs: int
    kwh: float
    estimated_jobs: int
    estimated_kwh: float


def estimate(store: Store) -> str:
    """Return the SQL of the joules that a job is estimated to use; null where no power is stated."""
    stated = [
        f"{getattr(store.system, name)!r} * coalesce({amount}, 0)"
        for name, amount in DRAWN.items()
        if getattr(store.system, name) is not None
    ]
    return f"(run_time * ({' + '.join(stated)}))" if stated else "cast(null as double)"


def is_known(store: Store) -> bool:
    """Whether energy is recorded, or can be estimated."""
    return store.has("energy") or any(getattr(store.system, name) is not None for name in DRAWN)


def powered(store: Store) -> str:
    """Return the table of jobs whose energy is known, with their *joules*; of a period, of those in it."""
    if store.period is None:
        return f"{_drawn(store, 'jobs')} as powered"
    first, last = store.period
    table = _drawn(store, "all_jobs")
    return f"(select * from {table} as drawn where start_time < {last!r} and end_time > {first!r}) as powered"


def joules(store: Store) -> str:
    """Return the SQL of the joules that a job used or, of a period, used in it."""
    if store.period is None:
        return "joules"
    return f"(case when run_time > 0 then joules * {seconds(store)} / run_time else joules end)"


def energy(store: Store) -> Energy:
    """Return the energy that jobs used."""
    used = joules(store)
    jobs, total, guessed, part = store.row(
        f"select {counted(store)} as jobs, {exact_sum(used)} as total,"
        f" {counted(store, 'not is_recorded')} as guessed,"
        f" {exact_sum(f'case when not is_recorded then {used} end')} as part from {powered(store)}"
    )
    return Energy(jobs, (total or 0.0) / KILOWATT_HOUR, guessed, (part or 0.0) / KILOWATT_HOUR)


def kwh_by(store: Store, place: str, top: int | None) -> list[tuple[Any, int, float]]:
    """Return the jobs and kilowatt hours of each value of the SQL *place*, or of the *top* values."""
    limit = f" limit {top}" if top else ""
    rows = store.rows(
        f"select {place} as name, {counted(store)} as jobs, {exact_sum(joules(store))} as used"
        f" from {powered(store)} where {place} is not null group by {place} order by used desc, name{limit}"
    )
    return [(name, jobs, used / KILOWATT_HOUR) for name, jobs, used in rows]


def kwh_between(store: Store, edges: Floats, where: str = "true") -> Floats:
    """
    Return the kilowatt hours between consecutive *edges*, which rise and are in whole seconds.

    They are of jobs with a run time for which the condition *where* holds.
    """
    whole = np.rint(edges).astype(np.int64)
    width = float(reduce(gcd, np.diff(whole).tolist(), 0) or 1)
    condition = f"{where} and run_time > 0 and submit_time is not null"
    drawn = f"{_drawn(store, 'all_jobs')} as powered"
    table = f"(select *, joules / run_time as watts from {drawn} where {condition})"
    period = (float(whole[0]), float(whole[-1]))
    watts = level(store, "watts", ("start_time", "end_time"), table, width=width, period=period)
    return np.nan_to_num(watts.between(edges)) * np.diff(edges) / KILOWATT_HOUR


def _drawn(store: Store, jobs: str) -> str:
    """Return the table of what *jobs* drew: of those that held several boxes, each of these."""
    said = {"fields": ", ".join(NAMES), "estimate": estimate(store)}
    powered_jobs = JOBS.format(jobs=jobs, once=unlisted(store), **said)
    of_boxes = partial(BOXES.format, others=FIELDS, **said)
    return f"({with_boxes(store, powered_jobs, lambda table: of_boxes(boxes=table))})"


@dataclass(frozen=True)
class Footprint:
    """The carbon dioxide of some jobs in kilograms, and the kilowatt hours whose intensity is unknown."""

    kg: float
    unknown_kwh: float


def footprint(store: Store, carbon: Carbon, kwh: float, where: str = "true") -> Footprint:
    """Return the carbon dioxide of *kwh*, those of the jobs for which *where* holds."""
    if carbon.series is None:
        return Footprint(kwh * carbon.pue * (carbon.constant or 0.0) / 1000, 0.0)
    edges = clipped(carbon.series.times, store)
    if len(edges) < 2:  # noqa: PLR2004 - an interval has two ends
        return Footprint(0.0, kwh)
    used = kwh_between(store, edges, where)
    grams = intensities(carbon, edges[:-1])
    known = ~np.isnan(grams)
    kg = float((used[known] * grams[known]).sum()) * carbon.pue / 1000
    return Footprint(kg, max(kwh - float(used[known].sum()), 0.0))


def clipped(times: Floats, store: Store) -> Floats:
    """Return the *times* within the period of *store*, if it has one, and its borders."""
    if store.period is None:
        return times
    first, last = store.period
    inside = times[(times > first) & (times < last)]
    return np.concatenate(([first], inside, [last]))


def intensities(carbon: Carbon, times: Floats) -> Floats:
    """Return the grams for a kilowatt hour at *times*; nan where the series does not say."""
    if carbon.series is None:
        return np.full(len(times), carbon.constant if carbon.constant is not None else np.nan)
    place = np.searchsorted(carbon.series.times, times, side="right") - 1
    return np.where(place >= 0, carbon.series.grams[np.maximum(place, 0)], np.nan)


def by_interval(store: Store, carbon: Carbon | None, edges: Floats) -> Mapping[str, NDArray[Any]]:
    """Return kilowatt hours, and kilograms of carbon dioxide, between consecutive *edges*."""
    fine = edges if not carbon or not carbon.series else np.union1d(edges, carbon.series.times)
    fine = fine[(fine >= edges[0]) & (fine <= edges[-1])]
    used = kwh_between(store, fine)
    place = np.searchsorted(edges, fine[:-1], side="right") - 1
    kwh = np.bincount(place, used, len(edges) - 1)
    if carbon is None:
        return {"kwh": kwh}
    grams = np.nan_to_num(intensities(carbon, fine[:-1]))
    return {"kwh": kwh, "kg": np.bincount(place, used * grams * carbon.pue / 1000, len(edges) - 1)}


def embodied(store: Store, carbon: Carbon) -> float | None:
    """
    Return the kilograms of carbon dioxide of making the machine that fall to the jobs; None if not known.

    Source: Software Carbon Intensity specification 1.0 (Green Software Foundation), M = TE · TS · RS: the
    total embodied emissions times the share of the machine's life times the share of the machine, which
    together are the CPU time used over that of all processors in all years.
    """
    cpus = store.system.size
    if carbon.embodied_kg is None or carbon.embodied_years is None or not cpus:
        return None
    (used,) = store.row(f"select {exact_sum(f'n_procs * {seconds(store)}')} as used from {_ran(store)}")
    return carbon.embodied_kg * (used or 0.0) / (cpus * carbon.embodied_years * YEAR)


def _ran(store: Store) -> str:
    if store.period is None:
        return "ran"
    first, last = store.period
    return f"(select * from all_ran where start_time < {last!r} and end_time > {first!r}) as inside"
