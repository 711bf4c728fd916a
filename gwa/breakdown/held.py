"""
What jobs held while the log knows the load: processors, GPUs and nodes times seconds, by outcome.

Of GPUs there is also what was used and idle of them, each beside the time of which that is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gwa.breakdown.dimensions import Dimension
from gwa.metrics.outcomes import OUTCOMES, Outcome, outcome
from gwa.metrics.presence import has_boxes, run_time, unfinished, unlisted, with_boxes
from gwa.metrics.timeline import exact_sum
from gwa.metrics.window import window
from gwa.store.gpu_parts import WHOLE_GPUS, has_parts
from gwa.store.runs import FIRST_START
from gwa.store.schema import NAMES
from gwa.store.store import Period, Store

FIELDS_OF_BOXES: Final = ", ".join(
    (
        *NAMES,
        "outcome",
        "start_time",
        "end_time",
        "seconds",
        "is_last_run",
        "begins_last_run",
        "is_by_sum",
        "previous_end",
    )
)

ONCE: Final = f"""
select *, start_time + seconds as end_time, true as is_last_run, true as begins_last_run,
    false as is_by_sum, cast(null as double) as previous_end
from (
    select *, {{outcome}} as outcome, {FIRST_START} as start_time, {{seconds}} as seconds
    from all_jobs where {{once}}submit_time is not null
) as begun where seconds >= 0
"""
"""The jobs that are one box."""

USED: Final = "(greatest(n_gpus, 0) * gpu_utilization)"
"""How many GPUs of a job were busy on average."""

AMOUNTS: Final = {
    "cpu_seconds": "case when n_procs >= 1 then n_procs * {seconds} else 0 end",
    "gpu_seconds": "case when n_gpus > 0 then n_gpus * {seconds} else 0 end",
    "node_seconds": "case when n_nodes > 0 then n_nodes * {seconds} else 0 end",
    "gpu_used_seconds": f"case when {USED} > 0 then {USED} * {{seconds}} else 0 end",
    "gpu_known_seconds": "case when n_gpus > 0 and gpu_utilization >= 0 then n_gpus * {seconds} else 0 end",
    "gpu_idle_seconds": "case when n_gpus > 0 and idle_gpus > 0 then idle_gpus * {seconds} else 0 end",
    "gpu_idle_known_seconds": "case when n_gpus > 0 and idle_gpus >= 0 then n_gpus * {seconds} else 0 end",
}
"""The SQL of what a job held in some *seconds*."""

RESTARTED: Final = "restarted_seconds"

OF_RUNS: Final = {RESTARTED: "case when not is_last_run and n_procs >= 1 then n_procs * {seconds} else 0 end"}
"""The SQL of the part of ``cpu_seconds`` that runs held which were not the last of their job."""

FIELDS: Final = {
    "cpu_seconds": "n_procs",
    "gpu_seconds": "n_gpus",
    "node_seconds": "n_nodes",
    "gpu_used_seconds": "gpu_utilization",
    "gpu_known_seconds": "gpu_utilization",
    "gpu_idle_seconds": "idle_gpus",
    "gpu_idle_known_seconds": "idle_gpus",
}

KNOWN_OF: Final = {"gpu_used_seconds": "gpu_known_seconds", "gpu_idle_seconds": "gpu_idle_known_seconds"}
"""Of what is measured, the time of which it is known."""


@dataclass(frozen=True)
class Held:
    """
    The seconds held of each of `AMOUNTS` that is recorded, and the CPU seconds by outcome.

    *earlier* are the CPU seconds held by all runs of jobs but the last, and *by_sum* those of which only the
    sum over several runs is known; None where no job lists what it held.
    """

    amounts: Mapping[str, float]
    outcomes: Mapping[Outcome, float]
    earlier: float | None = None
    by_sum: float | None = None


def held_jobs(store: Store) -> str:
    """
    Return the table of what jobs held at any time, with ``start_time`` and ``end_time``.

    A row is a box: a job has several if it ran more than once, or held different amounts. ``previous_end`` is
    the end of the box before of the same job, ``is_last_run`` whether the box is of its last run,
    ``begins_last_run`` whether it is the first of that, and ``is_by_sum`` whether its seconds are known, and
    their place is not. Jobs that had not ended when the log did held it until then. Jobs without a known
    submission are left out: it is not known when they did.
    """
    seconds = run_time(store) if unfinished(store) else "run_time"
    of_jobs = outcome(store)
    once = ONCE.format(outcome=of_jobs, seconds=seconds, once=unlisted(store))
    several = f"select {FIELDS_OF_BOXES} from (select *, {of_jobs} as outcome from {{}} as listed) as several"
    jobs = f"select {FIELDS_OF_BOXES} from ({once}) as once"
    return f"({with_boxes(store, jobs, several.format)})"


def held_at_any_time(store: Store) -> str:
    """Return `held_jobs` or, where no submission is recorded, the jobs that ran, whose times are unknown."""
    if store.has("submit_time"):
        return held_jobs(store)
    return (
        f"(select *, {outcome(store)} as outcome, true as is_last_run, run_time as seconds from jobs"
        " where run_time >= 0)"
    )


def recorded_amounts(store: Store) -> Mapping[str, str]:
    """Return the SQL of each of `AMOUNTS` whose field the log records, yet without its seconds."""
    return {name: sql for name, sql in AMOUNTS.items() if store.has(FIELDS[name])}


def amounts_of_runs(store: Store) -> Mapping[str, str]:
    """Return `OF_RUNS` where jobs list several runs."""
    return OF_RUNS if store.has("n_procs") and has_boxes(store) else {}


def held(store: Store) -> Held | None:
    """Return what jobs held within the window of observation or the period; None where there is no window."""
    period = window(store).period
    if period is None:
        return None
    inside, where = within(period)
    amounts = {name: sql.format(seconds=inside) for name, sql in recorded_amounts(store).items()}
    sums = ", ".join(f"coalesce({exact_sum(sql)}, 0.0) as {name}" for name, sql in amounts.items())
    if not sums:
        return Held({}, {})
    rows = store.rows(
        f"select outcome, {sums} from {held_jobs(store)} as held where {where} group by outcome"
    )
    by_outcome = {name: dict(zip(amounts, values, strict=True)) for name, *values in rows}
    totals = {name: sum(values[name] for values in by_outcome.values()) for name in amounts}
    of_cpus = {name: by_outcome.get(name, {}).get("cpu_seconds", 0.0) for name in OUTCOMES}
    return Held(totals, of_cpus, *_of_runs(store, period))


def whole_gpu_seconds(store: Store) -> float | None:
    """
    Return the seconds of whole GPUs that jobs held, as `held` counts; None where no job held parts.

    A part counts as its slice, and one of unknown size is left out.
    """
    period = window(store).period
    if period is None or not store.has("n_gpus") or not has_parts(store):
        return None
    inside, where = within(period)
    (seconds,) = store.row(
        f"select {exact_sum(f'({WHOLE_GPUS}) * {inside}')} as seconds"
        f" from {held_jobs(store)} as held where {where}"
    )
    return seconds or 0.0


def _of_runs(store: Store, period: Period) -> tuple[float | None, float | None]:
    """Return the CPU seconds of earlier runs in a *period*, and of what is known by its sum only."""
    if not has_boxes(store) or not store.has("n_procs"):
        return None, None
    inside, where = within(period)
    amount = AMOUNTS["cpu_seconds"].format(seconds=inside)
    earlier, by_sum = store.row(
        f"select {exact_sum(f'case when not is_last_run then {amount} end')} as earlier,"
        f" {exact_sum(f'case when is_by_sum then {amount} end')} as by_sum"
        f" from {held_jobs(store)} as held where {where}"
    )
    return earlier or 0.0, by_sum or 0.0


def cpu_seconds_by(
    store: Store, dimension: Dimension, *, is_earlier: bool = False
) -> dict[str | None, float]:
    """
    Return the CPU seconds that each class of a *dimension* held, the largest first.

    If *is_earlier*, they are those of runs that were not the last of their job.

    They are those of `held` or, where there is no window, of all the log, as in the lists of a page; None has
    those of jobs without a class. Classes that held nothing are left out.
    """
    classes = dimension.of(store)
    if classes is None or not (store.has("n_procs") and store.has("run_time")):
        return {}
    if is_earlier and not (has_boxes(store) and store.has("submit_time")):
        return {}
    inside, where = within_window(store)
    where += " and not is_last_run" if is_earlier else ""
    table = held_at_any_time(store)
    amount = exact_sum(AMOUNTS["cpu_seconds"].format(seconds=inside))
    rows = store.rows(
        f"select * from (select {classes.key} as key, {amount} as amount from {table} as held"
        f" where {where} group by 1) as sums where amount > 0 order by amount desc, key"
    )
    return {None if key is None else str(key): float(amount) for key, amount in rows}


def held_rows(store: Store, dimension: Dimension, most: int) -> list[dict[str, str | float]]:
    """
    Return the classes that held most, *most* of them, each with its CPU seconds and its share of all.

    Where jobs list what they held, ``earlier_share`` is the part of a class's own that was held by runs that
    were not the last of their job.
    """
    seconds = cpu_seconds_by(store, dimension)
    earlier = cpu_seconds_by(store, dimension, is_earlier=True)
    everything = sum(seconds.values())
    named = [(name, value) for name, value in seconds.items() if name is not None]
    rows: list[dict[str, str | float]] = [
        {"id": name, "held_seconds": value, "held_share": value / everything} for name, value in named[:most]
    ]
    if has_boxes(store):
        for row, (name, value) in zip(rows, named, strict=False):
            row["earlier_share"] = earlier.get(name, 0.0) / value
    return rows


def within(period: Period) -> tuple[str, str]:
    """Return the SQL of the seconds that a job held something in a *period*, and of whether it did."""
    first, last = period
    inside = f"greatest(least(end_time, {last!r}) - greatest(start_time, {first!r}), 0.0)"
    return inside, f"start_time < {last!r} and end_time > {first!r}"


def within_window(store: Store) -> tuple[str, str]:
    """Return what `within` does of the window of observation or the period or, without one, of all time."""
    period = window(store).period
    return within(period) if period else ("seconds", "true")
