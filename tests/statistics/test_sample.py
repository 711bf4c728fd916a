"""Value counts say the same as the data they were counted from."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.statistics.sample import Sample

WHOLE = st.integers(-(10**6), 10**6)
REAL = st.floats(-1e6, 1e6, allow_nan=False)
DATA = st.one_of(st.lists(WHOLE, min_size=1, max_size=60), st.lists(REAL, min_size=1, max_size=60))
POSITIVE = st.lists(st.integers(0, 20), min_size=1, max_size=60)
SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=9)


@given(DATA)
def test_holds_all_the_data(data):
    sample = Sample.of(data)
    np.testing.assert_array_equal(sample.expand(), np.sort(np.asarray(data, dtype=float)))
    assert len(sample) == sample.n == len(data)
    assert (sample.min(), sample.max()) == (min(data), max(data))


@given(DATA)
def test_total_is_exact(data):
    exact = sum((Fraction(x) for x in data), Fraction(0))
    assert Sample.of(data).total() == float(exact)


@given(st.lists(st.tuples(REAL, st.integers(1, 2**40)), max_size=30))
def test_total_is_exact_for_huge_counts(pairs):
    sample = Sample.weighted([x for x, _ in pairs], [c for _, c in pairs])
    assert sample.total() == float(sum((Fraction(x) * c for x, c in pairs), Fraction(0)))


@given(DATA)
def test_moments_are_those_of_the_data(data):
    sample = Sample.of(data)
    assert sample.mean() == pytest.approx(np.mean(data), rel=1e-12, abs=1e-9)
    assert sample.std() == pytest.approx(np.std(data), rel=1e-9, abs=1e-6)
    if len(data) > 1:
        assert sample.variance(ddof=1) == pytest.approx(np.var(data, ddof=1), rel=1e-9, abs=1e-6)


@given(DATA, SHARES)
def test_quantiles_equal_numpy_to_the_last_bit(data, shares):
    sample = Sample.of(data)
    np.testing.assert_array_equal(
        sample.quantiles(shares), np.quantile(np.asarray(data, dtype=float), shares)
    )
    assert sample.median() == np.median(np.asarray(data, dtype=float))


@given(DATA, st.lists(REAL, min_size=1, max_size=9))
def test_cdf_counts_what_is_at_most_x(data, points):
    sample = Sample.of(data)
    expected = [np.mean(np.asarray(data) <= x) for x in points]
    np.testing.assert_allclose(sample.cdf(points), expected, rtol=1e-15)
    values, shares = sample.ecdf()
    np.testing.assert_array_equal(sample.cdf(values), shares)


@given(POSITIVE)
def test_gini_is_the_mean_difference(data):
    x = np.asarray(data, dtype=float)
    total = np.abs(x[:, None] - x[None, :]).sum()
    expected = total / (2 * x.size * x.sum()) if x.sum() else 0.0
    sample = Sample.of(data)
    assert sample.gini() == pytest.approx(expected, abs=1e-12)
    population, wealth = sample.lorenz()
    assert 1 - 2 * np.trapezoid(wealth, population) == pytest.approx(expected, abs=1e-12)


@given(DATA)
def test_map_merges_values_that_become_equal(data):
    coarse = Sample.of(data).map(lambda x: np.floor(x / 10))
    np.testing.assert_array_equal(coarse.expand(), np.sort(np.floor(np.asarray(data) / 10)))


@given(DATA, REAL, REAL)
def test_restrict_keeps_the_bounds_it_names(data, low, high):
    x = np.sort(np.asarray(data, dtype=float))
    sample = Sample.of(data)
    np.testing.assert_array_equal(sample.restrict(low, high).expand(), x[(x >= low) & (x <= high)])
    np.testing.assert_array_equal(sample.restrict(above=low, below=high).expand(), x[(x > low) & (x < high)])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=30))
def test_weighted_adds_up_equal_values(pairs):
    sample = Sample.weighted([x for x, _ in pairs], [c for _, c in pairs])
    expected = sorted(x for x, c in pairs for _ in range(c))
    assert sample.expand().tolist() == expected


@given(DATA, st.data(), st.integers(0, 2**32))
def test_split_shares_out_every_observation(data, draw, seed):
    sample = Sample.of(data)
    n = draw.draw(st.integers(0, len(data)))
    drawn, rest = sample.split(n, np.random.default_rng(seed))
    assert (drawn.n, rest.n) == (n, len(data) - n)
    both = np.sort(np.concatenate((drawn.expand(), rest.expand())))
    np.testing.assert_array_equal(both, sample.expand())


def test_split_draws_every_value_in_proportion():
    sample = Sample(np.array([1.0, 2.0, 3.0]), np.array([100, 300, 600]))
    rng = np.random.default_rng(1)
    drawn = np.mean([sample.subsample(50, rng).cdf([1, 2]) for _ in range(2000)], axis=0)
    np.testing.assert_allclose(drawn, [0.1, 0.4], atol=0.01)


def test_subsample_of_a_small_sample_is_the_sample():
    sample = Sample.of([1, 2, 2])
    assert sample.subsample(10, np.random.default_rng(0)) is sample


def test_an_empty_sample_has_nan_statistics_and_a_total_of_zero():
    empty = Sample.of([])
    numbers = [
        empty.min(),
        empty.max(),
        empty.mean(),
        empty.std(),
        empty.median(),
        empty.mode()[0],
        empty.gini(),
    ]
    assert all(math.isnan(x) for x in numbers)
    assert (empty.total(), empty.n) == (0.0, 0)
    assert np.isnan(empty.cdf([1, 2])).all()
    assert empty.restrict(0).n == empty.map(np.log).n == 0
    assert empty.ecdf()[1].size == 0
    assert empty.lorenz()[0].size == 1


def test_mode_is_the_smallest_of_the_most_frequent():
    assert Sample.of([7, 3, 3, 7, 1]).mode() == (3.0, 0.4)


def test_cv_is_one_for_two_values_as_far_apart_as_their_sum():
    assert Sample.of([0, 4]).cv() == 1.0
    assert math.isnan(Sample.of([-1, 1]).cv())


@pytest.mark.parametrize(
    ("values", "counts", "fault"),
    [
        ([1.0, 1.0], [1, 1], "increasing"),
        ([2.0, 1.0], [1, 1], "increasing"),
        ([1.0, math.nan], [1, 1], "finite"),
        ([1.0, math.inf], [1, 1], "finite"),
        ([1.0], [0], "at least 1"),
        ([1.0], [1.5], "whole"),
        ([1.0], [1, 2], "one count per value"),
        ([[1.0]], [[1]], "one count per value"),
    ],
)
def test_names_what_is_wrong_with_a_pair(values, counts, fault):
    with pytest.raises(ValueError, match=fault):
        Sample(np.array(values), np.array(counts))


def test_refuses_what_it_cannot_do():
    sample = Sample.of([-1, 1])
    with pytest.raises(ValueError, match="finite"):
        Sample.of([1, math.nan])
    with pytest.raises(ValueError, match="one count per value"):
        Sample.weighted([1, 2], [1])
    with pytest.raises(ValueError, match="at least 0"):
        Sample.weighted([1, 2], [1, -1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        sample.quantile(1.5)
    with pytest.raises(ValueError, match="Gini"):
        sample.gini()
    with pytest.raises(ValueError, match="Lorenz"):
        sample.lorenz()
    with pytest.raises(ValueError, match="cannot draw"):
        sample.split(3, np.random.default_rng(0))


def test_leaves_the_callers_arrays_writeable_and_its_own_not():
    values = np.array([1.0, 2.0])
    sample = Sample(values, np.array([1, 1]))
    assert values.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        sample.values[0] = 5
