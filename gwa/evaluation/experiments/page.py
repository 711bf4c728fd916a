"""The report on an experiment: which policy is the best, what each is, and the figures of each workload."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from gwa.evaluation.experiments.results import AXES, NUMERIC_AXES, Estimate, ExperimentResults, ResultCell
from gwa.evaluation.experiments.run import BAGS, CLASSES, HELP, JOBS, MEASURES, SINGLE_TASKS, Row
from gwa.evaluation.experiments.spec import NO_CHANGE
from gwa.evaluation.experiments.winners import (
    POLICIES,
    Policy,
    Winner,
    has_finished,
    places,
    winners,
)
from gwa.report.columns import column
from gwa.report.document import Block, Column, Fact, Facts, FactTable, Figure, Note, Report, Section, Table
from gwa.report.figures.groups import Point, groups
from gwa.simulation.architectures import ARCHITECTURES
from gwa.simulation.policy import meaning_of
from gwa.simulation.scheduling import SCHEDULERS
from gwa.simulation.selection import SELECTIONS
from gwa.words.formatting import brief, seconds, significant
from gwa.words.formatting import number as number_text
from gwa.words.message import Message, Verbatim, capitalized, joined, message, plural, within_sentence
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
    "S-U-RR": "Select User, Round Robin",
    "sep-c": message("separated clusters"), "csp": message("central scheduler"),
    "fcondor": message("flocking as in Condor"), "pull": message("job pull"),
    "fcfs": message("first come, first served"), "sjf": message("shortest job first"),
    "sjf-backfill": message("SJF backfilling"),
    "easy": message("EASY backfilling"), "conservative": message("conservative backfilling"),
}  # fmt: skip
"""What abbreviations of policies stand for; the thesis (5.2.2 to 5.2.4) has those of bags of tasks."""

MEANINGS: Final = {
    **ARCHITECTURES, **SELECTIONS, **SCHEDULERS,
    "fcfs": message("jobs start in the order of submission"),
    "sjf": message("of the waiting jobs, the one with the shortest requested time starts next"),
    "sjf-backfill": message(
        "of the waiting jobs, the one with the shortest requested time starts next; others start earlier"
        " where that does not delay it"
    ),
    "easy": message("later jobs start earlier where that does not delay the first one that waits"),
    "conservative": message("later jobs start earlier where that delays none that waits before them"),
}  # fmt: skip
"""What each policy does, by its name."""

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

    def along(self, axis: str, id: str, measure: str, note: str = "") -> Figure:  # noqa: A002 - as blocks
        """Draw a measure of whole runs along an axis."""
        cells = self.summaries
        ticks = {str(value): tick_label(axis, value) for value in _distinct_values(cells, axis)}
        return replace(self.figure(id, measure, cells, ticks, axis), note=note)

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
        has_sizes = "change" in axes and self.summary_class == JOBS
        names = (*(("processors",) if has_sizes else ()), *TABLE_MEASURES[self.summary_class])
        measures = [COLUMNS[name] for name in names]
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
    about = Section("experiment", message("Experiment"), "", tuple(_about(results)), message("Experiment"))
    best = _highest(results, list(winners(results, _summary_class(results.cells), _compared(results))))
    first = (*_first_picture(results, best), *_winner_tables(results, best), *_policy_table(results))
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
    runs = plural("{n} run", "{n} runs", len(results.plan.runs))
    return Report(
        Verbatim(experiment.title),
        joined(" · ", filter(None, (Verbatim(experiment.about.rstrip(".")), processors, runs))),
        (*sections, *more, about),
        overline=message("Simulation"),
        answer=_answer_sentence(results, best),
    )


def _compared(results: ExperimentResults) -> list[str]:
    """Return the measures by which policies are compared, those of figures first."""
    size = _summary_class(results.cells)
    shown = [*FIGURE_MEASURES[size], *TABLE_MEASURES[size]]
    return [name for name in dict.fromkeys(shown) if name not in {"tasks", "finished"}]


def _tops(results: ExperimentResults) -> dict[str, Value]:
    """Return the largest value on each numeric axis."""
    return {
        name: results.values(name)[-1] for name in X_AXES if name in NUMERIC_AXES and name in results.varied
    }


def _is_highest(place: Mapping[str, Value], results: ExperimentResults) -> bool:
    return all(place.get(name) == top for name, top in _tops(results).items())


def _highest(results: ExperimentResults, found: Sequence[Winner]) -> list[Winner]:
    """Return the winners where each axis of numbers is at its greatest value."""
    return [one for one in found if _is_highest(one.place, results)]


def _highest_places(results: ExperimentResults) -> list[tuple[Mapping[str, Value], list[Row]]]:
    """Return the places at the largest values, which the answer is about, with their rows."""
    found = places(results, _summary_class(results.cells))
    return [one for one in found if _is_highest(one[0], results)]


def _policy(policy: Policy) -> str:
    return " · ".join(map(str, policy))


def _in_full(policy: Policy) -> str:
    """Return a combination of policies as it is abbreviated, and what that stands for."""
    names = [_full_name(str(value)) for value in policy if _full_name(str(value)) != str(value)]
    short = Verbatim(_policy(policy))
    return message("{short} ({full})", short=short, full=joined(", ", names)) if names else short


def _full_name(policy: str) -> str:
    """Return what a policy is called in full; the name itself where it has no other."""
    return FULL_NAMES.get("WQR" if policy.startswith("WQR-") else policy, policy)


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
    if len(results.plan.policies) < 2:  # noqa: PLR2004 - none to compare it with
        return ""
    unfinished = message(
        "Not all tasks finished, so waits, make-spans and slowdowns, which are of those that did, are not"
        " compared."
    )
    if all(has_finished(rows) for _, rows in _highest_places(results)):
        return joined(" ", _best_sentences(results, best))
    return joined(" ", (*(_best_sentences(results, best) if best else ()), unfinished))


def _best_sentences(results: ExperimentResults, best: Sequence[Winner]) -> Iterator[Message]:
    """Yield what is the best by the first measure, what chance has to do with it, and by what else it is."""
    if not best:
        place = _place(_tops(results))
        yield (
            message("At {place}, all policies give the same.", place=place)
            if place
            else message("All policies give the same.")
        )
        return
    lead = best[0]
    measure = COLUMNS[lead.measure]
    value, other = (_short(each, measure.unit) for each in lead.values)
    template = LEAD if len(lead.best) == 1 else LEADS
    found = message(
        template.template,
        best=joined(message(" and "), map(_in_full, lead.best)),
        measure=within_sentence(message(measure.label)), value=value, second=_policy(lead.second),
        other=other,
    )  # fmt: skip
    yield message("At {place}: {found}", place=_place(lead.place), found=found) if lead.place else found
    yield CHANCE[lead.chance]
    same = [
        within_sentence(message(COLUMNS[one.measure].label))
        for one in best[1:]
        if one.best == lead.best and one.place == lead.place
    ]
    if same and len(lead.best) == 1:
        yield message("It is the best by {measures} as well.", measures=joined(", ", same))


LEAD: Final = message("{best} is the best by {measure}: {value}; the next, {second}, has {other}.")
LEADS: Final = message("{best} are equally the best by {measure}: {value}; the next, {second}, has {other}.")

CHANCE: Final = {
    "yes": message("That is beyond chance."),
    "no": message("That may be chance."),
    "unknown": message("With one run of each, chance is not ruled out."),
}
"""The sentence on a difference, by what the repetitions show."""


def _is_drawn(block: Block, above: Sequence[Block]) -> bool:
    """Whether *block* is a figure that is drawn *above*."""
    drawn = [one.data for one in above if isinstance(one, Figure)]
    return isinstance(block, Figure) and block.data in drawn


def _first_picture(results: ExperimentResults, best: Sequence[Winner]) -> Iterator[Block]:
    """Yield the picture of the measure of the answer, with names in full; that of capacity has its own."""
    panel = panels(results)[0]
    if not _is_of_capacity(results) and panel.x_axis and panel.series:
        shown = FIGURE_MEASURES[panel.summary_class]
        measure = best[0].measure if best and best[0].measure in shown else shown[0]
        names = [str(value) for axis in panel.series for value in results.values(axis) if value is not None]
        told = (message("{short}: {full}", short=Verbatim(name), full=_full_name(name))
                for name in names if _full_name(name) != name)  # fmt: skip
        yield panel.along(panel.x_axis, "answer-picture", measure, joined("; ", told))


def _winner_tables(results: ExperimentResults, best: Sequence[Winner]) -> Iterator[Block]:
    """Yield of each place the best policy by each measure, the second, and what chance does."""
    if _is_of_capacity(results):
        return
    is_known = any(one.chance != "unknown" for one in best)
    chance = (message("Beyond chance?"),) if is_known else ()
    columns = (message("Best"), message("Value"), message("Second"), message("Its value"), *chance)
    note = "" if is_known else message("Of one run of each, it is not known whether they differ by chance.")
    found = list(dict.fromkeys(_place(one.place) for one in best))
    for number, place in enumerate(found, 1):
        rows = [
            (
                message(COLUMNS[one.measure].label),
                tuple(_winner_facts(f"best.{number}.{one.measure}", one))[: len(columns)],
            )
            for one in best
            if _place(one.place) == place
        ]
        title = message("Best policies at {place}", place=place) if place else message("Best policies")
        yield FactTable(f"best-{number}", title, columns, tuple(rows), note)


def _winner_facts(prefix: str, one: Winner) -> Iterator[Fact]:
    """Yield what a row says of a winner, what chance has to do with it at last."""
    unit = COLUMNS[one.measure].unit
    names = {"best": message("Best"), "second": message("Second")}
    policies = (", ".join(map(_policy, one.best)), _policy(one.second))
    for (which, name), policy, value in zip(names.items(), policies, one.values, strict=True):
        yield Fact(f"{prefix}.{which}", policy, name, text=Verbatim(policy))
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
                short = "WQR-x" if str(value).startswith("WQR-") else str(value)
                own = short not in MEANINGS
                meaning = Verbatim(meaning_of(short)) if own else message(MEANINGS[short])
                rows.append((str(value), _full_name(str(value)), meaning))
    columns = (Column("policy", "Policy"), Column("name", "In full"), Column("meaning", "What it does"))
    has_letters = any("(resources" in row[2] for row in rows)
    letters = message(
        "In brackets: whether a policy knows the speeds of processors (resources) and the run times of tasks."
        " K: known, H: from history, U: unknown."
    )
    note = letters if has_letters else ""
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
    limit = results.plan.setup.experiment.wait_limit
    series: dict[str, list[Point]] = {}
    sizes = sorted({_value(cell, "processors") for cell in results.cells})
    for label, cells in _curves(results).items():
        by_size = {_value(cell, "processors"): cell for cell in cells}
        for key, what in (("wait", message("mean")), ("wait_p95", message("95th percentile"))):
            name = message("{label}, {what}", label=label, what=what) if label else what
            estimates = [by_size[size].estimates[key] if size in by_size else None for size in sizes]
            series[name] = [_point(one) for one in estimates]
    series[message("limit: {limit}", limit=seconds(limit))] = [(limit, None) for _ in sizes]
    yield groups(
        "capacity", message("Waits by processors"), [number_text(size) for size in sizes], series,
        message("Processors"), message("Wait"),
        message(
            "The mean and the 95th percentile of simulated waits for {sizes} sizes of the cluster.",
            sizes=len(changes),
        ),
        x=sizes, unit="seconds",
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
    """Return which tried size is the smallest that keeps waits below the limit, and what one below does."""
    waits = {_value(cell, "processors"): _value(cell, "wait_p95") for cell in cells}
    enough = min((size for size, wait in waits.items() if wait < limit), default=math.inf)
    fewer = max((size for size in waits if size < enough), default=None)
    told = {"limit": seconds(limit)}
    if fewer is not None:
        told |= {"fewer": number_text(fewer), "wait": seconds(waits[fewer])}
    if math.isinf(enough):
        found = message(
            "With none of the sizes tried do 95 % of the jobs wait for less than {limit}: with {fewer}"
            " processors, the most, the 95th percentile of waits is {wait}.",
            **told,
        )
    elif fewer is None:
        found = message(
            "With {processors} processors, the fewest of those tried, 95 % of the jobs wait for less than"
            " {limit}.",
            processors=number_text(enough), **told,
        )  # fmt: skip
    else:
        found = message(
            "With {processors} processors, 95 % of the jobs wait for less than {limit}; with {fewer}, the"
            " next smaller size tried, the 95th percentile of waits is {wait}.",
            processors=number_text(enough), **told,
        )  # fmt: skip
    repetitions = max((one.n for cell in cells if (one := cell.estimates["wait_p95"])), default=1)
    if repetitions > 1:
        mean = message("Percentiles are means over {n} repetitions.", n=repetitions)
        found = joined(" ", (found, mean))
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
        column("processors"),
        Column("speed", "Speed"),
    )
    yield Table("system", "System", columns, rows, machines.source)


def summary(
    results: ExperimentResults, *, is_brief: bool = False
) -> tuple[list[str], list[tuple[Value, ...]]]:
    """
    Return the names and the rows of a table of the means on the page.

    *is_brief* leaves those of figures, written for readers.
    """
    axes = results.varied or ["scheduler"]
    summary_class = _summary_class(results.cells)
    cells = [cell for cell in results.cells if cell.size == summary_class]
    if is_brief:
        sizes = ("processors", "wait_p95") if _is_of_capacity(results) else ()
        names = [*axes, *sizes, *FIGURE_MEASURES[summary_class]]
        return names, [tuple(_brief(cell, name) for name in names) for cell in cells]
    measures = TABLE_MEASURES[summary_class]
    names = [*axes, *chain.from_iterable((name, f"{name}_half") for name in measures)]
    return names, [_row(cell, axes, measures) for cell in cells]


def _brief(cell: ResultCell, name: str) -> str:
    """Return the value of a cell on an axis, or a mean with half of its interval, in few letters."""
    if name in AXES:
        return tick_label(name, cell.axis(name))
    estimate, unit = cell.estimates[name], COLUMNS[name].unit
    if estimate is None:
        return "–"
    half = "" if estimate.half is None else f" ± {_short(estimate.half, unit)}"
    return f"{_short(estimate.mean, unit)}{half}"


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
