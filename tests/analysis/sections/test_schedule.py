"""The drawn part of the schedule."""

import pytest

from gwa.analysis.sections.schedule import schedule
from tests.analysis.sections.blocks import figure


def test_a_crowd_that_ran_before_is_left_out_and_said_to_be(make_store):
    before, after = 150, 300
    store = make_store(
        submit_time=[0.0] * before + [86400.0 + n for n in range(after)],
        run_time=[1e6] * before + [10.0] * after,
        n_procs=[2] * (before + after),
    )
    found = figure(schedule.section(store))

    assert found.data["period"] == [86400.0, 86400.0 + 199]
    assert "left out" in found.note
    assert "200 jobs that start" in found.alt


def test_jobs_that_start_at_once_are_drawn_until_half_of_them_have_ended(make_store):
    store = make_store(
        submit_time=[n / 100 for n in range(300)], run_time=[500.0 + n for n in range(300)], n_procs=[1] * 300
    )
    found = figure(schedule.section(store))

    assert found.data["period"] == pytest.approx([0.0, 601.0])
    assert found.note == "Only 200 of the jobs that start are drawn."


def test_the_schedule_begins_at_midnight_by_the_clock_of_the_trace(make_store):
    midnight = 852_076_800.0 - 3600.0  # 1 January 1997 in Stockholm
    header = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "Europe/Stockholm"))
    moments = [midnight + 600.0 * n for n in range(9)]
    store = make_store(header, submit_time=moments, run_time=[5000.0] * 9, n_procs=[1] * 9)
    assert figure(schedule.section(store)).data["period"][0] == midnight


def test_the_busiest_interval_is_drawn(make_store):
    quiet = [900.0 * n for n in range(400)]  # a job each quarter of an hour, for 60 s
    crowd = [200_000.0 + 100.0 * n for n in range(100)]  # one every 100 s, for an hour
    store = make_store(
        submit_time=quiet + crowd, run_time=[60.0] * 400 + [3600.0] * 100, n_procs=[1] * 400 + [4] * 100
    )
    first, last = figure(schedule.section(store)).data["period"]
    starting = [moment for moment in quiet + crowd if first <= moment < last]

    assert first < 210_000 < last
    assert 20 <= len(starting) <= 200


def test_owners_with_the_largest_areas_have_a_colour(make_store):
    users = ["large"] * 2 + [f"u{number}" for number in range(48)]
    store = make_store(
        submit_time=[60.0 * n for n in range(50)], run_time=[3000.0] * 50, n_procs=[90, 90, *[1] * 48],
        user_id=users,
    )  # fmt: skip
    groups = figure(schedule.section(store)).data["groups"]
    assert groups[0]["label"] == "large"
    assert groups[-1]["label"] == "others"
