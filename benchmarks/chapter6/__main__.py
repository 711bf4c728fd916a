"""
Run chapter 6 of Anoep's thesis: ``python -m benchmarks.chapter6 FOLDER [REPETITIONS]``.

The folder gets the results of each experiment, and ``chapter6.html``: the thesis' findings one by one, what
ours are, and figures 6.1 to 6.8. What is in the folder is not simulated again.
"""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from benchmarks.chapter6.findings import WHY
from benchmarks.chapter6.judging import FINDINGS, judged
from gwa.cli._terminal import progress
from gwa.evaluation.experiments.page import panels
from gwa.evaluation.experiments.plan import ExperimentPlan
from gwa.evaluation.experiments.results import ExperimentResults
from gwa.evaluation.experiments.run_cache import RunCache
from gwa.evaluation.experiments.runner import run_all
from gwa.evaluation.experiments.spec import read_experiment
from gwa.report.document import Column, Note, Report, Section, Table
from gwa.report.output import write

EXPERIMENTS: Final = Path(__file__).parent.parent.parent / "experiments"

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
    Column("figure", "Figure"),
    Column("thesis", "The thesis"),
    Column("ours", "Ours"),
    Column("why", "Why ours differs"),
    Column("holds", "Holds"),
)


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


def page(tables: Mapping[str, ExperimentResults]) -> Report:
    """Return the page: findings, then figures beside what the thesis says of them."""
    rows = _rows(tables)
    held = sum(row[-1] == "yes" for row in rows)
    findings = Section(
        "findings",
        "The thesis' findings",
        "Each finding of sections 6.2.1 to 6.2.4, our figures, and whether it holds by them.",
        (Note(f"{held} of {len(rows)} findings hold."), Table("findings", "Findings", COLUMNS, tuple(rows))),
        "Findings",
    )
    sections = [findings]
    for name, title in FIGURES.items():
        says = [Note(one.says) for one in FINDINGS if one.experiment == name]
        about = tables[name].plan.setup.experiment.about
        (panel,) = panels(tables[name])
        sections.append(Section(name, title, about, (*says, *panel.blocks(name)), "Figures"))
    return Report("Scheduling bags of tasks", "Chapter 6 of Anoep's thesis, run again", tuple(sections))


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
