"""
Value counts: the small lossless form in which a characteristic reaches statistics.

The run times of a trace are whole seconds, so ``select value, count(*)`` says everything about
their distribution in a few thousand rows. Every statistic of a `Sample` costs in *distinct values*.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

Scalar = TypeVar("Scalar", bound=np.generic)

_HALF = 26
"""Half of a double's 53 bits, rounded down: the product of two such halves is exact."""


@dataclass(frozen=True, eq=False)
class Sample:
    """
    Distinct values in increasing order, and how often each of them occurs.

    Statistics have the unit of the values; those of an empty sample are nan, and its total is 0.

    Parameters
    ----------
    values
        The distinct values, finite and strictly increasing; one dimension.
    counts
        How often each value occurs, at least 1; as many as *values*.

    Raises
    ------
    ValueError
        If the values are not finite and strictly increasing, or the counts are not whole numbers of at
        least 1.

    Examples
    --------
    >>> runtimes = Sample.of([60, 5, 60, 3600])
    >>> runtimes.n, runtimes.median(), runtimes.mode()
    (4, 60.0, (60.0, 0.5))

    """

    values: Floats
    counts: Ints

    def __post_init__(self) -> None:
        """Check the pair and keep it as read-only arrays."""
        object.__setattr__(self, "values", _read_only(np.asarray(self.values, dtype=np.float64)))
        object.__setattr__(self, "counts", _read_only(_whole(self.counts)))
        _check(self.values, self.counts)

    @classmethod
    def of(cls, data: ArrayLike) -> Self:
        """
        Count the values of raw data.

        Parameters
        ----------
        data
            One number for each observation, in any order and shape. Nothing is dropped.

        Returns
        -------
        Sample
            The distinct values with their counts.

        Raises
        ------
        ValueError
            If a number is nan or infinite; count missing values elsewhere.

        """
        values, counts = np.unique(np.asarray(data, dtype=np.float64).ravel(), return_counts=True)
        return cls(values, counts)

    @classmethod
    def weighted(cls, values: ArrayLike, counts: ArrayLike) -> Self:
        """
        Make a sample of pairs in any order; the counts of equal values are added.

        Parameters
        ----------
        values
            The values, not necessarily distinct.
        counts
            How often each occurs; a value with count 0 is left out.

        Returns
        -------
        Sample
            The distinct values with their counts.

        Raises
        ------
        ValueError
            If there is not one count for each value, or a count is negative or no whole number.

        """
        number = _whole(counts)
        distinct, place = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
        if place.shape != number.shape:
            raise ValueError(f"a sample needs one count per value, not {number.size} for {place.size}")
        if number.size and number.min() < 0:
            raise ValueError(f"the counts of a sample are at least 0, not {number.min()}")
        summed = np.zeros(distinct.size, dtype=np.int64)
        np.add.at(summed, place, number)
        return cls(distinct[summed > 0], summed[summed > 0])

    def __len__(self) -> int:
        """Return the number of observations, ties included."""
        return self.n

    @cached_property
    def n(self) -> int:
        """The number of observations, ties included."""
        return int(self.counts.sum())

    @cached_property
    def cumulative(self) -> Ints:
        """How many observations are at most each of the values."""
        return _read_only(np.cumsum(self.counts))

    @cached_property
    def weights(self) -> Floats:
        """The share of the observations at each value; the shares add up to 1."""
        return _read_only(self.counts / max(self.n, 1))

    # --- moments -------------------------------------------------------------------------------

    @cached_property
    def _total(self) -> float:
        """Kept, because an exact sum over a million distinct values takes a tenth of a second."""
        return math.fsum(_exact_products(self.values, self.counts).tolist())

    def total(self) -> float:
        """
        Sum all observations.

        Returns
        -------
        float
            The sum, rounded once: exact for whole numbers below 2**53.

        """
        return self._total

    def mean(self) -> float:
        """
        Compute the arithmetic mean.

        Returns
        -------
        float
            The mean, nan for an empty sample.

        """
        return self._total / self.n if self.n else math.nan

    def variance(self, ddof: int = 0) -> float:
        """
        Compute the variance, sum((x - mean)**2) / (n - ddof).

        Parameters
        ----------
        ddof
            The degrees of freedom that are subtracted from the number of observations.

        Returns
        -------
        float
            The variance in the square of the unit of the values; nan where n <= *ddof*.

        """
        if self.n <= ddof:
            return math.nan
        return float((self.counts * (self.values - self.mean()) ** 2).sum()) / (self.n - ddof)

    def std(self, ddof: int = 0) -> float:
        """
        Compute the standard deviation, the square root of `variance`.

        Parameters
        ----------
        ddof
            The degrees of freedom that are subtracted from the number of observations.

        Returns
        -------
        float
            The standard deviation; nan where n <= *ddof*.

        """
        return math.sqrt(self.variance(ddof))

    def cv(self) -> float:
        """
        Compute the coefficient of variation, standard deviation over mean.

        Returns
        -------
        float
            A number without unit; nan for an empty sample and for a mean of 0.

        """
        return self.std() / self.mean() if self.n and self.mean() else math.nan

    # --- order ---------------------------------------------------------------------------------

    def min(self) -> float:
        """
        Return the minimum.

        Returns
        -------
        float
            The smallest value, nan for an empty sample.

        """
        return float(self.values[0]) if self.n else math.nan

    def max(self) -> float:
        """
        Return the maximum.

        Returns
        -------
        float
            The largest value, nan for an empty sample.

        """
        return float(self.values[-1]) if self.n else math.nan

    def quantile(self, q: float) -> float:
        """
        Compute a quantile by linear interpolation (Hyndman & Fan 1996, type 7).

        To the last bit it equals ``numpy.quantile`` over all observations, and so pandas and R.

        Parameters
        ----------
        q
            A number from 0 to 1, such as 0.95 for the 95th percentile.

        Returns
        -------
        float
            The quantile, nan for an empty sample.

        Raises
        ------
        ValueError
            If *q* is not between 0 and 1.

        """
        return float(self.quantiles([q])[0])

    def quantiles(self, q: ArrayLike) -> Floats:
        """
        Compute several quantiles at once, see `quantile`.

        Parameters
        ----------
        q
            Numbers from 0 to 1.

        Returns
        -------
        numpy.ndarray
            The quantiles, in the shape of *q*; nan for an empty sample.

        Raises
        ------
        ValueError
            If one of *q* is not between 0 and 1.

        """
        share = np.asarray(q, dtype=np.float64)
        if not np.all((share >= 0) & (share <= 1)):
            raise ValueError(f"quantiles are between 0 and 1, not {share}")
        if not self.n:
            return np.full(share.shape, math.nan)
        place = (self.n - 1) * share
        rank = np.floor(place).astype(np.int64)
        low, high = self._ranked(rank), self._ranked(np.minimum(rank + 1, self.n - 1))
        step, part = high - low, place - rank
        # The nearer end is the anchor: numpy's rule, which keeps quantiles increasing in q.
        return np.where(2 * part >= 1, high - step * (1 - part), low + step * part)

    def median(self) -> float:
        """
        Compute the median.

        Returns
        -------
        float
            The middle value, or the mean of the two middle ones; nan for an empty sample.

        """
        if not self.n:
            return math.nan
        return float(self._ranked(np.array([(self.n - 1) // 2, self.n // 2])).mean())

    def mode(self) -> tuple[float, float]:
        """
        Return the most frequent value.

        Returns
        -------
        tuple of float
            The value (the smallest of several) and its share of the observations; nan for an empty sample.

        """
        if not self.n:
            return math.nan, math.nan
        top = int(np.argmax(self.counts))
        return float(self.values[top]), float(self.counts[top] / self.n)

    def _ranked(self, rank: Ints) -> Floats:
        """Return the observations at zero-based positions of the sorted data."""
        return self.values[np.searchsorted(self.cumulative, rank, side="right")]

    # --- distribution --------------------------------------------------------------------------

    def ecdf(self) -> tuple[Floats, Floats]:
        """
        Return the empirical cumulative distribution (CDF).

        Returns
        -------
        tuple of numpy.ndarray
            The values, and the share of the observations at most as large as each: the corners of a step
            function.

        """
        return self.values, self.cumulative / max(self.n, 1)

    def cdf(self, x: ArrayLike) -> Floats:
        """
        Evaluate the empirical cumulative distribution (CDF).

        Parameters
        ----------
        x
            Where to evaluate it.

        Returns
        -------
        numpy.ndarray
            The share of the observations <= *x*, in the shape of *x*; nan for an empty sample.

        """
        below = np.searchsorted(self.values, np.asarray(x, dtype=np.float64), side="right")
        if not self.n:
            return np.full(np.shape(x), math.nan)
        return np.concatenate(([0], self.cumulative))[below] / self.n

    def gini(self) -> float:
        """
        Compute the Gini coefficient: 0 when all are equal, near 1 when one has everything.

        ``sum c (2 C - c - n) x / (n sum c x)`` with C the cumulative count: the usual mean absolute
        difference over twice the mean, exact with ties.

        Returns
        -------
        float
            From 0 to 1; 0 when all values are 0, nan for an empty sample.

        Raises
        ------
        ValueError
            If a value is negative.

        """
        self._refuse_negative("a Gini coefficient")
        if not self.n:
            return math.nan
        if not self._total:
            return 0.0
        rank = 2.0 * self.cumulative - self.counts - self.n
        return float((self.counts * self.values * rank).sum()) / (self.n * self._total)

    def lorenz(self) -> tuple[Floats, Floats]:
        """
        Return the Lorenz curve.

        Between its points the curve is straight, since ties are equal. If all values are 0, it is the
        diagonal.

        Returns
        -------
        tuple of numpy.ndarray
            The share of the observations, those with the smallest values first, and their share of the
            total; both from 0 to 1.

        Raises
        ------
        ValueError
            If a value is negative.

        """
        self._refuse_negative("a Lorenz curve")
        population = np.concatenate(([0.0], self.cumulative / max(self.n, 1)))
        wealth = np.concatenate(([0.0], np.cumsum(self.values * self.counts)))
        return population, wealth / wealth[-1] if wealth[-1] else population.copy()

    def _refuse_negative(self, what: str) -> None:
        if self.min() < 0:
            raise ValueError(f"{what} needs values of at least 0, not {self.min():g}")

    # --- other samples -------------------------------------------------------------------------

    def restrict(
        self,
        low: float = -math.inf,
        high: float = math.inf,
        *,
        above: float = -math.inf,
        below: float = math.inf,
    ) -> "Sample":
        """
        Select the observations in a range.

        Parameters
        ----------
        low, high
            The range, its ends included.
        above, below
            The range, its ends excluded.

        Returns
        -------
        Sample
            The observations with *low* <= x <= *high* and *above* < x < *below*.

        """
        x = self.values
        keep = (x >= low) & (x <= high) & (x > above) & (x < below)
        return Sample(x[keep], self.counts[keep])

    def map(self, function: Callable[[Floats], Floats]) -> "Sample":
        """
        Apply a function to each value.

        Parameters
        ----------
        function
            A function of an array, such as ``numpy.log``.

        Returns
        -------
        Sample
            The results; the counts of equal ones are added.

        Raises
        ------
        ValueError
            If a result is nan or infinite.

        """
        return Sample.weighted(function(self.values), self.counts)

    def expand(self) -> Floats:
        """
        Return every observation: for a subsample or a test, not for a whole trace.

        Returns
        -------
        numpy.ndarray
            The observations in increasing order, `n` of them.

        """
        return np.repeat(self.values, self.counts)

    def split(self, n: int, rng: np.random.Generator) -> tuple["Sample", "Sample"]:
        """
        Draw observations without replacement.

        The draw costs *n* steps whatever the number of observations (Floyd's method, on ranks).

        Parameters
        ----------
        n
            The number of observations to draw.
        rng
            The source of random numbers.

        Returns
        -------
        tuple of Sample
            The *n* observations that were drawn, and the others.

        Raises
        ------
        ValueError
            If *n* is negative or larger than the sample.

        """
        if not 0 <= n <= self.n:
            raise ValueError(f"cannot draw {n} observations from {self.n}")
        ranks = rng.choice(self.n, size=n, replace=False, shuffle=False) if n else np.zeros(0, np.int64)
        place = np.searchsorted(self.cumulative, ranks, side="right")
        drawn = np.bincount(place, minlength=self.values.size)
        return Sample.weighted(self.values, drawn), Sample.weighted(self.values, self.counts - drawn)

    def subsample(self, n: int, rng: np.random.Generator) -> "Sample":
        """
        Draw observations without replacement.

        Parameters
        ----------
        n
            The number of observations to draw.
        rng
            The source of random numbers.

        Returns
        -------
        Sample
            The *n* observations that were drawn, or the sample itself when it has no more.

        Raises
        ------
        ValueError
            If *n* is negative.

        """
        return self if n >= self.n else self.split(n, rng)[0]


def _read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a view that cannot be written, leaving the caller's array as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def _whole(counts: ArrayLike) -> Ints:
    """Return *counts* as integers; a fraction is a `ValueError`."""
    given = np.asarray(counts)
    whole = given.astype(np.int64)
    if not np.array_equal(whole, given):
        raise ValueError("the counts of a sample are whole numbers")
    return whole


def _check(values: Floats, counts: Ints) -> None:
    """Raise a `ValueError` that names what is wrong with a sample's pair."""
    if values.ndim != 1 or values.shape != counts.shape:
        raise ValueError(f"a sample needs one count per value, not {counts.shape} for {values.shape}")
    if not np.all(np.isfinite(values)):
        raise ValueError("the values of a sample are finite numbers, not nan or infinity")
    if not np.all(values[1:] > values[:-1]):
        raise ValueError("the values of a sample are distinct and in increasing order")
    if counts.size and counts.min() < 1:
        raise ValueError(f"the counts of a sample are at least 1, not {counts.min()}")


def _exact_products(values: Floats, counts: Ints) -> Floats:
    """
    Return numbers whose exact sum is the sum of *values* times *counts*.

    Each factor is cut in halves of at most 26 bits (Veltkamp, by masking), so that no product rounds.
    """
    largest = int(counts.max(initial=0))
    whole = np.all(values == np.rint(values)) and np.abs(values).max(initial=0) * largest < 1 << 2 * _HALF
    if largest == 1 or whole:
        return values * counts
    mantissa, exponent = np.frexp(values)
    high = np.ldexp(np.rint(np.ldexp(mantissa, _HALF)), exponent - _HALF)
    low, top = counts & ((1 << _HALF) - 1), counts & ~((1 << _HALF) - 1)
    return np.concatenate([half * piece for half in (high, values - high) for piece in (low, top)])


def type_7(values: NDArray[Any], share: float) -> float:
    """Return the quantile for a *share* of *values* in order, which are some, as `Sample.quantile` has it."""
    place = (len(values) - 1) * share
    rank = math.floor(place)
    low, high = float(values[rank]), float(values[min(rank + 1, len(values) - 1)])
    step, part = high - low, place - rank
    return high - step * (1 - part) if 2 * part >= 1 else low + step * part
