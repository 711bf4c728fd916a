"""Distances are exact with ties, and p-values mean what they say."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gwa.statistics.distribution import POSITIVE, FitError
from gwa.statistics.distributions import Exponential, Lognormal, Normal
from gwa.statistics.gamma import Gamma
from gwa.statistics.goodness import (
    Bootstrap,
    distances,
    ks,
    naive_p_value,
    p_values,
)
from gwa.statistics.hyper import HyperExponential
from gwa.statistics.rounding import DIRECTIONS, RoundingGrid, likeliest_rounding
from gwa.statistics.sample import Sample
from gwa.statistics.weibull import Weibull
from gwa.statistics.zipf import Zipf

TIED = st.lists(st.integers(1, 12), min_size=2, max_size=50)


@given(TIED, st.floats(0.2, 2), st.floats(4, 20))
def test_distances_with_ties_are_those_of_the_expanded_data(data, shape, scale):
    sample, distribution = Sample.of(data), Weibull(shape, scale)
    x = np.sort(np.asarray(data, dtype=float))
    i, n = np.arange(1, x.size + 1), x.size
    there = stats.weibull_min(shape, scale=scale)
    assert ks(sample, distribution) == pytest.approx(stats.kstest(x, there.cdf).statistic, abs=1e-12)
    expected = stats.cramervonmises(x, there.cdf).statistic
    assert distances(sample, distribution).cramer_von_mises == pytest.approx(expected, abs=1e-9)
    logs = np.log(distribution.cdf(x)) + np.log(distribution.sf(x))[::-1]
    expected = -n - ((2 * i - 1) * logs).sum() / n
    assert distances(sample, distribution).anderson_darling == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.integers(0, 10**6), st.sampled_from([60, 64, 65, 129, 5000]), st.floats(0.5, 2), st.booleans())
def test_ks_of_many_values_is_that_of_looking_at_all(seed, n, scale, are_whole):
    data = np.random.default_rng(seed).gamma(0.7, 1000, n)
    data = np.ceil(data) if are_whole else data
    there = stats.gamma(0.7, scale=1000 * scale)
    expected = stats.kstest(data, there.cdf).statistic
    assert ks(Sample.of(data), Gamma(0.7, 1000 * scale)) == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 10**6), st.floats(1.1, 3))
def test_ks_of_a_discrete_distribution_is_that_of_looking_at_all(seed, exponent):
    zipf = Zipf(exponent, 3000)
    data = np.random.default_rng(seed).integers(1, 3000, 700)
    sample = Sample.of(data)
    observed = np.concatenate(([0], sample.cumulative)) / sample.n
    over, under = observed[1:] - zipf.cdf(sample.values), zipf.cdf(sample.values - 1) - observed[:-1]
    assert ks(sample, zipf) == pytest.approx(max(over.max(), under.max()), abs=1e-12)


def test_anderson_darling_is_scipys():
    data = np.random.default_rng(0).normal(3, 2, 500)
    sample = Sample.of(data)
    ours = distances(sample, Normal(data.mean(), data.std(ddof=1))).anderson_darling
    theirs = stats.anderson(data, "norm", method="interpolate")  # type: ignore[call-overload]
    assert ours == pytest.approx(theirs.statistic, rel=1e-9)


def test_an_observation_where_there_is_no_mass_is_infinitely_far_for_anderson_darling():
    sample = Sample.of([0, 1, 2])
    assert distances(sample, Lognormal(0, 1)).anderson_darling == math.inf
    assert ks(sample, Lognormal(0, 1)) == pytest.approx(1 / 3, abs=0.2)


def test_discrete_distributions_have_a_ks_distance_only():
    zipf = Zipf(1.5, 50)
    sample = Sample.of(zipf.rvs(np.random.default_rng(0), 2000))
    assert ks(sample, zipf) < 1.63 / math.sqrt(2000)
    assert math.isnan(distances(sample, zipf).cramer_von_mises)
    assert math.isnan(distances(sample, zipf).anderson_darling)
    found = p_values(sample, Zipf, np.random.default_rng(1), Bootstrap(n=500, replicates=40))
    assert found.ks > 0.02
    assert found.anderson_darling > 0.02


def test_an_empty_sample_has_no_distance():
    far = distances(Sample.of([]), Normal(0, 1))
    assert all(map(math.isnan, (far.ks, far.anderson_darling, far.cramer_von_mises)))


@pytest.mark.parametrize("n", [50, 200, 5000])
def test_naive_p_value_is_the_textbooks(n):
    for p in (0.01, 0.05, 0.5):
        distance = float(stats.kstwo.isf(p, n))
        assert naive_p_value(distance, n) == pytest.approx(p, abs=0.015)


def rejections(true, kind, trials, *, grid=None, n=150, replicates=99):
    """The share of samples of *true* that each test rejects at level 5 %, and that the naive one does."""
    plan = Bootstrap(n=n, replicates=replicates, grid=grid, supports=(kind.support,))
    rows = []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        sample = Sample.of(plan.draw(true, rng, n))
        found = p_values(sample, kind, rng, plan)
        naive = naive_p_value(ks(sample, kind.fit(sample)), n)
        rows.append([found.ks, found.anderson_darling, found.cramer_von_mises, naive])
    return np.mean(np.asarray(rows) <= 0.05, axis=0)


CASES = [
    (Lognormal(5, 1.2), None),
    (Lognormal(1, 0.8), RoundingGrid()),
    (Weibull(0.7, 20), RoundingGrid(rounding="up")),
    (Gamma(2, 3), RoundingGrid()),
    (Exponential(0.3), RoundingGrid(rounding="down")),
    (Normal(6, 1.4), RoundingGrid(base=2.0)),
]


@pytest.mark.parametrize(("true", "grid"), CASES)
def test_bootstrap_does_not_reject_the_truth_too_often(true, grid):
    assert np.all(rejections(true, type(true), 30, grid=grid)[:3] <= 0.20)


@pytest.mark.slow
@pytest.mark.parametrize(("true", "grid"), CASES)
def test_bootstrap_rejects_the_truth_in_five_of_a_hundred(true, grid):
    share = rejections(true, type(true), 1000, grid=grid, n=100)
    rounded = "as drawn" if grid is None else f"rounded {grid.rounding}, log base {grid.base}"
    shares = "KS {:.3f}  AD {:.3f}  CvM {:.3f}  naive KS {:.3f}".format(*share)
    print(f"\nrejected at 5 %, of 1000: {type(true).name:12} {rounded:26} {shares}")  # noqa: T201 - `make calibration`
    np.testing.assert_allclose(share[:3], 0.05, atol=0.015)


@pytest.mark.slow
def test_bootstrap_is_right_for_distributions_fitted_one_by_one():
    true = HyperExponential(0.5, 1, 0.05)
    share = rejections(true, HyperExponential, 200, n=100, replicates=39)
    shares = "KS {:.3f}  AD {:.3f}  CvM {:.3f}  naive KS {:.3f}".format(*share)
    print(f"\nrejected at 5 %, of  200: {HyperExponential.name:39} {shares}")  # noqa: T201 - `make calibration`
    np.testing.assert_allclose(share[:3], 0.05, atol=0.035)


def test_the_naive_test_accepts_what_the_bootstrap_rejects():
    """Rounded data, wrong family: the naive p-value is not the one to trust."""
    rng = np.random.default_rng(3)
    sample = Sample.of(rng.gamma(2, 1, 400))
    found = p_values(sample, Lognormal, rng, Bootstrap(n=400, replicates=199))
    assert found.ks <= 0.02
    assert naive_p_value(ks(sample, Lognormal.fit(sample)), 400) > found.ks


def test_rounding_does_not_look_like_a_bad_fit():
    """Without a grid the ties themselves are rejected."""
    true = Exponential(0.5)
    sample = Sample.of(np.rint(true.rvs(np.random.default_rng(1), 1000)))
    blind = p_values(sample, Exponential, np.random.default_rng(2), Bootstrap(replicates=99))
    aware = p_values(
        sample, Exponential, np.random.default_rng(2), Bootstrap(replicates=99, grid=RoundingGrid())
    )
    assert blind.ks == pytest.approx(0.01)
    assert aware.ks > 0.05


def test_states_its_subsample():
    sample = Sample(np.arange(1.0, 101), np.full(100, 10**6))
    found = p_values(sample, Weibull, np.random.default_rng(0), Bootstrap(n=200, replicates=20))
    assert (found.n, found.replicates) == (200, 20)


def test_same_seed_same_p():
    sample = Sample.of(np.random.default_rng(0).gamma(2, 5, 500))
    plan = Bootstrap(n=200, replicates=30)
    first, second = (p_values(sample, Weibull, np.random.default_rng(5), plan) for _ in range(2))
    assert first == second


def test_grid_is_found_and_applied():
    assert RoundingGrid.of(Sample.of([1, 2, 5])) == RoundingGrid()
    assert RoundingGrid.of(Sample.of([1, 2.5])) is None
    x = np.array([0.2, 0.8, 2.4])
    assert RoundingGrid().snap(x).tolist() == [0, 1, 2]
    assert RoundingGrid(0.5).snap(x).tolist() == [0, 1, 2.5]
    np.testing.assert_allclose(RoundingGrid(base=2.0).snap(np.log2([3.2, 8.9])), np.log2([3, 9]))
    assert RoundingGrid(base=2.0).snap(np.array([-3.0]))[0] == -math.inf


def test_gives_up_on_a_fit_that_never_looks_like_data():
    plan = Bootstrap(n=10, grid=RoundingGrid(1000.0), supports=(POSITIVE,))
    with pytest.raises(FitError, match="hardly"):
        plan.draw(Exponential(1.0), np.random.default_rng(0), 10)


WORLDS = {
    "lognormal(1.5, 1)": Lognormal(1.5, 1),
    "lognormal(3, 1.2)": Lognormal(3, 1.2),
    "gamma(2, 5)": Gamma(2, 5),
    "weibull(.7, 30)": Weibull(0.7, 30),
}

ROUNDED = {
    "nearest": lambda x, _: np.rint(x),
    "up": lambda x, _: np.ceil(x),
    "down": lambda x, _: np.floor(x),
    "difference": lambda x, rng: np.floor(x) + (rng.random(len(x)) < x - np.floor(x)),
}
"""How logs have seconds; the difference of two times rounded down is rounded at random."""


def rejected_when_unknown(true, kind, rounding, trials, directions, replicates=59):
    """The share of samples of *true*, rounded somehow, that each test of *kind* rejects at 5 %."""
    rows = []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        x = ROUNDED[rounding](true.rvs(rng, 1000), rng)
        plan = Bootstrap(1000, replicates, RoundingGrid(), (POSITIVE,), directions)
        found = p_values(Sample.of(x[x > 0]), kind, np.random.default_rng(1000 + seed), plan)
        rows.append([found.ks, found.anderson_darling, found.cramer_von_mises])
    return np.mean(np.asarray(rows) <= 0.05, axis=0)


def test_times_that_were_rounded_up_do_not_refute_the_truth():
    true = WORLDS["lognormal(1.5, 1)"]
    taken_for_nearest = rejected_when_unknown(true, Lognormal, "up", 10, (), 39)

    assert taken_for_nearest[1] >= 0.3  # what this is about
    assert np.all(rejected_when_unknown(true, Lognormal, "up", 10, DIRECTIONS, 39) <= 0.1)
    assert np.all(rejected_when_unknown(Weibull(0.7, 60), Lognormal, "up", 2, DIRECTIONS, 39) == 1)


def test_the_likeliest_rounding_is_one_of_those_allowed():
    sample = Sample.of(np.ceil(Lognormal(1.5, 1).rvs(np.random.default_rng(0), 4000)))

    assert likeliest_rounding(Lognormal, sample, RoundingGrid(), (POSITIVE,)).rounding == "up"
    assert likeliest_rounding(Lognormal, sample, RoundingGrid(), (POSITIVE,), ("down",)).rounding == "down"
    with pytest.raises(FitError, match="intervals"):
        likeliest_rounding(Lognormal, Sample.of([3.0] * 9), RoundingGrid(), (POSITIVE,))


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ROUNDED)
@pytest.mark.parametrize("world", WORLDS)
def test_the_likeliest_rounding_keeps_the_level(world, rounding):
    true = WORLDS[world]
    share = rejected_when_unknown(true, type(true), rounding, 100, DIRECTIONS)
    print(f"\nrejected at 5 %, of 100: {world:18} {rounding:10} KS {share[0]} AD {share[1]} CvM {share[2]}")  # noqa: T201 - `make calibration`

    assert np.all(share <= 0.11)  # of 100 at 5 %, more with a probability of .4 %


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ROUNDED)
@pytest.mark.parametrize(
    ("true", "kind"),
    [(Gamma(0.7, 60), Lognormal), (Lognormal(3, 1.2), Weibull), (Gamma(2, 5), Lognormal)],
    ids=["gamma(.7, 60) as lognormal", "lognormal(3, 1.2) as Weibull", "gamma(2, 5) as lognormal"],
)
def test_the_likeliest_rounding_keeps_the_power(true, kind, rounding):
    share = rejected_when_unknown(true, kind, rounding, 25, DIRECTIONS)
    print(f"\nrejected at 5 %, of 25: {true.title} as {kind.title} {rounding:10} {share}")  # noqa: T201 - `make calibration`

    assert np.all(share >= 0.8)
