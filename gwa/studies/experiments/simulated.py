"""One run: a workload under a combination of policies, and what that does to bags, tasks and processors."""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gwa.blocks import Column
from gwa.simulation import bags, engine, metrics, performance
from gwa.simulation.backfilling import schedule
from gwa.simulation.grid import Grid
from gwa.simulation.jobs import Floats, Jobs
from gwa.simulation.tasks import Tasks
from gwa.studies.experiments.experiment import Machines, Stated
from gwa.studies.experiments.plan import Policies
from gwa.studies.experiments.workloads import Made

Row: TypeAlias = dict[str, str | float | int | None]
"""What is told of the bags of a class of sizes: a number for each of `MEASURES`, None where there is none."""

Schedule: TypeAlias = Mapping[str, NDArray[np.float64] | NDArray[np.int64]]
"""What became of each task, in columns."""

BAGS, ALONE, JOBS = "bags", "1", "jobs"
"""Bags of two tasks or more; tasks that are alone; parallel jobs."""

CLASSES: Final = (BAGS, ALONE, *bags.CLASSES)

MEASURES: Final = (
    Column("bags", "Bags", "count"),
    Column("bags_finished", "Bags finished", "count"),
    Column("makespan", "Make-span", "seconds"),
    Column("nsl", "NSL"),
    Column("tasks", "Tasks", "count"),
    Column("finished", "Tasks finished", "fraction"),
    Column("in_time", "Finished in time", "fraction"),
    Column("wait", "Wait", "seconds"),
    Column("response", "Response", "seconds"),
    Column("slowdown", "Slowdown"),
    Column("bounded_slowdown", "Bounded slowdown"),
    Column("utilization", "Utilisation", "fraction"),
    Column("goodput", "Of that useful", "fraction"),
    Column("fairness", "Fairness"),
)
"""What is measured, in means over bags or tasks; what is of the whole run stands in its first row."""

HELP: Final = (
    "Make-span: from the first submission of a task of a bag to the last end of one. NSL: that over the sum"
    " of its tasks' run times on a processor of speed 1. Both are means over bags of two tasks or more that"
    " finished. In time is before the last submission. Fairness is Jain's index of the users' mean bounded"
    " slowdowns: 1 where all fare alike."
)


def simulated(stated: Stated, made: Made, policies: Policies) -> tuple[list[Row], Schedule]:
    """Return what a run does: a row for each class of bag sizes, and the schedule of each task."""
    if policies.architecture is None:
        return _parallel(stated.machines, made, policies.scheduler)
    said = stated.experiment
    tasks = Tasks.of(made.submit, made.run, made.bag, made.user, made.site)
    system = grid(stated.machines)
    horizon = inf if said.horizon is None else said.horizon * made.length
    run = engine.simulate(
        tasks,
        system,
        policies.architecture,
        policies.selection or "",
        policies.scheduler,
        horizon=horizon,
        seed=said.seed,
        period=said.period,
    )
    return list(_rows(made, tasks, run, system, horizon)), {**vars(tasks), **vars(run)}


def grid(machines: Machines) -> Grid:
    """Return the system as the simulator has it."""
    clusters = machines.clusters
    names = tuple(one.name for one in clusters)
    return Grid.of([one.processors for one in clusters], [one.speed for one in clusters], names)


def _rows(made: Made, tasks: Tasks, run: engine.Run, system: Grid, horizon: float) -> Iterator[Row]:
    """Yield a row for each class of sizes that has bags."""
    found = bags.Bags.of(tasks, run)
    _, bag = np.unique(tasks.bag, return_inverse=True)
    ended = np.isfinite(run.end)
    each = {
        "wait": np.where(ended, performance.wait(tasks, run), np.nan),
        "response": performance.response(tasks, run),
        "slowdown": performance.slowdown(tasks, run),
        "bounded_slowdown": performance.bounded_slowdown(tasks, run),
    }
    of_system = _of_system(tasks, run, system, horizon)
    for name in CLASSES:
        mine = _of_class(found, name)
        if not mine.any():
            continue
        which = mine[bag]
        row: Row = {
            "class": name,
            "bags": int(mine.sum()),
            "bags_finished": int(np.isfinite(found.makespan[mine]).sum()),
            "makespan": _mean(found.makespan[mine]),
            "nsl": _mean(found.nsl[mine]),
            "tasks": int(which.sum()),
            "finished": float(ended[which].mean()),
            "in_time": float((run.end[which] <= made.length).mean()),
            **{key: _mean(values[which]) for key, values in each.items()},
        }
        yield row | of_system
        of_system = {}


def _of_class(found: bags.Bags, name: str) -> NDArray[np.bool_]:
    """Return which bags are of a class."""
    if name == BAGS:
        return found.size_class >= 0
    mine: NDArray[np.bool_] = found.size_class == (-1 if name == ALONE else bags.CLASSES.index(name))
    return mine


def _of_system(tasks: Tasks, run: engine.Run, system: Grid, horizon: float) -> Row:
    """Return what all tasks together do to the system and to their users."""
    consumed, speed = float(run.consumed.sum()), system.speeds[run.cluster]
    useful = float((tasks.run / speed)[np.isfinite(run.end)].sum())
    return {
        "utilization": performance.utilization(tasks, run, system, horizon),
        "goodput": useful / consumed if consumed else None,
        "fairness": _mean(np.array([performance.fairness(tasks, run)])),
    }


def _parallel(machines: Machines, made: Made, policy: str) -> tuple[list[Row], Schedule]:
    """Return what a policy does to parallel jobs on one cluster, a single row, and the schedule."""
    jobs = Jobs.of(made.submit, made.run, made.procs, made.estimate)
    start = schedule(jobs, machines.processors, policy)
    response = metrics.response(jobs, start)
    row: Row = {
        "class": JOBS,
        "tasks": len(jobs),
        "finished": 1.0,
        "in_time": float((start + jobs.run <= made.length).mean()),
        "wait": _mean(metrics.wait(jobs, start)),
        "response": _mean(response),
        "slowdown": _mean((response / jobs.run)[jobs.run > 0]) if jobs.run.any() else None,
        "bounded_slowdown": _mean(metrics.bounded_slowdown(jobs, start)),
        "utilization": metrics.utilization(jobs, start, machines.processors),
        "goodput": 1.0,
    }
    return [row], {**vars(jobs), "start": start, "end": start + jobs.run}


def _mean(values: Floats) -> float | None:
    """Return the mean of what is known, None where nothing is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None
