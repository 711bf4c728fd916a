"""Candidates are compared on equal terms, and a bad best is called bad."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from gwa.statistics.distribution import distributions
from gwa.statistics.distributions import Lognormal, Normal
from gwa.statistics.em import PhaseMixture
from gwa.statistics.fit import SIX, Fits, fit_all, with_p_values
from gwa.statistics.gamma import Gamma, gamma_shape
from gwa.statistics.goodness import Bootstrap, ks
from gwa.statistics.hyper import HyperErlang, HyperExponential, HyperGamma
from gwa.statistics.lognormal_mixture import LognormalMixture
from gwa.statistics.pareto import GeneralizedPareto
from gwa.statistics.rounding import RoundingGrid
from gwa.statistics.sample import Sample
from gwa.statistics.weibull import Weibull


def test_finds_the_distribution_that_made_the_data():
    rng = np.random.default_rng(0)
    for true in (Lognormal(6, 2), Weibull(2, 500), Gamma(2, 300), HyperExponential(0.6, 0.1, 0.001)):
        fits = fit_all(Sample.of(true.rvs(rng, 50_000)))
        assert fits.best_bic is not None
        assert fits.best_ks is not None
        assert fits.best_bic.name == fits.best_ks.name == true.name
        assert "well" in fits.verdict()
        assert "BIC agrees" in fits.verdict()


def test_a_few_values_are_said_to_tell_nothing_and_many_of_no_known_kind_that_none_fits():
    few = Sample.of([1.0, 2.0, 2.5, 4.0, 4.5, 9.0, 20.0, 21.0])
    assert "8 values cannot tell distributions apart" in fit_all(few).verdict()
    two = np.random.default_rng(4).choice([1.0, 1000.0], 400)
    assert "None of the candidates" in fit_all(Sample.of(two)).verdict()


def test_common_policy_judges_all_on_what_all_can_produce():
    data = np.concatenate((np.zeros(300), np.ceil(np.random.default_rng(1).exponential(50, 700))))
    fits = fit_all(Sample.of(data))
    assert {fit.n for fit in fits} == {700}
    assert all(fit.outside == pytest.approx(0.3) for fit in fits)
    without = fit_all(Sample.of(data), ("normal", "exponential"))
    assert {fit.n for fit in without} == {1000}


def test_thesis_policy_fits_above_zero_and_measures_from_zero():
    data = np.concatenate(([-5.0], np.zeros(300), np.random.default_rng(2).lognormal(2, 1, 700)))
    sample = Sample.of(data)
    fits = fit_all(sample, policy="thesis")
    assert {fit.name: fit.n for fit in fits} == {
        "normal": 1000,
        "exponential": 1000,
        "hyperexponential": 1000,
        "lognormal": 700,
        "weibull": 700,
        "gamma": 700,
    }
    assert fits["lognormal"].ks >= 0.3
    assert fits["lognormal"].anderson_darling == math.inf
    assert fits["normal"].distribution == Normal.fit(sample.restrict(0))


def test_criteria_count_parameters():
    fit = fit_all(Sample.of([1, 2, 4, 9]), ["weibull"])["weibull"]
    assert fit.aic == pytest.approx(4 - 2 * fit.loglik)
    assert fit.bic == pytest.approx(2 * math.log(4) - 2 * fit.loglik)
    assert fit.title == "Weibull"
    assert set(fit.parameters) == {"shape", "scale"}


def test_says_when_no_candidate_is_good():
    rng = np.random.default_rng(3)
    data = np.concatenate((rng.normal(100, 1, 500), rng.normal(5000, 1, 500)))
    verdict = fit_all(Sample.of(data), ("normal", "exponential", "lognormal")).verdict()
    assert verdict.startswith("None of the candidates")


def test_says_when_a_candidate_is_only_roughly_right_and_bic_disagrees():
    found = fit_all(Sample.of(np.random.default_rng(0).weibull(0.6, 3000)), ["lognormal"])
    assert "roughly" in found.verdict()
    every = fit_all(Sample.of([1, 1, 1, 2, 2, 3, 9]), tuple(distributions()))
    assert every.verdict()


@pytest.mark.parametrize("data", [[], [0], [7], [0, 0, 0], [5] * 100, [1, 2], [0, 1]])
def test_degenerate_samples_yield_or_say_why_not(data):
    fits = fit_all(Sample.of(data), tuple(distributions()))
    assert {fit.name for fit in fits} | set(fits.refused) == set(distributions())
    assert all(map(str, fits.refused.values()))
    assert fits.verdict()
    for policy in ("common", "thesis"):
        for fit in fit_all(Sample.of(data), policy=policy):
            assert math.isfinite(fit.loglik)


def test_nothing_to_compare():
    fits = Fits(())
    assert fits.best_ks is fits.best_bic is None
    assert fits.verdict() == "No distribution could be fitted."
    with pytest.raises(KeyError):
        fits["weibull"]
    with pytest.raises(KeyError):
        fit_all(Sample.of([1, 2]), ["cauchy"])
    with pytest.raises(ValueError, match="policy"):
        fit_all(Sample.of([1, 2]), policy="other")  # type: ignore[arg-type]


def test_p_values_stand_beside_the_naive_one():
    sample = Sample.of(np.ceil(np.random.default_rng(4).weibull(0.7, 20_000) * 300))
    plan = Bootstrap(n=400, replicates=59, grid=RoundingGrid(rounding="up"))
    fits = with_p_values(fit_all(sample), sample, np.random.default_rng(5), plan)
    assert len(fits) == len(SIX)
    assert fits["weibull"].p is not None
    assert fits["weibull"].p.ks > 0.02
    assert fits["normal"].p is not None
    assert fits["normal"].p.ks < 0.02
    default = with_p_values(fit_all(sample, ["weibull"]), sample, np.random.default_rng(5))
    assert default["weibull"].p is not None
    assert default["weibull"].p.n == 1000


def test_a_subsample_that_cannot_be_fitted_leaves_no_p_value():
    sample = Sample(np.array([1.0, 2.0]), np.array([10**7, 1]))
    fits = with_p_values(fit_all(sample, ["weibull"]), sample, np.random.default_rng(0))
    assert fits["weibull"].p is None


def test_hyperexponential_is_converged_and_keeps_the_mean():
    """Its fit is where no direction improves the likelihood, unlike the thesis' (errata E9)."""
    sample = Sample.of(np.ceil(np.random.default_rng(6).weibull(0.5, 5000) * 100))
    fit = HyperExponential.fit(sample)
    assert fit.mean() == pytest.approx(sample.mean(), rel=1e-9)
    best = fit.loglik(sample)
    for weight, rate1, rate2 in (
        (1.001, 1, 1),
        (0.999, 1, 1),
        (1, 1.001, 1),
        (1, 0.999, 1),
        (1, 1, 1.001),
        (1, 1, 0.999),
    ):
        moved = HyperExponential(fit.weight * weight, fit.rate1 * rate1, fit.rate2 * rate2)
        assert moved.loglik(sample) < best


def test_a_nested_family_is_never_less_likely():
    rng = np.random.default_rng(7)
    sample = Sample.of(np.ceil(rng.lognormal(4, 2, 4000)))
    chain = ("exponential", "hyperexponential", "hypererlang", "hypergamma")
    likelihoods = [distributions()[name].fit(sample).loglik(sample) for name in chain]
    assert all(after >= before - 1e-4 for before, after in pairwise(likelihoods))
    assert issubclass(distributions()["hypergamma"], PhaseMixture)


def test_cost_is_in_distinct_values():
    values = np.arange(1.0, 2001)
    counts = np.random.default_rng(8).integers(1, 10**7, 2000)
    sample = Sample(values, counts)
    fits = fit_all(sample)
    assert len(fits) == len(SIX)
    assert fits["normal"].n == counts.sum()
    assert ks(sample, fits["gamma"].distribution) == fits["gamma"].ks


@pytest.mark.parametrize("true", [HyperExponential(0.6, 0.1, 0.001), HyperExponential(0.9, 1.0, 0.02)])
def test_no_small_step_from_the_fit_of_many_values_is_likelier(true):
    """More distinct values than bins: the last steps extrapolate, and must not stop beside the top."""
    sample = Sample.of(true.rvs(np.random.default_rng(5), 100_000))
    fitted = HyperExponential.fit(sample)
    best = fitted.loglik(sample)
    for name, value in fitted.values().items():
        higher, lower = (
            HyperExponential(**{**fitted.values(), name: value * factor}).loglik(sample)
            for factor in (1 + 1e-4, 1 - 1e-4)
        )
        assert max(higher, lower) < best
        # The slope is 0 at the top: what is left of it is less than a thousandth of the bend.
        assert abs(higher - lower) / 2 < 1e-3 * (best - (higher + lower) / 2)


def test_what_collapses_or_stands_on_a_bound_is_marked_and_never_the_best():
    rng = np.random.default_rng(6)
    even = Sample.of(rng.uniform(0, 100, 3000))
    fits = fit_all(even, ("generalizedpareto", "exponential"))

    assert fits["generalizedpareto"].ks < fits["exponential"].ks
    assert fits["generalizedpareto"].degenerate == "its shape is on the bound of -0.5"
    assert fits.best_ks is fits.best_bic is fits["exponential"]
    less_varied = fit_all(Sample.of(rng.gamma(3, 100, 3000)), ("hyperexponential", "exponential"))
    assert less_varied["hyperexponential"].degenerate == "its phases are one"
    assert less_varied.best_ks is less_varied["exponential"]
    assert fit_all(even, ("generalizedpareto",)).verdict() == "No candidate suits these values."


@pytest.mark.parametrize(
    ("sound", "degenerate"),
    [
        (HyperExponential(0.5, 1, 0.5), HyperExponential(0.5, 1.0001, 1)),
        (HyperExponential(0.999, 1, 0.001), HyperExponential(1, 1, 0.001)),  # one in a thousand, far out
        (HyperErlang(3, 0.9, 1, 0.1), HyperErlang(3, 0.3, 1, 1)),
        (HyperGamma(0.5, 2, 5, 9, 30), HyperGamma(0.5, 2, 5, 1e4, 0.03)),
        (
            LognormalMixture((0.5, 0.5), (1, 3), (1, 0.2)),
            LognormalMixture((0.5, 0.5), (2, 2.001), (1, 1.001)),
        ),
        (LognormalMixture((0.9, 0.1), (1, 3), (1, 0.2)), LognormalMixture((1 - 1e-9, 1e-9), (1, 3), (1, 1))),
        (GeneralizedPareto(-0.49, 1), GeneralizedPareto(-0.4999, 1)),
        (GeneralizedPareto(0.5, 1), GeneralizedPareto(-0.5, 1)),
    ],
)
def test_only_what_is_degenerate_is_called_so(sound, degenerate):
    assert sound.degenerate() == ""
    assert degenerate.degenerate()


@pytest.mark.parametrize("true", [HyperExponential(0.6, 0.1, 0.001), HyperErlang(2, 0.5, 0.1, 0.01)])
def test_fits_to_what_a_mixture_made_are_not_degenerate(true):
    for seed in range(5):
        sample = Sample.of(true.rvs(np.random.default_rng(seed), 2000))
        assert type(true).fit(sample).degenerate() == ""


@pytest.mark.parametrize("spread", [1e-3, 2e-6, 1e-9, 1e-12])
def test_the_gamma_of_nearly_constant_values_is_found_at_once(spread):
    rng = np.random.default_rng(0)
    data = 3600 * (1 + spread * rng.standard_normal(500))
    found = Gamma.fit(Sample.of(data))

    assert found.mean() == pytest.approx(data.mean())
    # A narrow gamma is nearly normal: 1 / sqrt(shape) is its coefficient of variation.
    assert found.shape**-0.5 == pytest.approx(Sample.of(data).cv(), rel=0.01)


def test_gamma_shapes_solve_their_equation_at_every_size():
    shapes = np.geomspace(1e-3, 1e12, 46)
    exact = [float(log_less_digamma(shape)) for shape in shapes]

    assert gamma_shape(np.array(exact)) == pytest.approx(shapes, rel=1e-9)


def log_less_digamma(shape):
    """Return ln a - digamma(a): by recurrence up to a large argument, then by its series."""
    total, at = 0.0, Fraction(shape)
    while at < 50:
        total += float(1 / at)
        at += 1
    a = float(at)
    series = 1 / (2 * a) + 1 / (12 * a**2) - 1 / (120 * a**4) + 1 / (252 * a**6)
    return total + series + math.log(shape / a) if total else series


def test_a_p_value_is_printed_only_if_it_is_the_bootstraps():
    few = Sample.of(np.random.default_rng(0).weibull(0.7, 60))
    bare = fit_all(few, ["weibull", "exponential"])
    tested = with_p_values(bare, few, np.random.default_rng(1), Bootstrap(n=60, replicates=39))

    assert "(p " not in bare.verdict()
    assert "(p 0" in tested.verdict()
