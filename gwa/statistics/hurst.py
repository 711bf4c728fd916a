"""
Five estimators of the Hurst parameter.

Input is the number of arrivals (or any amount) in equally long bins, in order. Each estimator fits a straight
line to how variance, range or power changes with scale, and takes its slope for H: 1/2 where bins are
independent, towards 1 where bursts occur at all time scales. That is an estimate only of a series that has
such a line. Cycles, a memory of some hours, steps of the level and trends have a slope too, so that an H
above 1/2 is not evidence of long-range dependence: see `gwa.statistics.spectra`. `without_cycles` removes the
daily and the weekly cycle. `wavelet` is unbiased on fractional Gaussian noise and blind to a constant trend.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use
from numpy.typing import ArrayLike

from gwa.statistics.numeric import dot, floats
from gwa.statistics.sample import Floats
from gwa.statistics.search import minimize

_MINIMUM_BINS = 128
_MINIMUM_BLOCKS = 10
_MINIMUM_BLOCK_SIZE = 8
_NORMAL_QUANTILE = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""
_SIGNIFICANCE = 0.05
_MINIMUM_POINTS = 2
"""Those of a line."""
_MINIMUM_ORDINATES = 8
_BAND_RATIO = 1.3
"""The ordinates of a periodogram in a band, at least, and how bands widen towards high frequencies."""


@dataclass(frozen=True)
class Hurst:
    """
    An estimate *h* with a 95 % confidence interval (nan where the method has none).

    *scales* and *energies* are the points, as powers of two, through which the line of the estimate goes.
    *p_value* is that of the test that a straight line describes them, nan where the method has none.
    """

    h: float
    low: float
    high: float
    scales: tuple[float, ...]
    energies: tuple[float, ...]
    p_value: float = math.nan

    @property
    def is_possible(self) -> bool:
        """Whether the estimate is within the range of the parameter, 0 to 1."""
        return 0 < self.h < 1

    @property
    def interval(self) -> tuple[float, float]:
        """
        The confidence interval within 0 to 1; nan where the data reject what it assumes.

        That is where a straight line is rejected at 5 %, or where the estimate itself is out of range.
        """
        if not self.is_possible or self.p_value < _SIGNIFICANCE:
            return math.nan, math.nan
        return max(self.low, 0.0), min(self.high, 1.0)


ROUNDING = 1e-15
"""Power below this part of the greatest is what rounding leaves, as of cycles that were removed."""


def variance_time(counts: ArrayLike, shortest: int = 10) -> Hurst:
    """
    Return H from how slowly the variance of block means falls: Var ~ m**(2 H - 2).

    Blocks of *shortest* bins up to a tenth of the series. Biased downwards for strong memory, because
    the mean of a finite series is itself uncertain (Beran 1994, section 4.4; Leland et al. 1994).
    """
    x = _series(counts)
    sizes = _sizes(min(shortest, x.size // 50), x.size // _MINIMUM_BLOCKS)
    variances = floats([_blocks(x, size).mean(axis=1).var() for size in sizes])
    return _line(sizes, variances, lambda slope: 1 + slope / 2)


def rescaled_range(counts: ArrayLike, shortest: int = 16) -> Hurst:
    """
    Return H from the mean rescaled range of blocks: R/S ~ m**H (Hurst 1951; Mandelbrot & Wallis 1969).

    Blocks of *shortest* bins up to a quarter of the series. Biased upwards near 1/2 and downwards near 1.
    """
    x = _series(counts)
    sizes = _sizes(shortest, x.size // 4)
    return _line(sizes, floats([_range(_blocks(x, size)) for size in sizes]), lambda slope: slope)


def periodogram(counts: ArrayLike, share: float = 0.1) -> Hurst:
    """
    Return H from the lowest *share* of frequencies: spectrum ~ f**(1 - 2 H) (Geweke & Porter-Hudak 1983).

    The confidence interval is the regression's, its residuals having the known variance pi**2 / 6. The
    straight line is tested over bands of these frequencies.
    """
    frequency, power = _spectrum(_series(counts), share)
    if frequency.size < _MINIMUM_POINTS:
        return _without_line(frequency, power)
    x, y = np.log(frequency), np.log(power)
    centred = x - x.mean()
    slope = dot(centred, y) / dot(centred, centred)
    error = math.pi / math.sqrt(6 * dot(centred, centred)) / 2
    h = (1 - slope) / 2
    p_value = _spectrum_line(frequency, power, h)
    return _estimate(h, error, np.log2(frequency), np.log2(power), p_value)


def local_whittle(counts: ArrayLike, exponent: float = 0.65) -> Hurst:
    """
    Return H by local Whittle likelihood on the lowest n**exponent frequencies (Robinson 1995).

    Standard error 1 / (2 sqrt m) for m frequencies, over bands of which the straight line is tested.
    """
    x = _series(counts)
    m = int(x.size**exponent)
    frequency, power = _spectrum(x, 2 * m / x.size)
    if frequency.size < _MINIMUM_POINTS:
        return _without_line(frequency, power)
    mean_log = float(np.log(frequency).mean())

    def loss(h: float) -> float:
        return math.log(float((power * frequency ** (2 * h - 1)).mean())) - (2 * h - 1) * mean_log

    h = minimize(loss, 0.01, 1.5, 1e-8)
    error, p_value = 0.5 / math.sqrt(frequency.size), _spectrum_line(frequency, power, h)
    return _estimate(h, error, np.log2(frequency), np.log2(power), p_value)


def wavelet(counts: ArrayLike, first: int = 3, last: int | None = None) -> Hurst:
    """
    Return H from the energy of Haar wavelet coefficients by octave: log2 energy ~ (2 H - 1) j.

    Abry and Veitch (1998): weighted regression over octaves *first* (blocks of 2**first bins) to *last*
    (by default the last with 8 coefficients), corrected for the bias of the logarithm, with its
    confidence interval and the test of the straight line (Veitch, Abry and Taqqu 2003). For fractional
    Gaussian noise the scaling is exact at every octave; raise *first* where short-range structure bends the
    line.
    """
    octaves = _octaves(_series(counts))
    last = min(last or len(octaves), len(octaves))
    octaves = octaves[first - 1 : last]
    scale = np.arange(first, first + len(octaves), dtype=np.float64)
    half = floats([size / 2 for size, _ in octaves])
    energy = (
        floats([math.log2(mean) for _, mean in octaves])
        - scipy.special.digamma(half) / math.log(2)
        + np.log2(half)
    )
    slope, error, p_value = _weighted_line(scale, energy, scipy.special.zeta(2, half) / math.log(2) ** 2)
    return _estimate((slope + 1) / 2, error / 2, scale, floats(energy), p_value)


ESTIMATORS: Mapping[str, Callable[[ArrayLike], Hurst]] = MappingProxyType(
    {
        "wavelet": wavelet,
        "local_whittle": local_whittle,
        "periodogram": periodogram,
        "variance_time": variance_time,
        "rescaled_range": rescaled_range,
    }
)
"""Every estimator by name, the recommended one first."""


def without_cycles(counts: ArrayLike, periods: Iterable[int]) -> Floats:
    """
    Return the series less its mean profile over each of the *periods*, in bins; the mean stays.

    With hourly bins ``(24, 168)`` removes the daily and the weekly cycle. A period with fewer than two
    full repetitions is a `ValueError`: its "profile" would be the series.
    """
    x = floats(counts).copy()
    mean = x.mean()
    for period in periods:
        if not 0 < period <= x.size // 2:
            raise ValueError(f"a cycle of {period} bins does not occur twice in {x.size} bins")
        phase = np.arange(x.size) % period
        profile = np.bincount(phase, weights=x) / np.bincount(phase)
        x = x - profile[phase] + mean
    return x


def _series(counts: ArrayLike) -> Floats:
    """Return the series as doubles, refusing one that is too short or constant."""
    x = floats(counts).ravel()
    if x.size < _MINIMUM_BINS:
        raise ValueError(f"a Hurst estimate needs {_MINIMUM_BINS} bins, not {x.size}")
    if not np.all(np.isfinite(x)) or x.min() == x.max():
        raise ValueError("a Hurst estimate needs finite counts that vary")
    return x


def _sizes(low: int, high: int) -> Floats:
    """Return block sizes from *low* to *high*, about eight per doubling."""
    low = max(low, 1)
    return np.unique(np.rint(np.geomspace(low, high, 1 + int(8 * math.log2(high / low)))))


def _blocks(x: Floats, size: float) -> Floats:
    """Return the series cut in rows of *size* bins, the incomplete last one left out."""
    rows = int(x.size // size)
    return x[: rows * int(size)].reshape(rows, int(size))


def _range(blocks: Floats) -> float:
    """Return the mean of R/S over blocks that vary."""
    deviation = blocks.std(axis=1)
    walk = np.cumsum(blocks - blocks.mean(axis=1, keepdims=True), axis=1)
    spread = np.maximum(walk.max(axis=1), 0) - np.minimum(walk.min(axis=1), 0)
    return float(np.mean(spread[deviation > 0] / deviation[deviation > 0])) if np.any(deviation > 0) else 0.0


def _spectrum(x: Floats, share: float) -> tuple[Floats, Floats]:
    """Return frequencies in cycles per bin and the lowest *share* of the periodogram, less rounding noise."""
    power = np.abs(np.fft.rfft(x - x.mean()))[1:] ** 2 / x.size
    frequency = np.arange(1, power.size + 1) / x.size
    keep = np.arange(power.size) < max(share * power.size, 4)
    keep &= power > ROUNDING * power.max(initial=0.0)
    return frequency[keep], power[keep]


def _octaves(x: Floats) -> list[tuple[int, float]]:
    """Return the number of Haar coefficients of each octave and the mean of their squares."""
    octaves = []
    while x.size >= 2 * _MINIMUM_BLOCK_SIZE:
        pairs = _blocks(x, 2)
        energy = float(np.mean((pairs[:, 0] - pairs[:, 1]) ** 2) / 2)
        octaves.append((pairs.shape[0], max(energy, 1e-300)))
        x = pairs.sum(axis=1) / math.sqrt(2)
    return octaves


def _line(sizes: Floats, energies: Floats, to_h: Callable[[float], float]) -> Hurst:
    """Return the estimate from a straight line through log energies against log sizes, NaN without two."""
    keep = energies > 0
    x, y = np.log2(sizes[keep]), np.log2(energies[keep])
    if x.size < _MINIMUM_POINTS:
        return _estimate(math.nan, math.nan, x, y)
    centred = x - x.mean()
    return _estimate(to_h(dot(centred, y) / dot(centred, centred)), math.nan, x, y)


def _spectrum_line(frequency: Floats, power: Floats, h: float) -> float:
    """
    Return the p-value of a straight line through the logarithm of a periodogram.

    The power is averaged over bands, because single ordinates are too noisy for a bend to show: the mean of
    c ordinates of expectation S is S times a gamma variate of shape c, over c. The line of *h* is divided
    out before, so that S hardly varies within a band.
    """
    first = [0]
    while (following := max(first[-1] + _MINIMUM_ORDINATES, int(first[-1] * _BAND_RATIO))) < power.size:
        first.append(following)
    ordinates = np.diff(np.append(first, power.size)).astype(np.float64)
    x = np.log(np.add.reduceat(frequency, first) / ordinates)
    whitened = np.add.reduceat(power * frequency ** (2 * h - 1), first) / ordinates
    y = np.log(whitened) - scipy.special.digamma(ordinates) + np.log(ordinates)
    return _weighted_line(x, floats(y), floats(scipy.special.zeta(2, ordinates)))[2]


def _weighted_line(x: Floats, y: Floats, variances: Floats) -> tuple[float, float, float]:
    """Return the slope of a line through points of known *variances*, its standard error and a p-value."""
    weight = 1 / variances
    centred = x - dot(weight, x) / weight.sum()
    spread = dot(weight, centred**2)
    slope = dot(weight * centred, y) / spread if spread else math.nan
    residual = y - dot(weight, y) / weight.sum() - slope * centred
    freedom = x.size - 2
    p_value = (
        float(scipy.special.gammaincc(freedom / 2, dot(weight, residual**2) / 2)) if freedom > 0 else math.nan
    )
    return slope, 1 / math.sqrt(spread) if spread else math.nan, p_value


def _without_line(frequency: Floats, power: Floats) -> Hurst:
    """Return no estimate, from a series whose power is all in cycles faster than those that are looked at."""
    return _estimate(math.nan, math.nan, np.log2(frequency), np.log2(power))


def _estimate(h: float, error: float, scales: Floats, energies: Floats, p_value: float = math.nan) -> Hurst:
    """Return the estimate with its confidence interval from a standard error."""
    margin = _NORMAL_QUANTILE * error
    return Hurst(h, h - margin, h + margin, tuple(map(float, scales)), tuple(map(float, energies)), p_value)
