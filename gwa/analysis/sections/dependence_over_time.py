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

QUARTERS_PER_HOUR: Final = 4

CYCLES: Final = (24 * QUARTERS_PER_HOUR, 168 * QUARTERS_PER_HOUR)
"""A day and a week, in bins of a quarter of an hour."""

LAGS: Final = {1: "1 h", 24: "24 h", 168: "168 h"}

MAXIMUM_BINS: Final = 4_000_000
"""Longer series, of more than a century, are counted in longer bins."""

MINIMUM_BINS: Final = 128
MINIMUM_JOBS: Final = 100
"""Fewer bins or jobs do not allow an estimate."""

ESTIMATOR_TITLES: Final = {
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
    x, factor = dense_series(arrived)
    if factor > 1:
        yield Note(f"The series is long: jobs are counted in intervals of {factor} quarters of an hour.")
    if x.size < MINIMUM_BINS or arrived.counts.sum() < MINIMUM_JOBS or x.min() == x.max():
        least = f"{MINIMUM_BINS} quarters of an hour and {MINIMUM_JOBS} jobs"
        yield Note(f"An estimate needs at least {least}, not spread evenly.")
        return
    yield from _autocorrelation(x, factor)
    cycles = [period for period in CYCLES if factor == 1 and 2 * period <= x.size]
    if not cycles:
        yield Note("The trace is too short to take the daily or the weekly cycle away.")
    elif len(cycles) < len(CYCLES):
        yield Note("The trace is too short to take the weekly cycle away; only the daily one is.")
    residual = _without_cycles(x, cycles) if cycles else None
    yield _estimate_table(x, residual)
    yield _variance_figure(x, residual, factor)


def _without_cycles(x: Floats, cycles: list[int]) -> Floats | None:
    """Return the series less its cycles; None where only rounding errors are left."""
    residual = without_cycles(x, cycles)
    if residual.size % cycles[0] == 0:
        # In whole days the cycle's frequencies vanish but for rounding errors, which have no logarithm
        # that an estimator could use; one bin less spreads what is left.
        residual = residual[:-1]
    return residual if np.ptp(residual) > 1e-9 * np.abs(x).max() else None


def dense_series(arrived: Counts) -> tuple[Floats, int]:
    """Return the arrivals in every bin, and how many bins were merged into one to limit their number."""
    span = int(arrived.bins[-1] - arrived.bins[0]) + 1
    factor = -(-span // MAXIMUM_BINS)
    x = np.zeros(-(-span // factor))
    np.add.at(x, (arrived.bins - arrived.bins[0]) // factor, arrived.counts)
    return x, factor


def _autocorrelation(x: Floats, factor: int) -> Iterator[Block]:
    """Yield the autocorrelation of hourly arrivals up to a lag of two weeks."""
    if factor > 1:
        return
    hours = aggregated(x, QUARTERS_PER_HOUR)
    lags = min(2 * max(LAGS), hours.size // 2)
    correlations = autocorrelation(hours, lags)
    yield Facts(
        tuple(
            Fact(
                f"correlation.arrivals.{lag * HOUR}s",
                number(float(correlations[lag])),
                f"Autocorrelation after {name}",
            )
            for lag, name in LAGS.items()
            if lag <= lags
        )
    )
    values = ", ".join(f"{correlations[lag]:.2f} after {name}" for lag, name in LAGS.items() if lag <= lags)
    band = 1.96 / np.sqrt(hours.size)
    yield lines(
        "autocorrelation",
        "Autocorrelation of arrivals in an hour",
        {
            # The value at lag 0, 1 by definition, would squeeze all others.
            "arrivals": (np.arange(1, lags + 1) * float(HOUR), correlations[1:]),
            "95 % at random": ([float(HOUR), float(lags * HOUR)], [band, band]),
        },
        "Lag",
        "Autocorrelation",
        f"The autocorrelation of the jobs in an hour is {values}.",
        log=(False, False),
        unit="seconds",
        dashed=["95 % at random"],
    )


def _estimate_table(series: Floats, residual: Floats | None) -> FactTable:
    rows = []
    for name, label in ESTIMATOR_TITLES.items():
        estimate = ESTIMATORS[name]
        facts = _facts(f"hurst.{name}", label, estimate(series))
        if residual is not None:
            facts += _facts(f"hurst.{name}.without_cycles", f"{label}, without cycles", estimate(residual))
        rows.append((label, facts))
    columns = ("H", "from", "to", "H without cycles", "from", "to")
    return FactTable("hurst", "Hurst parameter of arrivals", columns[: len(rows[0][1])], tuple(rows))


def _facts(prefix: str, label: str, estimate: Hurst) -> tuple[Fact, ...]:
    return (
        Fact(prefix, number(estimate.h), f"H by {label}"),
        Fact(f"{prefix}.low", number(estimate.low), f"H by {label}, lower end"),
        Fact(f"{prefix}.high", number(estimate.high), f"H by {label}, upper end"),
    )


def _variance_figure(series: Floats, residual: Floats | None, factor: int) -> Block:
    """Return the figure of the variance of means over ever longer intervals, relative to the shortest."""
    curves = {}
    for name, x in (("as it is", series), ("without cycles", residual)):
        if x is not None:
            estimate = variance_time(x)
            scales = 2.0 ** np.array(estimate.scales) * QUARTER * factor
            curves[name] = (scales, 2.0 ** np.array(estimate.energies) / x.var())
    scales, variances = curves["as it is"]
    curves["at random"] = (scales, variances[0] * scales[0] / scales)
    return lines(
        "variance-time",
        "Variance of mean arrivals by scale",
        curves,
        "Length of an interval",
        "Variance, of that of 15 minutes",
        "Variance of the mean number of arrivals over intervals of growing length; at random it would fall as"
        f" the length grows, here its slope tells H = {variance_time(series).h:.2f}.",
        log=(True, True),
        unit="seconds",
        dashed=["at random"],
    )
