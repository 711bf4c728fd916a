"""The report on an experiment: which policy is the best, what each is, and the figures of each workload."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gwa.evaluation.experiments.results import AXES, Estimate, ExperimentResults, ResultCell
from gwa.evaluation.experiments.run import BAGS, CLASSES, HELP, JOBS, MEASURES, SINGLE_TASKS
from gwa.evaluation.experiments.spec import NO_CHANGE
from gwa.evaluation.experiments.winners import POLICIES, Policy, Winner, winners
from gwa.report.document import Block, Column, Fact, Facts, FactTable, Figure, Note, Report, Section, Table
from gwa.report.figures.groups import groups
from gwa.report.figures.lines import lines
from gwa.simulation.architectures import ARCHITECTURES
from gwa.simulation.scheduling import SCHEDULERS
from gwa.simulation.selection import SELECTIONS
from gwa.util.units import HOUR
from gwa.words.formatting import brief, seconds, significant
from gwa.words.formatting import number as number_text
from gwa.words.message import Verbatim, capitalized, joined, message, plural, within_sentence
from gwa.words.unit import Unit, Value

X_AXES: Final = ("load", "bag_size", "run_time", "arrivals", "workload")
"""Candidates for the x axis of figures: the first of these axes that varies."""

FULL_NAMES: Final = {
    "ECT": "Earliest Completion Time", "FPLT": "Fastest Processor Largest Task",
    "RR": "Round Robin with Replication", "WQR": "Work Queue with Replication",
    "DFPLT": "Dynamic Fastest Processor Largest Task", "ECT-P": "Earliest Completion Time with Prediction",
    "STFR": "Shortest Task First with Replication", "FPF": "Fastest Processor First",
    "S-T": "Select Tasks", "S-B": "Select Bags", "S-U-Prio": "Select User by Priority",
    "S-U-T": "Select User, Tasks", "S-U-B": "Select User, Bag", "S-U-GRR": "Select User, Global Round Robin",
    "S-U-RR": "Select User, Round Robin", "sep-c": "separated clusters", "csp": "central scheduler",
    "fcondor": "flocking as in Condor", "pull": "job pull", "fcfs": "first come, first served",
    "sjf": "shortest job first", "easy": "EASY backfilling", "conservative": "conservative backfilling",
}  # fmt: skip
"""What abbreviations of policies stand for; the thesis (5.2.2 to 5.2.4) has those of bags of tasks."""

MEANINGS: Final = {
    **ARCHITECTURES, **SELECTIONS, **SCHEDULERS,
    "fcfs": message("jobs start in the order of submission"),
    "sjf": message("of the waiting jobs, the one with the shortest requested time starts next"),
    "easy": message("later jobs start earlier where that does not delay the first one that waits"),
    "conservative": message("later jobs start earlier where that delays none that waits before them"),
}  # fmt: skip
"""What each policy does, by its name."""

NUMERIC: Final = {"load", "bag_size", "run_time"}
"""Axes of numbers: of those the answer is about the greatest value."""

LABELS: Final = {
    "workload": message("Workload"),
    "arrivals": message("Arrivals"),
    "bag_size": message("Median bag size"),
    "run_time": message("Mean run time"),
    "load": message("Load"),
    "architecture": message("Architecture"),
    "selection": message("Task selection"),
    "scheduler": message("Task scheduling"),
    "change": message("Change"),
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

CONFIDENCE_HELP: Final = message(
    "The upright line through each point is its 95 % confidence interval over repetitions; ± is half of it."
)


@dataclass(frozen=True)
class CellPanel:
    """The *cells* of one workload, which vary along *x_axis* and along the axes of *series*."""

    title: str
    cells: Sequence[ResultCell]
    x_axis: str | None
    series: Sequence[str]

    @property
    def summary_class(self) -> str:
        """The class of sizes that summarizes a run."""
        return _summary_class(self.cells)

    @property
    def summaries(self) -> list[ResultCell]:
        """The cells that summarize a run."""
        return [cell for cell in self.cells if cell.size == self.summary_class]

    def label(self, cell: ResultCell) -> str:
        """Return the label of the series of a cell."""
        return " · ".join(str(cell.axis(name)) for name in self.series) or str(cell.axis("scheduler"))

    def blocks(self, id: str) -> Iterator[Block]:  # noqa: A002 - as blocks call it
        """Yield the figures, and the table of their numbers."""
        summaries = self.summaries
        for measure in FIGURE_MEASURES[self.summary_class] if self.x_axis else ():
            yield self.along(self.x_axis or "", f"{id}-{measure}", measure)
        last = _distinct_values(summaries, self.x_axis)[-1] if self.x_axis else None
        classes = {name: name for name in CLASSES[2:]}
        by_class = [cell for cell in self.cells if self.x_axis is None or cell.axis(self.x_axis) == last]
        if self.summary_class == BAGS:
            at = _at(self.x_axis, last) if self.x_axis else ""
            for measure in ("makespan", "nsl"):
                yield self.figure(f"{id}-{measure}-by-size", measure, by_class, classes, None, at)
        yield self.table(id, summaries)

    def along(self, axis: str, id: str, measure: str) -> Figure:  # noqa: A002 - as blocks call it
        """Draw a measure of whole runs along an axis."""
        cells = self.summaries
        ticks = {str(value): tick_label(axis, value) for value in _distinct_values(cells, axis)}
        return self.figure(id, measure, cells, ticks, axis)

    def figure(
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
        xlabel = message("Bag size") if x_axis is None else LABELS[x_axis]
        label = message(COLUMNS[measure].label)
        title = message("{measure} by {axis}", measure=label, axis=within_sentence(xlabel))
        if at:
            title = message("{title}, {place}", title=title, place=at)
        alt = message(
            "{title}: {series} series at {places} places; the table below has the numbers.",
            title=title, series=len(points), places=len(ticks),
        )  # fmt: skip
        unit = COLUMNS[measure].unit
        return groups(
            id, title, list(ticks.values()), points, xlabel, label, alt,
            x=_as_numbers(_distinct_values(cells, x_axis)) if x_axis else None, unit=unit,
        )  # fmt: skip

    def table(self, id: str, cells: Sequence[ResultCell]) -> Table:  # noqa: A002 - as blocks call it
        """Return *cells* as a table."""
        axes = [name for name in (self.x_axis, *self.series) if name]
        measures = [COLUMNS[name] for name in TABLE_MEASURES[self.summary_class]]
        columns = [Column(name, LABELS[name], UNITS.get(name, "")) for name in axes]
        estimates = [cell.estimates[measure.key] for cell in cells for measure in measures]
        # Of single runs there are no intervals.
        has_halves = any(one is not None and one.half is not None for one in estimates)
        for measure in measures:
            half = Column(f"{measure.key}_half", "±", measure.unit)
            columns += [measure, half] if has_halves else [measure]
        rows = [_row(cell, axes, [measure.key for measure in measures], halves=has_halves) for cell in cells]
        note = CONFIDENCE_HELP if has_halves else ""
        return Table(f"{id}-table", self.title or message("All runs"), tuple(columns), tuple(rows), note)


def panels(results: ExperimentResults) -> list[CellPanel]:
    """Return a panel for each combination of the axes that are neither the x axis nor policies."""
    varied = results.varied
    x_axis = next((name for name in X_AXES if name in varied), None)
    panel_axes = [name for name in X_AXES if name in varied and name != x_axis]
    series = [name for name in POLICIES if name in varied]
    by_title: dict[str, list[ResultCell]] = {}
    for cell in results.cells:
        title = joined(", ", (_at(name, cell.axis(name)) for name in panel_axes))
        by_title.setdefault(title, []).append(cell)
    return [CellPanel(title, cells, x_axis, series) for title, cells in by_title.items()]


def report(results: ExperimentResults, more: Sequence[Section] = ()) -> Report:
    """Return the report on an experiment, with *more* sections at its end."""
    experiment, machines = results.plan.setup.experiment, results.plan.setup.machines
    about = Section(
        "experiment",
        message("The experiment"),
        experiment.about,
        tuple(_about(results)),
        message("Experiment"),
    )
    best = _highest(results, list(winners(results, _summary_class(results.cells), _compared(results))))
    first = (*_first_picture(results), *_winner_tables(results, best), *_policy_table(results))
    sections = [Section("answer", message("The answer"), "", first, is_on_top=True)] if first else []
    for number, panel in enumerate(panels(results), 1):
        name = f"results-{number}"
        title = capitalized(panel.title) if panel.title else message("Results")
        blocks = tuple(block for block in panel.blocks(name) if not _is_drawn(block, first))
        sections.append(Section(name, title, HELP, blocks, message("Results")))
    if blocks := tuple(capacity(results)):
        top = Section("capacity", message("Waits and processors"), CAPACITY_HELP, blocks, is_on_top=True)
        sections.insert(0, top)
    if results.raised:
        about = replace(about, blocks=(*about.blocks, Note(results.raised)))
    processors = plural("{n} processor", "{n} processors", machines.processors)
    return Report(
        Verbatim(experiment.title),
        joined(" · ", (processors, plural("{n} run", "{n} runs", len(results.plan.runs)))),
        (*sections, *more, about),
        overline=message("Simulation"),
        answer=_answer_sentence(results, best),
    )


def _compared(results: ExperimentResults) -> list[str]:
    """Return the measures by which policies are compared, those of figures first."""
    size = _summary_class(results.cells)
    shown = [*FIGURE_MEASURES[size], *TABLE_MEASURES[size]]
    return [name for name in dict.fromkeys(shown) if name not in {"tasks", "finished"}]


def _highest(results: ExperimentResults, found: Sequence[Winner]) -> list[Winner]:
    """Return the winners where each axis of numbers is at its greatest value."""
    tops = {name: results.values(name)[-1] for name in NUMERIC if name in results.varied}
    return [one for one in found if all(one.place.get(name) == top for name, top in tops.items())]


def _policy(policy: Policy) -> str:
    return " · ".join(map(str, policy))


def _place(place: Mapping[str, Value]) -> str:
    """Return where a comparison is made, such as: load 90 %."""
    return joined(", ", (_at(name, value) for name, value in place.items()))


def _at(name: str, value: Value) -> str:
    """Return an axis with its value."""
    return message("{axis} {value}", axis=within_sentence(LABELS[name]), value=tick_label(name, value))


def _answer_sentence(results: ExperimentResults, best: Sequence[Winner]) -> str:
    """Return which policy is the best by the first measure; of sizes of a cluster, which suffices."""
    if _is_of_capacity(results):
        limit = results.plan.setup.experiment.wait_limit
        answers = (_smallest(label, cells, limit) for label, cells in _curves(results).items())
        return joined(" ", answers)
    if not best:
        return message("All policies give the same.") if len(results.plan.policies) > 1 else ""
    lead = best[0]
    measure = COLUMNS[lead.measure]
    values = [_short(value, measure.unit) for value in lead.values]
    same = [
        within_sentence(message(COLUMNS[one.measure].label))
        for one in best[1:]
        if one.best == lead.best and one.place == lead.place
    ]
    found = message(
        ANSWERS[lead.chance],
        best=_policy(lead.best), measure=within_sentence(message(measure.label)), value=values[0],
        second=_policy(lead.second), other=values[1],
    )  # fmt: skip
    if lead.place:
        found = message("At {place}: {found}", place=_place(lead.place), found=found)
    also = message("It is the best by {measures} as well.", measures=joined(", ", same)) if same else ""
    return joined(" ", filter(None, (found, also)))


ANSWERS: Final = {
    "yes": message("{best} is the best by {measure}: {value}, before {second} with {other}, beyond chance."),
    "no": message(
        "{best} is the best by {measure}: {value}, before {second} with {other}, which may be chance."
    ),
    "equal": message("{best} is the best by {measure}: {value}, before {second} with {other}, as good."),
    "unknown": message(
        "{best} is the best by {measure}: {value}, before {second} with {other}, from one run of each, so"
        " that what chance does is unknown."
    ),
}
"""The answer, by what chance may have to do with it."""


def _is_drawn(block: Block, above: Sequence[Block]) -> bool:
    """Whether *block* is a figure that is drawn *above*."""
    drawn = [one.data for one in above if isinstance(one, Figure)]
    return isinstance(block, Figure) and block.data in drawn


def _first_picture(results: ExperimentResults) -> Iterator[Block]:
    """Yield the picture of the first measure, where policies are compared; that of capacity has its own."""
    panel = panels(results)[0]
    if not _is_of_capacity(results) and panel.x_axis and panel.series:
        yield panel.along(panel.x_axis, "answer-picture", FIGURE_MEASURES[panel.summary_class][0])


def _winner_tables(results: ExperimentResults, best: Sequence[Winner]) -> Iterator[Block]:
    """Yield of each place the best policy by each measure, the second, and what chance does."""
    if _is_of_capacity(results):
        return
    places = list(dict.fromkeys(_place(one.place) for one in best))
    for number, place in enumerate(places, 1):
        rows = [
            (message(COLUMNS[one.measure].label), tuple(_winner_facts(f"best.{number}.{one.measure}", one)))
            for one in best
            if _place(one.place) == place
        ]
        title = message("Best policies at {place}", place=place) if place else message("Best policies")
        columns = (
            message("Best"), message("Its value"), message("Second"), message("Value of the second"),
            message("Beyond chance?"),
        )  # fmt: skip
        yield FactTable(f"best-{number}", title, columns, tuple(rows))


def _winner_facts(prefix: str, one: Winner) -> Iterator[Fact]:
    """Yield what a row says of a winner."""
    unit = COLUMNS[one.measure].unit
    names = {"best": message("Best"), "second": message("Second")}
    for (which, name), policy, value in zip(names.items(), (one.best, one.second), one.values, strict=True):
        yield Fact(f"{prefix}.{which}", _policy(policy), name, text=Verbatim(_policy(policy)))
        label = message("{name}, value", name=name)
        yield Fact(f"{prefix}.{which}_value", value, label, unit, text=_short(value, unit))
    said = message("unknown: one repetition") if one.chance == "unknown" else message(one.chance)
    yield Fact(f"{prefix}.beyond_chance", one.chance, "Beyond chance?", text=said)


def _short(value: float, unit: Unit) -> str:
    """Return a value as a table shows it, with three digits where it has no unit."""
    return brief(value, unit) if unit else str(significant(value, 3))


def _policy_table(results: ExperimentResults) -> Iterator[Table]:
    """Yield what the policies are called in full, and what they do."""
    rows = []
    for name in POLICIES[:3]:
        for value in results.values(name):
            if value is not None:
                short = "WQR" if str(value).startswith("WQR") else str(value)
                meaning = MEANINGS.get("WQR-x" if short == "WQR" else short, "")
                rows.append((str(value), FULL_NAMES.get(short, str(value)), message(meaning)))
    columns = (Column("policy", "Policy"), Column("name", "In full"), Column("meaning", "What it does"))
    has_letters = any("(resources" in row[2] for row in rows)
    note = message("K: known, H: from history, U: unknown.") if has_letters else ""
    if rows:
        yield Table("policies", "The policies", columns, tuple(rows), note)


CAPACITY_HELP: Final = message(
    "The waits of the same jobs on clusters of other sizes, both simulated: users submit as they did, however"
    " long they wait. 'gwa whatif' says how far such an answer can be trusted for a log."
)


def capacity(results: ExperimentResults) -> Iterator[Block]:
    """Yield waits against processors, by workload, load and policy, if all changes are of processors."""
    changes = results.values("change")
    if not _is_of_capacity(results):
        return
    lines_of: dict[str, tuple[list[float], list[float]]] = {}
    for label, cells in _curves(results).items():
        for key, what in (("wait", message("mean")), ("wait_p95", message("95th percentile"))):
            points = sorted((_value(cell, "processors"), _value(cell, key)) for cell in cells)
            lines_of[message("{label}, {what}", label=label, what=what) if label else what] = (
                [x for x, _ in points],
                [y / HOUR for _, y in points],
            )
    yield lines(
        "capacity", "Waits by processors", lines_of, "Processors", "Wait in hours",
        message(
            "The mean and the 95th percentile of simulated waits for {sizes} sizes of the cluster.",
            sizes=len(changes),
        ),
        log=(False, False),
    )  # fmt: skip


def _is_of_capacity(results: ExperimentResults) -> bool:
    """Whether all changes are of processors: then it is asked how many it takes."""
    changes = results.values("change")
    return len(changes) > 1 and all(
        change == NO_CHANGE or str(change).startswith("cpus ") for change in changes
    )


def _curves(results: ExperimentResults) -> dict[str, list[ResultCell]]:
    """Return the cells of all sizes of the cluster by what else varies."""
    names = [name for name in AXES if name != "change" and len(results.values(name)) > 1]
    curves: dict[str, list[ResultCell]] = {}
    for cell in results.cells:
        curves.setdefault(" · ".join(str(cell.axis(name)) for name in names), []).append(cell)
    return curves


def _smallest(label: str, cells: Sequence[ResultCell], limit: float) -> str:
    """Return which tried size is the smallest that keeps waits below the limit."""
    enough = [_value(cell, "processors") for cell in cells if _value(cell, "wait_p95") < limit]
    if not enough:
        found = message(
            "95 % of the jobs wait for less than {limit} with none of the sizes tried.", limit=seconds(limit)
        )
    else:
        found = message(
            "{processors} processors are the fewest of those tried with which 95 % of the jobs wait for less"
            " than {limit}.",
            processors=number_text(min(enough)),
            limit=seconds(limit),
        )
    return message("{label}: {found}", label=label, found=found) if label else found


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


def _row(
    cell: ResultCell, axes: Sequence[str], measures: Sequence[str], *, halves: bool = True
) -> tuple[Value, ...]:
    """Return the values of a cell on *axes*, then each measure and, with *halves*, half of its interval."""
    row = [cell.axis(name) for name in axes]
    for measure in measures:
        row += _point(cell.estimates[measure])[: 2 if halves else 1]
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
