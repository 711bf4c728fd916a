"""
Round quotients in the engine, so that only a few thousand value counts leave it.

Rounded values are drawn. What is stated of them is exact: `exact_summary` takes minimum, mean and maximum
from the engine, and the quantiles from the values that share a rounded one with them.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from gwa.metrics.timeline import exact_sum
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store.store import Store

POWERS_OF_TEN: Final = 14
"""Values may be greater than the finest step by this many powers of ten."""

ROUNDED: Final = "(select {rounded} as value from (select {expression} as value from {table}) as exact)"

EXACT: Final = "(select cast({expression} as double) as value from {table}) as exact"
EXTREMES: Final = "select min(value), {mean}, max(value) from {values}"
CELL: Final = "(select value from {values} where value between {above} and {below} and {within}) as cell"
"""The values of a cell: those between its neighbours are few, so that hardly any are rounded again."""

SCALE: Final = 1e9
"""Sums of ratios are made of billionths: an exact sum keeps six decimals."""

TOLERANCE: Final = 1e-9
"""Rounded values that differ by less, relatively, are the same one."""

QUANTILES: Final = (0.5, 0.95)

MINIMUM_RATIO: Final = 0.00001
"""The resolution of the ratios that are counted, below 0.01."""

MAXIMUM_RATIO: Final = 1e6
"""Greater ratios are errors of a log and count as this."""


class ExactSummary(NamedTuple):
    """What facts state of values; all nan where there are none."""

    min: float
    mean: float
    median: float
    p95: float
    max: float


class Ratios(NamedTuple):
    """The ratios of jobs as they are drawn, *rounded*, and what is stated of them, *exact*."""

    rounded: Sample
    exact: ExactSummary


def counted_ratios(store: Store, quotient: str, jobs: str) -> Ratios:
    """Return the *quotient* of each of *jobs*, at most `MAXIMUM_RATIO`; several sections ask for the same."""

    def counted() -> Ratios:
        value = f"least({quotient}, {MAXIMUM_RATIO!r})"
        rounded = rounded_sample(store, value, jobs, MINIMUM_RATIO)
        return Ratios(rounded, exact_summary(store, value, jobs, rounded, MINIMUM_RATIO))

    return store.once(("ratios", quotient, jobs), counted)


def three_digits(value: str, finest: float) -> str:
    """
    Return the SQL of *value*, at least 0, to three significant digits but in steps of *finest* at least.

    A chain of comparisons takes a third of the time of logarithms and powers.

    >>> three_digits("x", 0.01)[:70]
    'case when x < 10.0 then round(x * 100.0) / 100.0 when x < 100.0 then r'
    """
    rungs = []
    for power in range(POWERS_OF_TEN):
        step = float(f"{finest * 10**power:.1g}")
        scaled = f"round({value} * {1 / step!r}) / {1 / step!r}"
        if step >= 1:
            scaled = f"round({value} / {step!r}) * {step!r}"
        rungs.append(f"when {value} < {1000 * step!r} then {scaled}")
    return f"case {' '.join(rungs)} else {1000 * step!r} end"


def rounded_sample(store: Store, expression: str, table: str, finest: float) -> Sample:
    """Return the values of *expression* over *table*, rounded as `three_digits` does."""
    rounded = three_digits("value", finest)
    sample = store.sample("value", ROUNDED.format(rounded=rounded, expression=expression, table=table))
    return merge_equal(sample.values, sample.counts)


def exact_summary(store: Store, expression: str, table: str, rounded: Sample, finest: float) -> ExactSummary:
    """
    Return minimum, mean, median, 95th percentile and maximum of *expression* over *table*, unrounded.

    *rounded* is what `rounded_sample` counted. Rounding keeps the order, so it tells which rounded ones
    hold the observations on both sides of a quantile; only the exact values behind those leave the engine.
    """
    if not rounded.n:
        return ExactSummary(*[math.nan] * 5)
    values = EXACT.format(expression=expression, table=table)
    mean_of = f"{exact_sum(f'value * {SCALE!r}')} / {SCALE!r} / count(value)"
    low, mean, high = store.row(EXTREMES.format(mean=mean_of, values=values))
    ends = np.concatenate(([low], rounded.values, [high]))
    median, p95 = (_exact_quantile(store, values, rounded, ends, finest, share) for share in QUANTILES)
    return ExactSummary(low, mean, median, p95, high)


def _exact_quantile(
    store: Store, values: str, rounded: Sample, ends: Floats, finest: float, share: float
) -> float:
    """
    Return the quantile by linear interpolation (type 7) of the unrounded *values*.

    Those behind ``rounded.values[n]`` lie between ``ends[n]`` and ``ends[n + 2]``.
    """
    place = (rounded.n - 1) * share
    ranks = np.array([math.floor(place), math.ceil(place)])
    held = np.searchsorted(rounded.cumulative, ranks, side="right")
    cells = rounded.values[held].tolist()
    lowest, highest = cells[0] * (1 - TOLERANCE), cells[1] * (1 + TOLERANCE)
    within = f"{three_digits('value', finest)} between {lowest!r} and {highest!r}"
    above, below = ends[[held[0], held[1] + 2]].tolist()
    cell = CELL.format(values=values, above=repr(above), below=repr(below), within=within)
    exact = store.sample("value", cell)
    before = int(rounded.cumulative[held[0]] - rounded.counts[held[0]])
    low, high = exact.values[np.searchsorted(exact.cumulative, ranks - before, side="right")]
    return float(low + (high - low) * (place - ranks[0]))


def merge_equal(values: Floats, counts: Ints) -> Sample:
    """Return the sample of rounded *values*, merging those that differ in their last bits only."""
    return Sample.weighted(without_last_bits(values), counts)


def without_last_bits(values: Floats) -> Floats:
    """Return rounded *values* such that those are equal which differ in their last bits only."""
    return np.array([float(f"{value:.12g}") for value in values.tolist()], np.float64)
