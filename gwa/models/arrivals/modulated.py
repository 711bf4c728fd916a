"""Arrivals whose rate follows the day and the week, and remembers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np
import scipy  # loads its signal part, which is slow, when it is first used
from scipy.optimize import nnls

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals, gaps
from gwa.models.parameters import Quantity, positive
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR

SLOT: Final = 300.0
"""Seconds for which a rate lasts."""

HOURS, DAYS = 24, 7

TIMES: Final = tuple(900.0 * 4.0**k for k in range(7))
"""How long the parts of the noise remember: from a quarter of an hour to six weeks."""

PIECE, LARGEST_PIECE = 1 << 12, 1 << 16
"""Slots that are drawn at a time, first and at most: more where few arrive, for flat memory elsewhere."""

FEW: Final = 1 << 14
"""Arrivals of a piece after which the next is twice as long."""

LAGS: Final = 60
"""How many lags, from one slot up to a quarter of the trace, the noise is fitted to."""

LONGEST: Final = 4_000_000
"""Slots of a trace, beyond which only the first are looked at."""


@dataclass(frozen=True)
class Modulated(Arrivals):
    """
    A Cox process: arrivals are at random at a rate that changes every five minutes.

    The rate is 1 / *gap* times the factor of the hour, times that of the day of the week, times exp(x),
    where x is the sum of Gaussian processes that forget exponentially, with time constants of a quarter of
    an hour up to six weeks. Their variances make the memory: falling slowly, it is long.
    Source: the log-Gaussian Cox process of Moller, Syversveen and Waagepetersen (1998).
    """

    gap: Annotated[float, positive("mean time between arrivals", "s")]
    hours: Annotated[tuple[float, ...], Quantity("factors of the 24 hours", "", 0.0)]
    days: Annotated[
        tuple[float, ...], Quantity("factors of the 7 days, Thursday first as in Unix time", "", 0.0)
    ]
    memory: Annotated[
        tuple[float, ...],
        Quantity(
            "variances of the ln of the rate that last 15 min, 1 h, 4 h, 16 h, 64 h, 11 and 43 days",
            "",
            0.0,
            20.0,
        ),
    ]
    pace: Annotated[float, positive("what times are multiplied by")] = 1.0

    name = "modulated"
    title = "Poisson process with cycles and memory"

    def check(self) -> None:
        """Refuse too few factors, and a week in which nothing arrives."""
        for name, wanted in (("hours", HOURS), ("days", DAYS), ("memory", len(TIMES))):
            if len(getattr(self, name)) != wanted:
                raise ModelError(f"{name} has {len(getattr(self, name))} numbers, expected {wanted}")
        if not (any(self.hours) and any(self.days)):
            raise ModelError("hours, days: expected some above 0")

    @classmethod
    def fit(cls, store: Store, moments: str = "jobs", column: str = "submit_time") -> Self:
        """Return the process of the same mean, cycles, and autocovariance of arrivals in five minutes."""
        gaps(store, moments, column)
        return cls.of(store.sample(f"floor({column} / {SLOT!r})", moments))

    @classmethod
    def of(cls, moments: Sample) -> Self:
        """Return the process of *moments* in slots since a midnight."""
        first = int(moments.values[0])
        slots = (moments.values - first).astype(np.int64)
        inside = slots < LONGEST
        counts = np.bincount(slots[inside], moments.counts[inside]).astype(np.float64)
        hour, day = _calendar(first + np.arange(counts.size))
        hours, days = _factors(counts, hour, HOURS), _factors(counts, day, DAYS)
        mean = hours[hour] * days[day]
        mean *= counts.sum() / mean.sum()
        return cls(
            SLOT * counts.size / float(counts.sum()),
            tuple(hours.tolist()),
            tuple(days.tolist()),
            _memory(counts, mean),
        )

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield blocks of arrival times."""
        hours, days = np.array(self.hours), np.array(self.days)
        week = hours[_calendar(np.arange(7 * 288))[0]] * days[_calendar(np.arange(7 * 288))[1]]
        base = SLOT / self.gap / week.mean() * math.exp(-sum(self.memory) / 2)
        noise = _Noise(np.array(self.memory), rng)
        begin, size = 0, PIECE
        while True:
            slots = begin + np.arange(size)
            rate = base * week[slots % week.size] * np.exp(noise.next(size))
            number = rng.poisson(np.minimum(rate, 1e6))
            moments = (np.repeat(slots, number) + rng.random(int(number.sum()))) * SLOT
            begin += size
            if moments.size < FEW:
                size = min(2 * size, LARGEST_PIECE)
            if moments.size:
                yield np.floor(np.sort(moments) * self.pace)

    def paced(self, factor: float) -> Self:
        """Return the process with gaps that are *factor* times as long, its days and memory, too."""
        return replace(self, pace=self.pace * factor)


class _Noise:
    """A sum of Gaussian processes that forget exponentially, one for each of `TIMES`."""

    def __init__(self, variances: Floats, rng: np.random.Generator) -> None:
        self.rng, self.deviations = rng, np.sqrt(variances)
        self.keeps = np.exp(-SLOT / np.array(TIMES))
        self.last = self.deviations * rng.standard_normal(variances.size)

    def next(self, n: int) -> Floats:
        """Return the sum in the next *n* slots."""
        total = np.zeros(n)
        for place, (deviation, keeps) in enumerate(zip(self.deviations, self.keeps, strict=True)):
            if not deviation:
                continue
            news = deviation * math.sqrt(1 - keeps**2) * self.rng.standard_normal(n)
            series, _ = scipy.signal.lfilter([1.0], [1.0, -keeps], news, zi=[keeps * self.last[place]])
            self.last[place] = series[-1]
            total += series
        return total


def _calendar(slots: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> "tuple[np.ndarray, np.ndarray]":
    """Return the hour of the day, and the day of the week, of slots since a midnight."""
    seconds = slots * int(SLOT)
    return seconds // HOUR % HOURS, seconds // DAY % DAYS


def _factors(counts: Floats, place: "np.ndarray", size: int) -> Floats:
    """Return the mean of *counts* at each place of a cycle, in the mean of those observed 1."""
    total, slots = np.bincount(place, counts, size), np.bincount(place, minlength=size)
    means = total / np.maximum(slots, 1)
    found: Floats = np.where(slots, means / means[slots > 0].mean(), 1.0)
    return found


def _memory(counts: Floats, mean: Floats) -> tuple[float, ...]:
    """
    Return the variances whose processes have the autocovariance of *counts* around their *mean*.

    For a log-Gaussian rate E[n(t) n(t + lag)] is the product of the means times exp of the covariance of its
    logarithm; the variances are the least squares solution of that without negative ones.
    """
    power = 1 << (2 * counts.size).bit_length()
    products = [np.fft.irfft(np.abs(np.fft.rfft(x, power)) ** 2) for x in (counts, mean)]
    lags = np.unique(np.geomspace(1, max(counts.size // 4, 2), LAGS).astype(np.int64))
    lags = lags[lags < counts.size]
    observed = np.maximum(products[0][lags], 1e-9) / np.maximum(products[1][lags], 1e-9)
    known = (products[0][lags] > 0.5) & (products[1][lags] > 0)
    if not known.any():
        return (0.0,) * len(TIMES)
    basis = np.exp(-np.outer(lags[known] * SLOT, 1 / np.array(TIMES)))
    found, _ = nnls(basis, np.log(observed[known]))
    return tuple(found.tolist())
