"""Bags of tasks in a grid: the fast simulator against a slow one, and what each policy promises."""

import re
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.simulation.architectures import ARCHITECTURES
from gwa.simulation.engine import Run, simulate
from gwa.simulation.grid import Grid
from gwa.simulation.scheduling import SCHEDULERS
from gwa.simulation.selection import SELECTIONS
from gwa.simulation.tasks import Tasks
from tests.simulation.slow_grid import SlowGrid, Task

SCHEDULING = [*(name for name in SCHEDULERS if name != "WQR-x"), "WQR-1", "WQR-3"]
SPEEDS = (1.0, 1.25, 1.5, 1.75)
UNIT = 105.0
"""Takes a whole number of seconds at each of the speeds, so that sums are exact in any order."""


@dataclass(frozen=True)
class Case:
    tasks: Tasks
    grid: Grid
    horizon: float
    period: float
    seed: int

    def run(self, *policies):
        return simulate(
            self.tasks, self.grid, *policies, horizon=self.horizon, period=self.period, seed=self.seed
        )


@st.composite
def cases(draw, most=14):
    """Draw a few tasks in a small grid, mostly with more tasks at a time than processors."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    speeds = draw(st.lists(st.sampled_from(SPEEDS), min_size=len(sizes), max_size=len(sizes)))
    times = st.integers(0, 6).map(lambda units: units * UNIT)
    task = st.tuples(
        st.integers(0, 20).map(lambda units: units * 20.0),
        times,
        st.integers(0, 4),
        st.integers(0, 3),
        st.integers(0, len(sizes) - 1),
        times,
    )
    rows = draw(st.lists(task, min_size=1, max_size=most))
    return Case(
        Tasks.of(*zip(*rows, strict=True)),
        Grid.of(sizes, speeds),
        draw(st.sampled_from([inf, 300.0])),
        draw(st.sampled_from([0.0, 0.0, 35.0])),
        draw(st.integers(0, 3)),
    )


def slow(case, *policies):
    """Return the run of the slow simulator."""
    tasks = case.tasks
    columns = (tasks.submit, tasks.run, tasks.bag, tasks.user, tasks.site, tasks.predicted)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    numbered = [Task(number, *row) for number, row in enumerate(rows)]
    users = sorted({task.user for task in numbered})
    drawn = np.random.default_rng(case.seed).permutation(len(users)).tolist()
    SlowGrid(
        numbered,
        case.grid.processors.tolist(),
        case.grid.speeds.tolist(),
        policies,
        dict(zip(users, drawn, strict=True)),
        case.period,
    ).simulate(case.horizon)
    copies = [task.winner or (task.ran[0] if task.ran else None) for task in numbered]
    return Run(
        np.array([copy.since if copy else np.nan for copy in copies]),
        np.array([task.winner.until if task.winner else np.nan for task in numbered]),
        np.array([copy.processor.cluster.number if copy else -1 for copy in copies]),
        np.array([copy.processor.number if copy else -1 for copy in copies]),
        np.array([sum((copy.over - copy.since for copy in task.ran), 0.0) for task in numbered]),
    )


def assert_agree(case, architecture, selection):
    for scheduling in SCHEDULING:
        fast = case.run(architecture, selection, scheduling)
        expected = slow(case, architecture, selection, scheduling)
        for name in ("start", "end", "cluster", "processor", "consumed"):
            ours, theirs = getattr(fast, name).tolist(), getattr(expected, name).tolist()
            np.testing.assert_array_equal(ours, theirs, f"{name} under {scheduling}")


ALL = [(architecture, selection) for architecture in ARCHITECTURES for selection in SELECTIONS]


@pytest.mark.parametrize(("architecture", "selection"), ALL)
@settings(max_examples=10)
@given(case=cases())
def test_agrees_with_the_slow_simulator_event_for_event(architecture, selection, case):
    assert_agree(case, architecture, selection)


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "selection"), ALL)
@settings(max_examples=300)
@given(case=cases(24))
def test_agrees_with_the_slow_simulator_thousands_of_times(architecture, selection, case):
    assert_agree(case, architecture, selection)


POLICIES = st.tuples(*(st.sampled_from(list(names)) for names in (ARCHITECTURES, SELECTIONS, SCHEDULING)))


@settings(max_examples=200)
@given(case=cases(40), policies=POLICIES)
def test_no_processor_runs_two_tasks_at_once_and_none_before_submission(case, policies):
    run, tasks = case.run(*policies), case.tasks
    started = run.processor >= 0
    assert (run.start[started] >= tasks.submit[started]).all()
    assert (np.isnan(run.start) == ~started).all()
    assert not (run.end > case.horizon).any()
    ended = np.isfinite(run.end)
    np.testing.assert_array_equal(
        run.end[ended] - run.start[ended], tasks.run[ended] / case.grid.speeds[run.cluster[ended]]
    )
    assert (np.searchsorted(case.grid.first, run.processor[started], side="right") - 1).tolist() == (
        run.cluster[started].tolist()
    )
    for processor in set(run.processor[ended].tolist()):
        own = ended & (run.processor == processor)
        order = np.lexsort((run.end[own], run.start[own]))
        assert (run.start[own][order][1:] >= run.end[own][order][:-1]).all()


@settings(max_examples=200)
@given(case=cases(40), policies=POLICIES)
def test_all_work_is_done_once_or_with_replicas_more_than_once(case, policies):
    run = replace(case, horizon=inf).run(*policies)
    assert np.isfinite(run.end).all()
    spent = run.end - run.start
    replicas = {"RR": 1, "STFR": 1, "WQR-1": 1, "WQR-3": 3}.get(policies[2], 0)
    assert (run.consumed >= spent).all()
    assert (run.consumed <= (1 + replicas) * case.tasks.run).all()
    if not replicas:
        np.testing.assert_array_equal(run.consumed, spent)
    if policies[0] == "sep-c":
        np.testing.assert_array_equal(run.cluster, case.tasks.site)


def busy(run, instant):
    """Return the processors that run a task at an *instant*."""
    return set(run.processor[(run.start <= instant) & (instant < run.end)].tolist())


@settings(max_examples=100)
@given(
    case=cases(40),
    selection=st.sampled_from(list(SELECTIONS)),
    scheduling=st.sampled_from(["FPLT", "DFPLT", "FPF"]),
)
def test_nobody_waits_beside_an_idle_processor(case, selection, scheduling):
    run = simulate(case.tasks, case.grid, "csp", selection, scheduling)
    for instant in np.unique(np.concatenate([case.tasks.submit, run.end])):
        if ((case.tasks.submit <= instant) & (instant < run.start)).any():
            assert len(busy(run, instant)) == case.grid.processors.sum()


@settings(max_examples=100)
@given(case=cases(40), scheduling=st.sampled_from(["FPF", "RR", "WQR-3"]))
def test_first_come_is_first_served(case, scheduling):
    tasks = Tasks.of(case.tasks.submit, case.tasks.run + UNIT)
    run = simulate(tasks, Grid.of([int(case.grid.processors.sum())]), "csp", "S-T", scheduling)
    assert (np.diff(run.start) >= 0).all()


@settings(max_examples=100)
@given(case=cases(40), selection=st.sampled_from(list(SELECTIONS)))
def test_each_task_completes_as_early_as_those_before_it_allow(case, selection):
    """ECT with all known is list scheduling: a task's processor is chosen once, from when each is ready."""
    submit = np.arange(len(case.tasks)) * 20.0
    tasks = Tasks.of(submit, case.tasks.run + UNIT)
    run = simulate(tasks, case.grid, "csp", selection, "ECT")
    speed = np.repeat(case.grid.speeds, case.grid.processors)
    ready = np.zeros(len(speed))
    for task, (arrival, work) in enumerate(zip(submit, tasks.run, strict=True)):
        ends = np.maximum(ready, arrival) + work / speed
        assert run.end[task] == ends.min()
        cluster = run.cluster[task]
        where = np.flatnonzero((ends == ends.min()) & (speed == case.grid.speeds[cluster]))
        ready[where[0]] = ends.min()


@settings(max_examples=50)
@given(case=cases(40), architecture=st.sampled_from(list(ARCHITECTURES)))
def test_with_true_predictions_ect_p_is_ect(case, architecture):
    tasks = case.tasks
    told = Tasks.of(tasks.submit, tasks.run, tasks.bag, tasks.user, tasks.site, predicted=tasks.run)
    known, historical = (simulate(told, case.grid, architecture, "S-T", name) for name in ("ECT", "ECT-P"))
    np.testing.assert_array_equal(known.end, historical.end)


@given(case=cases())
def test_a_run_can_be_repeated_and_leaves_its_tasks_alone(case):
    before = case.tasks.predicted.copy()
    first, second = (case.run("csp", "S-U-Prio", "ECT-P") for _ in range(2))
    np.testing.assert_array_equal(first.end, second.end)
    np.testing.assert_array_equal(case.tasks.predicted, before)


def first_choices(case, scheduling, run=None, speeds=None):
    """Return where the tasks of the first instant are put, with other run times or other speeds."""
    tasks, count = case.tasks, len(case.tasks)
    known = Tasks.of(np.zeros(count), tasks.run + UNIT if run is None else run, predicted=tasks.predicted)
    grid = Grid.of(case.grid.processors, case.grid.speeds if speeds is None else speeds)
    return simulate(known, grid, scheduling=scheduling, horizon=0).processor.tolist()


@pytest.mark.parametrize("scheduling", SCHEDULING)
@settings(max_examples=30)
@given(case=cases(), data=st.data())
def test_a_policy_decides_by_nothing_but_what_it_may_know(scheduling, case, data):
    said = SCHEDULERS[re.sub(r"\d+", "x", scheduling)]
    resources, tasks = re.findall("resources (.), tasks (.)", said)[0]
    chosen = first_choices(case, scheduling)
    if tasks != "K":
        others = data.draw(st.lists(st.integers(1, 9), min_size=len(case.tasks), max_size=len(case.tasks)))
        assert first_choices(case, scheduling, run=others) == chosen
    if resources != "K":
        speeds = data.draw(st.permutations([0.5 + place for place in range(len(case.grid))]))
        assert first_choices(case, scheduling, speeds=speeds) == chosen
