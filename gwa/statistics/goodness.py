"""
How far a distribution is from a sample, and whether chance explains it.

The three distances are exact with ties. Their textbook p-values are not: they assume that the
parameters were known beforehand (here they come from the same data, which makes a fit look better than it is)
and that no value occurs twice (run times are whole seconds). The parametric bootstrap assumes neither:
samples drawn from the fitted distribution are rounded as the data are, and fitted as the data were
(Stute, Manteiga & Quindimil 1993; Clauset, Shalizi & Newman 2009).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use
from numpy.typing import NDArray

from gwa.statistics.distribution import REAL, Batched, Distribution, FitError, Support
from gwa.statistics.numeric import dot, log
from gwa.statistics.rounding import (
    Direction,
    Rounded,
    RoundingGrid,
    fit_rounded,
    fit_rounded_rows,
    likeliest_rounding,
)
from gwa.statistics.sample import Floats, Sample

_ATTEMPTS = 1000
_SLACK = 1e-12
_STRETCH = 64
_MAXIMUM_SIMULATED = 2_000_000
"""How many simulated observations are held at once."""
_BLOCK = 8_000
"""The number of simulated values that are fitted at once: the block stays in the cache."""


@dataclass(frozen=True)
class Distances:
    """
    How far a distribution is from a sample, exact with ties; nan for an empty one.

    *ks*: Kolmogorov-Smirnov, the largest gap between the two distribution functions, on both sides of
    each jump, 0 to 1. *cramer_von_mises*: n times the integral of (Fn - F)**2 dF. *anderson_darling*: the
    same over F (1 - F), which weighs the tails; infinite when an observation lies where the distribution
    has no mass. The latter two are nan for a discrete distribution.
    """

    ks: float
    anderson_darling: float
    cramer_von_mises: float


def distances(sample: Sample, distribution: Distribution) -> Distances:
    """Return all three distances; KS alone, see `ks`, takes half the time."""
    if not sample.n:
        return Distances(math.nan, math.nan, math.nan)
    if distribution.support.whole:
        return Distances(ks(sample, distribution), math.nan, math.nan)
    upto, n = sample.cumulative.astype(np.float64), sample.n
    before = upto - sample.counts
    cdf, survival = distribution.cdf(sample.values), distribution.sf(sample.values)
    share, probability = np.append(0.0, upto / n), np.concatenate(([0.0], cdf, [1.0]))
    after, start = probability[1:] - share, probability[:-1] - share
    cubes = (after - start) * (after * after + after * start + start * start)
    low, high = upto * upto - before * before, (n - before) ** 2 - (n - upto) ** 2
    logs = dot(low, log(cdf)) + dot(high, log(survival))
    return Distances(_gap(upto / n, before / n, cdf, cdf), float(-n - logs / n), float(n * cubes.sum() / 3))


def ks(sample: Sample, distribution: Distribution) -> float:
    """
    Return the Kolmogorov-Smirnov distance, see `Distances`.

    Exact, though most values are never looked at: distribution functions only rise, so that their values
    at both ends of a stretch bound the gap within it, and few stretches can hold the largest.
    """
    if not sample.n:
        return math.nan
    last = sample.values.size - 1
    edges = np.append(np.arange(0, last, _STRETCH), last)
    cdf, upto = distribution.cdf(sample.values[edges]), sample.cumulative[edges] / sample.n
    largest = _gap_at(sample, distribution, edges)
    bound = np.maximum(upto[1:] - cdf[:-1], cdf[1:] - upto[:-1])
    inside = edges[:-1][bound > largest - _SLACK, np.newaxis] + np.arange(1, _STRETCH)
    inside = inside[inside < last]
    return max(largest, _gap_at(sample, distribution, inside)) if inside.size else largest


def _gap_at(sample: Sample, distribution: Distribution, places: NDArray[np.int64]) -> float:
    """Return the largest gap at or just below the values in some *places*."""
    x, upto = sample.values[places], sample.cumulative[places]
    cdf = distribution.cdf(x)
    below = distribution.cdf_below(x) if distribution.support.whole else cdf
    return _gap(upto / sample.n, (upto - sample.counts[places]) / sample.n, cdf, below)


def _gap(upto: Floats, before: Floats, cdf: Floats, below: Floats) -> float:
    """Return the largest gap to the *cdf* at the values, or just *below* them."""
    return float(max((upto - cdf).max(), (below - before).max()))


def naive_p_value(distance: float, n: int) -> float:
    """
    Return the textbook p-value of a KS *distance* for *n* observations (Stephens' 1970 approximation).

    It holds for parameters known beforehand and continuous data; for a fitted distribution it is
    far too large. Shown for comparison only.
    """
    root = math.sqrt(n)
    return float(scipy.special.kolmogorov((root + 0.12 + 0.11 / root) * distance))


@dataclass(frozen=True)
class PValues:
    """
    Bootstrap p-values of the three distances: how often chance alone is as far off.

    They speak of *n* observations drawn from the sample: a trace of a million jobs refutes every model,
    a thousand of its jobs only those that are visibly wrong. 1 / (*replicates* + 1) is the least possible.
    """

    ks: float
    anderson_darling: float
    cramer_von_mises: float
    n: int
    replicates: int


@dataclass(frozen=True)
class Bootstrap:
    """
    How to test: on at most *n* observations, with *replicates* simulated samples, rounded to *grid*.

    With *directions* the direction of rounding is not known: it is the one of them that makes the best fit
    most likely, chosen once for each kind and not again for simulated samples: the test is conservative.

    *supports* are those within which the sample was cut; a simulated value that falls outside is drawn
    again, except for distributions on all numbers.
    """

    n: int = 1000
    replicates: int = 200
    grid: RoundingGrid | None = None
    supports: tuple[Support, ...] = ()
    directions: tuple[Direction, ...] = ()

    def cuts(self, kind: type[Distribution] | Distribution) -> tuple[Support, ...]:
        """Return the supports within which simulated values of *kind* count."""
        return (kind.support,) if kind.support == REAL else (kind.support, *self.supports)

    def draw(self, distribution: Distribution, rng: np.random.Generator, count: int) -> Floats:
        """Return *count* values that look like data; a `FitError` if hardly any would count."""
        parts: list[Floats] = []
        missing = count
        for _ in range(_ATTEMPTS):
            x = distribution.rvs(rng, missing)
            x = self.grid.snap(x) if self.grid else x
            for support in self.cuts(distribution):
                x = x[support.inside(x)]
            parts.append(x)
            missing -= x.size
            if not missing:
                return np.concatenate(parts)
        raise FitError(
            "the fitted {title} distribution hardly ever gives a possible value", title=distribution.title
        )


_DEFAULT = Bootstrap()


def p_values(
    sample: Sample, kind: type[Distribution], rng: np.random.Generator, plan: Bootstrap = _DEFAULT
) -> PValues:
    """
    Return the bootstrap p-values of *kind* for a subsample.

    The subsample is fitted and measured; so are samples of its size drawn from that fit: p = (1 + how
    many are at least as far) / (1 + replicates). With a grid both are fitted to the intervals of rounded
    data (`fit_rounded`), and the distances are those between the shares of intervals. An infinite
    distance has p nan. Raises `FitError` if the subsample cannot be fitted.
    """
    drawn = sample.subsample(plan.n, rng)
    cuts = plan.cuts(kind)
    if plan.grid and plan.directions:
        plan = replace(plan, grid=likeliest_rounding(kind, drawn, plan.grid, cuts, plan.directions))
    fitted = fit_rounded(kind, drawn, plan.grid, cuts) if plan.grid else kind.fit(drawn)
    observed = _distances(drawn.expand()[np.newaxis], fitted, plan)[0]
    rows = max(_MAXIMUM_SIMULATED // drawn.n, 1)
    sizes = [min(rows, plan.replicates - start) for start in range(0, plan.replicates, rows)]
    simulated = np.concatenate([_simulated(fitted, rng, plan, (size, drawn.n)) for size in sizes])
    farther = (simulated >= observed * (1 - _SLACK)).sum(axis=0)
    shares = np.where(np.isfinite(observed), (1 + farther) / (1 + plan.replicates), math.nan)
    return PValues(float(shares[0]), float(shares[1]), float(shares[2]), drawn.n, plan.replicates)


def _simulated(
    fitted: Distribution, rng: np.random.Generator, plan: Bootstrap, shape: tuple[int, int]
) -> Floats:
    """Return the distances of simulated samples, one per row, from the fit of each."""
    x = np.sort(plan.draw(fitted, rng, shape[0] * shape[1]).reshape(shape), axis=1)
    if not isinstance(fitted, Batched):
        return np.concatenate([_refitted(type(fitted), row, plan) for row in x])
    rows = max(_BLOCK // shape[1], 1)
    blocks = (x[first : first + rows] for first in range(0, shape[0], rows))
    return np.concatenate([_refitted_rows(fitted, block, plan) for block in blocks])


def _refitted_rows(fitted: Batched, x: Floats, plan: Bootstrap) -> Floats:
    """Return the distances of simulated samples, one per row, from fits of their own near *fitted*."""
    if plan.grid:
        return _distances(x, fit_rounded_rows(fitted, x, plan.grid, plan.cuts(fitted)), plan)
    return _distances(x, fitted.fit_rows(x, np.ones_like(x[:1])), plan)


def _refitted(kind: type[Distribution], row: Floats, plan: Bootstrap) -> Floats:
    """Return the distances of one simulated sample from its own fit; infinite if it has none."""
    sample = Sample.of(row)
    try:
        fitted = fit_rounded(kind, sample, plan.grid, plan.cuts(kind)) if plan.grid else kind.fit(sample)
    except FitError:
        return np.full((1, 3), math.inf)
    return _distances(row[np.newaxis], fitted, plan)


def _distances(x: Floats, fitted: Distribution, plan: Bootstrap) -> Floats:
    """Return KS, Anderson-Darling and Cramér-von Mises of each sorted row, ties included."""
    if plan.grid and not fitted.support.whole:
        return _stepped(x, *Rounded(fitted, plan.grid, plan.cuts(fitted)).tails(x))
    if fitted.support.whole:
        return _stepped(x, 1 - fitted.cdf_below(x), fitted.sf(x))
    n, share = x.shape[1], fitted.cdf(x)
    first, last = _runs(x)
    gaps = np.maximum(np.abs(last / n - share), np.abs(first / n - share)).max(axis=1)
    odd = 2 * np.arange(1, n + 1) - 1
    logs = (odd * (log(share) + log(fitted.sf(x))[:, ::-1])).sum(axis=1)
    squares = 1 / (12 * n) + ((odd / (2 * n) - share) ** 2).sum(axis=1)
    return np.stack((gaps, -n - logs / n, squares), axis=1)


def _stepped(x: Floats, at_least: Floats, above: Floats) -> Floats:
    """
    Return the distances where the distribution has steps, too, of P(X >= x) and P(X > x).

    KS compares both sides of each step; the other two their middles, summed over the observations.
    """
    first, last = _runs(x)
    n, middle = x.shape[1], (at_least + above) / 2
    gaps = np.maximum(np.abs(last / n - (1 - above)), np.abs(first / n - (1 - at_least))).max(axis=1)
    squares = ((first + last) / (2 * n) - (1 - middle)) ** 2
    spread = middle * (1 - middle)
    impossible = np.where(squares > 0, math.inf, 0.0)
    weighed = np.divide(squares, spread, out=impossible, where=spread > 0)
    return np.stack((gaps, weighed.sum(axis=1), squares.sum(axis=1)), axis=1)


def _runs(x: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each value of a sorted row how many are below it, and how many are at most it."""
    rank = np.broadcast_to(np.arange(1, x.shape[1] + 1), x.shape)
    differs = np.diff(x, axis=1) > 0
    first = np.pad(differs, ((0, 0), (1, 0)), constant_values=True)
    last = np.pad(differs, ((0, 0), (0, 1)), constant_values=True)
    ends = np.where(last, rank, x.shape[1])[:, ::-1]
    return (
        np.maximum.accumulate(np.where(first, rank - 1, 0), axis=1),
        np.minimum.accumulate(ends, axis=1)[:, ::-1],
    )
