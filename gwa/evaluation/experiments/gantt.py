"""The Gantt chart of a run: tasks by processor and time."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.errors import ArgumentError
from gwa.evaluation.experiments.plan import ExperimentPlan, PlannedRun
from gwa.evaluation.experiments.run import Schedule, simulate
from gwa.evaluation.experiments.workloads import generate_workload
from gwa.report.document import Block, Note, Section
from gwa.report.figures.gantt import gantt, placed
from gwa.simulation.bags import CLASSES
from gwa.util.units import HOUR
from gwa.words.formatting import decimal, number
from gwa.words.message import joined, message

MAXIMUM_BARS: Final = 2000
"""More bars cannot be distinguished."""

SINGLE_TASK: Final = "1"

HELP: Final = message(
    "Each bar is a task on the processor where it ended, coloured by the number of tasks in its bag."
    " Processors are numbered through the clusters, in the order of the system; copies that were cancelled"
    " are not drawn."
)


def gantts(plan: ExperimentPlan, name: str | None) -> list[Section]:
    """Return a section with the schedule of the run whose name begins with *name*; none without a name."""
    if name is None:
        return []
    runs = [run for run in plan.runs if run.name.startswith(name)]
    if len(runs) != 1:
        examples = ", ".join(run.name for run in plan.runs[:3])
        found = f"{len(runs)} runs have a name that begins with '{name}', expected one, such as {examples}"
        raise ArgumentError(found)
    return [
        Section(
            "schedule", message("Schedule of a run"), HELP, tuple(_blocks(plan, runs[0])), message("Schedule")
        )
    ]


def _blocks(plan: ExperimentPlan, run: PlannedRun) -> Iterator[Block]:
    """Yield the Gantt chart of a run."""
    workload = generate_workload(plan.setup, run.variant)
    _, schedule = simulate(plan.setup, workload, run.policies)
    bars, note = _job_bars(schedule) if run.policies.architecture is None else _task_bars(schedule)
    if not bars:
        yield Note("No task of this run has ended.")
        return
    axes = {**vars(run.variant), **vars(run.policies)}
    title = " · ".join(
        value if isinstance(value, str) else f"{name.replace('_', ' ')} {value:g}"
        for name, value in axes.items()
        if value
    )
    period = (min(bar[0] for bar in bars), max(bar[1] for bar in bars))
    alt = message(
        "{tasks} tasks on their processors within {hours} h.",
        tasks=number(len(bars)),
        hours=decimal((period[1] - period[0]) / HOUR, ".3g"),
    )
    yield gantt(f"schedule-{run.name}", title, bars, period, message("Processors"), alt, note=note)


def _task_bars(schedule: Schedule) -> tuple[list[tuple[float, float, int, int, str]], str]:
    """Return a bar for each task that ended, up to `MAXIMUM_BARS`, and a note on tasks that are left out."""
    ended = np.flatnonzero(np.isfinite(schedule["end"]))
    ended = ended[np.argsort(schedule["processor"][ended], kind="stable")]
    shown = ended[:MAXIMUM_BARS]
    _, bag, counts = np.unique(schedule["bag"], return_inverse=True, return_counts=True)
    minima = np.array([int(name.rstrip("+").partition("-")[0]) for name in CLASSES])
    size_classes = [(SINGLE_TASK, *CLASSES)[i] for i in np.searchsorted(minima, counts[bag[shown]], "right")]
    columns = (schedule[name][shown].tolist() for name in ("start", "end", "processor"))
    bars = [
        (start, end, int(processor), int(processor) + 1, size_class)
        for start, end, processor, size_class in zip(*columns, size_classes, strict=True)
    ]
    left_out = len(ended) - len(shown)
    note = message("{tasks} tasks on processors of higher numbers are left out.", tasks=number(left_out))
    return bars, note if left_out else ""


def _job_bars(schedule: Schedule) -> tuple[list[tuple[float, float, int, int, str]], str]:
    """Return bars for parallel jobs, each on the lowest free processors, and a note on them."""
    order = np.argsort(schedule["start"], kind="stable")[: MAXIMUM_BARS // 10]
    columns = (schedule[name][order].tolist() for name in ("start", "end", "procs"))
    jobs = [
        (start, end, int(procs), "jobs") for start, end, procs in zip(*columns, strict=True) if end > start
    ]
    left_out = len(schedule["start"]) - len(order)
    note = message("Processors are drawn, not simulated: each job is on the lowest that are free.")
    later = message("{jobs} later jobs are left out.", jobs=number(left_out))
    return placed(jobs), joined(" ", (note, later)) if left_out else note
