"""
Run chapter 6 of Anoep's thesis: ``python -m benchmarks.chapter6 FOLDER [REPETITIONS]``.

The folder gets the results of each experiment, and ``chapter6.html``: the thesis' findings one by one, what
ours are, and figures 6.1 to 6.8. What is in the folder is not simulated again.

Each finding is a function of the results of one experiment that returns our figures in words, and whether
the finding holds; its docstring is the finding. Where the thesis gives no bound, the function does.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import cleandoc
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Final

from gwa.cli._terminal import progress
from gwa.evaluation.experiments.page import panels
from gwa.evaluation.experiments.plan import ExperimentPlan
from gwa.evaluation.experiments.results import ExperimentResults
from gwa.evaluation.experiments.run import BAGS
from gwa.evaluation.experiments.run_cache import RunCache
from gwa.evaluation.experiments.runner import run_all
from gwa.evaluation.experiments.spec import read_experiment
from gwa.report import document
from gwa.report.output import write
from gwa.simulation.bags import CLASSES

EXPERIMENTS: Final = Path(__file__).parent.parent / "experiments"

FIGURES: Final = {
    "real-load": "Figure 6.1: task scheduling under the load of real grids",
    "task-scheduling": "Figure 6.2: task scheduling under realistic load",
    "arrivals": "Figure 6.3: patterns of arrivals",
    "bag-sizes": "Figure 6.4: sizes of bags",
    "run-times": "Figure 6.5: run times of tasks",
    "task-selection": "Figures 6.6 and 6.7: task selection",
    "architectures": "Figure 6.8: resource management architectures",
}

COLUMNS: Final = (
    document.Column("figure", "Figure"),
    document.Column("thesis", "The thesis"),
    document.Column("ours", "Ours"),
    document.Column("why", "Why ours differs"),
    document.Column("holds", "Holds"),
)

Numbers = Mapping[str, float]
"""A measure by policy."""

Judge = Callable[["Table"], tuple[str, bool]]

CLEARLY: Final = 1.05
"""What differs by a smaller factor is called alike."""


@dataclass(frozen=True)
class Table:
    """Means over repetitions, to be asked for by where they are on the axes."""

    results: ExperimentResults

    def by(self, axis: str, measure: str, size: str = BAGS, **where: object) -> dict[str, float]:
        """Return a measure for each place on an *axis*, as a mean over all that is left open."""
        found: dict[str, list[float]] = {}
        for cell in self.results.cells:
            if cell.size == size and all(cell.axis(name) == value for name, value in where.items()):
                estimate = cell.estimates[measure]
                if estimate is not None:
                    found.setdefault(str(cell.axis(axis)), []).append(estimate.mean)
        return {place: sum(values) / len(values) for place, values in found.items()}

    def loads(self) -> list[float]:
        """Return the loads."""
        return [load for load in self.results.values("load") if isinstance(load, float)]


@dataclass(frozen=True)
class Finding:
    """What the thesis finds by an *experiment*, and shows in a *figure*."""

    experiment: str
    figure: str
    judge: Judge

    @property
    def says(self) -> str:
        """What the thesis says."""
        return " ".join(cleandoc(self.judge.__doc__ or "").split())


FINDINGS: Final[list[Finding]] = []


def finding(experiment: str, figure: str) -> Callable[[Judge], Judge]:
    """Register a finding."""

    def register(judge: Judge) -> Judge:
        FINDINGS.append(Finding(experiment, figure, judge))
        return judge

    return register


def judged(tables: Mapping[str, ExperimentResults]) -> Iterator[tuple[Finding, str, bool]]:
    """Yield every finding with our figures, and whether it holds."""
    for one in FINDINGS:
        yield one, *one.judge(Table(tables[one.experiment]))


def count(ratios: Numbers, *, above: float) -> tuple[str, bool]:
    """Return for how many policies a ratio is above a bound; it holds where most are."""
    meets = sum(ratio > above for ratio in ratios.values())
    return f"for {meets} of {len(ratios)} policies; ratios {listed(ratios)}", meets > len(ratios) / 2


def first(values: Numbers, name: str, unit: str) -> tuple[str, bool]:
    """Return which place a name has among all, and whether its value alone is the lowest."""
    ours = f"{rank(values, name)}: {listed(values)} {unit}".rstrip()
    return ours, all(values[name] < value for other, value in values.items() if other != name)


def rank(values: Numbers, name: str) -> str:
    """Return which place a name has, in words."""
    return f"{name} is {place(values, name)} of {len(values)}"


def place(values: Numbers, name: str) -> int:
    """Return which place a name has; the lowest value has the first."""
    return 1 + sum(other < values[name] for other in values.values())


def listed(values: Numbers) -> str:
    """Return all values in words, the lowest first."""
    return ", ".join(f"{name} {value:.3g}" for name, value in sorted(values.items(), key=lambda one: one[1]))


def spread(values: Numbers, form: str = ".3g") -> str:
    """Return the lowest and the highest value in words."""
    low, high = min(values.values()), max(values.values())
    return f"{low:{form}}" if low == high else f"{low:{form}} to {high:{form}}"


MUCH: Final = 1.5
"""What differs by a greater factor differs much."""

BUSY: Final = 0.5
"""The load from which the thesis calls a system busy."""

ALL, HALF = 0.9, 0.65
"""Nearly all tasks are more than this share of them, about half are less."""

SIMILAR: Final = 0.3
"""What is up to 20 % worse is less than this share worse."""


@finding("real-load", "6.1")
def medium_bags_suffer(table: Table) -> tuple[str, bool]:
    """At a real load of 25 %, bags of 5-9 and 10-19 tasks have a higher NSL than the average bag."""
    mean, small, medium = (table.by("scheduler", "nsl", size) for size in (BAGS, "5-9", "10-19"))
    return count({name: min(small[name], medium[name]) / mean[name] for name in mean}, above=1.0)


@finding("real-load", "6.1")
def extremes_benefit(table: Table) -> tuple[str, bool]:
    """At a real load of 25 %, bags of 2-4 and of over 200 tasks have a lower NSL than the average bag."""
    mean, small, large = (table.by("scheduler", "nsl", size) for size in (BAGS, "2-4", "200+"))
    return count({name: mean[name] / max(small[name], large[name]) for name in mean}, above=1.0)


@finding("real-load", "6.1")
def makespan_grows(table: Table) -> tuple[str, bool]:
    """At a real load of 25 %, the mean make-span rises with every class of bag size."""
    by_class = [table.by("scheduler", "makespan", size) for size in CLASSES]
    rises = {
        name: sum(after[name] > before[name] for before, after in pairwise(by_class)) for name in by_class[0]
    }
    steps = len(CLASSES) - 1
    return f"rises in {spread(rises, '.0f')} of {steps} steps", min(rises.values()) == steps


@finding("task-scheduling", "6.2")
def fplt_makespan(table: Table) -> tuple[str, bool]:
    """FPLT has the lowest make-span over all loads."""
    return first(table.by("scheduler", "makespan"), "FPLT", "s")


@finding("task-scheduling", "6.2")
def fpf_makespan(table: Table) -> tuple[str, bool]:
    """FPF has the lowest make-span over all loads, too, but a poor NSL."""
    spans, nsl = table.by("scheduler", "makespan"), table.by("scheduler", "nsl")
    ours = f"make-span {rank(spans, 'FPF')}, NSL {rank(nsl, 'FPF')}"
    return ours, spans["FPF"] <= CLEARLY * min(spans.values()) and place(nsl, "FPF") > len(nsl) / 2


@finding("task-scheduling", "6.2")
def stfr_nsl(table: Table) -> tuple[str, bool]:
    """STFR has the best NSL over all loads."""
    return first(table.by("scheduler", "nsl"), "STFR", "")


@finding("task-scheduling", "6.2")
def ect_nsl(table: Table) -> tuple[str, bool]:
    """ECT has the second best NSL over all loads."""
    nsl = table.by("scheduler", "nsl")
    return f"{rank(nsl, 'ECT')}: {listed(nsl)}", place(nsl, "ECT") == 2  # noqa: PLR2004 - second


@finding("task-scheduling", "6.2")
def wqr_is_poor(table: Table) -> tuple[str, bool]:
    """WQR-4 has a poor make-span and a poor NSL, at high load above all."""
    top = table.loads()[-1]
    spans, nsl = (table.by("scheduler", measure, load=top) for measure in ("makespan", "nsl"))
    ours = f"at {top:.0%}: make-span {rank(spans, 'WQR-4')}, NSL {rank(nsl, 'WQR-4')}"
    return ours, min(place(spans, "WQR-4"), place(nsl, "WQR-4")) > len(nsl) / 2


@finding("task-scheduling", "6.2")
def history_costs(table: Table) -> tuple[str, bool]:
    """What is known from history costs: FPLT outperforms DFPLT, and ECT outperforms ECT-P."""
    worse = {
        f"{historical} over {known}, {measure}": ratio[historical] / ratio[known]
        for measure in ("makespan", "nsl")
        for ratio in [table.by("scheduler", measure)]
        for known, historical in (("FPLT", "DFPLT"), ("ECT", "ECT-P"))
    }
    return listed(worse), min(worse.values()) > CLEARLY


@finding("arrivals", "6.3")
def bursts_hurt(table: Table) -> tuple[str, bool]:
    """All bags at T = 0 make for far higher make-spans and NSL than the other patterns."""
    ratios = [
        {name: burst[name] / usual[name] for name in usual}
        for measure in ("makespan", "nsl")
        for burst, usual in [
            (_arriving(table, measure, "all at once"), _arriving(table, measure, "as modelled"))
        ]
    ]
    ours = f"make-span × {spread(ratios[0])}, NSL × {spread(ratios[1])}"
    return ours, min(*ratios[0].values(), *ratios[1].values()) > MUCH


@finding("arrivals", "6.3")
def evenness_helps(table: Table) -> tuple[str, bool]:
    """Evenly spread bags fare better than realistic ones, by about 10 % for most policies."""
    usual, even = (_arriving(table, "makespan", name) for name in ("as modelled", "evenly spread"))
    return count({name: usual[name] / even[name] for name in usual}, above=CLEARLY)


@finding("bag-sizes", "6.4")
def bags_lengthen(table: Table) -> tuple[str, bool]:
    """From a median bag of 10 tasks to one of 50, make-spans rise by 37 % (ECT) to over 80 % (WQR-4)."""
    small, large = (table.by("scheduler", "makespan", bag_size=size) for size in (10.0, 50.0))
    return count({name: large[name] / small[name] for name in small}, above=CLEARLY)


@finding("bag-sizes", "6.4")
def bags_and_nsl(table: Table) -> tuple[str, bool]:
    """From a median bag of 10 tasks to one of 50, NSL falls for ECT-P and STFR only."""
    small, large = (table.by("scheduler", "nsl", bag_size=size) for size in (10.0, 50.0))
    falls = [name for name in small if large[name] < small[name]]
    return f"falls for {', '.join(falls) or 'none'}", set(falls) == {"ECT-P", "STFR"}


@finding("run-times", "6.5")
def long_tasks_fare_better(table: Table) -> tuple[str, bool]:
    """From mean run times of 3 minutes to 3 hours, NSL falls."""
    short, long = (table.by("scheduler", "nsl", run_time=time) for time in (180.0, 10800.0))
    return count({name: short[name] / long[name] for name in short}, above=1.0)


@finding("task-selection", "6.6")
def selection_when_busy(table: Table) -> tuple[str, bool]:
    """The task selection policy matters at loads of 50 % and more only."""
    ratios = {
        load: max(nsl.values()) / min(nsl.values())
        for load in table.loads()
        for nsl in [table.by("selection", "nsl", load=load)]
    }
    calm, busy = (
        [ratio for load, ratio in ratios.items() if (load >= BUSY) is is_busy] for is_busy in (False, True)
    )
    ours = "worst over best NSL: " + ", ".join(f"{ratio:.3g} at {load:.0%}" for load, ratio in ratios.items())
    return ours, max(calm) < CLEARLY < min(busy)


@finding("task-selection", "6.6")
def bags_first(table: Table) -> tuple[str, bool]:
    """At loads of 60 % and more, S-B has up to 16 times lower NSL, and up to 2 times lower make-spans."""
    best: dict[str, float] = {}
    for measure in ("nsl", "makespan"):
        for load in (load for load in table.loads() if load >= 0.6):  # noqa: PLR2004 - as it says
            found = table.by("selection", measure, load=load)
            ratio = max(value / found["S-B"] for value in found.values())
            best[measure] = max(best.get(measure, 0.0), ratio)
    ours = f"up to {best['nsl']:.3g} and {best['makespan']:.3g} times lower"
    return ours, min(best.values()) > MUCH


@finding("task-selection", "6.7")
def bags_first_for_small(table: Table) -> tuple[str, bool]:
    """At a load of 95 %, S-B favours small bags: they have far lower NSL than under S-T."""
    top = table.loads()[-1]
    ratios = {
        size: found["S-T"] / found["S-B"]
        for size in CLASSES
        for found in [table.by("selection", "nsl", size, load=top)]
    }
    return f"S-T over S-B: {listed(ratios)}", ratios["2-4"] > MUCH


@finding("task-selection", "6.6")
def fairness_costs(table: Table) -> tuple[str, bool]:
    """Of the fair policies, S-U-T has the lowest NSL; S-U-GRR up to 15 % more, S-U-RR up to 45 % more."""
    nsl = table.by("selection", "nsl", load=table.loads()[-1])
    grr, rr = nsl["S-U-GRR"] / nsl["S-U-T"] - 1, nsl["S-U-RR"] / nsl["S-U-T"] - 1
    return f"at 95 %: S-U-GRR {grr:+.0%}, S-U-RR {rr:+.0%}; {listed(nsl)}", 0 < grr < rr


@finding("task-selection", "6.6")
def guarantees_cost(table: Table) -> tuple[str, bool]:
    """S-U-Prio and S-U-RR perform alike, and up to 20 % worse than S-U-GRR."""
    nsl = table.by("selection", "nsl", load=table.loads()[-1])
    prio, rr = nsl["S-U-Prio"] / nsl["S-U-GRR"] - 1, nsl["S-U-RR"] / nsl["S-U-GRR"] - 1
    return f"at 95 %: S-U-Prio {prio:+.0%}, S-U-RR {rr:+.0%}", 0 < prio < SIMILAR and 0 < rr < SIMILAR


@finding("architectures", "6.8")
def central_is_best(table: Table) -> tuple[str, bool]:
    """Csp performs best, and sep-c worst."""
    ranked = {
        f"{measure} at {load:.0%}": sorted(found, key=found.__getitem__)
        for measure in ("makespan", "nsl")
        for load in table.loads()
        for found in [table.by("architecture", measure, load=load)]
    }
    best, worst = (
        sum(names[end] == name for names in ranked.values()) for end, name in ((0, "csp"), (-1, "sep-c"))
    )
    ours = f"csp is best in {best}, sep-c worst in {worst} of {len(ranked)}: make-span and NSL at each load"
    return ours, best == worst == len(ranked)


@finding("architectures", "6.8")
def flocking(table: Table) -> tuple[str, bool]:
    """Fcondor performs like csp at loads below 50 %, and like sep-c from 50 % on."""
    near, told = {}, []
    for load in table.loads():
        nsl = table.by("architecture", "nsl", load=load)
        to_csp, to_sep = (abs(log(nsl["fcondor"] / nsl[name])) for name in ("csp", "sep-c"))
        near[load] = "csp" if to_csp < to_sep else "sep-c"
        told.append(f"{nsl['csp']:.3g} / {nsl['fcondor']:.3g} / {nsl['sep-c']:.3g} at {load:.0%}")
    ours = f"NSL of csp / fcondor / sep-c: {', '.join(told)}"
    return ours, all((name == "sep-c") is (load >= BUSY) for load, name in near.items())


@finding("architectures", "6.8")
def unfinished(table: Table) -> tuple[str, bool]:
    """At a load of 95 %, fcondor completes only 44 % and sep-c 53 % of all tasks; csp completes them."""
    share = table.by("architecture", "in_time", load=table.loads()[-1])
    ours = f"finished before the last submission: {listed(share)}"
    return ours, share["csp"] > ALL > HALF > max(share["sep-c"], share["fcondor"])


def _arriving(table: Table, measure: str, pattern: str) -> dict[str, float]:
    return table.by("scheduler", measure, arrivals=pattern)


WHY: Final = {
    "medium_bags_suffer": "Hardly a task waits at 25 % here, and then NSL falls with the size of a bag.",
    "extremes_benefit": "As above: without waits the smallest bags have the highest NSL.",
    "makespan_grows": "Run times and sizes of bags are independent in the model; few bags are large.",
    "fplt_makespan": "S-T never closes its set: at high load the largest tasks go first, others starve.",
    "history_costs": "DFPLT soon knows the speeds, which do not change, and then does as FPLT does.",
    "fairness_costs": "Tasks in turn let small bags pass, and nothing idles: no round waits for its tasks to "
    "end. If it did, as the thesis may be read, nearly all would wait for a day at 25 %: tried, ruled out.",
    "guarantees_cost": "As above.",
    "flocking": "Users leave a cluster as soon as a task is queued, and find idle processors elsewhere.",
    "unfinished": "As above for fcondor; sep-c is near. Under csp FPLT lets the shortest tasks starve.",
}
"""Why ours differs where it does, as far as we can tell, by the name of the finding's function."""


def main() -> None:
    """Run what is missing, print the findings and write the page."""
    folder = Path(sys.argv[1])
    tables = {}
    for name in FIGURES:
        stated = read_experiment(EXPERIMENTS / f"{name}.toml")
        plan = ExperimentPlan(stated.with_repetitions(int(sys.argv[2])) if len(sys.argv) > 2 else stated)  # noqa: PLR2004
        shelf, begun, spent = RunCache(folder / name), time.monotonic(), _spent()
        done = run_all(plan, shelf, os.cpu_count() or 1, progress(quiet=False))
        tables[name] = ExperimentResults.of(plan, shelf)
        tables[name].write(folder / name)
        took = f"{time.monotonic() - begun:.0f} s, {_spent() - spent:.0f} CPU s"
        print(f"{name}: {len(plan.runs)} runs, {done} done now in {took}", flush=True)
    made = page(tables)
    for _, says, ours, why, holds in _rows(tables):
        print(f"{holds:4} {says}\n     {ours}\n     {why}".rstrip())
    print(*write(made, folder, "chapter6", ["html", "json"]), sep="\n")


def page(tables: Mapping[str, ExperimentResults]) -> document.Report:
    """Return the page: findings, then figures beside what the thesis says of them."""
    rows = _rows(tables)
    held = sum(row[-1] == "yes" for row in rows)
    findings = document.Section(
        "findings",
        "The thesis' findings",
        "Each finding of sections 6.2.1 to 6.2.4, our figures, and whether it holds by them.",
        (
            document.Note(f"{held} of {len(rows)} findings hold."),
            document.Table("findings", "Findings", COLUMNS, tuple(rows)),
        ),
        "Findings",
    )
    sections = [findings]
    for name, title in FIGURES.items():
        says = [document.Note(one.says) for one in FINDINGS if one.experiment == name]
        about = tables[name].plan.setup.experiment.about
        (panel,) = panels(tables[name])
        sections.append(document.Section(name, title, about, (*says, *panel.blocks(name)), "Figures"))
    return document.Report(
        "Scheduling bags of tasks", "Chapter 6 of Anoep's thesis, run again", tuple(sections)
    )


def _rows(tables: Mapping[str, ExperimentResults]) -> list[tuple[str, ...]]:
    return [
        (
            one.figure,
            one.says,
            ours,
            "" if holds else WHY.get(one.judge.__name__, ""),
            "yes" if holds else "no",
        )
        for one, ours, holds in judged(tables)
    ]


def _spent() -> float:
    """Return the CPU seconds of this process and of those that it started and that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


if __name__ == "__main__":
    main()
