"""One run: the simulation of a workload under a combination of policies, and its measures."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from math import inf
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gwa.evaluation.experiments.plan import Policies
from gwa.evaluation.experiments.spec import NO_CHANGE, ExperimentSetup, Machines, parsed_changes
from gwa.evaluation.experiments.workloads import GeneratedWorkload
from gwa.evaluation.whatif.change import changed
from gwa.evaluation.whatif.world import World
from gwa.report.columns import column
from gwa.simulation import bags, engine, metrics, performance
from gwa.simulation.backfilling import schedule
from gwa.simulation.grid import Grid
from gwa.simulation.jobs import Floats, Integers, Jobs
from gwa.simulation.tasks import Tasks
from gwa.words.message import message

Row: TypeAlias = dict[str, str | float | int | None]
"""The results for a class of bag sizes: a number for each of `MEASURES`, None if it is unknown."""

Schedule: TypeAlias = Mapping[str, NDArray[np.float64] | NDArray[np.int64]]
"""The columns of the tasks of a run, as simulated."""

BAGS, SINGLE_TASKS, JOBS = "bags", "1", "jobs"
"""Bags of two or more tasks; bags of one task; parallel jobs."""

CLASSES: Final = (BAGS, SINGLE_TASKS, *bags.CLASSES)

MEASURES: Final = (
    column("bags"),
    column("bags_finished"),
    column("makespan"),
    column("makespan_normalized", "nsl"),
    column("tasks"),
    column("tasks_finished", "finished"),
    column("finished_in_time", "in_time"),
    column("wait_mean", "wait"),
    column("response_mean", "response"),
    column("unbounded_slowdown_mean", "slowdown"),
    column("slowdown_mean", "bounded_slowdown"),
    column("utilization"),
    column("goodput"),
    column("fairness"),
    column("wait_p95"),
    column("processors"),
    column("requests_raised", "raised"),
)
"""The measures, means over bags or tasks; those of the whole run are in its first row."""

HELP: Final = message(
    "Make-span: from the first submission of a task of a bag to the last end of one. Normalized: over the sum"
    " of its tasks' run times on a processor of speed 1. Both are means over bags of two tasks or more that"
    " finished. In time is before the last submission. Fairness is Jain's index of the users' mean bounded"
    " slowdowns: 1 where all fare alike."
)


def simulate(
    setup: ExperimentSetup, workload: GeneratedWorkload, policies: Policies
) -> tuple[list[Row], Schedule]:
    """Simulate a run; return a row for each class of bag sizes, and the schedule of each task."""
    if policies.architecture is None:
        return _simulate_jobs(_world(setup, workload, policies), workload.length)
    experiment = setup.experiment
    tasks, system = workload.tasks, to_grid(setup.machines)
    horizon = inf if experiment.horizon is None else experiment.horizon * workload.length
    run = engine.simulate(
        tasks,
        system,
        policies.architecture,
        policies.selection or "",
        policies.scheduler,
        horizon=horizon,
        seed=experiment.seed,
        period=experiment.period,
    )
    rows = list(_rows(tasks, run, workload.length, _measure_system(tasks, run, system, horizon)))
    job = workload.numbers[np.argsort(workload.submit, kind="stable")]
    return rows, {"job": job, **{field.name: getattr(tasks, field.name) for field in fields(tasks)}} | vars(
        run
    )


def to_grid(machines: Machines) -> Grid:
    """Convert a system for the simulator."""
    clusters = machines.clusters
    names = tuple(cluster.name for cluster in clusters)
    return Grid.of(
        [cluster.processors for cluster in clusters], [cluster.speed for cluster in clusters], names
    )


def _rows(tasks: Tasks, run: engine.Run, length: float, of_system: Row) -> Iterator[Row]:
    """Yield a row for each class of sizes that has bags; the first row includes *of_system*."""
    measured, ended = bags.Bags.of(tasks, run), np.isfinite(run.end)
    bag = measured.size_class + 1
    task = bag[tasks.bags.of]
    counts = {
        "bags": _totals(bag),
        "bags_finished": _totals(bag[np.isfinite(measured.makespan)]),
        "tasks": _totals(task),
    }
    means = {
        "makespan": _means(measured.makespan, bag),
        "nsl": _means(measured.nsl, bag),
        "finished": _means(ended, task),
        "in_time": _means(run.end <= length, task),
        "wait": _means(np.where(ended, performance.wait(tasks, run), np.nan), task),
        "response": _means(performance.response(tasks, run), task),
        "slowdown": _means(performance.slowdown(tasks, run), task),
        "bounded_slowdown": _means(performance.bounded_slowdown(tasks, run), task),
    }
    for i in np.flatnonzero(counts["bags"]):
        row: Row = {"class": CLASSES[i], **{key: int(count[i]) for key, count in counts.items()}}
        row |= {key: float(mean[i]) if np.isfinite(mean[i]) else None for key, mean in means.items()}
        yield row | of_system
        of_system = {}


def _means(values: Floats | NDArray[np.bool_], group: Integers) -> Floats:
    """Return the mean of the known *values* in each of `CLASSES`, nan if there are none."""
    known = np.isfinite(values)
    total, count = _totals(group[known], values[known].astype(np.float64)), _totals(group[known])
    means: Floats = np.divide(total, count, out=np.full(len(CLASSES), np.nan), where=count > 0)
    return means


def _totals(group: Integers, values: Floats | None = None) -> Floats:
    """Return the number of members, or the sum of *values*, in each of `CLASSES`; group 0 has bags of one."""
    totals = np.bincount(group, values, len(CLASSES) - 1)
    return np.concatenate([[totals[1:].sum()], totals])


def _measure_system(tasks: Tasks, run: engine.Run, system: Grid, horizon: float) -> Row:
    """Return the measures of the system and of its users over all tasks."""
    consumed, speed = float(run.consumed.sum()), system.speeds[run.cluster]
    useful = float((tasks.run / speed)[np.isfinite(run.end)].sum())
    return {
        "utilization": performance.utilization(tasks, run, system, horizon),
        "goodput": useful / consumed if consumed else None,
        "fairness": _mean(np.array([performance.fairness(tasks, run)])),
    }


def _world(setup: ExperimentSetup, workload: GeneratedWorkload, policies: Policies) -> World:
    """Return parallel jobs on one cluster under a policy, with the change."""
    world = World(
        workload.submit, np.full(len(workload), np.nan), workload.run, workload.estimate, workload.procs,
        workload.numbers, np.full(len(workload), ""), workload.user.astype(str),
        setup.machines.processors, policies.scheduler,
    )  # fmt: skip
    changes = parsed_changes(policies.change or NO_CHANGE)
    return changed(world, changes, setup.experiment.seed)


def _simulate_jobs(world: World, length: float) -> tuple[list[Row], Schedule]:
    """
    Simulate parallel jobs submitted in so long a *length*; return a single row and the schedule.

    A job that ran longer than it requested is planned with its run time, and counted: no log says when it
    would have been ended.
    """
    jobs = Jobs.of(world.submit, world.run, world.size, world.requested, world.user)
    start = schedule(jobs, world.capacity, world.policy)
    response, wait = metrics.response(jobs, start), metrics.wait(jobs, start)
    row: Row = {
        "class": JOBS,
        "tasks": len(jobs),
        "finished": 1.0,
        "in_time": float((start + jobs.run <= length).mean()),
        "wait": _mean(wait),
        "wait_p95": float(np.quantile(wait, 0.95, method="inverted_cdf")) if len(jobs) else None,
        "processors": world.capacity,
        "response": _mean(response),
        "slowdown": _mean((response / jobs.run)[jobs.run > 0]) if jobs.run.any() else None,
        "bounded_slowdown": _mean(metrics.bounded_slowdown(jobs, start)),
        "utilization": metrics.utilization(jobs, start, world.capacity),
        "goodput": 1.0,
        "raised": int(((world.requested > 0) & (world.requested < world.run)).sum()),
    }
    job = world.job[np.argsort(world.submit, kind="stable")]
    columns = {
        field.name: getattr(jobs, field.name) for field in fields(jobs) if field.name not in {"user", "limit"}
    }
    return [row], {"job": job, **columns, "start": start, "end": start + jobs.run}


def _mean(values: Floats) -> float | None:
    """Return the mean of the known values, None if there are none."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None
