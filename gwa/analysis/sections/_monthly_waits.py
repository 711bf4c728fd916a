"""Which queue, partition or size of jobs waited longest in each month."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from gwa.metrics.waits import MonthlyWaits, by_month_and_class
from gwa.report.document import Block, Column, Fact, Facts, Table
from gwa.report.facts import number
from gwa.report.figures.heatmap import heatmap
from gwa.report.formatting import seconds
from gwa.statistics.sample import Sample
from gwa.store.store import Store

MINIMUM_JOBS: Final = 20
"""Fewer jobs of a month have no 95th percentile."""

MAXIMUM_MONTHS: Final = 36
"""Longer tables and figures show the last months."""

COLUMNS: Final = (
    Column("month", "Month"),
    Column("jobs", "Jobs", "count"),
    Column("median", "Median wait time", "seconds"),
    Column("p95", "95th percentile", "seconds"),
    Column("all_p95", "95th percentile, all jobs", "seconds"),
)


def monthly_waits(store: Store) -> Iterator[Block]:
    """Yield the waits by month and class, and of each month the class that waited longest."""
    waits = by_month_and_class(store, store.top)
    if waits is None:
        return
    rows = list(_longest(waits))
    yield Facts((Fact("wait.longest_by_month", rows, "Longest wait times by month"),), listed=False)
    if len({row["class"] for row in rows} | {row["month"] for row in rows}) < 3:  # noqa: PLR2004 - one cell
        return
    yield _figure(waits, rows[-1])
    shown = rows[-MAXIMUM_MONTHS:]
    yield Table(
        "waits-longest",
        f"{waits.heading} with the longest wait times by month",
        (COLUMNS[0], Column("class", waits.heading), *COLUMNS[1:]),
        tuple(tuple(row.values()) for row in shown),
        note=f"By 95th percentile, of those with {MINIMUM_JOBS} jobs or more in a month.",
    )


def _longest(waits: MonthlyWaits) -> Iterator[dict[str, Any]]:
    """Yield for each month the class of the largest 95th percentile, with that of all jobs beside it."""
    for place, month in enumerate(waits.months):
        of_month = {kind: sample for (at, kind), sample in waits.samples.items() if at == place}
        large = {kind: sample for kind, sample in of_month.items() if sample.n >= MINIMUM_JOBS}
        if not large:
            continue
        longest = max(large, key=lambda kind: large[kind].quantile(0.95))
        sample = large[longest]
        yield {
            "month": month,
            "class": waits.names[longest],
            "jobs": sample.n,
            "median": number(sample.median()),
            "p95": number(sample.quantile(0.95)),
            "all_p95": number(_merged(list(of_month.values())).quantile(0.95)),
        }


def _merged(samples: list[Sample]) -> Sample:
    values, counts = (
        np.concatenate([getattr(sample, name) for sample in samples]) for name in ("values", "counts")
    )
    return Sample.weighted(values, counts)


def _figure(waits: MonthlyWaits, last: dict[str, Any]) -> Block:
    first = max(len(waits.months) - MAXIMUM_MONTHS, 0)
    large = {place: sample for place, sample in waits.samples.items() if sample.n >= MINIMUM_JOBS}
    kinds = sorted({kind for month, kind in large if month >= first})
    cells = [
        [
            large[month, kind].quantile(0.95) if (month, kind) in large else np.nan
            for month in range(first, len(waits.months))
        ]
        for kind in kinds
    ]
    heading = waits.heading.lower()
    return heatmap(
        "waits-months",
        f"95th percentile of wait time by month and {heading}",
        cells,
        [waits.names[kind] for kind in kinds],
        waits.months[first:],
        f"95th percentile of wait time by month and {heading}. In {last['month']}, the last month, it was"
        f" longest for {last['class']}: {seconds(last['p95'])}.",
        xlabel="Month of submission",
        ylabel=waits.heading,
        unit="seconds",
        note=f"Empty: fewer than {MINIMUM_JOBS} jobs.",
    )
