"""The report on an experiment: what was simulated, and figures and a table for each workload."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gwa.evaluation.experiments.results import Estimate, ExperimentResults, ResultCell
from gwa.evaluation.experiments.run import ALONE, BAGS, CLASSES, HELP, JOBS, MEASURES
from gwa.report.document import Block, Column, Fact, Facts, Figure, Report, Section, Table, Unit, Value
from gwa.report.figures.groups import groups
from gwa.report.formatting import brief

ACROSS: Final = ("load", "bag_size", "run_time", "arrivals", "workload")
"""What stands on the x axis of figures: the first of these along which anything differs."""

POLICIES: Final = ("architecture", "selection", "scheduler")

LABELS: Final = {
    "workload": "Workload",
    "arrivals": "Arrivals",
    "bag_size": "Median bag size",
    "run_time": "Mean run time",
    "load": "Load",
    "architecture": "Architecture",
    "selection": "Task selection",
    "scheduler": "Task scheduling",
}

UNITS: Final[Mapping[str, Unit]] = {"load": "fraction", "run_time": "seconds"}

DRAWN: Final = {
    BAGS: ("makespan", "nsl", "in_time"),
    ALONE: ("wait", "bounded_slowdown", "in_time"),
    JOBS: ("wait", "bounded_slowdown", "utilization"),
}
"""The measures that are drawn, by the class of sizes that sums up a run."""

SHOWN: Final = {
    BAGS: (
        "makespan", "nsl", "in_time", "finished", "wait", "slowdown", "utilization", "goodput", "fairness",
    ),
    ALONE: (
        "in_time", "finished", "wait", "slowdown", "bounded_slowdown", "utilization", "goodput", "fairness",
    ),
    JOBS: ("wait", "response", "slowdown", "bounded_slowdown", "utilization"),
}  # fmt: skip
"""The measures in tables of a page; files have all."""

COLUMNS: Final = {one.key: one for one in MEASURES}

SURE: Final = "The line through each point is the 95 % confidence interval over repetitions; ± is half of it."


@dataclass(frozen=True)
class Panel:
    """The *cells* of one workload, which differ along the axis *across* and in the axes of *series*."""

    title: str
    cells: Sequence[ResultCell]
    across: str | None
    series: Sequence[str]

    @property
    def whole(self) -> str:
        """The class of sizes that sums up a run."""
        return _whole(self.cells)

    def label(self, cell: ResultCell) -> str:
        """Return what the series of a cell is called."""
        return " · ".join(str(cell.axis(name)) for name in self.series) or str(cell.axis("scheduler"))

    def blocks(self, id: str) -> Iterator[Block]:  # noqa: A002 - as blocks call it
        """Yield the figures, and a table of all that is in them."""
        summed = [cell for cell in self.cells if cell.size == self.whole]
        if self.across:
            places = {str(place): word(self.across, place) for place in _on(summed, self.across)}
            for measure in DRAWN[self.whole]:
                yield self._figure(f"{id}-{measure}", measure, summed, places, self.across)
        last = _on(summed, self.across)[-1] if self.across else None
        classes = {name: name for name in CLASSES[2:]}
        by_class = [cell for cell in self.cells if self.across is None or cell.axis(self.across) == last]
        if self.whole == BAGS:
            at = f", {LABELS[self.across].lower()} {word(self.across, last)}" if self.across else ""
            for measure in ("makespan", "nsl"):
                yield self._figure(f"{id}-{measure}-by-size", measure, by_class, classes, None, at)
        yield self.table(id, summed)

    def _figure(
        self,
        id: str,  # noqa: A002 - as blocks call it
        measure: str,
        cells: Sequence[ResultCell],
        places: Mapping[str, str],
        across: str | None,
        at: str = "",
    ) -> Figure:
        """Return a measure of *cells* at *places* on an axis, or by class of bag sizes."""
        series: dict[str, dict[str, Estimate | None]] = {}
        for cell in cells:
            place = cell.size if across is None else str(cell.axis(across))
            series.setdefault(self.label(cell), {})[place] = cell.estimates[measure]
        points = {
            label: [_point(known.get(place)) for place in places]
            for label, known in series.items()
            if known.keys() & places.keys()
        }
        below = "Bag size" if across is None else LABELS[across]
        title = f"{COLUMNS[measure].label} by {below.lower()}{at}"
        alt = f"{title}: {len(points)} series at {len(places)} places; the table below has the numbers."
        unit = COLUMNS[measure].unit
        return groups(id, title, list(places.values()), points, below, COLUMNS[measure].label, alt, unit=unit)

    def table(self, id: str, cells: Sequence[ResultCell]) -> Table:  # noqa: A002 - as blocks call it
        """Return *cells* as a table."""
        axes = [name for name in (self.across, *self.series) if name]
        measures = [COLUMNS[name] for name in SHOWN[self.whole]]
        columns = [Column(name, LABELS[name], UNITS.get(name, "")) for name in axes]
        for one in measures:
            columns += [one, Column(f"{one.key}_half", "±", one.unit)]
        rows = []
        for cell in cells:
            row: list[Value] = [cell.axis(name) for name in axes]
            for one in measures:
                row += _point(cell.estimates[one.key])
            rows.append(tuple(row))
        return Table(f"{id}-table", self.title or "All runs", tuple(columns), tuple(rows), SURE)


def panels(results: ExperimentResults) -> list[Panel]:
    """Return a panel for each combination of what is neither on the x axis nor a policy."""
    varied = results.varied
    across = next((name for name in ACROSS if name in varied), None)
    apart = [name for name in ACROSS if name in varied and name != across]
    series = [name for name in POLICIES if name in varied]
    alike: dict[str, list[ResultCell]] = {}
    for cell in results.cells:
        title = ", ".join(f"{LABELS[name].lower()} {word(name, cell.axis(name))}" for name in apart)
        alike.setdefault(title, []).append(cell)
    return [Panel(title, cells, across, series) for title, cells in alike.items()]


def report(results: ExperimentResults, more: Sequence[Section] = ()) -> Report:
    """Return the report on an experiment, with *more* sections at its end."""
    said = results.plan.stated.experiment
    sections = [Section("experiment", "The experiment", said.about, tuple(_about(results)), "Experiment")]
    for place, panel in enumerate(panels(results), 1):
        name = f"results-{place}"
        title = panel.title[:1].upper() + panel.title[1:] or "ExperimentResults"
        sections.append(Section(name, title, HELP, tuple(panel.blocks(name)), "ExperimentResults"))
    machines = results.plan.stated.machines
    return Report(said.title, machines.title, (*sections, *more), overline="Simulation")


def _about(results: ExperimentResults) -> Iterator[Block]:
    """Yield what was simulated, on what system."""
    plan = results.plan
    machines = plan.stated.machines
    tasks = sum(row["tasks"] or 0 for row in results.rows if row["class"] in {BAGS, ALONE, JOBS})  # type: ignore[misc]
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
    rows = tuple((one.name, one.processors, one.speed) for one in machines.clusters)
    columns = (
        Column("cluster", "Cluster"),
        Column("processors", "Processors", "count"),
        Column("speed", "Speed"),
    )
    yield Table("system", "System", columns, rows, machines.source)


def summary(results: ExperimentResults) -> tuple[list[str], list[tuple[Value, ...]]]:
    """Return the names and the rows of a table of the means that the page shows."""
    axes = results.varied or ["scheduler"]
    whole = _whole(results.cells)
    names = list(axes)
    for name in SHOWN[whole]:
        names += [name, f"{name}_half"]
    rows: list[tuple[Value, ...]] = []
    for cell in (cell for cell in results.cells if cell.size == whole):
        cells: list[Value] = [cell.axis(name) for name in axes]
        for name in SHOWN[whole]:
            cells += _point(cell.estimates[name])
        rows.append(tuple(cells))
    return names, rows


def _whole(cells: Sequence[ResultCell]) -> str:
    """Return the class of sizes that sums up a run: bags, where there are any."""
    found = {cell.size for cell in cells}
    return next(name for name in (JOBS, BAGS, ALONE) if name in found)


def word(axis: str, place: Value) -> str:
    """Return a place on an axis as a reader is told it."""
    return brief(place, UNITS.get(axis, "")) if isinstance(place, int | float) else str(place)


def _on(cells: Sequence[ResultCell], axis: str) -> list[Value]:
    return list(dict.fromkeys(cell.axis(axis) for cell in cells))


def _point(estimate: Estimate | None) -> tuple[float | None, float | None]:
    return (None, None) if estimate is None else (estimate.mean, estimate.half)
