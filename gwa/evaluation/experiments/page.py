"""The report on an experiment: the simulated system, and figures and a table for each workload."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gwa.evaluation.experiments.results import AXES, Estimate, ExperimentResults, ResultCell
from gwa.evaluation.experiments.run import BAGS, CLASSES, HELP, JOBS, MEASURES, SINGLE_TASKS
from gwa.evaluation.experiments.spec import NO_CHANGE
from gwa.report.document import Block, Column, Fact, Facts, Figure, Note, Report, Section, Table
from gwa.report.figures.groups import groups
from gwa.report.figures.lines import lines
from gwa.util.units import HOUR
from gwa.words.formatting import brief, seconds
from gwa.words.unit import Unit, Value

X_AXES: Final = ("load", "bag_size", "run_time", "arrivals", "workload")
"""Candidates for the x axis of figures: the first of these axes that varies."""

POLICIES: Final = ("architecture", "selection", "scheduler", "change")

LABELS: Final = {
    "workload": "Workload",
    "arrivals": "Arrivals",
    "bag_size": "Median bag size",
    "run_time": "Mean run time",
    "load": "Load",
    "architecture": "Architecture",
    "selection": "Task selection",
    "scheduler": "Task scheduling",
    "change": "Change",
}

UNITS: Final[Mapping[str, Unit]] = {"load": "fraction", "run_time": "seconds"}

FIGURE_MEASURES: Final = {
    BAGS: ("makespan", "nsl", "in_time"),
    SINGLE_TASKS: ("wait", "bounded_slowdown", "in_time"),
    JOBS: ("wait", "bounded_slowdown", "utilization"),
}
"""The measures in figures, by the class of sizes that summarizes a run."""

TABLE_MEASURES: Final = {
    BAGS: (
        "makespan", "nsl", "in_time", "finished", "wait", "slowdown", "utilization", "goodput", "fairness",
    ),
    SINGLE_TASKS: (
        "in_time", "finished", "wait", "slowdown", "bounded_slowdown", "utilization", "goodput", "fairness",
    ),
    JOBS: ("wait", "wait_p95", "response", "slowdown", "bounded_slowdown", "utilization"),
}  # fmt: skip
"""The measures in the tables of a page; files have all measures."""

COLUMNS: Final = {measure.key: measure for measure in MEASURES}

CONFIDENCE_HELP: Final = (
    "The upright line through each point is its 95 % confidence interval over repetitions; ± is half of it."
)


@dataclass(frozen=True)
class Panel:
    """The *cells* of one workload, which vary along *x_axis* and along the axes of *series*."""

    title: str
    cells: Sequence[ResultCell]
    x_axis: str | None
    series: Sequence[str]

    @property
    def summary_class(self) -> str:
        """The class of sizes that summarizes a run."""
        return _summary_class(self.cells)

    def label(self, cell: ResultCell) -> str:
        """Return the label of the series of a cell."""
        return " · ".join(str(cell.axis(name)) for name in self.series) or str(cell.axis("scheduler"))

    def blocks(self, id: str) -> Iterator[Block]:  # noqa: A002 - as blocks call it
        """Yield the figures, and the table of their numbers."""
        summaries = [cell for cell in self.cells if cell.size == self.summary_class]
        if self.x_axis:
            ticks = {
                str(value): tick_label(self.x_axis, value)
                for value in _distinct_values(summaries, self.x_axis)
            }
            for measure in FIGURE_MEASURES[self.summary_class]:
                yield self._figure(f"{id}-{measure}", measure, summaries, ticks, self.x_axis)
        last = _distinct_values(summaries, self.x_axis)[-1] if self.x_axis else None
        classes = {name: name for name in CLASSES[2:]}
        by_class = [cell for cell in self.cells if self.x_axis is None or cell.axis(self.x_axis) == last]
        if self.summary_class == BAGS:
            at = f", {LABELS[self.x_axis].lower()} {tick_label(self.x_axis, last)}" if self.x_axis else ""
            for measure in ("makespan", "nsl"):
                yield self._figure(f"{id}-{measure}-by-size", measure, by_class, classes, None, at)
        yield self.table(id, summaries)

    def _figure(
        self,
        id: str,  # noqa: A002 - as blocks call it
        measure: str,
        cells: Sequence[ResultCell],
        ticks: Mapping[str, str],
        x_axis: str | None,
        at: str = "",
    ) -> Figure:
        """Draw a measure of *cells* at *ticks* on an axis, or by class of bag sizes without one."""
        series: dict[str, dict[str, Estimate | None]] = {}
        for cell in cells:
            tick = cell.size if x_axis is None else str(cell.axis(x_axis))
            series.setdefault(self.label(cell), {})[tick] = cell.estimates[measure]
        points = {
            label: [_point(estimates.get(tick)) for tick in ticks]
            for label, estimates in series.items()
            if estimates.keys() & ticks.keys()
        }
        xlabel = "Bag size" if x_axis is None else LABELS[x_axis]
        title = f"{COLUMNS[measure].label} by {xlabel.lower()}{at}"
        alt = f"{title}: {len(points)} series at {len(ticks)} places; the table below has the numbers."
        unit = COLUMNS[measure].unit
        return groups(
            id, title, list(ticks.values()), points, xlabel, COLUMNS[measure].label, alt,
            x=_as_numbers(_distinct_values(cells, x_axis)) if x_axis else None, unit=unit,
        )  # fmt: skip

    def table(self, id: str, cells: Sequence[ResultCell]) -> Table:  # noqa: A002 - as blocks call it
        """Return *cells* as a table."""
        axes = [name for name in (self.x_axis, *self.series) if name]
        measures = [COLUMNS[name] for name in TABLE_MEASURES[self.summary_class]]
        columns = [Column(name, LABELS[name], UNITS.get(name, "")) for name in axes]
        for measure in measures:
            columns += [measure, Column(f"{measure.key}_half", "±", measure.unit)]
        rows = [_row(cell, axes, [measure.key for measure in measures]) for cell in cells]
        return Table(f"{id}-table", self.title or "All runs", tuple(columns), tuple(rows), CONFIDENCE_HELP)


def panels(results: ExperimentResults) -> list[Panel]:
    """Return a panel for each combination of the axes that are neither the x axis nor policies."""
    varied = results.varied
    x_axis = next((name for name in X_AXES if name in varied), None)
    panel_axes = [name for name in X_AXES if name in varied and name != x_axis]
    series = [name for name in POLICIES if name in varied]
    by_title: dict[str, list[ResultCell]] = {}
    for cell in results.cells:
        title = ", ".join(
            f"{LABELS[name].lower()} {tick_label(name, cell.axis(name))}" for name in panel_axes
        )
        by_title.setdefault(title, []).append(cell)
    return [Panel(title, cells, x_axis, series) for title, cells in by_title.items()]


def report(results: ExperimentResults, more: Sequence[Section] = ()) -> Report:
    """Return the report on an experiment, with *more* sections at its end."""
    experiment, machines = results.plan.setup.experiment, results.plan.setup.machines
    about = Section("experiment", "The experiment", experiment.about, tuple(_about(results)), "Experiment")
    sections = [about]
    for number, panel in enumerate(panels(results), 1):
        name = f"results-{number}"
        title = panel.title[:1].upper() + panel.title[1:] or "Results"
        sections.append(Section(name, title, HELP, tuple(panel.blocks(name)), "Results"))
    if blocks := tuple(capacity(results)):
        sections.insert(1, Section("capacity", "Waits and processors", CAPACITY_HELP, blocks, "Capacity"))
    return Report(experiment.title, machines.title, (*sections, *more), overline="Simulation")


CAPACITY_HELP: Final = (
    "The waits of the same jobs on clusters of other sizes, both simulated: users submit as they did, however"
    " long they wait. 'gwa whatif' says how far such an answer can be trusted for a log."
)


def capacity(results: ExperimentResults) -> Iterator[Block]:
    """Yield waits against processors, by workload, load and policy, if all changes are of processors."""
    changes = results.values("change")
    if len(changes) < 2 or not all(  # noqa: PLR2004 - one size is no curve
        change == NO_CHANGE or str(change).startswith("cpus ") for change in changes
    ):
        return
    limit = results.plan.setup.experiment.wait_limit
    names = [name for name in AXES if name != "change" and len(results.values(name)) > 1]
    curves: dict[str, list[ResultCell]] = {}
    for cell in results.cells:
        curves.setdefault(" · ".join(str(cell.axis(name)) for name in names), []).append(cell)
    lines_of: dict[str, tuple[list[float], list[float]]] = {}
    for label, cells in curves.items():
        for key, what in (("wait", "mean"), ("wait_p95", "95 % quantile")):
            points = sorted((_value(cell, "processors"), _value(cell, key)) for cell in cells)
            lines_of[f"{label}, {what}" if label else what] = (
                [x for x, _ in points],
                [y / HOUR for _, y in points],
            )
        yield Note(_smallest(label, cells, limit))
    yield lines(
        "capacity", "Waits by processors", lines_of, "Processors", "Wait in hours",
        f"The mean and the 95 % quantile of simulated waits for {len(changes)} sizes of the cluster.",
        log=(False, False),
    )  # fmt: skip


def _smallest(label: str, cells: Sequence[ResultCell], limit: float) -> str:
    """Return which tried size is the smallest that keeps waits below the limit."""
    enough = [_value(cell, "processors") for cell in cells if _value(cell, "wait_p95") < limit]
    if not enough:
        return (
            f"{_of(label)}95 % of the jobs wait for less than {seconds(limit)} with none of the sizes tried."
        )
    return (
        f"{_of(label)}{min(enough):,.0f} processors are the fewest of those tried with which 95 % of the jobs"
        f" wait for less than {seconds(limit)}."
    )


def _of(label: str) -> str:
    return f"{label}: " if label else ""


def _value(cell: ResultCell, measure: str) -> float:
    estimate = cell.estimates[measure]
    return math.nan if estimate is None else estimate.mean


def _about(results: ExperimentResults) -> Iterator[Block]:
    """Yield the numbers of runs and tasks, and the system."""
    plan = results.plan
    machines = plan.setup.machines
    tasks = sum(row["tasks"] or 0 for row in results.rows if row["class"] in {BAGS, SINGLE_TASKS, JOBS})  # type: ignore[misc]
    yield Facts(
        (
            Fact("simulation.runs", len(plan.runs), "Runs", "count"),
            Fact("simulation.workloads", len(plan.variants), "Workloads, repetitions counted", "count"),
            Fact("simulation.policies", len(plan.policies), "Combinations of policies", "count"),
            Fact("simulation.tasks", tasks, "Tasks simulated", "count"),
            Fact("system.clusters", len(machines.clusters), "Clusters", "count"),
            Fact("system.processors", machines.processors, "Processors", "count"),
        )
    )
    rows = tuple((cluster.name, cluster.processors, cluster.speed) for cluster in machines.clusters)
    columns = (
        Column("cluster", "Cluster"),
        Column("processors", "Processors", "count"),
        Column("speed", "Speed"),
    )
    yield Table("system", "System", columns, rows, machines.source)


def summary(results: ExperimentResults) -> tuple[list[str], list[tuple[Value, ...]]]:
    """Return the names and the rows of a table of the means on the page."""
    axes = results.varied or ["scheduler"]
    summary_class = _summary_class(results.cells)
    measures = TABLE_MEASURES[summary_class]
    names = list(axes)
    for name in measures:
        names += [name, f"{name}_half"]
    return names, [_row(cell, axes, measures) for cell in results.cells if cell.size == summary_class]


def _row(cell: ResultCell, axes: Sequence[str], measures: Sequence[str]) -> tuple[Value, ...]:
    """Return the values of a cell on *axes*, then the estimate of each measure and half of its interval."""
    row = [cell.axis(name) for name in axes]
    for measure in measures:
        row += _point(cell.estimates[measure])
    return tuple(row)


def _summary_class(cells: Sequence[ResultCell]) -> str:
    """Return the class of sizes that summarizes a run: bags, if there are any."""
    classes = {cell.size for cell in cells}
    return next(name for name in (JOBS, BAGS, SINGLE_TASKS) if name in classes)


def tick_label(axis: str, value: Value) -> str:
    """Format a value on an axis."""
    return brief(value, UNITS.get(axis, "")) if isinstance(value, int | float) else str(value)


def _distinct_values(cells: Sequence[ResultCell], axis: str) -> list[Value]:
    return list(dict.fromkeys(cell.axis(axis) for cell in cells))


def _as_numbers(values: Sequence[Value]) -> list[float] | None:
    """Return *values* as numbers; None where one of them is a name, or no load is asked for."""
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    return numbers if len(numbers) == len(values) else None


def _point(estimate: Estimate | None) -> tuple[float | None, float | None]:
    return (None, None) if estimate is None else (estimate.mean, estimate.half)
