"""Correlation, dispersion and entropy against definitions written out, and scipy."""

import math

import numpy as np
import pytest
from scipy import stats

from gwa.statistics import dependence as d


def test_autocorrelation_is_the_sum_it_says():
    x = np.random.default_rng(0).normal(size=300).cumsum()
    centred = x - x.mean()
    expected = [(centred[: x.size - k] * centred[k:]).sum() / (centred**2).sum() for k in range(50)]
    np.testing.assert_allclose(d.autocorrelation(x, 49), expected, atol=1e-12)
    assert d.autocorrelation([1, 2, 3], 10).size == 3
    assert np.isnan(d.autocorrelation([2, 2, 2], 1)).all()


def test_aggregation_adds_up_bins():
    assert d.aggregated([1, 2, 3, 4, 5], 2).tolist() == [3, 7]
    assert d.aggregated([1, 2, 3, 4, 5], 2, whole=False).tolist() == [3, 7, 5]
    assert d.aggregated([1, 2], 3).size == 0
    with pytest.raises(ValueError, match="at least 1"):
        d.aggregated([1], 0)


def test_entropy_is_one_for_an_even_spread_and_zero_for_one_place():
    assert d.entropy([3, 3, 3, 3]) == pytest.approx(1)
    assert d.entropy([0, 5, 0]) == 0
    assert d.entropy([1, 1], possible=4) == pytest.approx(0.5)
    assert math.isnan(d.entropy([0, 0]))
    with pytest.raises(ValueError, match="two places"):
        d.entropy([1])
    with pytest.raises(ValueError, match="at least 0"):
        d.entropy([1, -1])


def test_spatial_entropy_counts_up_to_the_largest_size_present():
    p = np.array([0.25, 0.75])
    expected = -(p * np.log(p)).sum() / math.log(8)
    assert d.spatial_entropy([8, 1, 8], [50, 50, 100]) == pytest.approx(expected)
    with pytest.raises(ValueError, match="two places"):
        d.spatial_entropy([1, 1], [2, 3])


def test_temporal_entropy_keeps_empty_and_incomplete_bins():
    assert d.temporal_entropy([1, 0, 1, 0, 1], 2) == pytest.approx(1)
    assert d.temporal_entropy([1, 0, 0, 1]) == pytest.approx(0.5)


@pytest.mark.parametrize(("arrivals", "bins"), [(50, 200), (5000, 1000), (300_000, 500)])
def test_poisson_entropy_is_the_mean_over_random_arrivals(arrivals, bins):
    rng = np.random.default_rng(2)
    seen = [d.entropy(rng.multinomial(arrivals, np.full(bins, 1 / bins))) for _ in range(200)]
    allowed = 4 * float(np.std(seen)) / math.sqrt(200)
    assert d.poisson_entropy(arrivals, bins) == pytest.approx(np.mean(seen), abs=allowed)


def test_poisson_entropy_reproduces_the_published_traces():
    """model-fidelity.md 1.1: .970 and .993 for 15-minute bins, mean gaps of 542 and 124 s."""
    assert d.poisson_entropy(201_998, round(201_998 * 542.5 / 900)) == pytest.approx(0.970, abs=0.001)
    assert d.poisson_entropy(102_972, round(102_972 * 123.8 / 900)) == pytest.approx(0.993, abs=0.001)


def test_correlations_of_triples_are_those_of_the_pairs_they_count():
    rng = np.random.default_rng(3)
    x, y, count = rng.integers(0, 9, 200), rng.integers(0, 9, 200), rng.integers(1, 6, 200)
    y = y + x
    long_x, long_y = np.repeat(x, count), np.repeat(y, count)
    assert d.pearson(x, y, count) == pytest.approx(stats.pearsonr(long_x, long_y).statistic, abs=1e-12)
    assert d.spearman(x, y, count) == pytest.approx(stats.spearmanr(long_x, long_y).statistic, abs=1e-12)
    assert d.spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert math.isnan(d.pearson([1, 1], [1, 2]))
    assert math.isnan(d.pearson([], []))
    assert math.isnan(d.spearman([], []))
