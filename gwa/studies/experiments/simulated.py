"""One run: a workload under a combination of policies, and what that does to bags, tasks and processors."""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gwa.blocks import Column
from gwa.simulation import bags, engine, metrics
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
    Column("in_time", "Finished before submissions end", "fraction"),
    Column("wait", "Wait", "seconds"),
    Column("response", "Response", "seconds"),
    Column("slowdown", "Slowdown"),
    Column("bounded_slowdown", "Bounded slowdown"),
    Column("utilization", "Utilisation", "fraction"),
    Column("goodput", "Of it for tasks that finished", "fraction"),
)
"""What is measured, in means over bags or tasks: make-span and NSL over bags that finished."""

HELP: Final = (
    "Make-span: from the first submission of a task of a bag to the last end of one. NSL: that over the sum"
    " of its tasks' run times on a processor of speed 1. Both are means over bags of two tasks or more that"
    " finished."
)


def simulated(stated: Stated, made: Made, policies: Policies) -> tuple[list[Row], Schedule]:
    """Return what a run does: a row for each class of bag sizes, and the schedule of each task."""
    if policies.architecture is None:
        return _parallel(stated.machines, made, policies.scheduler)
    said = stated.experiment
    tasks = Tasks.of(made.submit, made.run, made.bag, made.user, made.site)
    run = engine.simulate(
        tasks,
        grid(stated.machines),
        policies.architecture,
        policies.selection or "",
        policies.scheduler,
        horizon=inf if said.horizon is None else said.horizon * made.length,
        seed=said.seed,
        period=said.period,
    )
    return list(_rows(stated.machines, made, tasks, run)), {**vars(tasks), **vars(run)}


def grid(machines: Machines) -> Grid:
    """Return the system as the simulator has it."""
    clusters = machines.clusters
    names = tuple(one.name for one in clusters)
    return Grid.of([one.processors for one in clusters], [one.speed for one in clusters], names)


def _rows(machines: Machines, made: Made, tasks: Tasks, run: engine.Run) -> Iterator[Row]:
    """Yield a row for each class of sizes that has bags."""
    with np.errstate(invalid="ignore"):  # where tasks have not ended
        found = bags.Bags.of(tasks, run)
    _, bag = np.unique(tasks.bag, return_inverse=True)
    size_class = found.size_class
    finished = np.isfinite(run.end)
    speed = np.array([one.speed for one in machines.clusters])[run.cluster]
    for place, name in enumerate(CLASSES, -len(CLASSES) + len(bags.CLASSES)):
        mine = size_class >= 0 if name == BAGS else size_class == (-1 if name == ALONE else place)
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
            "finished": float(finished[which].mean()),
            "in_time": float((run.end[which] <= made.length).mean()),
        }
        response = (run.end - tasks.submit)[which]
        row |= {"wait": _mean((run.start - tasks.submit)[which & finished]), "response": _mean(response)}
        row |= _slowdowns(response, tasks.run[which])
        if name == BAGS:
            until = float(np.nanmax(run.end, initial=0.0))
            consumed = float(run.consumed.sum())
            useful = float((tasks.run / speed)[finished].sum())
            row["utilization"] = consumed / (machines.processors * until) if until else 0.0
            row["goodput"] = useful / consumed if consumed else None
        yield row


def _slowdowns(response: Floats, run: Floats) -> Row:
    """Return mean slowdowns: the response over the run time on a processor of speed 1."""
    known = run > 0
    bounded = np.maximum(response / np.maximum(run, metrics.TAU), 1.0)
    return {"slowdown": _mean(response[known] / run[known]), "bounded_slowdown": _mean(bounded)}


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
