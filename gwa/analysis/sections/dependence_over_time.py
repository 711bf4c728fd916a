"""How long arrivals remember: autocorrelation and the Hurst parameter."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.timeline import QUARTER, Counts, Floats, counts
from gwa.report.document import Block, Fact, Facts, FactTable, Note
from gwa.report.facts import number
from gwa.report.figures.lines import lines
from gwa.statistics.dependence import aggregated, autocorrelation
from gwa.statistics.hurst import ESTIMATORS, Hurst, variance_time, without_cycles
from gwa.store.store import Store
from gwa.util.units import HOUR

BINS_PER_HOUR: Final = 4
"""Quarters of an hour in one."""

CYCLES: Final = (24 * BINS_PER_HOUR, 168 * BINS_PER_HOUR)
"""A day and a week, in bins of a quarter of an hour."""

LAGS: Final = {1: "1 h", 24: "24 h", 168: "168 h"}

MOST: Final = 4_000_000
"""Longer series, of more than a century, are counted in longer bins."""

BINS: Final = 128
JOBS: Final = 100
"""Fewer bins or jobs tell nothing about long-range dependence."""

NAMES: Final = {
    "wavelet": "Haar wavelets (Abry and Veitch 1998)",
    "local_whittle": "Local Whittle (Robinson 1995)",
    "periodogram": "Periodogram (Geweke and Porter-Hudak 1983)",
    "variance_time": "Variance and time (Leland et al. 1994)",
    "rescaled_range": "Rescaled range (Hurst 1951)",
}


@analysis(
    "Long-range dependence",
    Chapter.USAGE,
    facts=("hurst", "correlation.arrivals"),
    needs=("submit_time",),
    order=4,
)
def dependence_over_time(store: Store) -> Iterator[Block]:
    """
    Whether arrivals depend on those of long ago: jobs in each quarter of an hour, first to last.

    The autocorrelation says how alike the numbers of jobs in hours are that lie so far apart. The Hurst
    parameter H is 1/2 without long memory and near 1 where bursts occur at all time scales. Estimators
    disagree, and daily and weekly cycles look like memory to all of them: each is given as it is and with
    the mean profile of day and week taken away. Haar wavelets are the ones to quote; intervals are of 95 %.
    """
    arrived = counts(store, "submit_time", QUARTER)
    x, factor = dense(arrived)
    if factor > 1:
        yield Note(f"The series is long: jobs are counted in intervals of {factor} quarters of an hour.")
    if x.size < BINS or arrived.counts.sum() < JOBS or x.min() == x.max():
        yield Note(
            f"An estimate needs at least {BINS} quarters of an hour and {JOBS} jobs, not spread evenly."
        )
        return
    yield from _autocorrelation(x, factor)
    cycles = [period for period in CYCLES if factor == 1 and 2 * period <= x.size]
    if not cycles:
        yield Note("The trace is too short to take the daily or the weekly cycle away.")
    elif len(cycles) < len(CYCLES):
        yield Note("The trace is too short to take the weekly cycle away; only the daily one is.")
    smooth = _smooth(x, cycles) if cycles else None
    yield _estimates(x, smooth)
    yield _variances(x, smooth, factor)


def _smooth(x: Floats, cycles: list[int]) -> Floats | None:
    """Return the series without its cycles; None where nothing is left of it."""
    smooth = without_cycles(x, cycles)
    if smooth.size % cycles[0] == 0:
        # In whole days the cycle's frequencies vanish but for rounding errors, which have no logarithm
        # that an estimator could use; one bin less spreads what is left.
        smooth = smooth[:-1]
    return smooth if np.ptp(smooth) > 1e-9 * np.abs(x).max() else None


def dense(arrived: Counts) -> tuple[Floats, int]:
    """Return the arrivals in every bin, and how many bins had to be made one to keep them countable."""
    span = int(arrived.bins[-1] - arrived.bins[0]) + 1
    factor = -(-span // MOST)
    x = np.zeros(-(-span // factor))
    np.add.at(x, (arrived.bins - arrived.bins[0]) // factor, arrived.counts)
    return x, factor


def _autocorrelation(x: Floats, factor: int) -> Iterator[Block]:
    """Yield the autocorrelation of the arrivals in hours over two weeks."""
    if factor > 1:
        return
    hours = aggregated(x, BINS_PER_HOUR)
    lags = min(2 * max(LAGS), hours.size // 2)
    found = autocorrelation(hours, lags)
    yield Facts(
        tuple(
            Fact(
                f"correlation.arrivals.{lag * HOUR}s",
                number(float(found[lag])),
                f"Autocorrelation after {name}",
            )
            for lag, name in LAGS.items()
            if lag <= lags
        )
    )
    said = ", ".join(f"{found[lag]:.2f} after {name}" for lag, name in LAGS.items() if lag <= lags)
    band = 1.96 / np.sqrt(hours.size)
    yield lines(
        "autocorrelation",
        "Autocorrelation of arrivals in an hour",
        {
            # What is 1 by definition, after no time at all, would press everything else together.
            "arrivals": (np.arange(1, lags + 1) * float(HOUR), found[1:]),
            "95 % at random": ([float(HOUR), float(lags * HOUR)], [band, band]),
        },
        "Lag",
        "Autocorrelation",
        f"The autocorrelation of the jobs in an hour is {said}.",
        log=(False, False),
        unit="seconds",
        dashed=["95 % at random"],
    )


def _estimates(plain: Floats, smooth: Floats | None) -> FactTable:
    rows = []
    for name, label in NAMES.items():
        estimate = ESTIMATORS[name]
        facts = _facts(f"hurst.{name}", label, estimate(plain))
        if smooth is not None:
            facts += _facts(f"hurst.{name}.without_cycles", f"{label}, without cycles", estimate(smooth))
        rows.append((label, facts))
    columns = ("H", "from", "to", "H without cycles", "from", "to")
    return FactTable("hurst", "Hurst parameter of arrivals", columns[: len(rows[0][1])], tuple(rows))


def _facts(prefix: str, label: str, found: Hurst) -> tuple[Fact, ...]:
    return (
        Fact(prefix, number(found.h), f"H by {label}"),
        Fact(f"{prefix}.low", number(found.low), f"H by {label}, lower end"),
        Fact(f"{prefix}.high", number(found.high), f"H by {label}, upper end"),
    )


def _variances(plain: Floats, smooth: Floats | None, factor: int) -> Block:
    """Return the variance of means over ever longer intervals, as a part of that of the shortest."""
    curves = {}
    for name, x in (("as it is", plain), ("without cycles", smooth)):
        if x is not None:
            found = variance_time(x)
            scales = 2.0 ** np.array(found.scales) * QUARTER * factor
            curves[name] = (scales, 2.0 ** np.array(found.energies) / x.var())
    scales, energies = curves["as it is"]
    curves["at random"] = (scales, energies[0] * scales[0] / scales)
    return lines(
        "variance-time",
        "Variance of mean arrivals by scale",
        curves,
        "Length of an interval",
        "Variance, of that of 15 minutes",
        "Variance of the mean number of arrivals over intervals of growing length; at random it would fall as"
        f" the length grows, here its slope tells H = {variance_time(plain).h:.2f}.",
        log=(True, True),
        unit="seconds",
        dashed=["at random"],
    )
