"""What holds for every distribution that `gwa.statistics` has: a new one is tested unasked."""

import dataclasses
import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from gwa.statistics.distribution import REAL, Batched, FitError, distributions
from gwa.statistics.distributions import Exponential, Lognormal, Normal
from gwa.statistics.fit import SIX
from gwa.statistics.gamma import Gamma
from gwa.statistics.hyper import HyperErlang, HyperExponential, HyperGamma
from gwa.statistics.lognormal_mixture import LognormalMixture
from gwa.statistics.mixture import GaussianMixture
from gwa.statistics.pareto import GeneralizedPareto, Pareto
from gwa.statistics.sample import Sample
from gwa.statistics.weibull import Weibull
from gwa.statistics.zipf import Zipf

KNOWN = {
    member.name: member
    for member in (
        Normal(50, 12),
        Lognormal(5, 1.5),
        Exponential(0.02),
        Gamma(2.5, 40),
        Weibull(0.6, 300),
        HyperExponential(0.6, 0.1, 0.002),
        HyperGamma(0.4, 4, 1, 60, 0.2),
        HyperErlang(3, 0.7, 0.5, 0.02),
        Pareto(1.8, 10),
        GeneralizedPareto(0.3, 60),
        GaussianMixture((0.3, 0.7), (10, 40), (2, 5)),
        LognormalMixture((0.4, 0.6), (2, 7), (0.7, 1)),
        Zipf(1.3, 300),
    )
}
"""A distribution of each kind, whose own sample must lead back to it."""

NAMES = sorted(distributions())
CONTINUOUS = [name for name in NAMES if not distributions()[name].support.whole]
IN_SCIPY: dict[str, tuple[Any, Callable[[Any], dict[str, Any]]]] = {
    "exponential": (stats.expon, lambda it: {"scale": 1 / it.rate}),
    "gamma": (stats.gamma, lambda it: {"a": it.shape, "scale": it.scale}),
    "generalizedpareto": (stats.genpareto, lambda it: {"c": it.shape, "scale": it.scale}),
    "lognormal": (stats.lognorm, lambda it: {"s": it.sigma, "scale": np.exp(it.mu)}),
    "normal": (stats.norm, lambda it: {"loc": it.mu, "scale": it.sigma}),
    "pareto": (stats.pareto, lambda it: {"b": it.shape, "scale": it.minimum}),
    "weibull": (stats.weibull_min, lambda it: {"c": it.shape, "scale": it.scale}),
    "zipf": (stats.zipfian, lambda it: {"a": it.exponent, "n": int(it.ranks)}),
}
"""The namesakes of distributions, and their arguments there."""


def draw(name, n=40_000, seed=7):
    return KNOWN[name].rvs(np.random.default_rng(seed), n)


def inner(name, n=400):
    """Points all over the bulk of a distribution, whole numbers for a discrete one."""
    return np.unique(KNOWN[name].ppf(np.linspace(0.001, 0.999, n)))


def test_every_distribution_has_an_example_here_and_the_six_of_the_thesis_are_there():
    assert set(KNOWN) == set(distributions())
    assert set(SIX) <= set(KNOWN)


@pytest.mark.parametrize("name", NAMES)
class TestEvery:
    def test_explains_each_parameter(self, name):
        kind = distributions()[name]
        assert set(kind.parameters) == {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
        assert all(kind.parameters.values())
        assert kind.__doc__
        assert kind.title
        assert name == kind.name == name.lower()
        assert all(isinstance(value, (int, float)) for value in KNOWN[name].values().values())

    def test_recovers_its_own_parameters(self, name):
        known = KNOWN[name]
        found = known.fit(Sample.of(draw(name)))
        for key, value in known.values().items():
            assert found.values()[key] == pytest.approx(value, rel=0.08), key

    def test_fit_is_at_least_as_likely_as_the_truth(self, name):
        sample = Sample.of(draw(name, 5000))
        assert KNOWN[name].fit(sample).loglik(sample) >= KNOWN[name].loglik(sample) - 1e-6

    def test_fit_is_the_same_every_time(self, name):
        sample = Sample.of(draw(name, 3000))
        assert KNOWN[name].fit(sample) == KNOWN[name].fit(sample)

    def test_cdf_rises_from_zero_to_one(self, name):
        known = KNOWN[name]
        x = np.concatenate(([-1e9, -1, 0], inner(name), [1e12]))
        share = known.cdf(np.sort(x))
        assert np.all(np.diff(share) >= 0)
        assert share[0] == pytest.approx(0, abs=1e-12)
        assert share[-1] == pytest.approx(1, abs=1e-9)
        np.testing.assert_allclose(known.sf(x), 1 - known.cdf(x), atol=1e-12)
        assert np.all(known.cdf_below(x) <= known.cdf(x))
        np.testing.assert_array_equal(known.halves(x), (known.cdf(x), known.sf(x)))

    def test_what_lies_between_is_the_difference_of_the_smaller_tails(self, name):
        known = KNOWN[name]
        low = np.sort(draw(name, 500))
        high = low + np.geomspace(1e-6, 10, 500)
        below, beyond = known.cdf(high) - known.cdf(low), known.sf(low) - known.sf(high)
        smaller = np.where(known.cdf(low) < known.sf(low), below, beyond)
        np.testing.assert_array_equal(known.between(low, high), smaller)

    def test_quantiles_undo_the_cdf(self, name):
        known, q = KNOWN[name], np.linspace(0.01, 0.99, 37)
        x = known.ppf(q)
        assert np.all(known.cdf(x) >= q - 1e-9)
        assert np.all(known.cdf_below(x) <= q + 1e-9)

    def test_loglik_is_the_sum_of_logpdf(self, name):
        data = draw(name, 500)
        data = np.concatenate((data, data[:200]))
        assert KNOWN[name].loglik(Sample.of(data)) == pytest.approx(KNOWN[name].logpdf(data).sum(), rel=1e-12)
        np.testing.assert_allclose(np.exp(KNOWN[name].logpdf(data)), KNOWN[name].pdf(data))
        assert KNOWN[name].loglik(Sample.of([])) == 0

    def test_has_no_density_outside_its_support(self, name):
        known = KNOWN[name]
        if known.support is not REAL:
            assert known.logpdf(np.array([-1.0])) == -math.inf
            assert known.cdf(np.array([-1.0])) == 0
            with pytest.raises(FitError, match=known.support.text):
                known.fit(Sample.of([-1, 1, 2, 3]))

    def test_mean_is_that_of_its_draws(self, name):
        draws = draw(name, 400_000)
        assert KNOWN[name].mean() == pytest.approx(draws.mean(), abs=5 * draws.std() / math.sqrt(draws.size))

    def test_draws_follow_the_cdf(self, name):
        draws = Sample.of(draw(name))
        gap = np.abs(draws.ecdf()[1] - KNOWN[name].cdf(draws.values)).max()
        assert gap < 1.95 / math.sqrt(draws.n)

    def test_ties_change_nothing_but_the_cost(self, name):
        data = np.ceil(draw(name, 2000))
        sample = Sample.of(data)
        tripled = Sample(sample.values, sample.counts * 3)
        once, thrice = KNOWN[name].fit(sample), KNOWN[name].fit(tripled)
        assert thrice.loglik(tripled) == pytest.approx(3 * once.loglik(sample), rel=1e-8)

    def test_refuses_one_repeated_value_or_describes_it(self, name):
        try:
            found = KNOWN[name].fit(Sample.of([5, 5, 5]))
        except FitError:
            return
        assert found.mean() == pytest.approx(5, rel=0.5)

    def test_refuses_an_empty_sample(self, name):
        with pytest.raises(FitError):
            KNOWN[name].fit(Sample.of([]))

    def test_survives_few_and_extreme_values(self, name):
        for data in ([1, 2], [1, 2, 3], [1, 1, 1, 1, 2], [1, 10**6], [1, 2, 3, 10**5]):
            try:
                found = KNOWN[name].fit(Sample.of(data))
            except FitError:
                continue
            assert all(map(math.isfinite, found.values().values())), data
            assert math.isfinite(found.loglik(Sample.of(data))), data


@pytest.mark.parametrize("name", CONTINUOUS)
def test_density_is_the_slope_of_the_cdf(name):
    known, edges = KNOWN[name], KNOWN[name].ppf([0.05, 0.35, 0.65, 0.95])
    for low, high in itertools.pairwise(edges):
        area, _ = integrate.quad(lambda x, known=known: float(known.pdf(np.array([x]))[0]), low, high)
        assert area == pytest.approx(0.3, rel=1e-6)


@pytest.mark.parametrize("name", IN_SCIPY)
def test_agrees_with_its_namesake_in_scipy(name):
    known, x = KNOWN[name], inner(name)
    namesake, arguments = IN_SCIPY[name]
    there = namesake(**arguments(known))
    log_density = there.logpmf if known.support.whole else there.logpdf
    np.testing.assert_allclose(known.cdf(x), there.cdf(x), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(known.sf(x), there.sf(x), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(known.logpdf(x), log_density(x), rtol=1e-9)
    np.testing.assert_allclose(known.ppf([0.1, 0.5, 0.9]), there.ppf([0.1, 0.5, 0.9]), rtol=1e-9)
    assert known.mean() == pytest.approx(there.mean())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    "name", ["normal", "lognormal", "exponential", "gamma", "weibull", "generalizedpareto"]
)
def test_fit_is_as_likely_as_scipys_at_location_0(name, ties, seed):
    """On samples of every other distribution too: a fit must be right where the model is wrong."""
    rng = np.random.default_rng(seed)
    source = KNOWN[["gamma", "lognormal", "weibull", "hyperexponential"][seed]]
    data = source.rvs(rng, 3000)
    data = np.ceil(data) if ties else data
    sample, kind = Sample.of(data), distributions()[name]
    there, _ = IN_SCIPY[name]
    arguments = there.fit(data) if name == "normal" else there.fit(data, floc=0)
    ours, theirs = kind.fit(sample).loglik(sample), there.logpdf(data, *arguments).sum()
    # scipy's own search for the generalised Pareto stops short of the optimum at times: never above ours.
    assert ours >= theirs - 1e-6
    if name != "generalizedpareto":
        assert ours == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("name", [name for name in NAMES if issubclass(distributions()[name], Batched)])
def test_rows_are_fitted_as_samples_are(name):
    kind = distributions()[name]
    assert issubclass(kind, Batched)
    rows = np.stack([draw(name, 300, seed) for seed in range(5)])
    batch = kind.fit_rows(rows, np.ones_like(rows))
    for i, row in enumerate(rows):
        alone = kind.fit(Sample.of(row))
        for key, value in alone.values().items():
            assert getattr(batch, key)[i, 0] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("name", [name for name in NAMES if "mixture" not in name])
def test_impossible_parameters_are_refused(name):
    kind, count = distributions()[name], len(distributions()[name].parameters)
    with pytest.raises(ValueError, match=r"above 0|between 0 and 1"):
        kind(*[-1.0] * count)


def test_a_mixture_without_sense_is_refused():
    for parts in (((0.5, 0.5), (1, 2), (1,)), ((1.0,), (1,), (0,)), ((0.5, 0.4), (1, 2), (1, 1))):
        with pytest.raises(ValueError, match="mixture"):
            GaussianMixture(*parts)
        with pytest.raises(ValueError, match="mixture"):
            LognormalMixture(*parts)


@pytest.mark.parametrize(
    "distribution", [Lognormal(700.0, 50.0), Weibull(0.001, 1e9)], ids=lambda one: one.name
)
def test_quantiles_beyond_all_doubles_are_infinite_without_a_warning(distribution):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert distribution.ppf([0.5, 0.9999])[1] == math.inf
