"""Metrics of tasks, bags, users and grids, on schedules that can be worked out by hand."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gwa.errors import SimulationError
from gwa.simulation import performance
from gwa.simulation.bags import CLASSES, Bags
from gwa.simulation.engine import Run, simulate
from gwa.simulation.grid import Grid
from gwa.simulation.tasks import Tasks

GRID = Grid.of([1, 3], [2.0, 1.0])
TASKS = Tasks.of([0, 10, 10, 40], [20, 40, 0, 5], bag=[7, 7, 8, 9], user=[1, 1, 2, 2])
RUN = Run(
    np.array([0, 10, 30, nan]),
    np.array([10.0, 50, 30, nan]),
    np.array([0, 1, 0, -1]),
    np.array([0, 1, 0, -1]),
    np.array([10.0, 60, 0, 0]),
)


def test_metrics_of_tasks():
    same = np.testing.assert_array_equal
    same(performance.wait(TASKS, RUN), [0, 0, 20, nan])
    same(performance.response(TASKS, RUN), [10, 40, 20, nan])
    same(performance.slowdown(TASKS, RUN), [0.5, 1, nan, nan])
    same(performance.bounded_slowdown(TASKS, RUN), [1, 1, 2, nan])
    same(performance.by_user(TASKS, performance.wait(TASKS, RUN)), [0, 20])


def test_metrics_of_the_grid():
    assert performance.span(TASKS, RUN) == 50
    assert performance.utilization(TASKS, RUN, GRID) == 70 / (50 * 4)
    assert performance.utilization(TASKS, RUN, GRID, horizon=100) == 70 / (100 * 4)
    assert performance.fairness(TASKS, RUN) == pytest.approx((1 + 2) ** 2 / (2 * (1 + 4)))


def test_bags_have_makespan_and_normalised_schedule_length():
    bags = Bags.of(TASKS, RUN)
    assert bags.number.tolist() == [7, 8, 9]
    assert bags.user.tolist() == [1, 2, 2]
    assert bags.size.tolist() == [2, 1, 1]
    np.testing.assert_array_equal(bags.makespan, [50, 20, nan])
    np.testing.assert_array_equal(bags.nsl, [50 / 60, nan, nan])


def test_bags_are_in_the_classes_of_the_thesis():
    sizes = [1, 2, 4, 5, 9, 10, 19, 20, 49, 50, 99, 100, 199, 200, 1000]
    tasks = Tasks.of(np.zeros(sum(sizes)), np.ones(sum(sizes)), bag=np.repeat(np.arange(len(sizes)), sizes))
    bags = Bags.of(tasks, simulate(tasks, Grid.of([10])))
    assert bags.size.tolist() == sizes
    names = [CLASSES[place] if place >= 0 else None for place in bags.size_class]
    assert names == [None, *(name for name in CLASSES for _ in range(2))]


def test_nothing_is_divided_by_nothing():
    tasks = Tasks.of([], [])
    run = simulate(tasks, GRID)
    assert np.isnan(performance.fairness(tasks, run))
    assert performance.utilization(tasks, run, GRID) == 0
    assert Bags.of(tasks, run).size.tolist() == []


@given(arrays(float, st.integers(1, 20), elements=st.floats(0, 1e300)))
def test_jain_is_between_one_share_and_all(values):
    assert 1 / len(values) <= performance.jain(values) * (1 + 1e-9) <= 1 + 2e-9
    assert performance.jain(values) == pytest.approx(performance.jain(values[::-1] / 4))


def test_jain_at_its_ends():
    assert performance.jain(np.array([3.0, 3, 3, nan])) == 1
    assert performance.jain(np.array([0.0, 5, 0, 0])) == 1 / 4


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"submit": [0], "run": [-1]}, "task 0: its run is -1"),
        ({"submit": [0, nan], "run": [1, 1]}, "task 1: its submit is nan"),
        ({"submit": [0], "run": [inf]}, "task 0: its run is inf"),
        ({"submit": [0], "run": [1], "bag": [-1]}, "task 0: its bag is -1"),
        ({"submit": [0], "run": [1], "user": [0.5]}, "task 0: its user is 0.5"),
        ({"submit": [0], "run": [1], "predicted": [-2]}, "task 0: its predicted is -2"),
        ({"submit": [0, 1], "run": [1]}, "the columns of the tasks differ in their length"),
        ({"submit": [0], "run": [[1]]}, "the tasks' run is not a column"),
    ],
)
def test_what_is_no_task_is_said(columns, said):
    with pytest.raises(SimulationError, match=said):
        Tasks.of(**columns)


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        (([0],), "cluster cluster0: it has 0 processors"),
        (([1.5],), "cluster cluster0: it has 1.5 processors"),
        (([1, 1], [1, 0], ("a", "b")), "cluster b: its speed is 0"),
        (([1, 1], [1]), "a grid needs a number of processors, a speed and a name for each cluster"),
        (([],), "a grid needs"),
    ],
)
def test_what_is_no_grid_is_said(grid, said):
    with pytest.raises(SimulationError, match=said):
        Grid.of(*grid)


@pytest.mark.parametrize(
    ("policies", "settings", "said"),
    [
        (("anarchy",), {}, "'anarchy' is not an architecture, expected one of sep-c, csp, fcondor"),
        (("csp", "S-X"), {}, "'S-X' is not a task selection, expected one of S-T, S-B"),
        (("csp", "S-T", "WQR-0"), {}, "'WQR-0' is not a task scheduling, expected one of ECT, FPLT"),
        (("csp", "S-T", "WQR-x"), {}, "'WQR-x' is not a task scheduling"),
        ((), {"period": -1}, "the period of monitoring is -1 seconds"),
        ((), {"horizon": nan}, "the horizon is not a time"),
        (("sep-c",), {}, "there is no cluster 3, where a task is submitted"),
    ],
)
def test_what_cannot_be_simulated_is_said(policies, settings, said):
    with pytest.raises(SimulationError, match=said):
        simulate(Tasks.of([0], [1], site=[3]), GRID, *policies, **settings)


def test_run_times_are_predicted_from_what_has_ended():
    tasks = Tasks.of([0, 5, 10, 20, 40, 40, 41], [10, 3, 20, 5, 1, 1, 1], user=[1, 1, 1, 2, 1, 2, 3])
    # At 5 nothing has ended; at 10 both have; at 20 user 2 is new; and at 41 user 3 is.
    expected = [1, 1, (3 + 10) / 2, (10 + 3) / 2, (10 + 20) / 2, 5, (10 + 3 + 20 + 5 + 1 + 1) / 6]
    assert tasks.predicted.tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5), st.integers(0, 2)), max_size=20))
def test_predictions_agree_with_a_look_at_all_that_ended(rows):
    submit, run, user = np.array(rows, float).reshape(-1, 3).T
    tasks = Tasks.of(submit, run, user=user)
    for task, predicted in enumerate(tasks.predicted):
        ended = [n for n in range(task) if tasks.submit[n] + tasks.run[n] <= tasks.submit[task]]
        ended.sort(key=lambda n: tasks.submit[n] + tasks.run[n])
        own = [tasks.run[n] for n in ended if tasks.user[n] == tasks.user[task]][-2:]
        known = own or [tasks.run[n] for n in ended] or [1.0]
        assert predicted == pytest.approx(np.mean(known))
