"""Where the ticks of an axis stand and what they say, by the unit of what is drawn."""

from collections.abc import Iterable
from math import ceil, floor, log10
from typing import NamedTuple

from gwa.util.units import DAY, HOUR, MINUTE, YEAR
from gwa.words.formatting import DURATIONS, compact
from gwa.words.message import Number

CHARACTER = 6.0
"""About how wide a character of a tick label is, in the units of the drawing."""

TIMES = (
    (HOUR, "1 h"), (DAY, "1 d"), (MINUTE, "1 min"), (1, "1 s"), (YEAR, "1 y"), (30 * DAY, "30 d"),
    (10, "10 s"), (10 * MINUTE, "10 min"), (7 * DAY, "7 d"), (6 * HOUR, "6 h"), (10 * YEAR, "10 y"),
    (100 * YEAR, "100 y"), (0.001, "1 ms"), (0.1, "0.1 s"), (15 * MINUTE, "15 min"), (30 * MINUTE, "30 min"),
)  # fmt: skip
"""Ticks of a logarithmic axis of time, those that matter most first."""

STEPS = (
    1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
    HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
    DAY, 2 * DAY, 5 * DAY, 10 * DAY, 30 * DAY, 60 * DAY, 90 * DAY, 180 * DAY,
    YEAR, 2 * YEAR, 5 * YEAR, 10 * YEAR,
)  # fmt: skip
"""Steps of a linear axis of time."""


DOUBLES = (1, 32, 4, 256, 2, 8, 16, 64, 128, 512)
"""What powers of 1024 are multiplied by on a logarithmic axis of memory, those that matter most first."""


class Tick(NamedTuple):
    """A place on an axis and what is written there."""

    place: float
    label: str


def linear(low: float, high: float, unit: str = "", count: int = 5) -> list[Tick]:
    """
    Return about *count* round ticks from *low* to *high*.

    >>> [tick.label for tick in linear(0, 0.93, "fraction")]
    ['0 %', '20 %', '40 %', '60 %', '80 %']
    """
    span = high - low
    if not span > 0:
        return [Tick(low, compact(low, unit))]
    step = _step(max(span / count, _half(low, high) if unit == "seconds" else 0.0), unit)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [Tick(place * step, compact(place * step, unit)) for place in range(first, last + 1)]


def _half(low: float, high: float) -> float:
    """
    Return half of the unit in which durations up to *high* are written: ticks say 1.5 h, and not 1.17 h.

    It is 0 where they are closer together than that, and a year is not halved.
    """
    length = next((each for each, _ in DURATIONS if high >= each), 0)
    half = float(length if length == YEAR else length / 2)
    return half if high - low >= 2 * half else 0.0


def _step(rough: float, unit: str) -> float:
    """Return the round step next to *rough*."""
    if unit == "seconds" and 1 <= rough <= STEPS[-1]:
        return next(step for step in STEPS if step >= rough * 0.75)
    power = 10.0 ** floor(log10(rough))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= rough * 0.75)
    return max(step, 1.0) if unit == "count" else step


def logarithmic(low: float, high: float, unit: str, width: float) -> list[Tick]:
    """
    Return ticks between positive *low* and *high*, as many as fit beside each other in *width*.

    >>> [tick.label for tick in logarithmic(1, 90000, "seconds", 300)]
    ['1 s', '10 s', '1 min', '10 min', '1 h', '6 h', '1 d']
    """
    scale = width / max(log10(high) - log10(low), 1e-9)
    return beside_each_other(
        (tick, (log10(tick.place) - log10(low)) * scale) for tick in _candidates(low, high, unit)
    )


def beside_each_other(candidates: Iterable[tuple[Tick, float]]) -> list[Tick]:
    """
    Return the ticks that fit beside each other, of pairs of a tick and where it is drawn; the first win.

    >>> beside_each_other([(Tick(1, "one"), 0.0), (Tick(2, "two"), 20.0), (Tick(3, "three"), 50.0)])
    [Tick(place=1, label='one'), Tick(place=3, label='three')]
    """
    taken: list[tuple[float, float]] = []
    ticks: list[Tick] = []
    for tick, middle in candidates:
        half = CHARACTER * (len(tick.label) + 2) / 2
        if all(middle + half < start or middle - half > end for start, end in taken):
            taken.append((middle - half, middle + half))
            ticks.append(tick)
    return sorted(ticks)


def _candidates(low: float, high: float, unit: str) -> list[Tick]:
    """Return every tick that could stand between *low* and *high*, those that matter most first."""
    if unit == "seconds":
        candidates = [Tick(place, Number(label)) for place, label in TIMES]
    elif unit == "kilobytes":
        powers = [(1024.0**power * digit) for digit in DOUBLES for power in range(5)]
        candidates = [Tick(place, compact(place, unit)) for place in powers]
    else:
        exponents = range(floor(log10(low)), ceil(log10(high)) + 1)
        stride = 1 if len(exponents) <= 7 else 2 if len(exponents) <= 13 else 4  # noqa: PLR2004 - by eye
        powers = [10.0**power for power in exponents if not power % stride]
        powers += [power * 3 for power in powers if len(exponents) <= 4]  # noqa: PLR2004 - there is room
        candidates = [Tick(place, compact(place, unit)) for place in powers]
    return [tick for tick in candidates if low * 0.999 <= tick.place <= high * 1.001]
