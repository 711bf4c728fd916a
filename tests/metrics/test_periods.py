"""Periods with names: what last-month is, and what is before a period, counted on a calendar by hand."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.errors import ArgumentError, DefinitionError, TraceError
from gwa.metrics.periods import before, dated
from gwa.store.subset import bounds
from gwa.store.system import System

UTC_DATES = System(zone="UTC", relative=False)
AMSTERDAM = System(zone="Europe/Amsterdam", relative=False)
DATED = (("Times", "Unix seconds, UTC"),)


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def submitted(make_store, last, first="2026-01-01T00:00", header=DATED):
    """Return a trace of too few jobs for a window: it knows all up to its last submission."""
    return make_store(header, submit_time=[at(first), at(last)], run_time=[60.0] * 2, n_procs=[1] * 2)


@pytest.mark.parametrize(
    ("last", "name", "expected"),
    [
        ("2026-11-30T00:10", "last-month", "2026-11"),  # its last day is known
        ("2026-11-29T23:59", "last-month", "2026-10"),
        ("2026-12-01T00:00", "last-month", "2026-11"),
        ("2026-11-29T23:59", "this-month", "2026-11"),
        ("2026-01-15T12:00", "last-month", "2025-12"),
        ("2026-11-22T01:00", "last-week", "2026-11-16..2026-11-22"),  # a Sunday
        ("2026-11-21T23:00", "last-week", "2026-11-09..2026-11-15"),
        ("2026-11-23T01:00", "this-week", "2026-11-23..2026-11-29"),
        ("2026-12-31T09:00", "last-year", "2026"),
        ("2026-12-30T09:00", "last-year", "2025"),
        ("2026-12-30T09:00", "this-year", "2026"),
        ("2026-12-30T09:00", "2026-03..2026-05", "2026-03..2026-05"),
    ],
)
def test_a_name_is_relative_to_the_last_day_that_the_log_knows(last, name, expected, make_store):
    assert dated(name, submitted(make_store, last)) == expected


@pytest.mark.parametrize(
    ("today", "name", "expected"),
    [
        ("2026-12-01", "last-month", "2026-11"),
        ("2026-11-30", "last-month", "2026-10"),  # today is not over
        ("2026-12-01", "this-month", "2026-12"),
        ("2026-11-23", "last-week", "2026-11-16..2026-11-22"),
        ("2026-11-22", "last-week", "2026-11-09..2026-11-15"),
        ("2027-01-01", "last-year", "2026"),
    ],
)
def test_a_date_may_be_stated(today, name, expected, make_store):
    assert dated(name, submitted(make_store, "2026-05-05T00:00"), today) == expected


def test_months_are_those_of_the_time_zone_of_the_trace(make_store):
    # 22:30 UTC of 30 November is half past midnight of the first of December two hours farther east.
    zoned = (("TimeZoneString", "Europe/Athens"), *DATED)
    assert dated("this-month", submitted(make_store, "2026-11-30T22:30", header=zoned)) == "2026-12"
    assert dated("this-month", submitted(make_store, "2026-11-30T22:30")) == "2026-11"


def test_a_log_that_is_cut_by_end_knows_less(make_store):
    """Jobs that had not ended by the first of December are not in the log: November is not wholly known."""
    day = 86_400.0
    begin, end = at("2026-09-01T00:00"), at("2026-12-01T00:00")
    starts = [begin + 3600.0 * n for n in range(24 * 91)]
    jobs = [(start, 5 * day) for start in starts if start + 5 * day < end]
    store = make_store(
        DATED,
        submit_time=[start for start, _ in jobs],
        wait_time=[0.0] * len(jobs),
        run_time=[run for _, run in jobs],
        n_procs=[1] * len(jobs),
    )
    assert dated("last-month", store) == "2026-10"
    assert dated("last-month", store, "2026-12-01") == "2026-11"


def test_days_without_dates_have_weeks_only(make_store):
    store = make_store(submit_time=[0.0, 20 * 86_400.0], run_time=[60.0] * 2, n_procs=[1] * 2)
    assert dated("last-week", store) == "15..21"
    assert dated("this-week", store, "17") == "15..21"
    assert dated("last-week", store, "17") == "8..14"
    with pytest.raises(ArgumentError, match="expected a week that is over"):
        dated("last-month", store)
    with pytest.raises(ArgumentError, match="expected a week that is over"):
        dated("last-week", store, "3")
    with pytest.raises(ArgumentError, match="expected the number of a day"):
        dated("last-week", store, "2026-01-01")


def test_what_is_no_date_and_what_has_none_is_told(make_store):
    with pytest.raises(ArgumentError, match="today is 'soon', expected a date such as 2007-03-05"):
        dated("last-month", submitted(make_store, "2026-05-05T00:00"), "soon")
    with pytest.raises(TraceError, match="no job has a submission time"):
        dated("last-month", make_store(DATED, run_time=[1.0], n_procs=[1]))


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ("2026-11", "2026-10"),
        ("2026-01", "2025-12"),
        ("2026", "2025"),
        ("2026-03..2026-05", "2025-12..2026-02"),
        ("2026-03-01", "2026-02-28"),
        ("2026-11-16..2026-11-22", "2026-11-09..2026-11-15"),
        ("2025..2026-02", "2023-11..2024-12"),
        ("2026-03-05T14:30", "2026-03-05T14:29"),
    ],
)
def test_before_is_of_the_same_kind_and_length(period, expected):
    assert before(period, UTC_DATES) == expected


@pytest.mark.parametrize("period", ["0001", "0001-01", "0001-01-01..0001-01-31"])
def test_nothing_is_before_the_calendar(period):
    with pytest.raises(DefinitionError, match="there is no period"):
        before(period, UTC_DATES)


def test_days_by_number_have_others_before_them():
    assert before("8..14", System()) == "1..7"
    with pytest.raises(DefinitionError, match="there is no period as long as"):
        before("3..10", System())


dates = st.dates(
    min_value=datetime(1990, 1, 1, tzinfo=UTC).date(), max_value=datetime(2040, 1, 1, tzinfo=UTC).date()
)
written = dates.flatmap(lambda day: st.sampled_from([f"{day:%Y}", f"{day:%Y-%m}", f"{day:%Y-%m-%d}"]))


@given(st.lists(written, min_size=1, max_size=2).map(lambda ends: "..".join(sorted(ends))))
def test_a_period_begins_where_the_one_before_ends(period):
    try:
        begin, _ = bounds(period, AMSTERDAM)
    except DefinitionError:
        return
    assert bounds(before(period, AMSTERDAM), AMSTERDAM)[1] == begin


def test_python_knows_the_names_too(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        week = trace.filter(period="this-week")
        assert week.period == "2025-03-17..2025-03-23"
        assert len(week) == len(trace.filter(period="2025-03-17..2025-03-23"))
