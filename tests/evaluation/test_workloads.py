"""What an experiment schedules: loads, arrivals, sizes of bags and run times are those asked for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import ModelError, SimulationError
from gwa.evaluation.experiments.plan import ExperimentPlan
from gwa.evaluation.experiments.spec import read_experiment
from gwa.evaluation.experiments.workloads import GeneratedWorkload, generate_workload
from tests.conftest import HOME

HEAD = """
title = "Test"
schedulers = ["FPLT"]
clusters = [{ name = "one", processors = 30 }, { name = "two", processors = 10, speed = 2.0 }]
"""


def made(tmp_path, body, head=HEAD):
    """Return every variant of the workloads that *body* states, and the plan."""
    path = tmp_path / "test.toml"
    path.write_text(head + body)
    plan = ExperimentPlan(read_experiment(path))
    return {variant: generate_workload(plan.setup, variant) for variant in plan.variants}, plan


def test_a_load_is_work_over_capacity_and_time(tmp_path):
    body = 'loads = [0.3, 0.9]\nrepetitions = 2\n[[workloads]]\nname = "w"\nmodels = ["thesis-average"]\n'
    for extent in ("tasks = 2000", "days = 9"):
        found, _ = made(tmp_path, body + extent)
        for variant, one in found.items():
            assert one.run.sum() / (50 * one.length) == pytest.approx(variant.load)
            assert (one.submit <= one.length).all()
            assert (np.diff(one.submit) >= 0).all()
            assert (one.procs == 1).all()
    assert found[next(iter(found))].length == 9 * 86400


def test_each_cluster_has_a_stream_of_its_own(tmp_path):
    found, _ = made(tmp_path, '[[workloads]]\nname = "w"\nmodels = ["thesis-average"]\ndays = 3\n')
    (one,) = found.values()

    assert set(one.site) == {0, 1}
    for column in (one.bag, one.user):
        assert not set(column[one.site == 0]) & set(column[one.site == 1])
        assert set(column) == set(range(column.max() + 1))
    for number in range(one.bag.max() + 1):
        assert len(set(one.user[one.bag == number])) == 1


def test_repetitions_differ_and_are_the_same_each_time(tmp_path):
    body = 'repetitions = 2\n[[workloads]]\nname = "w"\nmodels = ["thesis-average"]\ntasks = 500\n'
    (first, second), (again, _) = (list(made(tmp_path, body)[0].values()) for _ in range(2))

    assert not np.array_equal(first.run, second.run)
    assert all(
        np.array_equal(x, y, equal_nan=True)
        for x, y in zip(vars(first).values(), vars(again).values(), strict=True)
    )


def test_arrivals_change_when_bags_come_and_nothing_else(tmp_path):
    body = '[[workloads]]\nname = "w"\nmodels = ["thesis-average"]\ndays = 2\n'
    found, _ = made(tmp_path, body + 'arrivals = ["as modelled", "all at once", "evenly spread"]\n')
    modelled, at_once, evenly = found.values()
    before, after, spread = (
        np.array([one.submit[one.bag == bag].min() for bag in range(one.bag.max() + 1)])
        for one in (modelled, at_once, evenly)
    )

    assert (after == 0).all()
    assert np.diff(np.sort(spread)) == pytest.approx(2 * 86400 / spread.size)
    assert (np.argsort(spread) == np.argsort(before, kind="stable")).all()
    for starts, one in ((after, at_once), (spread, evenly)):
        for bag in range(0, starts.size, 17):
            inside, was = one.submit[one.bag == bag], modelled.submit[modelled.bag == bag]
            assert inside - starts[bag] == pytest.approx(was - before[bag])
            assert (one.run[one.bag == bag] == modelled.run[modelled.bag == bag]).all()


def test_bags_have_the_median_size_that_is_asked_for(tmp_path):
    """All grow alike, so that their coefficient of variation is kept."""
    head = 'title = "T"\nschedulers = ["FPLT"]\nclusters = [{ name = "one", processors = 30 }]\n'
    body = '[[workloads]]\nname = "w"\nmodels = ["thesis-average"]\ntasks = 150000\nbag_sizes = [10, 50]\n'
    found, _ = made(tmp_path, body, head)
    small, large = (np.bincount(one.bag)[:2000] for one in found.values())
    big = small >= 25

    assert ((small == 1) == (large == 1)).all()
    assert np.median(small[small > 1]) == pytest.approx(10, abs=1)
    assert np.median(large[large > 1]) == pytest.approx(50, abs=4)
    assert (np.abs(large[big] - 5 * small[big]) <= 3).all()


def test_run_times_have_the_mean_that_is_asked_for(tmp_path):
    body = '[[workloads]]\nname = "w"\nmodels = ["thesis-average"]\ntasks = 2000\nrun_times = [180, 7200]\n'
    found, _ = made(tmp_path, body)
    short, long = found.values()

    assert short.run.mean() == pytest.approx(180)
    assert long.run == pytest.approx(short.run * 40)


def test_a_load_out_of_reach_is_said(tmp_path):
    body = 'loads = [0.01]\n[[workloads]]\nname = "w"\nmodels = ["thesis-lcg"]\ndays = 0.01\n'

    with pytest.raises(
        (SimulationError, ModelError), match=r"cannot be brought to a load|no task is submitted"
    ):
        made(tmp_path, body)


def test_a_trace_is_stretched_to_its_load(tmp_path, sample):
    trace = sample / "swf" / "tiny.swf"
    body = f'loads = [0.5]\n[[workloads]]\nname = "w"\ntrace = "{trace}"\n'
    (one,) = made(tmp_path, body)[0].values()
    (recorded,) = made(tmp_path, body.replace("loads = [0.5]", ""))[0].values()
    ratio = one.submit[1:] / np.where(recorded.submit[1:] > 0, recorded.submit[1:], np.nan)

    assert one.run.sum() / (50 * one.length) == pytest.approx(0.5)
    assert np.nanmin(ratio) == pytest.approx(np.nanmax(ratio))
    assert (one.run == recorded.run).all()
    assert (one.bag == recorded.bag).all()
    assert set(one.site) == {0, 1}


def test_parallel_jobs_keep_their_processors_and_fit(tmp_path):
    head = 'title = "T"\npolicies = ["easy"]\nclusters = [{ name = "one", processors = 64 }]\n'
    body = 'loads = [0.6]\n[[workloads]]\nname = "w"\nmodels = ["lublin"]\ntasks = 3000\n'
    (one,) = made(tmp_path, body, head)[0].values()

    assert 1 < one.procs.max() <= 64
    assert (one.run * one.procs).sum() / (64 * one.length) == pytest.approx(0.6)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=12),
    st.sampled_from(["all at once", "evenly spread"]),
)
def test_no_task_is_lost_when_bags_are_moved(tasks, pattern):
    tasks = sorted(tasks)
    submit, bag = (np.array(column) for column in zip(*tasks, strict=True))
    bag = np.unique(bag, return_inverse=True)[1]
    run = np.arange(1.0, len(tasks) + 1)
    ones = np.ones(len(tasks), np.int64)
    whole = GeneratedWorkload(submit.astype(float), run, ones, run, bag, ones, ones, 10.0)
    moved = whole.with_arrivals(pattern)

    assert sorted(zip(moved.run, moved.bag, strict=True)) == sorted(zip(run, bag, strict=True))
    assert (np.diff(moved.submit) >= 0).all()
    assert replace(whole).with_arrivals("as modelled") is not moved


def test_no_experiment_of_the_project_names_a_trace_outside_of_it():
    for path in (HOME / "experiments").glob("*.toml"):
        for trace in read_experiment(path).traces.values():
            assert trace.resolve().is_relative_to(HOME)
