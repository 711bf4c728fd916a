"""The page of chapter 6 judges what it is given, and shows every finding."""

from dataclasses import replace

import pytest

from benchmarks.chapter6 import EXPERIMENTS, FIGURES, FINDINGS, judged, page
from gwa.evaluation.experiments.plan import ExperimentPlan
from gwa.evaluation.experiments.results import ExperimentResults
from gwa.evaluation.experiments.run import CLASSES, MEASURES
from gwa.evaluation.experiments.spec import read_experiment
from gwa.report.document import Table

TOP = 0.95


def nsl(run, size):
    """Return an NSL as the thesis would have it."""
    value = 1.0 + {"5-9": 0.5, "10-19": 0.5, "bags": 0.2}.get(size, 0.0)
    policies, variant = run.policies, run.variant
    busy = (variant.load or 0.0) >= 0.5
    value *= {"STFR": 0.5, "ECT": 0.7, "WQR-4": 3.0, "DFPLT": 2.0, "ECT-P": 2.0, "FPF": 2.5}.get(
        policies.scheduler, 1.0
    )
    value *= {"all at once": 9.0, "evenly spread": 0.9}.get(variant.arrivals, 1.0)
    value *= (variant.run_time or 1.0) ** -0.1
    if variant.bag_size:
        value *= variant.bag_size ** (-0.1 if policies.scheduler in {"ECT-P", "STFR"} else 0.1)
    if busy:
        value *= {"S-B": 1.0, "S-U-T": 8.0, "S-U-GRR": 9.0, "S-U-RR": 10.0, "S-U-Prio": 10.0}.get(
            policies.selection, 9.0
        )
        value *= {"fcondor": 20.0}.get(policies.architecture, 1.0)
    return value * {"sep-c": 30.0, "fcondor": 1.1}.get(policies.architecture, 1.0)


def makespan(run, size):
    value = 100.0 + 10.0 * CLASSES.index(size)
    policies, variant = run.policies, run.variant
    value *= {"FPLT": 0.5, "FPF": 0.51, "ECT": 0.6, "DFPLT": 0.8, "WQR-4": 2.0}.get(policies.scheduler, 1.0)
    value *= {"all at once": 3.0, "evenly spread": 0.9}.get(variant.arrivals, 1.0)
    value *= (variant.bag_size or 1.0) ** 0.3
    value *= {"S-B": 0.5}.get(policies.selection, 1.0)
    return value * {"sep-c": 30.0, "fcondor": 2.0}.get(policies.architecture, 1.0)


def in_time(run):
    return {"csp": 0.95, "sep-c": 0.53, "fcondor": 0.44}[run.policies.architecture]


@pytest.fixture(scope="module")
def tables():
    """Return results that nobody simulated."""
    found = {}
    for name in FIGURES:
        plan = ExperimentPlan(read_experiment(EXPERIMENTS / f"{name}.toml").with_repetitions(1))
        rows = [
            {
                "run": run.name, **vars(run.variant), **vars(run.policies), "class": size,
                **dict.fromkeys(one.key for one in MEASURES), "tasks": 1,
                "nsl": nsl(run, size), "makespan": makespan(run, size), "in_time": in_time(run),
            }
            for run in plan.runs for size in CLASSES
        ]  # fmt: skip
        found[name] = ExperimentResults(plan, tuple(rows))
    return found


def test_all_findings_hold_where_all_is_as_the_thesis_says(tables):
    assert {one.judge.__name__: ours for one, ours, holds in judged(tables) if not holds} == {}


def test_no_finding_holds_where_nothing_differs(tables):
    same = {
        name: replace(
            one, rows=tuple({**row, "nsl": 1.0, "makespan": 1.0, "in_time": 0.7} for row in one.rows)
        )
        for name, one in tables.items()
    }

    assert [one.judge.__name__ for one, _, holds in judged(same) if holds] == []


def test_every_finding_and_every_figure_is_on_the_page(tables):
    made = page(tables)
    (table,) = (block for block in made.sections[0].blocks if isinstance(block, Table))

    assert len(table.rows) == len(FINDINGS) >= 20
    assert all(one.says and not one.says.startswith("Return") for one in FINDINGS)
    assert len(made.sections) == 1 + len(FIGURES)
    assert all(any(block.kind == "figure" for block in section.blocks) for section in made.sections[1:])
