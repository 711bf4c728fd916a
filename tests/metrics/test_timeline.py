"""Levels and counts over time, against the obvious second-by-second computation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics.timeline import counts, level, levels
from gwa.store.store import Store
from tests.conftest import examples

JOBS = st.lists(
    st.tuples(st.integers(0, 200), st.integers(0, 90), st.integers(1, 5)), min_size=1, max_size=12
)


def store_of(jobs):
    store = Store.create()
    store.begin(["job_id", "submit_time", "run_time", "n_procs"])
    rows = [(number, float(begin), float(run), procs) for number, (begin, run, procs) in enumerate(jobs)]
    store.connection.executemany("insert into recorded values (?, ?, ?, ?)", rows)
    return store


def by_the_second(jobs, first, last):
    """Return busy processors in each second, the slow way."""
    busy = np.zeros(last - first)
    for begin, run, procs in jobs:
        busy[begin - first : begin - first + run] += procs
    return busy


@examples(60)
@given(JOBS, st.sampled_from([7.0, 10.0, 60.0]))
def test_a_level_is_the_average_of_every_second(jobs, width):
    first = min(begin for begin, _, _ in jobs)
    last = max(first + 1, *(begin + run for begin, run, _ in jobs))
    seconds = by_the_second(jobs, first, last)
    with store_of(jobs) as store:
        busy = level(store, "n_procs", ("start_time", "end_time"), "ran", width=width, period=(first, last))

    expected = [seconds[k : k + int(width)].mean() for k in range(0, len(seconds), int(width))]
    found = np.repeat(busy.values, busy.lengths)
    assert found == pytest.approx(expected)
    assert busy.lengths.sum() == len(expected)
    assert busy.mean() == pytest.approx(seconds.mean())


@examples(20)
@given(JOBS)
def test_levels_of_one_scan_are_those_of_a_scan_for_each(jobs):
    weights, span, period = ("1", "n_procs"), ("start_time", "end_time"), (3.0, 250.0)
    with store_of(jobs) as store:
        together = levels(store, weights, span, "ran", width=7.0, period=period)
        apart = [level(store, weight, span, "ran", width=7.0, period=period) for weight in weights]

    for one, other in zip(together, apart, strict=True):
        assert one.begins.tolist() == other.begins.tolist()
        assert one.values.tolist() == other.values.tolist()


@examples(40)
@given(JOBS, st.lists(st.integers(-20, 320), min_size=2, max_size=6, unique=True))
def test_averages_between_edges_are_those_of_the_seconds_observed(jobs, edges):
    first = min(begin for begin, _, _ in jobs)
    last = max(first + 1, *(begin + run for begin, run, _ in jobs))
    seconds = by_the_second(jobs, first, last)
    edges = sorted(edges)
    with store_of(jobs) as store:
        busy = level(store, "n_procs", ("start_time", "end_time"), "ran", width=1.0, period=(first, last))

    for edge, following, value in zip(edges, edges[1:], busy.between(np.array(edges, float)), strict=False):
        part = seconds[max(edge - first, 0) : max(following - first, 0)]
        assert np.isnan(value) if len(part) == 0 else value == pytest.approx(part.mean())


def test_the_points_of_a_drawing_hold_every_extreme():
    jobs = [(k * 100, 30, k % 5 + 1) for k in range(200)]
    with store_of(jobs) as store:
        busy = level(store, "n_procs", ("start_time", "end_time"), "ran", width=10.0, period=(0, 20_000))
    _, mean, low, high = busy.points(maximum=50)

    assert len(mean) == 50
    assert high.max() == busy.values.max()
    assert low.min() == busy.values.min()
    assert (low <= mean + 1e-9).all()
    assert (mean <= high + 1e-9).all()


@examples(40)
@given(st.lists(st.integers(0, 5000), min_size=1, max_size=40))
def test_counts_include_the_empty_intervals_between(moments):
    with store_of([(moment, 1, 1) for moment in moments]) as store:
        found = counts(store, "submit_time", 60.0)
    first, last = min(moments) // 60, max(moments) // 60
    expected = np.bincount(np.array(moments) // 60, minlength=last + 1)[first:]

    assert found.sample().expand().tolist() == sorted(expected.tolist())


@examples(30)
@given(st.lists(st.integers(-9000, 300_000), min_size=1, max_size=40))
def test_hours_and_days_are_counted_by_the_quarters_of_an_hour(moments):
    with store_of([(moment, 1, 1) for moment in moments]) as store:
        found = {width: counts(store, "submit_time", width) for width in (3600.0, 86400.0)}

    for width, counted in found.items():
        bins, jobs = np.unique(np.array(moments) // int(width), return_counts=True)
        assert counted.bins.tolist() == bins.tolist()
        assert counted.counts.tolist() == jobs.tolist()
        assert counted.times.tolist() == (bins * width).tolist()


def test_the_same_counts_are_asked_of_the_engine_once():
    with store_of([(0, 1, 1), (5000, 1, 1)]) as store:
        assert counts(store, "submit_time", 900.0) is counts(store, "submit_time", 900.0)
