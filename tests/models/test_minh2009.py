"""MBC-LS and Minh and Wolters 2009: steps against slow ones, and what fits of their own jobs give back."""

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
from gwa.models.families.mbc import MbcLs, fit_rows
from gwa.models.families.minh2009 import Minh2009, Minh2009Printed
from gwa.models.size_cells import CellSampler, EvenPairs, SizeCell
from gwa.models.temporal_locality import (
    LabelRuns,
    permute_clusters,
    positions_in_rows,
    truncate_lengths,
)
from gwa.statistics.dependence import autocorrelation, pearson
from gwa.statistics.sample import Sample
from tests.models.making import block as made

IMPROVED = cast("Minh2009", presets()["minh2009-nasa"].model)
PRINTED = cast("Minh2009Printed", presets()["minh2009-printed-nasa"].model)


def lengths_of(values):
    """Return the lengths of runs of equal values."""
    return np.diff(np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1], [True]))))


def slow_permutation(labels, window):
    """The procedure of footnote 2, a window at a time."""
    found: list[int] = []
    for start in range(0, len(labels), window):
        piece = labels[start : start + window]
        for label in dict.fromkeys(piece):
            found += [label] * piece.count(label)
    return found


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(1, 70))
def test_the_permutation_gathers_labels_window_by_window(labels, window):
    assert np.array(labels)[permute_clusters(np.array(labels), window)].tolist() == slow_permutation(
        labels, window
    )


def test_a_wider_window_raises_the_autocorrelation():
    labels = np.random.default_rng(1).integers(0, 5, 20_000)
    means = [lengths_of(labels[permute_clusters(labels, window)]).mean() for window in (1, 4, 64)]

    assert means[0] < means[1] < means[2]


@given(st.lists(st.integers(1, 9), min_size=1), st.data())
def test_rows_are_cut_where_the_jobs_end(lengths, data):
    n = data.draw(st.integers(1, sum(lengths)))
    found = truncate_lengths(np.array(lengths), n)

    assert found.sum() == n
    assert found[:-1].tolist() == lengths[: found.size - 1]
    assert positions_in_rows(found).tolist() == [place for length in found for place in range(length)]


def test_rows_are_scipys_zipfian():
    found = LabelRuns(1.7, 40).rvs(np.random.default_rng(1), 50_000)
    counts = np.bincount(found, minlength=41)[1:]

    assert stats.chisquare(counts, stats.zipfian(1.7, 40).pmf(np.arange(1, 41)) * 50_000).pvalue > 0.001


def test_repeats_are_drawn_again_until_they_are_fewer_than_the_row():
    law, rng = LabelRuns(1.2, 30), np.random.default_rng(1)
    found = law.draw_below(rng, np.full(40_000, 7))
    again = rng.choice(30, 200_000, p=stats.zipfian(1.2, 30).pmf(np.arange(1, 31))) + 1
    expected = np.bincount(again[again < 7], minlength=7)[1:]

    assert found.max() == 6
    assert stats.chi2_contingency([np.bincount(found, minlength=7)[1:], expected]).pvalue > 0.001
    assert law.draw_below(rng, np.array([1000])).max() <= 30


@given(st.floats(1.01, 30), st.integers(2, 5000))
def test_rows_have_the_mean_asked_for(mean, longest):
    law = LabelRuns.of_mean(mean, longest)

    if law.exponent > 0:
        assert stats.zipfian(law.exponent, longest).mean() == pytest.approx(mean, rel=1e-6)
    else:
        assert mean >= (longest + 1) / 2 - 1e-9


def test_rows_of_one_length_are_a_law():
    assert LabelRuns.fit(Sample.of([1, 1, 1])).rvs(np.random.default_rng(1), 9).tolist() == [1] * 9
    assert LabelRuns.fit(Sample.of([4, 4])).longest == 4


@pytest.mark.parametrize("n", [100, 1000, 5000])
def test_spread_pairs_are_evener_than_random_ones(n):
    """In each of 100 boxes there are n / 100 of the pairs; by chance the squares would add up to about n."""
    rng = np.random.default_rng(n)
    spread, label = EvenPairs(rng, 2), rng.integers(0, 2, 2 * n)
    first, second = np.concatenate([spread.draw(part) for part in np.split(label, 8)], axis=1)
    for one in (0, 1):
        inside = np.floor(10 * first) + 10 * np.floor(10 * second)
        boxes = np.bincount(inside[label == one].astype(int), minlength=100)
        assert boxes.size == 100
        assert ((boxes - boxes.mean()) ** 2).sum() < 0.5 * boxes.sum()


def test_spread_pairs_have_no_pattern():
    first, _ = EvenPairs(np.random.default_rng(1), 1).draw(np.zeros(20_000, np.int64))

    assert np.abs(autocorrelation(first, 30)[1:]).max() < 0.1


def test_cells_and_sizes_are_drawn_by_their_shares():
    cells = [
        SizeCell(0, 10.0, 10.0, (1, 4), (3, 1)),
        SizeCell(0, 100.0, 0.0, (2,), (4,)),
        SizeCell(1, 5.0, 0.0, (8,), (8,)),
    ]
    sampler, rng = CellSampler(cells), np.random.default_rng(1)
    label = np.repeat([0, 1], 8000)
    first, second = EvenPairs(rng, 2).draw(label)
    cell, inside = sampler.locate(label, first)
    procs, times = sampler.procs(cell, second), sampler.run_times(cell, inside)

    assert sampler.weights.tolist() == [8, 8]
    assert np.bincount(cell).tolist() == pytest.approx([4000, 4000, 8000], abs=10)
    assert np.bincount(procs)[[1, 2, 4, 8]].tolist() == pytest.approx([3000, 4000, 1000, 8000], abs=30)
    assert times[cell == 0].mean() == pytest.approx(10, abs=0.3)
    assert times[cell == 0].std() == pytest.approx(10 / np.sqrt(3), rel=0.05)
    assert set(times[cell == 1]) == {100.0}


def weights(one):
    """Return jobs, mean run times and mean sizes of the cells of a model."""
    jobs = np.array([sum(cell.jobs) for cell in one.cells])
    sizes = np.array([np.average(cell.procs, weights=cell.jobs) for cell in one.cells])
    return jobs / jobs.sum(), np.array([cell.mean for cell in one.cells]), sizes


def test_work_and_sizes_are_those_of_the_cells_whatever_the_seed():
    """Known without drawing: the mean of run time times processors over cells."""
    share, means, sizes = weights(IMPROVED)
    for seed in range(3):
        jobs = made(IMPROVED, 28_672, seed)
        assert (jobs["run_time"] * jobs["n_procs"]).mean() == pytest.approx(share @ (means * sizes), rel=0.05)
        assert jobs["n_procs"].mean() == pytest.approx(share @ sizes, rel=0.02)


def test_rows_and_repeats_are_given_back_by_labels_that_are_known(make_store):
    """Rows of one label that follow each other by chance are one row, which the laws allow for."""
    rng = np.random.default_rng(3)
    label = IMPROVED.draw_labels(rng, 0, 40_000)
    store = make_store(submit_time=list(range(40_000)), run_time=label.tolist())
    table = "(select submit_time, job_id, cast(run_time as integer) as label from jobs) as labelled"
    again = replace(IMPROVED, rows=fit_rows(store, table)).draw_labels(rng, 0, 40_000)

    assert np.bincount(again) == pytest.approx(np.bincount(label), abs=3)
    for one in range(len(IMPROVED.rows)):
        means = [(x == one).sum() / ((x == one)[1:] > (x == one)[:-1]).sum() for x in (label, again)]
        assert means[0] == pytest.approx(means[1], rel=0.1)


def test_as_printed_a_run_time_repeats_within_its_row():
    """R from Zipf's law; with probability p, r < R equal run times come first. Slow, job by job."""
    rng = np.random.default_rng(5)
    label, lengths = PRINTED.draw_labels(rng, 20_000)

    assert label.size == lengths.sum() == 20_000
    assert (np.repeat(label[np.cumsum(lengths) - lengths], lengths) == label).all()
    longer = replace(PRINTED, rows=LabelRuns(1.0, 20), values=LabelRuns(1.0, 10))
    none, every = (made(replace(longer, repeated=share), 40_000)["run_time"] for share in (0.0, 1.0))
    assert lengths_of(every).mean() > lengths_of(none).mean() + 0.1


def test_a_negative_run_time_counts_as_none():
    times = made(PRINTED, 40_000)["run_time"]

    assert times.min() == 0
    assert (times == 0).mean() == pytest.approx(float(PRINTED.sampler.mixture.cdf(0.5)), abs=0.01)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": []}, "rows is empty"),
        ({"repeats": [0.5]}, "repeats has 1 shares"),
        ({"repeats": [2.0] * len(IMPROVED.rows)}, "repeats is"),
        ({"window": 0}, "window is 0"),
        ({"cells": [{"label": 0, "mean": 1.0, "spread": 2.0, "procs": [1], "jobs": [1]}]}, "spread is 2.0"),
        ({"cells": [{"label": 0, "mean": 1.0, "spread": 0.0, "procs": [], "jobs": []}]}, "procs and jobs"),
    ],
)
def test_bad_parameters_are_named(change, said):
    with pytest.raises(ModelError, match=said):
        Minh2009.parsed(IMPROVED.plain() | change)


def test_bad_clusters_are_named():
    said = PRINTED.plain()
    with pytest.raises(ModelError, match="clusters have weights that add up to"):
        Minh2009Printed.parsed(said | {"clusters": said["clusters"][:2]})


def test_jobs_that_are_too_large_are_left_out_or_refused():
    small = IMPROVED.limit_processors(16)

    assert made(small, 5000)["n_procs"].max() <= 16
    assert made(PRINTED.limit_processors(16), 5000)["n_procs"].max() <= 16
    large = MbcLs(
        arrivals=IMPROVED.arrivals, cells=(SizeCell(0, 9.0, 0.0, (8,), (1,)),), rows=(LabelRuns(1.0, 1),)
    )
    with pytest.raises(ModelError, match="cpus is 4"):
        large.limit_processors(4)


PUBLISHED = {"KTH-SP2-1996-2.1-cln": (0.004, 0.0039), "SDSC-Par-1996-3.1-cln": (0.039, 0.0312)}
"""What the paper's tables 2 and 3 leave of correlation and squashed area."""


@pytest.mark.logs
@pytest.mark.slow
@pytest.mark.parametrize("log", PUBLISHED)
def test_the_improved_model_is_no_further_off_than_the_paper(log, logs):
    with gwa.open(logs / "swf" / f"{log}.swf.gz") as trace:
        model = Minh2009.fit(trace.store)
        n = minh2010.jobs(trace.store, minh2010.YEAR_2009)
        real, area = (
            minh2010.correlation(trace.store, minh2010.YEAR_2009),
            minh2010.squashed_area(trace.store),
        )
        (values,) = minh2010.mean_repetitions(trace.store, ["run_time"])
    every = [made(model, n, seed) for seed in range(10)]
    correlations = [pearson(jobs["run_time"], jobs["n_procs"]) for jobs in every]
    areas = np.array([(jobs["run_time"] * jobs["n_procs"]).sum() for jobs in every])

    assert np.abs(np.array(correlations) - real).mean() < PUBLISHED[log][0]
    assert abs(areas.mean() / area - 1) < PUBLISHED[log][1]
    assert np.mean([lengths_of(jobs["run_time"]).mean() for jobs in every]) == pytest.approx(values, rel=0.01)
