"""Who got their share, whose jobs went ahead, and who waited longest: against logs worked out by hand."""

from collections import Counter
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.breakdown.dimensions import by_name
from gwa.breakdown.fairness import Asked, asked, by_month
from gwa.breakdown.going_ahead import Order, orders
from gwa.breakdown.held import cpu_seconds_by
from gwa.breakdown.starvation import MINIMUM_LIKE, starvation
from tests.conftest import examples
from tests.metrics.test_waiting import START, header

HOUR = 3600.0
WEEK = 7 * 24 * HOUR


def log(make_store, rows, **columns):
    """Return a store of jobs: user, submission, wait and run time in hours, processors."""
    users, submits, waits, runs, procs = zip(*rows, strict=True)
    return make_store(
        header(10),
        user_id=list(users),
        submit_time=[START + HOUR * submit for submit in submits],
        wait_time=[HOUR * wait for wait in waits],
        run_time=[HOUR * run for run in runs],
        n_procs=list(procs),
        status=[1] * len(rows),
        **columns,
    )


def asked_by_users(store, limits=None) -> Asked:
    found = asked(store, "users", limits)
    assert found is not None
    return found


def orders_of(store) -> dict[str, Order]:
    found = orders(store)
    assert found is not None
    return found


def uneven(make_store, weeks=9, **columns):
    """Return a log in which each hour a holds 8 of 10 processors, b 2, and both want 10."""
    rows = []
    for hour in range(weeks * 7 * 24):
        rows += [("a", hour - 1, 1, 1, 8), ("a", hour - 1, 2, 0, 2), ("b", hour - 1, 1, 1, 2)]
        rows += [("b", hour - 1, 2, 0, 8)]
    return log(make_store, rows, **columns)


def test_who_holds_eight_of_ten_holds_1_6_times_an_equal_split(make_store):
    store = uneven(make_store)
    found = asked_by_users(store)
    first, second = found.shares()
    assert (first.name, second.name) == ("a", "b")
    assert first.ratio == pytest.approx(1.6, abs=0.01)
    assert first.is_above
    assert not second.is_above
    assert second.waited_below == pytest.approx(second.waited)
    assert found.moved == pytest.approx(0.3, abs=0.005)
    assert sum(share for _, _, _, share, _ in by_month(store, found)) / 3 == pytest.approx(0.3, abs=0.005)


EDGES = [31 * 24, 59 * 24, 90 * 24 - 1, 120 * 24 - 1]
"""The hours from the begin of 1997 in Stockholm to that of the next months: in April it is summer time."""


@examples(50)
@given(st.dictionaries(st.integers(0, 4000) | st.sampled_from(EDGES), st.integers(1, 64), min_size=1))
def test_an_hour_is_of_the_month_in_which_it_begins(make_shared_store, amounts):
    """By the calendar of datetime, in a zone that is not that of the clock."""
    first, zone = START - HOUR, ZoneInfo("Europe/Stockholm")
    hours, held = (np.array(each) for each in zip(*sorted(amounts.items()), strict=True))
    places, classes = np.arange(len(hours)), np.zeros(len(hours), np.int64)
    found = Asked(("a",), hours, places, classes, held * HOUR, held * 2.0, first, HOUR)
    expected: Counter[str] = Counter()
    for hour, amount in amounts.items():
        expected[f"{datetime.fromtimestamp(first + hour * HOUR, zone):%Y-%m}"] += amount
    store = make_shared_store((("Times", "Unix seconds, UTC"), ("TimeZoneString", zone.key)))
    months = [(name, had, waited) for name, had, waited, _, _ in by_month(store, found)]
    assert months == [(month, n * HOUR, n * 2.0) for month, n in sorted(expected.items())]


def test_in_proportion_to_stated_shares_of_four_to_one_both_have_theirs(make_store):
    found = asked_by_users(uneven(make_store), {"a": 400.0, "b": 100.0, "nobody": 7.0})
    assert [one.ratio for one in found.shares()] == pytest.approx([1.0, 1.0], abs=0.01)


def test_who_holds_all_while_nobody_waits_is_not_above(make_store):
    found = asked_by_users(log(make_store, [("a", hour, 0, 1, 8) for hour in range(2000)]))
    assert [(one.ratio, one.chance) for one in found.shares()] == [(None, None)]
    assert found.moved == 0


def test_partitions_are_looked_at_by_themselves(make_store):
    rows = [row for hour in range(2000) for row in (("a", hour - 1, 1, 1, 8), ("b", hour - 1, 1, 1, 2))]
    found = asked_by_users(log(make_store, rows, partition_id=["x", "y"] * 2000))
    assert found.moved == 0


def test_what_is_held_is_what_all_sums_have_with_jobs_that_ran_in_two_boxes(make_store):
    rows = [("a", hour, 1, 2, 4) for hour in range(300)] + [("b", hour, 0, 1, 3) for hour in range(300)]
    boxes = ["3600/1800//4///preempted;9000/7200//4///completed"] * 300 + [None] * 300
    store = log(make_store, rows, runs=boxes)
    of_users = cpu_seconds_by(store, by_name("users"))
    assert {one.name: one.held for one in asked_by_users(store).shares()} == pytest.approx(of_users)


def test_a_selection_and_the_whole_log_have_the_same_levels(make_store):
    store = uneven(make_store)
    part = store.filtered("user_id = 'b'")
    assert asked_by_users(part).shares() == asked_by_users(store).shares()
    assert orders(part) == orders(store)


def overtaking(make_store, procs, requested):
    """Return a log in which each hour a's job starts before one that b submitted an hour before it."""
    rows = []
    for hour in range(9 * 7 * 24):
        rows += [("b", hour - 2, 3, 1, procs), ("a", hour - 1, 1, 1, 4)]
    return log(make_store, rows, req_time=[requested, 3600.0] * (len(rows) // 2))


def test_who_starts_before_earlier_like_jobs_goes_ahead(make_store):
    found = orders_of(overtaking(make_store, 4, 3600.0))
    assert found["a"].ahead == found["a"].starts > 900
    assert found["a"].goes_ahead
    assert found["b"].passed == found["a"].ahead
    assert not found["b"].goes_ahead


@pytest.mark.parametrize(("procs", "requested"), [(5, 3600.0), (4, 3601.0), (1, 3600.0), (4, 1800.0)])
def test_who_starts_before_jobs_that_ask_for_more_or_for_much_less_goes_ahead_of_nobody(
    make_store, procs, requested
):
    assert orders_of(overtaking(make_store, procs, requested))["a"].ahead == 0


def test_without_requested_times_the_order_is_not_known(make_store):
    assert orders(uneven(make_store)) is None


def test_one_in_a_hundred_waits_longer_than_99_of_100_like_jobs(make_store):
    jobs = 2 * MINIMUM_LIKE
    rows = [("a" if wait % 100 == 99 else "b", wait, wait, 1, 1) for wait in range(jobs)]
    found = {one.name: (one.jobs, one.starved) for one in starvation(log(make_store, rows))}
    assert found == {"b": (jobs - 4, 3), "a": (4, 1)}


@pytest.mark.parametrize("apart_by", ["queue", "size", "request"])
def test_jobs_that_are_not_alike_are_not_compared(make_store, apart_by):
    """Who waits longest of one class starves, however long all of another class wait."""
    jobs = 2 * MINIMUM_LIKE
    rows = [("a" if wait % 100 == 99 else "b", wait, wait, 1, 1) for wait in range(jobs)]
    rows += [("c", wait, 1000 + wait, 1, 8 if apart_by == "size" else 1) for wait in range(jobs)]
    queues = ["short"] * jobs + ["long" if apart_by == "queue" else "short"] * jobs
    requested = [HOUR] * jobs + [48 * HOUR if apart_by == "request" else HOUR] * jobs
    store = log(make_store, rows, queue_id=queues, req_time=requested)
    found = {one.name: (one.jobs, one.starved) for one in starvation(store)}
    assert found == {"c": (jobs, 4), "b": (jobs - 4, 3), "a": (4, 1)}


def test_of_a_selection_jobs_are_compared_with_those_of_all(make_store):
    jobs = 2 * MINIMUM_LIKE
    store = log(make_store, [("a" if wait > jobs - 3 else "b", wait, wait, 1, 1) for wait in range(jobs)])
    (found,) = starvation(store.filtered("user_id = 'a'"))
    assert (found.jobs, found.starved) == (2, 2)


def test_too_few_like_jobs_are_not_compared(make_store):
    rows = [("a", wait, wait, 1, 1) for wait in range(MINIMUM_LIKE - 1)]
    assert starvation(log(make_store, rows)) == []
