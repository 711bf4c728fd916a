"""How many requests arrive in an interval of time, and how unevenly."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.base import Drawing, analysis
from gwa.report.document import Block, Fact, Facts, FactTable, Figure, Note, list_of
from gwa.report.facts import facts_of, number, summary, table
from gwa.report.figures.bars import bars
from gwa.report.figures.cdf import cdf
from gwa.report.figures.lines import lines
from gwa.report.figures.series import series
from gwa.requests import measured
from gwa.requests.base import RequestChapter
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, MINUTE, WEEK
from gwa.words.compared import single_largest
from gwa.words.formatting import decimal, seconds
from gwa.words.message import message

INTERVALS: Final = {"minute": MINUTE, "hour": HOUR, "day": DAY}
"""The intervals whose numbers of requests are summed up."""

DRAWN: Final = (1, 10, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, WEEK)
MAXIMUM_POINTS: Final = 1000
"""The numbers over time are drawn in the shortest of these intervals of which there are not more."""

OVER_TIME: Final = """
select floor((submit_time - {first!r}) / {length}) as place, count(*) as requests
from requests group by place order by place
"""

BY_HOUR: Final = """
select cast(floor({clock} / 3600) as bigint) % 24 as hour, count(*) as requests from requests group by hour
"""

HOURS: Final = 24


@analysis(
    "Rates and burstiness",
    RequestChapter.ARRIVALS,
    facts=("requests.per_minute", "requests.per_hour", "requests.per_day", "requests.gap",
           "requests.dispersion"),
)  # fmt: skip
def request_rates(store: Store) -> Iterator[Block | Drawing]:
    """
    How many requests arrive in a minute, an hour and a day, and how unevenly they arrive.

    Intervals begin with the first request, empty ones count, and an incomplete last one is left out. The
    index of dispersion is the variance of the requests in an interval over their mean, averaged over ten
    phases of the intervals: 1 at random at every length, and rising with the length for bursts that do not
    even out. A gap is the time from one request to the next, to the microsecond; the coefficient of
    variation of gaps (standard deviation over mean) is 1 at random. The rank correlation of a gap with the
    one before is 0 where bursts have no memory.
    """
    extent = measured.SubmissionSpan.of(store)
    rows = {
        name: summary(
            f"requests.per_{name}",
            measured.requests_per(store, extent, length),
            "",
            message("requests per {interval}", interval=name),
        )
        for name, length in INTERVALS.items()
    }
    yield table("request-rates", "Requests in an interval", rows)
    if not extent.seconds:
        yield Note("All requests arrive at once: there is no spread over time.")
        return
    yield Drawing(lambda: _over_time(store, extent))
    if extent.seconds >= 2 * DAY:
        yield Drawing(lambda: _by_hour(store))
    found = measured.gaps(store)
    yield _gap_facts(store, found)
    yield Drawing(lambda: _gaps(found))
    dispersions = {
        length: value
        for length in measured.SCALES
        if (value := measured.dispersion(store, extent, length)) is not None
    }
    if not dispersions:
        return
    yield FactTable(
        "request-dispersion",
        "Index of dispersion by length of interval",
        (message("Index of dispersion"),),
        tuple(
            (measured.SCALES[length], (_dispersion_fact(length, value),))
            for length, value in dispersions.items()
        ),
    )
    yield _dispersion(dispersions)


def _dispersion_fact(length: int, value: float) -> Fact:
    label = message("Index of dispersion in intervals of {length}", length=measured.SCALES[length])
    return Fact(f"requests.dispersion.{length}s", number(value), label)


def _gap_facts(store: Store, found: Sample) -> Facts:
    """Return what is known of the gaps between requests."""
    at_once = found.counts[found.values == 0].sum() / found.n if found.n else None
    before = measured.rank_correlation(store, "gap", "earlier", measured.SUCCESSIVE)
    variation = number(found.cv() if found.n and found.mean() else None)
    return list_of(
        *summary("requests.gap", found, "seconds", message("gap between requests")),
        *facts_of(
            "requests.gap",
            ("cv", variation, message("Coefficient of variation of gaps"), ""),
            ("zero", number(at_once), message("Gaps of 0"), "fraction"),
            ("rank_correlation", before, message("Rank correlation of a gap with the one before"), ""),
        ),
    )


def _over_time(store: Store, extent: measured.SubmissionSpan) -> Figure:
    """Return the figure of the numbers of requests over time."""
    length = next((one for one in DRAWN if extent.seconds / one <= MAXIMUM_POINTS), DRAWN[-1])
    found = store.arrays(OVER_TIME.format(first=extent.first, length=length))
    places = np.asarray(found["place"], np.int64)
    numbers = np.zeros(int(places[-1]) + 1)
    numbers[places] = found["requests"]
    start = 0.0 if store.system.relative else extent.first
    interval = seconds(length)
    return series(
        "request-rates",
        message("Requests in {interval}", interval=interval),
        start + np.arange(len(numbers)) * float(length),
        {"Requests": numbers},
        message("Requests in {interval}", interval=interval),
        message(
            "Requests in intervals of {interval}: {mean} in the mean, {most} at most.",
            interval=interval,
            mean=decimal(float(numbers.mean()), ",.3g"),
            most=decimal(float(numbers.max()), ",.0f"),
        ),
        zone=None if store.system.relative else store.system.timezone.key,
    )


def _by_hour(store: Store) -> Figure:
    """Return the figure of the requests by hour of the day."""
    zone = store.system.timezone.key
    clock = (
        "submit_time"
        if store.system.relative
        else f"epoch(timezone('{zone}', to_timestamp(floor(submit_time))))"
    )
    found = dict(store.rows(BY_HOUR.format(clock=clock)))
    numbers = [float(found.get(hour, 0)) for hour in range(HOURS)]
    busiest = single_largest(range(HOURS), lambda hour: numbers[hour])
    return bars(
        "request-hours",
        "Requests by hour of the day",
        [f"{hour:02}:00" for hour in range(HOURS)],
        numbers,
        "Hour of the day",
        "Requests",
        message(
            "Requests by hour of the day; most, {most}, arrive in the hour from {hour}:00.",
            most=decimal(numbers[busiest], ",.0f"),
            hour=busiest,
        )
        if busiest is not None
        else message("Requests by hour of the day."),
        horizontal=False,
    )


def _gaps(found: Sample) -> Figure:
    """Return the figure of the distribution of gaps."""
    return cdf(
        "request-gaps",
        "Gaps between requests",
        {"gaps": found.ecdf()},
        "Gap between requests",
        message(
            "Cumulative fraction of gaps between requests: half are up to {median}, 95 % up to {most}.",
            median=seconds(found.median()),
            most=seconds(found.quantile(0.95)),
        ),
        unit="seconds",
        ylabel="Fraction of gaps",
    )


def _dispersion(dispersions: dict[int, float]) -> Figure:
    """Return the figure of the index of dispersion by length of interval."""
    lengths = [float(length) for length in dispersions]
    longest = max(dispersions)
    return lines(
        "request-dispersion",
        "Index of dispersion of requests",
        {"requests": (lengths, list(dispersions.values())), "at random": (lengths, [1.0] * len(lengths))},
        "Length of an interval",
        "Variance over mean of requests",
        message(
            "The index of dispersion of requests is {value} in intervals of {length}; at random it would"
            " be 1.",
            value=decimal(dispersions[longest], ".3g"),
            length=measured.SCALES[longest],
        ),
        log=(True, True),
        unit="seconds",
        dashed=["at random"],
    )
