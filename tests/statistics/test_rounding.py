"""A fit to rounded data that knows they are rounded is right where the ordinary one is biased."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from gwa.statistics.distribution import POSITIVE, REAL
from gwa.statistics.distributions import Exponential, Lognormal, Normal
from gwa.statistics.gamma import Gamma
from gwa.statistics.hyper import HyperErlang
from gwa.statistics.rounding import Rounded, RoundingGrid, _differences, fit_rounded
from gwa.statistics.sample import Sample
from gwa.statistics.weibull import Weibull


@pytest.mark.parametrize("rounding", ["nearest", "up", "down"])
def test_undoes_the_rounding(rounding):
    true, grid = Weibull(0.7, 5), RoundingGrid(rounding=rounding)
    data = grid.snap(true.rvs(np.random.default_rng(0), 100_000))
    sample = Sample.of(data).restrict(above=0)
    found = fit_rounded(Weibull, sample, grid, (POSITIVE,)).values()
    plain = Weibull.fit(sample)
    assert found["shape"] == pytest.approx(0.7, rel=0.02)
    assert found["scale"] == pytest.approx(5, rel=0.02)
    assert abs(plain.shape - 0.7) > 0.02


def test_rounded_up_exponential_is_the_geometric_distribution():
    data = np.asarray(stats.geom.rvs(0.3, size=5000, random_state=np.random.default_rng(1)))
    found = fit_rounded(Exponential, Sample.of(data), RoundingGrid(rounding="up"), (POSITIVE,))
    assert 1 - np.exp(-found.values()["rate"]) == pytest.approx(1 / data.mean(), rel=1e-4)


def test_is_the_maximum_of_the_grouped_likelihood():
    data = np.rint(np.random.default_rng(2).lognormal(1, 1, 2000))
    data = data[data > 0]

    def loss(theta):
        there = stats.lognorm(np.exp(theta[1]), scale=np.exp(theta[0]))
        return -np.log((there.cdf(data + 0.5) - there.cdf(data - 0.5)) / there.sf(0.5)).sum()

    best = optimize.minimize(loss, [1, 0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-8})
    found = fit_rounded(Lognormal, Sample.of(data), RoundingGrid(), (POSITIVE,)).values()
    assert found["mu"] == pytest.approx(best.x[0], abs=1e-3)
    assert found["sigma"] == pytest.approx(np.exp(best.x[1]), abs=1e-3)


def test_logarithms_of_whole_numbers():
    true, grid = Normal(3, 1), RoundingGrid(base=2.0)
    data = grid.snap(true.rvs(np.random.default_rng(3), 50_000))
    sample = Sample.of(data[np.isfinite(data)])
    found = fit_rounded(Normal, sample, grid, (REAL,)).values()
    assert found["mu"] == pytest.approx(3, abs=0.03)


def test_a_kind_with_a_whole_parameter_takes_the_middles():
    sample = Sample.of(np.ceil(np.random.default_rng(4).gamma(3, 4, 500)))
    assert isinstance(fit_rounded(HyperErlang, sample, RoundingGrid(rounding="up"), (POSITIVE,)), HyperErlang)


def test_cells_hold_what_snaps_to_them():
    x = np.array([1.0, 2.0, 7.0])
    for rounding in ("nearest", "up", "down"):
        for base in (None, 2.0):
            grid = RoundingGrid(rounding=rounding, base=base)
            points = x if base is None else np.log2(x)
            low, high = grid.cells(points)
            inside = high - 1e-9 if rounding == "down" else low + 1e-9 * (1 + np.abs(np.nan_to_num(low)))
            np.testing.assert_allclose(grid.snap(np.where(np.isfinite(inside), inside, points)), points)
            assert np.all((low <= grid.middles(points)) & (grid.middles(points) <= high))


@pytest.mark.parametrize(
    ("kind", "support"),
    [(Exponential, POSITIVE), (Gamma, POSITIVE), (Lognormal, POSITIVE), (Normal, REAL), (Weibull, POSITIVE)],
)
@given(
    first=st.floats(0.5, 2),
    second=st.floats(1, 3),
    rounding=st.sampled_from(["nearest", "up", "down"]),
    seed=st.integers(0, 9),
)
def test_formulas_of_derivatives_agree_with_differences(kind, support, first, second, rounding, seed):
    grid, names = RoundingGrid(rounding=rounding), list(kind.parameters)
    x = np.sort(np.random.default_rng(seed).integers(1, 8, (3, 20)), axis=1).astype(float)
    shares = np.full(x.shape, 1 / 20)
    at = np.array([first, second][: len(names)])
    signed = np.array([name in kind.signed for name in names])

    def rounded(theta):
        values = np.where(signed, at + theta, at * np.exp(theta))
        return Rounded(kind(*values.T[:, :, np.newaxis]), grid, (support,))

    here = np.zeros((1, len(names)))
    with np.errstate(divide="ignore", invalid="ignore"):
        slope, bend = rounded(here).derivatives(x, shares)
        near_slope, near_bend = _differences(lambda theta: rounded(theta).mean_log(x, shares), here)
    np.testing.assert_allclose(slope, near_slope, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(bend, near_bend, rtol=1e-2, atol=1e-2)


def test_an_interval_that_cannot_be_moves_no_parameter():
    rounded = Rounded(Normal(0.0, 1.0), RoundingGrid(), (REAL,))
    with np.errstate(divide="ignore"):
        derivatives = rounded.derivatives(np.array([[1000.0]]), np.ones((1, 1)))
    assert derivatives is not None
    slope, bend = derivatives
    assert not slope.any()
    assert not bend.any()
