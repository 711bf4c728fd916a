"""
What every distribution can do, and how the distributions are found.

A distribution is a frozen dataclass whose fields are its parameters: ``Weibull(shape=2, scale=60)``.
One convention holds throughout: the location is 0; a *rate* is per unit of x and belongs to a
memoryless phase; a *shape* comes with a *scale* in units of x; *mu* and *sigma* are mean and standard
deviation of x (normal) or of ln x (lognormal).

Every concrete `Distribution` in a module of this package is a candidate, and so is one in a module that
another package names as an entry point of the group ``gwa.distributions``: `distributions` finds them.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gwa.statistics.numeric import bisect, dot, floats, pieces
from gwa.statistics.sample import Floats, Sample
from gwa.util import plugins

Slopes: TypeAlias = tuple[Sequence[Floats], Sequence[Floats]]
"""
First and second derivatives by the parameters in their order, by the logarithms of those that are not signed.

The second ones are of pairs, in the order of ``itertools.combinations_with_replacement``.
"""

_MAXIMUM_FINITE = 1e300

_MINIMUM, _MAXIMUM = 1e-100, 1e100
"""Sizes of numbers whose squares, and the squares of their ratios to others, are still doubles."""


class FitError(ValueError):
    """
    A sample does not determine the parameters of a distribution; the message says why.

    It keeps the *template* and the *arguments* that it was made of, from which other languages make theirs.

    >>> str(FitError("a {title} fit needs {needs} different values", title="gamma", needs=2))
    'a gamma fit needs 2 different values'
    """

    def __init__(self, template: str, /, **arguments: object) -> None:
        """Fill the places of a *template*."""
        super().__init__(template.format(**arguments) if arguments else template)
        self.template, self.arguments = template, arguments


@dataclass(frozen=True)
class Support:
    """Where a distribution has mass: from *low* on, *low* itself excluded when *open*."""

    low: float
    open: bool
    whole: bool = False
    text: str = ""

    def inside(self, x: Floats) -> NDArray[np.bool_]:
        """Return which of *x* the distribution can produce."""
        above = x > self.low if self.open else x >= self.low
        return above & (x == np.rint(x)) if self.whole else above

    def within(self, sample: Sample) -> Sample:
        """Return the observations that the distribution can produce."""
        keep = self.inside(sample.values)
        return sample if keep.all() else Sample(sample.values[keep], sample.counts[keep])


REAL = Support(-math.inf, open=True, text="all numbers")
POSITIVE = Support(0.0, open=True, text="x > 0")
NONNEGATIVE = Support(0.0, open=False, text="x >= 0")
COUNTING = Support(1.0, open=False, whole=True, text="1, 2, 3, …")


class Distribution(ABC):
    """
    A probability distribution with its parameters.

    A member sets *name* (used in ids of facts), *title* (printed), *parameters* (each field and its
    meaning, unit included), and *support*.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    parameters: ClassVar[Mapping[str, str]]
    support: ClassVar[Support] = POSITIVE
    needs: ClassVar[int] = 2
    """How many distinct values a fit needs at least."""

    @classmethod
    @abstractmethod
    def fit(cls, sample: Sample) -> Self:
        """
        Return the maximum-likelihood fit to *sample*.

        Raises `FitError` for observations outside the support, for too few distinct values, and for values
        that differ by so little, or are so large or small, that no parameters can be told. Every search ends:
        its steps are bounded.
        """

    @abstractmethod
    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""

    @abstractmethod
    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the logarithm of the density at *x* (of the probability, if discrete)."""

    @abstractmethod
    def mean(self) -> float:
        """Return the expectation; infinite where it does not exist."""

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x), accurate in the upper tail where a member knows how."""
        return 1 - self.cdf(x)

    def halves(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """Return P(X <= x) and P(X > x), for less than both where a member knows how."""
        return self.cdf(x), self.sf(x)

    def between(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """Return P(low < X <= high), as the difference of the smaller tails, which loses no digits."""
        (below, above), (upto, beyond) = self.halves(low), self.halves(high)
        return np.where(below < above, upto - below, above - beyond)

    def between_slopes(self, low: Floats, high: Floats) -> tuple[Floats, Slopes] | None:  # noqa: ARG002
        """Return `between` and its derivatives, or None where a member knows no formula of them."""
        return None

    def cdf_below(self, x: ArrayLike) -> Floats:
        """Return P(X < x), which differs from `cdf` for discrete distributions only."""
        return self.cdf(x)

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantiles, the smallest x with cdf(x) >= *q*."""
        share = floats(q)
        high = np.full(share.shape, max(min(self.mean(), _MAXIMUM_FINITE), 1 / _MAXIMUM_FINITE))
        while np.any(short := (self.cdf(high) < share) & (high < _MAXIMUM_FINITE)):
            high = np.where(short, high * 2, high)
        quantiles = bisect(self.cdf, share, np.zeros_like(high), high)
        return np.where(share >= 1, math.inf, np.where(share <= 0, 0.0, quantiles))

    def rvs(self, rng: np.random.Generator, n: int) -> Floats:
        """Return *n* independent draws."""
        return self.ppf(rng.random(n))

    def pdf(self, x: ArrayLike) -> Floats:
        """Return the density (the probability, if discrete)."""
        return np.exp(self.logpdf(x))

    def loglik(self, sample: Sample) -> float:
        """Return the log-likelihood of *sample*, the sum of `logpdf` over all observations."""
        return math.fsum(dot(n, self.logpdf(x)) for x, n in pieces(sample.values, floats(sample.counts)))

    def values(self) -> dict[str, float]:
        """Return the parameters by name, as facts print them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def free(self) -> int:
        """Return the number of parameters that the data determined, for AIC and BIC."""
        return len(self.parameters)

    def degenerate(self) -> str:
        """
        Say in a few words how the parameters are not the maximum of the likelihood that means anything.

        Empty for most. A parameter on the bound of what is searched, or a mixture whose parts coincide, is
        the sign of a distribution that does not suit the data; it stands in tables but is never the best.
        """
        return ""

    @classmethod
    def refuse(cls, sample: Sample) -> None:
        """Raise a `FitError` when *sample* cannot determine the parameters."""
        if not cls.support.inside(sample.values).all():
            raise FitError(
                "the {title} distribution is for {support}", title=cls.title, support=cls.support.text
            )
        if sample.values.size < cls.needs:
            raise FitError(
                "a {title} fit needs {needs} different values, not {values}",
                title=cls.title,
                needs=cls.needs,
                values=sample.values.size,
            )
        sizes = np.abs(sample.values[sample.values != 0])
        if sizes.size and not (sizes.min() >= _MINIMUM and sizes.max() <= _MAXIMUM):
            raise FitError(
                "a {title} fit needs values from {least} to {most}, or 0, not {low} to {high}",
                title=cls.title,
                least=f"{_MINIMUM:g}",
                most=f"{_MAXIMUM:g}",
                low=f"{sizes.min():g}",
                high=f"{sizes.max():g}",
            )


class Batched(Distribution):
    """
    A distribution that can be fitted to many samples at once, row by row, as the bootstrap does.

    All its methods broadcast, so that a member whose parameters are columns stands for one fit per row.
    """

    signed: ClassVar[tuple[str, ...]] = ()
    """The parameters that may be negative."""

    def __post_init__(self) -> None:
        """Refuse parameters of 0 or less, but for those that may be negative."""
        require(**{name: value for name, value in vars(self).items() if name not in self.signed})

    @classmethod
    @abstractmethod
    def estimate(cls, x: Floats, weight: Floats) -> tuple[Floats, ...]:
        """Return the parameters for each row of *x*, as columns; *weight* counts the observations."""

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Return the maximum-likelihood fit, see `Distribution.fit`."""
        cls.refuse(sample)
        with np.errstate(all="ignore"):
            estimates = [float(column[0]) for column in cls.estimate(sample.values, floats(sample.counts))]
        if not all(map(math.isfinite, estimates)):
            raise FitError(
                "no {title} distribution fits best: the likelihood grows without end", title=cls.title
            )
        try:
            return cls(*estimates)
        except ValueError as error:
            raise FitError(
                "no {title} distribution can be told from these values: {error}", title=cls.title, error=error
            ) from error

    @classmethod
    def fit_rows(cls, x: Floats, weight: Floats) -> Self:
        """Return one distribution that stands for a fit per row of *x*."""
        with np.errstate(all="ignore"):
            return cls(*cls.estimate(x, weight))


def differences(upto: Slopes, below: Slopes) -> Slopes:
    """Return the derivatives of a difference from those of its parts."""
    first, second = ([a - b for a, b in zip(*pair, strict=True)] for pair in zip(upto, below, strict=True))
    return first, second


def require(**positive: float | Floats) -> None:
    """Raise a `ValueError` naming the first parameter that is not above 0 (columns of a batch pass)."""
    for name, value in positive.items():
        if not isinstance(value, np.ndarray) and not value > 0:
            raise ValueError(f"{name} is above 0, not {value}")


@cache
def distributions() -> dict[str, type[Distribution]]:
    """Return every distribution by name: those of this package, then those of other packages."""
    found = plugins.subclasses("gwa.statistics", Distribution, "gwa.distributions")  # type: ignore[type-abstract]
    return {kind.name: kind for kind in found}
