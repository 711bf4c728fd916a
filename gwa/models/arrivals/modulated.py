"""Arrivals at a rate with daily and weekly cycles and long memory."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final, Self

import numpy as np
import scipy  # imports scipy.signal and scipy.optimize, which are slow, at their first use

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals, sample_gaps
from gwa.models.parameters import Quantity, positive
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR

SLOT: Final = 300.0
"""Seconds for which a rate is constant."""

HOURS, DAYS = 24, 7

TIME_CONSTANTS: Final = tuple(900.0 * 4.0**k for k in range(7))
"""Time constants of the components of the noise, from a quarter of an hour to six weeks."""

FIRST_BLOCK, MAXIMUM_BLOCK = 1 << 12, 1 << 16
"""Slots drawn at a time, at first and at most: more where few jobs arrive, to bound memory elsewhere."""

ENOUGH_ARRIVALS: Final = 1 << 14
"""Arrivals of a block below which the next block is twice as long."""

LAGS: Final = 60
"""Number of lags that the noise is fitted to, from one slot to a quarter of the trace."""

MAXIMUM_SLOTS: Final = 4_000_000
"""Slots of a trace that are fitted; later ones are ignored."""


@dataclass(frozen=True)
class Modulated(Arrivals):
    """
    A Cox process: arrivals are at random at a rate that changes every five minutes.

    The rate is 1 / *gap* times the factor of the hour, times that of the day of the week, times exp(x),
    where x is the sum of Gaussian processes that forget exponentially, with time constants of a quarter of
    an hour up to six weeks. Their variances make the memory: falling slowly, it is long. In every *span* the
    rates add up to what 1 / *gap* says: the variances are those around the mean of the trace, whose own wave
    of months is in that mean. Without a span the long waves carry a workload's number of jobs with them.
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
    span: Annotated[float | None, positive("in which the mean rate is kept", "s")] = None

    name = "modulated"
    title = "Poisson process with cycles and memory"

    def check(self) -> None:
        """Refuse a wrong number of factors, and a week in which nothing arrives."""
        for name, expected in (("hours", HOURS), ("days", DAYS), ("memory", len(TIME_CONSTANTS))):
            if len(getattr(self, name)) != expected:
                raise ModelError(f"{name} has {len(getattr(self, name))} numbers, expected {expected}")
        if not (any(self.hours) and any(self.days)):
            raise ModelError("hours, days: expected some above 0")

    @classmethod
    def fit(cls, store: Store, table: str = "jobs", column: str = "submit_time") -> Self:
        """Fit the mean, the cycles, and the autocovariance of the arrivals in five minutes."""
        sample_gaps(store, table, column)
        return cls.fit_slots(store.sample(f"floor({column} / {SLOT!r})", table))

    @classmethod
    def fit_slots(cls, arrivals: Sample) -> Self:
        """Fit the process to the slots of *arrivals*, numbered from a midnight."""
        first = int(arrivals.values[0])
        slots = (arrivals.values - first).astype(np.int64)
        inside = slots < MAXIMUM_SLOTS
        counts = np.bincount(slots[inside], arrivals.counts[inside]).astype(np.float64)
        hour, day = _calendar(first + np.arange(counts.size))
        hours, days = _factors(counts, hour, HOURS), _factors(counts, day, DAYS)
        mean = hours[hour] * days[day]
        mean *= counts.sum() / mean.sum()
        return cls(
            SLOT * counts.size / float(counts.sum()),
            tuple(hours.tolist()),
            tuple(days.tolist()),
            _memory(counts, mean),
            span=SLOT * counts.size,
        )

    def mean_gap(self) -> float:
        """Return the mean time between arrivals in seconds."""
        return self.gap * self.pace

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of blocks of arrival times."""
        begin = 0
        for rates in self._rates(rng):
            counts = rng.poisson(np.minimum(rates, 1e6))
            slots = begin + np.arange(rates.size)
            times = (np.repeat(slots, counts) + rng.random(int(counts.sum()))) * SLOT
            begin += rates.size
            if times.size:
                yield np.floor(np.sort(times) * self.pace)

    def _rates(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield blocks of the expected number of arrivals in each slot."""
        hours, days = np.array(self.hours), np.array(self.days)
        week = hours[_calendar(np.arange(7 * 288))[0]] * days[_calendar(np.arange(7 * 288))[1]]
        mean = SLOT / self.gap
        base = mean / week.mean() * math.exp(-sum(self.memory) / 2)
        noise = _Noise(np.array(self.memory), rng)
        period = None if self.span is None else min(max(round(self.span / SLOT), 1), MAXIMUM_SLOTS)
        begin, size = 0, FIRST_BLOCK
        while True:
            slots = begin + np.arange(period or size)
            rates = base * week[slots % week.size] * np.exp(noise.draw(slots.size))
            if period:
                rates *= mean * period / max(float(rates.sum()), 1e-300)
            begin += slots.size
            for start in range(0, slots.size, MAXIMUM_BLOCK):
                yield rates[start : start + MAXIMUM_BLOCK]
            if rates.sum() < ENOUGH_ARRIVALS:
                size = min(2 * size, MAXIMUM_BLOCK)


class _Noise:
    """A sum of autoregressive Gaussian processes, one for each of `TIME_CONSTANTS`."""

    def __init__(self, variances: Floats, rng: np.random.Generator) -> None:
        self.rng, self.deviations = rng, np.sqrt(variances)
        self.coefficients = np.exp(-SLOT / np.array(TIME_CONSTANTS))
        self.last = self.deviations * rng.standard_normal(variances.size)

    def draw(self, n: int) -> Floats:
        """Draw the sum in the next *n* slots."""
        total = np.zeros(n)
        for index, (deviation, phi) in enumerate(zip(self.deviations, self.coefficients, strict=True)):
            if not deviation:
                continue
            innovations = deviation * math.sqrt(1 - phi**2) * self.rng.standard_normal(n)
            series, _ = scipy.signal.lfilter([1.0], [1.0, -phi], innovations, zi=[phi * self.last[index]])
            self.last[index] = series[-1]
            total += series
        return total


def _calendar(slots: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> "tuple[np.ndarray, np.ndarray]":
    """Return the hour of the day and the day of the week of slots since a midnight."""
    seconds = slots * int(SLOT)
    return seconds // HOUR % HOURS, seconds // DAY % DAYS


def _factors(counts: Floats, phase: "np.ndarray", size: int) -> Floats:
    """Return the mean of *counts* at each phase of a cycle, scaled to mean 1; 1 at phases not observed."""
    total, slots = np.bincount(phase, counts, size), np.bincount(phase, minlength=size)
    means = total / np.maximum(slots, 1)
    return np.where(slots, means / means[slots > 0].mean(), 1.0)


def _memory(counts: Floats, mean: Floats) -> tuple[float, ...]:
    """
    Fit the variances of the noise to the autocovariance of *counts* around their *mean*.

    For a log-Gaussian rate E[n(t) n(t + lag)] is the product of the means times exp of the covariance of its
    logarithm; the variances are the nonnegative least squares solution of that.
    """
    power = 1 << (2 * counts.size).bit_length()
    products = [np.fft.irfft(np.abs(np.fft.rfft(x, power)) ** 2) for x in (counts, mean)]
    lags = np.unique(np.geomspace(1, max(counts.size // 4, 2), LAGS).astype(np.int64))
    lags = lags[lags < counts.size]
    observed = np.maximum(products[0][lags], 1e-9) / np.maximum(products[1][lags], 1e-9)
    known = (products[0][lags] > 0.5) & (products[1][lags] > 0)
    if not known.any():
        return (0.0,) * len(TIME_CONSTANTS)
    basis = np.exp(-np.outer(lags[known] * SLOT, 1 / np.array(TIME_CONSTANTS)))
    variances, _ = scipy.optimize.nnls(basis, np.log(observed[known]))
    return tuple(variances.tolist())
