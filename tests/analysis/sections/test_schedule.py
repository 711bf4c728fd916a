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
