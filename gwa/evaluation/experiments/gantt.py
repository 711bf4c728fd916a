"""The schedule of a run, drawn: which task was on which processor, and when."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.errors import SimulationError
from gwa.evaluation.experiments.plan import Plan, PlannedRun
from gwa.evaluation.experiments.run import Schedule, simulated
from gwa.evaluation.experiments.workloads import workload
from gwa.report.document import Block, Note, Section
from gwa.report.figures.gantt import gantt, placed
from gwa.simulation.bags import CLASSES
from gwa.util.units import HOUR

MOST: Final = 2000
"""More bars than this cannot be told apart."""

ALONE: Final = "1"

HELP: Final = (
    "Each bar is a task on the processor where it ended, coloured by the number of tasks in its bag."
    " Processors are numbered through the clusters, in the order of the system; copies that were cancelled"
    " are not drawn."
)


def gantts(plan: Plan, name: str | None) -> list[Section]:
    """Return a section with the schedule of the run whose name begins with *name*, if one is wanted."""
    if name is None:
        return []
    found = [run for run in plan.runs if run.name.startswith(name)]
    if len(found) != 1:
        told = ", ".join(run.name for run in plan.runs[:3])
        message = f"{len(found)} runs have a name that begins with '{name}', expected one, such as {told}"
        raise SimulationError(message)
    return [Section("schedule", "Schedule of a run", HELP, tuple(_blocks(plan, found[0])), "Schedule")]


def _blocks(plan: Plan, run: PlannedRun) -> Iterator[Block]:
    """Yield the drawing of a schedule."""
    made = workload(plan.stated, run.variant)
    _, schedule = simulated(plan.stated, made, run.policies)
    bars, note = _jobs(schedule) if run.policies.architecture is None else _tasks(schedule)
    if not bars:
        yield Note("No task of this run has ended.")
        return
    said = {**vars(run.variant), **vars(run.policies)}
    words = [
        one if isinstance(one, str) else f"{name.replace('_', ' ')} {one:g}"
        for name, one in said.items()
        if one
    ]
    title = " · ".join(words)
    period = (min(bar[0] for bar in bars), max(bar[1] for bar in bars))
    alt = f"{len(bars)} tasks on their processors within {(period[1] - period[0]) / HOUR:.3g} h."
    yield gantt(f"schedule-{run.name}", title, bars, period, "Processors", alt, note=note)


def _tasks(schedule: Schedule) -> tuple[list[tuple[float, float, int, int, str]], str]:
    """Return a bar for each task that ended, on as many processors as can be seen, and what was left out."""
    ended = np.flatnonzero(np.isfinite(schedule["end"]))
    ended = ended[np.argsort(schedule["processor"][ended], kind="stable")]
    shown = ended[:MOST]
    _, bag, counts = np.unique(schedule["bag"], return_inverse=True, return_counts=True)
    least = np.array([int(name.rstrip("+").partition("-")[0]) for name in CLASSES])
    places = np.searchsorted(least, counts[bag[shown]], side="right")
    owners = [(ALONE, *CLASSES)[place] for place in places]
    columns = (schedule[name][shown].tolist() for name in ("start", "end", "processor"))
    bars = [
        (start, end, int(processor), int(processor) + 1, owner)
        for start, end, processor, owner in zip(*columns, owners, strict=True)
    ]
    left_out = len(ended) - len(shown)
    return bars, f"{left_out:,} tasks on processors of higher numbers are left out." if left_out else ""


def _jobs(schedule: Schedule) -> tuple[list[tuple[float, float, int, int, str]], str]:
    """Return bars for parallel jobs, each on the lowest processors that are free, and what was left out."""
    order = np.argsort(schedule["start"], kind="stable")[: MOST // 10]
    columns = (schedule[name][order].tolist() for name in ("start", "end", "procs"))
    jobs = [
        (start, end, int(procs), "jobs") for start, end, procs in zip(*columns, strict=True) if end > start
    ]
    left_out = len(schedule["start"]) - len(order)
    note = "Processors are drawn, not simulated: each job is on the lowest that are free."
    return placed(jobs), f"{note} {left_out:,} later jobs are left out." if left_out else note
