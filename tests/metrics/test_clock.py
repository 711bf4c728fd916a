"""The grid of the log's own clock, against a clock that is read quarter hour by quarter hour."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics import clock
from gwa.metrics.calendar import Calendar
from gwa.metrics.clock import by_clock, hours_of_week, whole_quarters
from gwa.metrics.timeline import Counts
from tests.conftest import examples

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
QUARTER, HOUR, DAY, WEEK = 900.0, 3600.0, 86400.0, 604800.0

CHANGES = {
    "Europe/Berlin": [datetime(2025, 3, 30, 1, tzinfo=UTC), datetime(2025, 10, 26, 1, tzinfo=UTC)],
    "America/New_York": [datetime(2025, 3, 9, 7, tzinfo=UTC), datetime(2025, 11, 2, 6, tzinfo=UTC)],
    "Australia/Lord_Howe": [datetime(2025, 4, 5, 15, tzinfo=UTC), datetime(2025, 10, 4, 15, 30, tzinfo=UTC)],
    "Asia/Kathmandu": [datetime(2025, 6, 1, tzinfo=UTC)],
}

MOMENTS = st.sampled_from(ZONES).flatmap(
    lambda zone: st.tuples(
        st.just(zone),
        st.sampled_from(CHANGES[zone]),
        st.lists(st.integers(-60 * 96, 60 * 96) | st.integers(-12, 12), min_size=1, max_size=30),
    )
)
"""A zone, when its clock changes, and quarter hours of jobs before and after that."""


def clock_edges(first, last, width, zone):
    edges = clock.clock_edges(first, last, width, zone)
    assert edges is not None
    return edges


def labels(first, last, zone, name_of):
    """Return the name of the interval of each quarter hour: one for all that follow each other."""
    number, named, before = -1, {}, object()
    for quarter in range(int(first // QUARTER), int(last // QUARTER) + 1):
        name = name_of(datetime.fromtimestamp(quarter * QUARTER, zone))
        number += name != before
        before, named[quarter] = name, number
    return named


NAMES = {
    QUARTER: lambda at: (at.date(), at.hour, at.minute, at.fold),
    # Where half an hour is shown again, it belongs to the hour that is not over.
    HOUR: lambda at: (at.date(), at.hour, at.fold if at.fold and _repeats_whole_hours(at) else 0),
    DAY: lambda at: at.date(),
    WEEK: lambda at: at.date() - timedelta(days=at.weekday()),
}


def _repeats_whole_hours(at):
    return at.tzinfo.key != "Australia/Lord_Howe"


@examples(40)
@given(MOMENTS, st.sampled_from([QUARTER, HOUR, DAY, WEEK]))
def test_jobs_are_counted_by_what_the_clock_shows(moments, width):
    name, change, places = moments
    zone, middle = ZoneInfo(name), int(change.timestamp() // QUARTER)
    jobs = Counter(middle + place for place in places)
    quarters = Counts(QUARTER, np.array(sorted(jobs)), np.array([jobs[place] for place in sorted(jobs)]))
    named = labels(min(jobs) * QUARTER, max(jobs) * QUARTER, zone, NAMES[width])
    expected = Counter({named[place]: 0 for place in named})
    for place, count in jobs.items():
        expected[named[place]] += count

    found = by_clock(quarters, width, zone)

    assert found.number == len(expected)
    assert found.dense().tolist() == [expected[place] for place in range(len(expected))]
    assert found.begin <= min(jobs) * QUARTER <= max(jobs) * QUARTER < found.end


@examples(40)
@given(MOMENTS)
def test_edges_are_moments_of_the_clock_and_days_those_of_the_calendar(moments):
    name, change, places = moments
    zone = ZoneInfo(name)
    first, last = (change.timestamp() + QUARTER * place for place in (min(places), max(places)))
    days = clock_edges(first, last, DAY, zone)
    assert days.tolist() == Calendar.of(first, last, zone, relative=False).edges.tolist()
    hours = clock_edges(first, last, HOUR, zone)
    shown = [datetime.fromtimestamp(edge, zone) for edge in hours.tolist()]
    lengths = set(np.diff(hours).tolist())
    if name == "Australia/Lord_Howe":
        assert lengths <= {1800.0, 3600.0, 5400.0}
    else:
        assert lengths <= {3600.0}
        assert {at.minute for at in shown} == {0}
    assert hours_of_week(hours, zone).tolist() == [at.weekday() * 24 + at.hour for at in shown]


def test_a_day_of_a_clock_change_has_23_or_25_hours():
    zone = ZoneInfo("America/New_York")
    for day, hours in (
        (datetime(2025, 3, 9, 12, tzinfo=zone), 23),
        (datetime(2025, 11, 2, 12, tzinfo=zone), 25),
    ):
        first, last = clock_edges(day.timestamp(), day.timestamp(), DAY, zone)
        assert last - first == hours * HOUR
        assert len(clock_edges(first, last - 1, HOUR, zone)) == hours + 1


@pytest.mark.parametrize("zone", [None, ZoneInfo("Europe/Berlin")])
def test_without_a_zone_or_over_centuries_all_intervals_are_alike(zone):
    last = 0 if zone is None else 50_000 * 96
    found = by_clock(Counts(QUARTER, np.array([5, 9, 9 + last]), np.array([1, 2, 4])), HOUR, zone)
    assert (found.begin, found.counts.bins[:2].tolist()) == (HOUR, [0, 1])
    assert found.counts.counts.sum() == 7
    assert found.end == (found.number + 1) * HOUR


@given(st.integers(0, 100_000), st.integers(0, 10_000))
def test_whole_quarters_lie_within_the_period(first, length):
    start, end = whole_quarters((first, first + length))
    assert first <= start <= end <= first + length
    if (start, end) != (first, first + length):
        assert start % QUARTER == end % QUARTER == 0
        assert start - first < QUARTER
        assert first + length - end < QUARTER
