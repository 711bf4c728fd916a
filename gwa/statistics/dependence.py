"""
How observations depend on each other: correlation, autocorrelation and entropy.

The entropies are those of Minh and Wolters (2010): Shannon entropy over its greatest possible value, 1
for an even spread and near 0 for one burst. Where the paper leaves a definition open, the one that
gives its tables V and VI is taken (see ``reference/model-fidelity.md``, section 6).
"""

import math

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use
from numpy.typing import ArrayLike

from gwa.statistics.numeric import dot, floats
from gwa.statistics.sample import Floats, Sample

_MAXIMUM_DEVIATIONS = 12
"""Standard deviations of a binomial beyond which nothing is left to sum."""


def autocorrelation(series: ArrayLike, lags: int) -> Floats:
    """
    Return the autocorrelation at lags 0 to *lags*, by fast Fourier transform.

    The usual estimate, sum (x_t - m)(x_{t+k} - m) / sum (x_t - m)**2; nan for a constant series.
    """
    x = floats(series)
    x = x - x.mean()
    lags = min(lags, x.size - 1)
    power = np.abs(np.fft.rfft(x, 1 << (x.size + lags).bit_length())) ** 2
    products = np.fft.irfft(power)[: lags + 1]
    return products / products[0] if x.any() else np.full(lags + 1, math.nan)


def aggregated(counts: ArrayLike, scale: int, *, whole: bool = True) -> Floats:
    """Return *counts* added up over *scale* bins; an incomplete last bin is left out if *whole*."""
    x = floats(counts)
    if scale < 1:
        raise ValueError(f"a scale is at least 1 bin, not {scale}")
    x = x[: x.size - x.size % scale] if whole else x
    return np.add.reduceat(x, np.arange(0, x.size, scale)) if x.size else x


def entropy(amounts: ArrayLike, possible: int | None = None) -> float:
    """
    Return the normalised entropy, -sum p ln p / ln N with p the share of each of the *amounts*.

    N is the number of *possible* places, by default those given, empty ones included. Raises
    `ValueError` for fewer than two places or negative amounts; nan if there is nothing to share.
    """
    x = floats(amounts)
    places = x.size if possible is None else possible
    if places <= 1:
        raise ValueError(f"a normalised entropy needs two places, not {places}")
    if x.size and x.min() < 0:
        raise ValueError(f"the amounts of an entropy are at least 0, not {x.min():g}")
    total = x.sum()
    return float(-scipy.special.xlogy(x / total, x / total).sum() / math.log(places)) if total else math.nan


def spatial_entropy(sizes: ArrayLike, runtimes: ArrayLike) -> float:
    """
    Return the spatial burstiness: how evenly the run time is spread over job sizes (2010, table V).

    *runtimes* are the total run time, in any unit, at each of the *sizes* in processors; equal sizes
    are added up. N is the largest size observed, so a sizes-of-one workload is a `ValueError`.
    """
    size, place = np.unique(floats(sizes), return_inverse=True)
    return entropy(np.bincount(place, weights=floats(runtimes)), possible=int(size[-1]) if size.size else 0)


def temporal_entropy(counts: ArrayLike, scale: int = 1) -> float:
    """
    Return the temporal burstiness: how evenly arrivals are spread over time (2010, figure 6).

    *counts* are arrivals per bin from the first arrival to the last, empty bins included; *scale* bins
    make one, the last perhaps incomplete. Compare with `poisson_entropy`, which is below 1.
    """
    return entropy(aggregated(counts, scale, whole=False))


def poisson_entropy(arrivals: int, bins: int) -> float:
    """
    Return the expected temporal entropy of *arrivals* scattered at random over *bins* equal bins.

    (ln n - N E[X ln X] / n) / ln N with X binomial(n, 1 / N): what the value of a trace is to be
    compared with.
    """
    if bins <= 1 or arrivals < 1:
        raise ValueError(f"a reference entropy needs arrivals and two bins, not {arrivals} in {bins}")
    mean = arrivals / bins
    reach = _MAXIMUM_DEVIATIONS * math.sqrt(mean) + 3 * _MAXIMUM_DEVIATIONS
    k = np.arange(max(math.floor(mean - reach), 1), min(math.ceil(mean + reach), arrivals) + 1)
    log_choose = (
        scipy.special.gammaln(arrivals + 1)
        - scipy.special.gammaln(k + 1)
        - scipy.special.gammaln(arrivals - k + 1)
    )
    log_share = log_choose - k * math.log(bins) + (arrivals - k) * math.log1p(-1 / bins)
    expected = float((np.exp(log_share) * k * np.log(k)).sum())
    return (math.log(arrivals) - expected / mean) / math.log(bins)


def pearson(x: ArrayLike, y: ArrayLike, counts: ArrayLike = 1) -> float:
    """Return the correlation of pairs occurring *counts* times; nan if *x* or *y* is constant."""
    a, b, weight = np.broadcast_arrays(floats(x), floats(y), floats(counts))
    total = weight.sum()
    if not total:
        return math.nan
    a, b = a - dot(weight, a) / total, b - dot(weight, b) / total
    spread = dot(weight, a**2) * dot(weight, b**2)
    return dot(weight, a * b) / math.sqrt(spread) if spread else math.nan


def spearman(x: ArrayLike, y: ArrayLike, counts: ArrayLike = 1) -> float:
    """Return the rank correlation of pairs occurring *counts* times, ties at their mean rank."""
    a, b, weight = np.broadcast_arrays(floats(x), floats(y), floats(counts))
    return pearson(_mean_ranks(a, weight), _mean_ranks(b, weight), weight)


def _mean_ranks(x: Floats, weight: Floats) -> Floats:
    """Return the mean rank of each value among all observations."""
    sample = Sample.weighted(x, weight)
    ranks = sample.cumulative - (sample.counts - 1) / 2
    return floats(ranks[np.searchsorted(sample.values, x).clip(0, max(ranks.size - 1, 0))])
