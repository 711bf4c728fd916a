"""
Changes of level in a short series, such as one value for each week.

A series that remembers wanders, and tests that take its values for independent find changes in every one.
The self-normalised statistic of Shao and Zhang (2010) needs no estimate of that memory: it compares the means
on both sides of a place with how partial sums vary within the sides. Taken over nested windows (Zhao, Jiang
and Shao 2022) it also finds changes that later ones undo. Its critical values are those of an autoregressive
series with a coefficient of 0.6: with those of 0.5, eight such series had a false change in 8 % of logs.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from gwa.statistics.numeric import floats
from gwa.statistics.sample import Floats, Ints

MINIMUM_LENGTH: Final = 26
"""A shorter series has too few windows."""

_CRITICAL: Final = (
    (26, 320.5),
    (30, 383.4),
    (36, 394.2),
    (43, 455.0),
    (52, 467.0),
    (62, 482.9),
    (75, 525.1),
    (90, 516.7),
    (104, 478.5),
    (130, 447.5),
    (156, 398.9),
    (180, 390.3),
    (208, 351.2),
    (260, 314.9),
    (390, 268.8),
    (520, 239.5),
)
"""Lengths of series, and the 99 % quantile of the maximum statistic of 10,000 of them; 3,000 from 208 on."""

_MINIMUM_WINDOW: Final = 6
_WINDOW_SHARE: Final = 0.08

_RUNNING: Final = 13
_DEVIATIONS: Final = 3 * 1.4826
"""Values further than three standard deviations, as the median absolute deviation estimates it, from the
running median are odd weeks, such as holidays and outages, and no level."""

_DECISIVE: Final = 20.0
"""By how much Schwarz's criterion must be lower for levels than for a linear trend: 10 are very strong
evidence (Kass and Raftery 1995) of values that are independent; weeks that remember are worth half."""

_LEAST_VARIATION: Final = 1e-6
"""Partial sums of a standardised series that vary less do so by rounding."""


@dataclass(frozen=True)
class Shift:
    """A change of level: the first value of the new level, and the mean levels before and after."""

    place: int
    before: float
    after: float


def shifts(series: ArrayLike, least: float, period: float = 52.18) -> list[Shift]:
    """
    Return the changes of level in a *series*, in order.

    Odd values are drawn in to three deviations from their running median; changes are sought by binary
    segmentation at 1 %, so that a list of eight series has few false ones, and placed by least squares. Those
    smaller than *least*, or than the standard deviation around the levels, are dropped, the smallest first;
    also where they are that small beside a linear trend or beside a cycle, or where the levels do not
    describe the series clearly better than a linear trend. Nothing is found within 8 % of the length of
    either end, 6 values at least.

    Parameters
    ----------
    series
        Finite values at equal distances, at least `MINIMUM_LENGTH`.
    least
        The smallest change that matters, in units of the series.
    period
        The values in a cycle that is not a change, by default the weeks of a year.

    Returns
    -------
    list of Shift
        The changes, with the mean levels between them.

    Raises
    ------
    ValueError
        For a series that is too short or not finite.

    """
    x = floats(series)
    if x.size < MINIMUM_LENGTH or not np.isfinite(x).all():
        raise ValueError(f"changes need {MINIMUM_LENGTH} finite values or more, not {x.size}")
    x = winsorized(x)
    deviation = float(x.std())
    if deviation < 1e-9 * max(float(np.abs(x).max()), 1.0):
        return []
    standard = (x - x.mean()) / deviation
    window = window_length(x.size)
    places = _segment(standard, 0, x.size, window, critical_value(x.size))
    return _large(x, sorted(places), least, _slow(x.size, period))


def window_length(size: int) -> int:
    """Return the length of the shortest window on either side of a change in a series of *size* values."""
    return max(_MINIMUM_WINDOW, round(_WINDOW_SHARE * size))


def critical_value(size: int) -> float:
    """Return what the maximum of `statistic` exceeds in 1 % of series of *size* values without a change."""
    sizes, values = zip(*_CRITICAL, strict=True)
    return float(np.interp(math.log(size), np.log(sizes), values))


def winsorized(x: Floats) -> Floats:
    """Return the series with values drawn in to three deviations from the median of 13 values around."""
    half = _RUNNING // 2
    around = sliding_window_view(np.pad(x, half, constant_values=np.nan), _RUNNING)
    middle = np.nanmedian(around, axis=1)
    reach = _DEVIATIONS * np.nanmedian(np.abs(around - middle[:, None]), axis=1)
    return np.clip(x, middle - reach, middle + reach)


def statistic(x: Floats, window: int) -> Floats:
    """
    Return the statistic of a change at each place of series in the rows of *x*.

    The maximum over all a = k - i *window*, b = k + j *window* within the series of T**2 / V, with
    T = sum_{t<=k} (x_t - mean of a..b) / sqrt(b - a) and V the variation of partial sums around the means of
    the two sides, over (b - a)**2. It is 0 where no window fits.
    """
    rows, size = x.shape
    sums = _Sums(x)
    greatest = np.zeros((rows, size))
    for left in range(window, size - window + 1, window):
        for right in range(window, size - left + 1, window):
            k = np.arange(left, size - right + 1)
            found = sums.ratio(k - left, k, k + right)
            greatest[:, left : size - right + 1] = np.maximum(greatest[:, left : size - right + 1], found)
    return greatest


class _Sums:
    """Sums over the partial sums of series, by which the statistic of any window takes a few operations."""

    def __init__(self, x: Floats) -> None:
        zero = np.zeros((x.shape[0], 1))
        self.partial = np.concatenate((zero, np.cumsum(x, axis=1)), axis=1)
        t = np.arange(self.partial.shape[1], dtype=np.float64)
        self.first, self.second, self.timed = (
            np.concatenate((zero, np.cumsum(values, axis=1)), axis=1)
            for values in (self.partial, self.partial**2, self.partial * t)
        )
        self.times, self.squares = (np.concatenate(([0.0], np.cumsum(values))) for values in (t, t * t))

    def ratio(self, a: Ints, k: Ints, b: Ints) -> Floats:
        """Return the statistic of changes at *k* in the windows from *a* to before *b*."""
        s, length = self.partial, (b - a).astype(np.float64)
        before, after = s[:, k] - s[:, a], s[:, b] - s[:, k]
        difference = (before - (k - a) / length * (before + after)) / np.sqrt(length)
        variation = self._variation(a, k, a, before / (k - a)) + self._variation(k, b, b, after / (b - k))
        ratio: Floats = difference**2 / np.maximum(variation / length**2, _LEAST_VARIATION)
        return ratio

    def _variation(self, low: Ints, high: Ints, anchor: Ints, slope: Floats) -> Floats:
        """Return the sum over t from *low* to *high* of (S_t - S_anchor - (t - anchor) slope)**2."""
        count, origin = (high - low + 1).astype(np.float64), self.partial[:, anchor]

        def between(sums: Floats) -> Floats:
            return np.asarray(sums[..., high + 1] - sums[..., low])

        first, times = between(self.first), between(self.times)
        levels = between(self.second) - 2 * origin * first + count * origin**2
        mixed = between(self.timed) - anchor * first - origin * (times - count * anchor)
        squares = between(self.squares) - 2 * anchor * times + count * anchor**2
        return np.asarray(levels - 2 * slope * mixed + slope**2 * squares)


def _segment(x: Floats, low: int, high: int, window: int, critical: float) -> list[int]:
    """Return where the level changes between *low* and *high*."""
    if high - low < 2 * window:
        return []
    found = statistic(x[None, low:high], window)[0]
    at = int(found.argmax())
    if found[at] <= critical:
        return []
    place = _placed(x, low, high, low + at, window)
    return [place, *_segment(x, low, place, window, critical), *_segment(x, place, high, window, critical)]


def _placed(x: Floats, low: int, high: int, place: int, window: int) -> int:
    """Return where two levels fit best by least squares, within a window of *place*."""
    begin, end = max(low, place - 2 * window), min(high, place + 2 * window)
    candidates = range(max(low + window // 2, place - window), min(high - window // 2, place + window) + 1)
    inside = [k for k in candidates if begin < k < end]
    return min(inside, key=lambda k: float(x[begin:k].var() * (k - begin) + x[k:end].var() * (end - k)))


def _large(x: Floats, places: list[int], least: float, others: list[Floats]) -> list[Shift]:
    """Return the changes at *places*, without those that are small, alone or beside any of *others*."""
    while places:
        levels = np.array([part.mean() for part in np.split(x, places)])
        segment = np.searchsorted(places, np.arange(x.size), side="right")
        spread = float((x - levels[segment]).std())
        sizes = np.abs(np.diff(levels))
        for columns in others:
            design = np.column_stack((np.eye(levels.size)[segment], columns))
            beside = np.linalg.lstsq(design, x, rcond=None)[0][: levels.size]
            sizes = np.minimum(sizes, np.sign(np.diff(levels)) * np.diff(beside))
        smallest = int(sizes.argmin())
        if sizes[smallest] >= max(least, spread) and _beats_line(x, spread, len(places)):
            sides = zip(places, levels[:-1].tolist(), levels[1:].tolist(), strict=True)
            return [Shift(place, before, after) for place, before, after in sides]
        places = [place for place in places if place != places[smallest]]
    return []


def _beats_line(x: Floats, spread: float, changes: int) -> bool:
    """Return whether levels with this *spread* around them describe the series better than a linear trend."""
    t = np.arange(x.size)
    around_line = float(np.std(x - np.polynomial.Polynomial.fit(t, x, 1)(t)))
    # Each change adds a place and a level, 2 parameters, to one level; a line has 2 in all.
    parameters = 2 * changes - 1
    ratio = max(spread / around_line, 1e-9)
    return 2 * x.size * math.log(ratio) + parameters * math.log(x.size) <= -_DECISIVE


def _slow(size: int, period: float) -> list[Floats]:
    """Return a linear trend and a cycle of *period*, both of which may look like steps."""
    t = np.arange(size) - (size - 1) / 2
    angle = 2 * math.pi * t / period
    return [np.asarray(t[:, None] / size), np.column_stack((np.sin(angle), np.cos(angle)))]
