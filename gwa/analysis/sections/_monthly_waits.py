"""Which queue, partition or size of jobs waited longest in each month."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from gwa.metrics.waits import MonthlyWaits, by_month_and_class
from gwa.report.columns import column
from gwa.report.document import Block, Column, Fact, Facts, Note, Table, note_of
from gwa.report.facts import number
from gwa.report.figures.heatmap import heatmap
from gwa.store.store import Store
from gwa.words.compared import single_largest
from gwa.words.formatting import number as number_text
from gwa.words.formatting import seconds
from gwa.words.message import Verbatim, message, within_sentence

MINIMUM_JOBS: Final = 20
"""Fewer jobs of a month have no 95th percentile."""

MINIMUM_MONTHS: Final = 3
"""Of fewer it is not said who waited longest in most of them."""

MAXIMUM_MONTHS: Final = 36
"""Longer tables and figures show the last months."""

COLUMNS: Final = (
    Column("month", "Month"),
    column("jobs"),
    column("wait_median", "median"),
    column("wait_p95", "p95"),
    column("wait_p95_all", "all_p95"),
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
    yield from _most_often(waits, rows)
    shown = rows[-MAXIMUM_MONTHS:]
    yield Table(
        "waits-longest",
        message("{heading} with the longest wait times by month", heading=waits.heading),
        (COLUMNS[0], Column("class", waits.heading), *COLUMNS[1:]),
        tuple(tuple(row.values()) for row in shown),
        note=message(
            "By 95th percentile, of those with {jobs} jobs or more in a month; months in which several wait"
            " equally long are left out.",
            jobs=number_text(MINIMUM_JOBS),
        ),
    )


def _most_often(waits: MonthlyWaits, rows: Sequence[Mapping[str, Any]]) -> Iterator[Note]:
    """Yield which class waited longest in more months than any other, where there are three or more."""
    months = Counter(row["class"] for row in rows)
    name = single_largest(months, lambda one: months[one])
    if len(rows) < MINIMUM_MONTHS or name is None:
        return
    last = next(row for row in reversed(rows) if row["class"] == name)
    yield note_of(
        "{heading}: of those shown, {name} waited longest in {count} of {months} months; in {month}, the"
        " last of these, one in twenty of its jobs waited for {p95} or longer.",
        heading=waits.heading,
        name=Verbatim(name),
        count=number_text(months[name]),
        months=number_text(len(rows)),
        month=Verbatim(last["month"]),
        p95=seconds(last["p95"]),
    )


def _longest(waits: MonthlyWaits) -> Iterator[dict[str, Any]]:
    """Yield for each month the class of the largest 95th percentile, with that of all jobs beside it."""
    for place, month in enumerate(waits.months):
        of_month = {kind: spread for (at, kind), spread in waits.spreads.items() if at == place}
        large = {kind: spread for kind, spread in of_month.items() if spread.n >= MINIMUM_JOBS}
        longest = single_largest(large, lambda kind: large[kind].p95)  # noqa: B023 - called at once
        if longest is None:
            continue
        spread = large[longest]
        yield {
            "month": month,
            "class": waits.names[longest],
            "jobs": spread.n,
            "median": number(spread.median),
            "p95": number(spread.p95),
            "all_p95": number(waits.everybody[place].p95),
        }


def _figure(waits: MonthlyWaits, last: dict[str, Any]) -> Block:
    first = max(len(waits.months) - MAXIMUM_MONTHS, 0)
    large = {place: spread for place, spread in waits.spreads.items() if spread.n >= MINIMUM_JOBS}
    jobs: Counter[int] = Counter()
    for (month, kind), spread in large.items():
        if month >= first:
            jobs[kind] += spread.n
    kinds = [kind for kind, _ in jobs.most_common()] if waits.is_ranked else sorted(jobs)
    cells = [
        [
            large[month, kind].p95 if (month, kind) in large else np.nan
            for month in range(first, len(waits.months))
        ]
        for kind in kinds
    ]
    title = message(
        "95th percentile of wait time by month and {heading}", heading=within_sentence(waits.heading)
    )
    return heatmap(
        "waits-months",
        title,
        cells,
        [waits.names[kind] for kind in kinds],
        waits.months[first:],
        message(
            "{title}. In {month} it was longest for {longest}: {p95}.",
            title=title,
            month=Verbatim(last["month"]),
            longest=Verbatim(last["class"]),
            p95=seconds(last["p95"]),
        ),
        xlabel=message("Month of submission"),
        ylabel=waits.heading,
        unit="seconds",
        note=message("Empty: fewer than {jobs} jobs.", jobs=number_text(MINIMUM_JOBS)),
    )
