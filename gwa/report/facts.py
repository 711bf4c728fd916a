"""From a sample to the handful of facts that sum it up."""

import math
from collections.abc import Mapping

from gwa.report.document import Fact, FactTable, Unit
from gwa.statistics.sample import Sample


def number(value: float | None) -> float | int | None:
    """Return *value* as JSON should show it: None for nan and infinity, whole where it is whole."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def undefined(value: float | None) -> str:
    """Return what a reader is told of a *value* that these jobs do not define; nothing of a number."""
    return "undefined" if value is None or not math.isfinite(value) else ""


COLUMNS = ("Least", "Mean", "Median", "95 %", "Greatest", "Mean, where not zero")
"""The headings of the facts of `spread`; `summary` has all but the last."""


def table(id: str, title: str, rows: Mapping[str, tuple[Fact, ...]], note: str = "") -> FactTable:  # noqa: A002 - as blocks call it
    """Return the facts of `summary` or `spread` about several things as one table."""
    width = max(map(len, rows.values()), default=0)
    return FactTable(id, title, COLUMNS[:width], tuple(rows.items()), note)


def summary(prefix: str, sample: Sample, unit: Unit, what: str) -> tuple[Fact, ...]:
    """
    Return minimum, mean, median, 95th percentile and maximum of *sample* under ids of *prefix*.

    Quantiles interpolate linearly between order statistics, as NumPy and R do by default (type 7).
    """
    lowest, highest = ("Fewest", "Most") if unit == "count" else ("Least", "Greatest")
    return (
        Fact(f"{prefix}.min", number(sample.min()), f"{lowest} {what}", unit),
        Fact(f"{prefix}.mean", number(sample.mean()), f"Mean {what}", unit),
        Fact(f"{prefix}.median", number(sample.median()), f"Median {what}", unit),
        Fact(f"{prefix}.p95", number(sample.quantile(0.95)), f"95th percentile of {what}", unit),
        Fact(f"{prefix}.max", number(sample.max()), f"{highest} {what}", unit),
    )


def spread(prefix: str, sample: Sample, unit: Unit, what: str) -> tuple[Fact, ...]:
    """Return `summary` over all intervals and the mean over non-empty ones, as the archive does."""
    busy = sample.restrict(low=math.ulp(0.0))
    mean = Fact(f"{prefix}.mean_nonzero", number(busy.mean()), f"Mean {what}, where not zero", unit)
    return (*summary(prefix, sample, unit, what), mean)
