"""
Several distributions fitted to one sample, and what to say about them.

The thesis (Anoep 2009) ranks by KS distance; BIC ranks by likelihood and number of parameters. Both are
given, and neither makes a bad candidate good: `Fits.verdict` says so when all of them are far off.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from gwa.statistics.distribution import NONNEGATIVE, REAL, Distribution, FitError, Support, distributions
from gwa.statistics.goodness import Bootstrap, Distances, PValues, distances, ks, naive_p_value, p_values
from gwa.statistics.rounding import DIRECTIONS, RoundingGrid
from gwa.statistics.sample import Sample

SIX = ("normal", "lognormal", "exponential", "hyperexponential", "weibull", "gamma")
"""The candidates of the thesis (2009, section 4.2)."""

GOOD_KS, ROUGH_KS = 0.05, 0.10
"""KS distances up to which a fit is called good, and rough."""

MINIMUM_OBSERVATIONS = 185
"""Of fewer values, one sample in 20 is farther than `ROUGH_KS` from its own distribution (Kolmogorov)."""

SIGNIFICANCE = 0.05
"""What chance alone exceeds more often than this is not a sign of a difference."""

Policy: TypeAlias = Literal["common", "thesis"]
"""
Which observations count.

*common*: those that every candidate can produce (x > 0 if one of them is a lognormal), for fits and
distances alike, so that likelihoods can be compared; the share left out is reported.
*thesis*: lognormal, Weibull and gamma are fitted on x > 0, the others on x >= 0, and all distances are to
all x >= 0, so that zeros count against the former. Negative values are left out.
"""


@dataclass(frozen=True)
class Fit:
    """
    A distribution fitted to a sample: likelihood over *n* observations, and distances.

    *outside* is the share of the sample that did not count, *measured_on* what *ks* is to, and the other
    distances unless there is something that they are *compared_on*; *naive* is the textbook p-value of *ks*,
    which is too large; *p* the bootstrap's, when it was asked for.
    """

    distribution: Distribution
    n: int
    outside: float
    loglik: float
    ks: float
    naive: float
    measured_on: Sample = field(repr=False)
    p: PValues | None = None
    compared_on: Sample | None = field(default=None, repr=False)

    @cached_property
    def degenerate(self) -> str:
        """Why the fit is not ranked, in a few words; empty if it is, see `Distribution.degenerate`."""
        return self.distribution.degenerate()

    @cached_property
    def _distances(self) -> Distances:
        """Measured when they are asked for: they take more time than the fit."""
        return distances(self.compared_on or self.measured_on, self.distribution)

    @property
    def anderson_darling(self) -> float:
        """The Anderson-Darling distance, see `gwa.statistics.goodness.Distances`."""
        return self._distances.anderson_darling

    @property
    def cramer_von_mises(self) -> float:
        """The Cramér-von Mises distance, see `gwa.statistics.goodness.Distances`."""
        return self._distances.cramer_von_mises

    @property
    def name(self) -> str:
        """The name in ids of facts."""
        return self.distribution.name

    @property
    def title(self) -> str:
        """The name in print."""
        return self.distribution.title

    @property
    def parameters(self) -> dict[str, float]:
        """The fitted parameters by name."""
        return self.distribution.values()

    @property
    def chance(self) -> float:
        """How often chance alone is as far off: the bootstrap's p, or the naive one, an upper bound."""
        return self.p.ks if self.p else self.naive

    @property
    def aic(self) -> float:
        """Akaike's information criterion, 2 k - 2 ln L: less is better."""
        return 2 * self.distribution.free() - 2 * self.loglik

    @property
    def bic(self) -> float:
        """The Bayesian information criterion, k ln n - 2 ln L: less is better."""
        return self.distribution.free() * math.log(self.n) - 2 * self.loglik


@dataclass(frozen=True)
class Fits:
    """The candidates that could be fitted, and for the others why not."""

    fits: tuple[Fit, ...]
    refused: dict[str, FitError] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Fit]:
        """Go through the fits in the order of the candidates."""
        return iter(self.fits)

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self.fits)

    def __getitem__(self, name: str) -> Fit:
        """Return the fit of a distribution by name; a `KeyError` if there is none."""
        for fit in self.fits:
            if fit.name == name:
                return fit
        raise KeyError(name)

    @property
    def ranked(self) -> tuple[Fit, ...]:
        """The fits but the degenerate ones."""
        return tuple(fit for fit in self.fits if not fit.degenerate)

    @property
    def best_ks(self) -> Fit | None:
        """The nearest by KS distance, the thesis' rule; never a degenerate one."""
        return min(self.ranked, key=lambda fit: fit.ks, default=None)

    @property
    def best_bic(self) -> Fit | None:
        """The one of least BIC; never a degenerate one."""
        return min(self.ranked, key=lambda fit: fit.bic, default=None)

    def verdict(self) -> str:
        """Return one sentence: which distribution describes the sample, and how well, or that none does."""
        nearest, likeliest = self.best_ks, self.best_bic
        if nearest is None or likeliest is None:
            return "No candidate suits these values." if self.fits else "No distribution could be fitted."
        distance = f"off by at most {f'{100 * nearest.ks:.1f}'.removesuffix('.0')} % of the observations"
        if nearest.measured_on.n < MINIMUM_OBSERVATIONS and nearest.chance >= SIGNIFICANCE:
            p = f" (p {nearest.p.ks:.2f})" if nearest.p else ""
            return (
                f"{nearest.measured_on.n} values cannot tell distributions apart: the nearest, "
                f"{nearest.title}, is {distance}, and chance alone is often as far{p}."
            )
        if nearest.ks > ROUGH_KS:
            return (
                f"None of the candidates describes these values: the nearest, {nearest.title}, is "
                f"{distance}. Use the observed values themselves, or a mixture."
            )
        quality = "describes these values well" if nearest.ks <= GOOD_KS else "describes these values roughly"
        agreement = "BIC agrees" if likeliest is nearest else f"BIC prefers {likeliest.title}"
        return f"A {nearest.title} distribution {quality}, {distance} (KS); {agreement}."


def fit_all(
    sample: Sample, candidates: Iterable[str | type[Distribution]] = SIX, policy: Policy = "common"
) -> Fits:
    """
    Return the fits of all *candidates* (names or classes) to *sample* under a *policy*.

    A candidate that cannot be fitted is listed with the reason, not raised; an unknown name is a `KeyError`.
    """
    kinds = [distributions()[kind] if isinstance(kind, str) else kind for kind in candidates]
    fits, refused = [], {}
    for kind in kinds:
        fitted_on, measured_on = _parts(sample, kind, kinds, policy)
        try:
            fits.append(measured(kind.fit(fitted_on), fitted_on, measured_on, sample.n))
        except FitError as reason:
            refused[kind.name] = reason
    return Fits(tuple(fits), refused)


def with_p_values(
    fits: Fits, sample: Sample, rng: np.random.Generator, plan: Bootstrap | None = None
) -> Fits:
    """
    Return *fits* with bootstrap p-values, see `gwa.statistics.goodness.p_values`.

    The observations are those that all the fitted distributions can produce. Without a *plan*, whole
    numbers are taken for rounded ones, in whatever direction.
    """
    kinds = [type(fit.distribution) for fit in fits]
    common = _within(sample, kinds)
    plan = plan or Bootstrap(grid=RoundingGrid.of(common), supports=_supports(kinds), directions=DIRECTIONS)

    def tested(fit: Fit) -> Fit:
        try:
            return replace(fit, p=p_values(common, type(fit.distribution), rng, plan))
        except FitError:
            return fit

    return replace(fits, fits=tuple(tested(fit) for fit in fits))


def _parts(
    sample: Sample, kind: type[Distribution], kinds: list[type[Distribution]], policy: Policy
) -> tuple[Sample, Sample]:
    """Return the observations to fit on and those to measure on."""
    if policy == "common":
        common = _within(sample, kinds)
        return common, common
    if policy == "thesis":
        measured = NONNEGATIVE.within(sample)
        return kind.support.within(measured), measured
    raise ValueError(f"the policy is common or thesis, not {policy}")


def _supports(kinds: list[type[Distribution]]) -> tuple[Support, ...]:
    """Return the supports that leave something out."""
    return tuple({kind.support for kind in kinds} - {REAL})


def _within(sample: Sample, kinds: list[type[Distribution]]) -> Sample:
    """Return the observations that every one of *kinds* can produce."""
    for support in _supports(kinds):
        sample = support.within(sample)
    return sample


def measured(
    distribution: Distribution, fitted_on: Sample, measured_on: Sample | None = None, total: int | None = None
) -> Fit:
    """Return the fit with its likelihood and distances; *measured_on* and *total* are of *fitted_on*, too."""
    measured_on = measured_on or fitted_on
    distance = ks(measured_on, distribution)
    return Fit(
        distribution=distribution,
        n=fitted_on.n,
        outside=1 - fitted_on.n / (total or fitted_on.n),
        loglik=distribution.loglik(fitted_on),
        ks=distance,
        naive=naive_p_value(distance, measured_on.n),
        measured_on=measured_on,
    )
