"""Minh and Wolters 2010: bags job by job, slowly, and what fits of their own jobs give back."""

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import gwa
from gwa.errors import ModelError
from gwa.metrics.papers import minh2010
from gwa.models.base import presets
from gwa.models.families.minh2010 import Minh2010, Minh2010Printed
from gwa.models.generate import GenerationRequest, generate_store
from gwa.models.similar_bags import (
    GAP_CLASSES,
    SIZE_CLASSES,
    Joins,
    bag_sizes,
    calibrate_joins,
    classify_sizes,
    draw_bag_starts,
    growth_odds,
)
from gwa.models.size_cells import EvenPairs, SizeCell
from gwa.models.streams import Extent
from gwa.models.temporal_locality import LabelRuns
from gwa.statistics.dependence import pearson, spatial_entropy
from tests.models.making import frame as made

IMPROVED = cast("Minh2010", presets()["minh2010-nasa"].model)
PRINTED = cast("Minh2010Printed", presets()["minh2010-printed-nasa"].model)
ALWAYS, NEVER = ((Joins((share,) * len(GAP_CLASSES)),) * SIZE_CLASSES for share in (1.0, 0.0))


def slow_bags(times, gap, sizes):
    """Algorithm 1 of the paper, a job at a time, with *sizes* drawn beforehand for each row of short gaps."""
    found = [True]
    row = iter(sizes[0])
    size, most = 1, next(row)
    for place in range(1, len(times)):
        if times[place] - times[place - 1] > gap:
            row = iter(sizes[place])
            begins = True
        else:
            begins = size >= most
        if begins:
            size, most = 1, next(row)
        else:
            size += 1
        found.append(begins)
    return found


class Drawn(LabelRuns):
    """A law whose draws are known: those of each row of short gaps begin at its first job."""

    def rvs(self, rng, n):
        del rng
        return np.random.default_rng(9).integers(1, 5, n)


@given(st.lists(st.integers(0, 200), min_size=1, max_size=60))
def test_as_printed_bags_end_by_gap_or_size(gaps):
    times = np.cumsum(gaps).astype(float)
    drawn = np.random.default_rng(9).integers(1, 5, times.size).tolist()
    sizes = [drawn[place:] + [1] * times.size for place in range(times.size)]
    one = replace(PRINTED, sizes=Drawn(1.0, 9))

    assert one.draw_bag_starts(np.random.default_rng(1), times).tolist() == slow_bags(times, 100.0, sizes)


def test_as_printed_jobs_of_a_bag_are_the_same():
    jobs = made(PRINTED, 30_000)
    each = jobs.groupby("job_structure_params")

    assert (each[["run_time", "n_procs"]].max() == each[["run_time", "n_procs"]].min()).all().all()
    assert (jobs.submit_time.diff()[jobs.job_structure_params.diff() == 0] <= 100).all()
    assert each.size().max() <= PRINTED.sizes.longest


def slow_firsts(times, draws, joins):
    """One job after the other."""
    found, size = [], 0
    for place, draw in enumerate(draws):
        gap = times[place] - times[place - 1] if place else np.inf
        short = next((k for k, most in enumerate(GAP_CLASSES) if gap <= most), None)
        share = 0.0 if short is None else joins[int(classify_sizes(np.array([size]))[0])].shares[short]
        found.append(bool(draw >= share))
        size = 1 if found[-1] else size + 1
    return found


@given(st.lists(st.integers(0, 120), min_size=1, max_size=80), st.integers(0, 999))
def test_bags_found_side_by_side_are_those_found_in_turn(gaps, seed):
    times = np.cumsum(gaps).astype(float)
    rows = np.random.default_rng(seed).random((SIZE_CLASSES, len(GAP_CLASSES))).tolist()
    joins = tuple(Joins(tuple(row)) for row in rows)
    draws = np.random.default_rng(seed + 1).random(times.size)

    assert draw_bag_starts(np.random.default_rng(seed + 1), times, joins).tolist() == slow_firsts(
        times, draws, joins
    )


def test_all_or_nothing_joins():
    times = np.arange(0.0, 25_000.0, 50.0)

    assert bag_sizes(draw_bag_starts(np.random.default_rng(1), times, ALWAYS)).tolist() == [500]
    assert bag_sizes(draw_bag_starts(np.random.default_rng(1), times, NEVER)).tolist() == [1] * 500


def test_classes_of_sizes():
    assert classify_sizes(np.array([1, 2, 3, 4, 5, 8, 9, 16, 17, 9999])).tolist() == [
        0,
        1,
        2,
        2,
        3,
        3,
        4,
        4,
        5,
        5,
    ]


def test_calibration_brings_the_sizes_of_bags_about():
    rng = np.random.default_rng(4)
    times = np.floor(np.cumsum(rng.exponential(60.0, 60_000)))
    sizes = np.minimum(rng.geometric(0.4, 24_000), 60)
    start = (Joins((0.5,) * len(GAP_CLASSES)),) * SIZE_CLASSES
    found = bag_sizes(draw_bag_starts(np.random.default_rng(7), times, calibrate_joins(start, times, sizes)))

    assert growth_odds(found)[:3] == pytest.approx(growth_odds(sizes)[:3], abs=0.1)
    assert stats.ks_2samp(found, sizes).statistic < 0.02


def test_run_times_of_a_bag_are_as_alike_as_asked():
    cells = tuple(SizeCell(64, float(mean), 0.5, (4,), (10,)) for mean in range(1, 200))
    sizes = np.full(20_000, 2)
    for likeness in (0.0, 0.6, 1.0):
        one = replace(IMPROVED, cells=cells, likeness=likeness)
        times = one.draw_jobs(
            np.random.default_rng(1), sizes, EvenPairs(np.random.default_rng(2), SIZE_CLASSES)
        )["run_time"]
        # Of normal scores whose correlation is rho, that of the ranks is 6 / pi asin(rho / 2).
        expected = 6 / np.pi * np.arcsin(likeness / 2)
        assert stats.spearmanr(times[::2], times[1::2]).statistic == pytest.approx(expected, abs=0.02)
        assert times.mean() == pytest.approx(100, rel=0.02)


def test_as_printed_the_law_of_sizes_comes_back_where_no_gap_is_long():
    one = replace(PRINTED, gap=1e9)
    with generate_store(GenerationRequest(one, Extent(jobs=40_000), 1)) as store:
        found = LabelRuns.fit(
            store.sample("n", "(select count(*) as n from jobs group by job_structure_params) as b")
        )

    assert found.exponent == pytest.approx(one.sizes.exponent, rel=0.03)
    assert found.longest <= one.sizes.longest


def test_a_trace_of_one_user_has_one(make_store):
    rng = np.random.default_rng(1)
    store = make_store(
        submit_time=np.cumsum(rng.integers(0, 300, 400)).astype(float).tolist(),
        run_time=rng.integers(1, 5000, 400).astype(float).tolist(),
        n_procs=rng.integers(1, 9, 400).tolist(),
        user_id=["only"] * 400,
    )
    for kind in (Minh2010, Minh2010Printed):
        assert set(made(kind.fit(store), 300).columns) >= {"submit_time", "run_time", "n_procs"}
    assert Minh2010.fit(store).users == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"joins": []}, "joins is empty"),
        ({"joins": [{"shares": [2.0]}] * SIZE_CLASSES}, r"joins\[0\].shares is"),
        ({"likeness": 1.5}, "likeness is 1.5"),
        ({"users": 0}, "users is 0"),
    ],
)
def test_bad_parameters_are_named(change, said):
    with pytest.raises(ModelError, match=said):
        Minh2010.parsed(IMPROVED.plain() | change)


def test_jobs_that_are_too_large_are_left_out_or_refused():
    assert made(IMPROVED.limit_processors(8), 3000).n_procs.max() <= 8
    assert made(PRINTED.limit_processors(8), 3000).n_procs.max() <= 8
    with pytest.raises(ModelError, match="cpus is 1"):
        replace(IMPROVED, cells=(SizeCell(0, 9.0, 0.0, (8,), (1,)),)).limit_processors(1)


PUBLISHED = {"HPC2N-2002-2.1-cln": (0.011, 0.018), "LLNL-Thunder-2007-1.1-cln": (0.005, 0.008)}
"""What the paper's tables V and VI leave of correlation and spatial entropy."""


@pytest.mark.logs
@pytest.mark.slow
@pytest.mark.parametrize("log", PUBLISHED)
def test_the_improved_model_is_no_further_off_than_the_paper(log, logs):
    with gwa.open(logs / "swf" / f"{log}.swf.gz") as trace:
        store = trace.store
        store.connection.execute("delete from recorded where status <> 1")
        store.connection.execute("update recorded set n_procs = coalesce(req_n_procs, n_procs)")
        model, n = Minh2010.fit(store), minh2010.jobs(store, minh2010.YEAR_2010)
        real = minh2010.correlation(store), minh2010.spatial(store)
    every = [made(model, n, seed) for seed in range(10)]
    found = [
        (pearson(jobs.run_time, jobs.n_procs), spatial_entropy(jobs.n_procs, jobs.run_time)) for jobs in every
    ]
    off = np.abs(np.array(found) - real).mean(axis=0)

    assert off[0] < PUBLISHED[log][0]
    assert off[1] < PUBLISHED[log][1]
