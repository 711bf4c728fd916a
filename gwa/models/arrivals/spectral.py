"""Arrivals with the daily and weekly cycle, the long memory and the bursts of a trace."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final, Self

import numpy as np
from scipy.special import ndtri

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals, sample_gaps
from gwa.models.cascade import fit_shapes, regroup, scatter
from gwa.models.parameters import Quantity, positive
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store.store import Store
from gwa.util.units import HOUR
from gwa.words.message import message

HALVINGS: Final = 12
"""Number of times that an hour is halved, into pieces of less than a second."""

CYCLE_HOURS: Final = (168, 24)
MINIMUM_CYCLES: Final = 4
"""The week and the day in hours, and the number of cycles required to fit one."""

BAND_RATIO: Final = 1.2
"""The last frequency of a band over its first."""

MAXIMUM_HOURS: Final = 1 << 20
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
    often: Annotated[tuple[int, ...], Quantity("hours by their number of arrivals", "h", 1.0, MAXIMUM_HOURS)]
    cycle: Annotated[tuple[float, ...], Quantity("mean normal score of an hour of the cycle")]
    power: Annotated[tuple[float, ...], Quantity("variance of a frequency, band by band", "", 0.0)]
    shapes: Annotated[tuple[float, ...], positive("of the beta multipliers within an hour")]
    pace: Annotated[float, positive("what the mean gap is multiplied by")] = 1.0

    name = "spectral"
    title = "spectral copula with cascade"

    def check(self) -> None:
        """Refuse lists whose lengths do not match, and hours without any arrival."""
        if len(self.arrivals) != len(self.often) or not sum(self.often) <= MAXIMUM_HOURS:
            raise ModelError(
                f"often has {len(self.often)} numbers, expected one for each of arrivals,"
                f" {MAXIMUM_HOURS} hours in all"
            )
        if not max(self.arrivals):
            raise ModelError("arrivals are all 0, expected an hour with some")
        if not self.cycle:
            raise ModelError("cycle is empty, expected an hour at least")
        if len(self.power) != frequency_bands(sum(self.often)).size:
            bands = frequency_bands(sum(self.often)).size
            raise ModelError(
                f"power has {len(self.power)} numbers, expected {bands} for this number of hours"
            )

    @classmethod
    def fit(cls, store: Store, table: str = "jobs", column: str = "submit_time") -> Self:
        """Fit the process to the hours from the first arrival to the last."""
        sample_gaps(store, table, column)
        first, counts = _count_by_hour(store, table, column)
        marginal = Sample.of(counts)
        scores = _scores(marginal)[np.searchsorted(marginal.values, counts)]
        cycle = _cycle(scores, first)
        return cls(
            tuple(marginal.values.astype(int).tolist()),
            tuple(marginal.counts.tolist()),
            tuple(cycle.tolist()),
            _power(scores - cycle[(first + np.arange(counts.size)) % cycle.size]),
            fit_shapes(store, table, column, HOUR, HALVINGS),
        )

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of blocks of arrival times."""
        return regroup(self._times(rng))

    def _times(self, rng: np.random.Generator) -> Iterator[Floats]:
        hour, remainder = 0, 0.0
        while True:
            total = remainder + np.cumsum(self._draw_hours(rng, hour)) / self.pace
            counts = np.diff(np.floor(total), prepend=0.0).astype(np.int64)
            for block in scatter(rng, counts, self.shapes, HOUR):
                yield np.floor(hour * HOUR + block)
            hour += counts.size
            remainder = float(total[-1] % 1)

    def _draw_hours(self, rng: np.random.Generator, first: int) -> Ints:
        """Draw the number of arrivals in each hour of a period that begins with the hour *first*."""
        hours = sum(self.often)
        cycle = np.array(self.cycle)[(first + np.arange(hours)) % len(self.cycle)]
        counts = np.empty(hours, np.int64)
        counts[np.argsort(cycle + _draw_noise(rng, hours, self.power))] = np.repeat(self.arrivals, self.often)
        return counts


def _count_by_hour(store: Store, table: str, column: str) -> tuple[int, Ints]:
    """Return the first hour with an arrival, and the number of arrivals in each hour from it on."""
    columns = store.arrays(
        f"select floor({column} / {float(HOUR)!r}) as hour, count(*) as n from {table}"
        f" where {column} is not null group by hour order by hour"
    )
    hour = np.asarray(columns["hour"], np.float64)
    span = hour[-1] - hour[0] + 1
    if span > MAXIMUM_HOURS:
        raise ModelError(
            message(
                "arrivals: are spread over {hours} hours, expected at most {most}",
                hours=f"{span:.0f}",
                most=MAXIMUM_HOURS,
            )
        )
    counts = np.zeros(int(span), np.int64)
    counts[(hour - hour[0]).astype(np.int64)] = columns["n"]
    return int(hour[0]), counts


def _scores(marginal: Sample) -> Floats:
    """Return the normal score of the middle rank of each value."""
    scores: Floats = ndtri((marginal.cumulative - marginal.counts / 2) / marginal.n)
    return scores / math.sqrt(marginal.weights @ scores**2) if scores.any() else scores


def _cycle(scores: Floats, first: int) -> Floats:
    """Return the mean score of each hour of the longest cycle that repeats, a single 0 if none does."""
    for hours in CYCLE_HOURS:
        if scores.size >= MINIMUM_CYCLES * hours:
            hour = (first + np.arange(scores.size)) % hours
            return np.asarray(np.bincount(hour, scores) / np.bincount(hour))
    return np.zeros(1)


def frequency_bands(hours: int) -> Ints:
    """Return the first frequency of each band, in cycles over all *hours*."""
    highest = hours // 2
    if not highest:
        return np.zeros(0, np.int64)
    edges = BAND_RATIO ** np.arange(math.ceil(math.log(highest) / math.log(BAND_RATIO)) + 1)
    return np.unique(np.minimum(edges, highest).astype(np.int64))


def _power(scores: Floats) -> tuple[float, ...]:
    """Return the mean variance of a frequency in each band."""
    bands = frequency_bands(scores.size)
    if not bands.size:
        return ()
    lines = 2 * np.abs(np.fft.rfft(scores)[1:]) ** 2 / scores.size**2
    widths = np.diff(np.append(bands, lines.size + 1))
    return tuple((np.add.reduceat(lines, bands - 1) / widths).tolist())


def _draw_noise(rng: np.random.Generator, hours: int, power: tuple[float, ...]) -> Floats:
    """Draw Gaussian noise of *hours* with the *power* of each band of frequencies."""
    lines = np.zeros(hours // 2 + 1, np.complex128)
    if hours > 1:
        bands = frequency_bands(hours)
        widths = np.diff(np.append(bands, lines.size))
        draws = rng.standard_normal((2, lines.size - 1))
        lines[1:] = (draws[0] + 1j * draws[1]) * np.sqrt(np.repeat(power, widths)) * (hours / 2)
    return np.fft.irfft(lines, hours)
