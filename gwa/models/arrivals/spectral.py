"""Arrivals with the daily and weekly cycle, the long memory and the bursts of a trace."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np
from scipy.special import ndtri

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals, gaps
from gwa.models.arrivals._cascade import batched, fitted_shapes, scattered
from gwa.models.parameters import Quantity, positive
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store.store import Store
from gwa.util.units import HOUR

LEVELS: Final = 12
"""How often an hour is halved, into pieces of less than a second."""

CYCLES: Final = (168, 24)
REPEATED: Final = 4
"""The week and the day in hours, and how often a cycle must pass to be seen."""

RATIO: Final = 1.2
"""The width of a band of frequencies, its last over its first."""

MOST: Final = 1 << 20
"""Hours of the longest trace that can be fitted, 120 years."""


@dataclass(frozen=True)
class Spectral(Arrivals):
    """
    A Gaussian copula for the arrivals of each hour, and a random cascade within it.

    The normal scores of the hours' arrivals are a *cycle* (of a week or a day, from a midnight on) plus
    Gaussian noise with the *power* of the trace's spectrum: so much variance for each frequency, in bands
    whose frequencies grow by a factor. By their ranks the scores become the *arrivals* of hours, *often*
    as many hours as the trace has: each such period has its very total, whatever the long memory does. Within
    an hour arrivals are split by beta multipliers of *shapes* down to the second.
    """

    arrivals: Annotated[tuple[int, ...], Quantity("in an hour, in rising order", "", 0.0, 1e9)]
    often: Annotated[tuple[int, ...], Quantity("hours with so many arrivals", "h", 1.0, MOST)]
    cycle: Annotated[tuple[float, ...], Quantity("mean normal score of an hour of the cycle")]
    power: Annotated[tuple[float, ...], Quantity("variance of a frequency, band by band", "", 0.0)]
    shapes: Annotated[tuple[float, ...], positive("of the beta multipliers within an hour")]
    pace: Annotated[float, positive("what the mean gap is multiplied by")] = 1.0

    name = "spectral"
    title = "spectral copula with cascade"

    def check(self) -> None:
        """Refuse lists that do not belong together."""
        if len(self.arrivals) != len(self.often) or not sum(self.often) <= MOST:
            raise ModelError(
                f"often has {len(self.often)} numbers, expected one for each of arrivals, {MOST} hours in all"
            )
        if not max(self.arrivals):
            raise ModelError("arrivals are all 0, expected an hour with some")
        if not self.cycle:
            raise ModelError("cycle is empty, expected an hour at least")
        if len(self.power) != _bands(sum(self.often)).size:
            bands = _bands(sum(self.often)).size
            raise ModelError(f"power has {len(self.power)} numbers, expected {bands} for so many hours")

    @classmethod
    def fit(cls, store: Store, moments: str = "jobs", column: str = "submit_time") -> Self:
        """Return the process of the hours from the first arrival to the last."""
        gaps(store, moments, column)
        first, counts = _hourly(store, moments, column)
        marginal = Sample.of(counts)
        scores = _scores(marginal)[np.searchsorted(marginal.values, counts)]
        cycle = _cycle(scores, first)
        return cls(
            tuple(marginal.values.astype(int).tolist()),
            tuple(marginal.counts.tolist()),
            tuple(cycle.tolist()),
            _power(scores - cycle[(first + np.arange(counts.size)) % cycle.size]),
            fitted_shapes(store, moments, column, HOUR, LEVELS),
        )

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield blocks of arrival times."""
        return batched(self._times(rng))

    def _times(self, rng: np.random.Generator) -> Iterator[Floats]:
        hour, late = 0, 0.0
        while True:
            passed = late + np.cumsum(self._hours(rng, hour)) / self.pace
            counts = np.diff(np.floor(passed), prepend=0.0).astype(np.int64)
            for block in scattered(rng, counts, self.shapes, HOUR):
                yield np.floor(hour * HOUR + block)
            hour += counts.size
            late = float(passed[-1] % 1)

    def _hours(self, rng: np.random.Generator, first: int) -> Ints:
        """Return the arrivals in each hour of a period that begins with the hour *first*."""
        hours = sum(self.often)
        cycle = np.array(self.cycle)[(first + np.arange(hours)) % len(self.cycle)]
        found = np.empty(hours, np.int64)
        found[np.argsort(cycle + _noise(rng, hours, self.power))] = np.repeat(self.arrivals, self.often)
        return found

    def paced(self, factor: float) -> Self:
        """Return the process with a mean gap *factor* times as long; the clock of its cycle stays."""
        return replace(self, pace=self.pace * factor)


def _hourly(store: Store, moments: str, column: str) -> tuple[int, Ints]:
    """Return the first hour with an arrival, and the arrivals in each from it on."""
    found = store.arrays(
        f"select floor({column} / {float(HOUR)!r}) as hour, count(*) as n from {moments}"
        f" where {column} is not null group by hour order by hour"
    )
    hour = np.asarray(found["hour"], np.float64)
    span = hour[-1] - hour[0] + 1
    if span > MOST:
        raise ModelError(f"arrivals: are spread over {span:.0f} hours, expected at most {MOST}")
    counts = np.zeros(int(span), np.int64)
    counts[(hour - hour[0]).astype(np.int64)] = found["n"]
    return int(hour[0]), counts


def _scores(marginal: Sample) -> Floats:
    """Return the normal score of each value, that of the middle of its ranks."""
    scores: Floats = ndtri((marginal.cumulative - marginal.counts / 2) / marginal.n)
    return scores / math.sqrt(marginal.weights @ scores**2) if scores.any() else scores


def _cycle(scores: Floats, first: int) -> Floats:
    """Return the mean score of each hour of the longest cycle that passes often enough, 0 without one."""
    for hours in CYCLES:
        if scores.size >= REPEATED * hours:
            place = (first + np.arange(scores.size)) % hours
            return np.asarray(np.bincount(place, scores) / np.bincount(place))
    return np.zeros(1)


def _bands(hours: int) -> Ints:
    """Return the first frequency of each band, in cycles over all *hours*."""
    last = hours // 2
    if not last:
        return np.zeros(0, np.int64)
    edges = RATIO ** np.arange(math.ceil(math.log(last) / math.log(RATIO)) + 1)
    return np.unique(np.minimum(edges, last).astype(np.int64))


def _power(scores: Floats) -> tuple[float, ...]:
    """Return the mean variance of a frequency in each band."""
    bands = _bands(scores.size)
    if not bands.size:
        return ()
    lines = 2 * np.abs(np.fft.rfft(scores)[1:]) ** 2 / scores.size**2
    widths = np.diff(np.append(bands, lines.size + 1))
    return tuple((np.add.reduceat(lines, bands - 1) / widths).tolist())


def _noise(rng: np.random.Generator, hours: int, power: tuple[float, ...]) -> Floats:
    """Return Gaussian noise of so many *hours* with the *power* of each band of frequencies."""
    lines = np.zeros(hours // 2 + 1, np.complex128)
    if hours > 1:
        bands = _bands(hours)
        widths = np.diff(np.append(bands, lines.size))
        draws = rng.standard_normal((2, lines.size - 1))
        lines[1:] = (draws[0] + 1j * draws[1]) * np.sqrt(np.repeat(power, widths)) * (hours / 2)
    return np.fft.irfft(lines, hours)
