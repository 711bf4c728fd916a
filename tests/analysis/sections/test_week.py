"""The hours of the week: those of the clock where the system stands."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics.clock import hours_of_week
from tests.analysis.sections.blocks import ABSOLUTE, DAY, START, facts, figures, notes
from tests.conftest import examples


@examples(30)
@given(
    st.sampled_from(["Europe/Amsterdam", "Asia/Kolkata", "America/St_Johns", "Australia/Lord_Howe"]),
    st.integers(0, 20_000),
    st.lists(st.integers(0, 40_000), min_size=1, max_size=30),
)
def test_hours_of_the_week_are_those_of_the_clock_there(zone, day, quarters):
    from datetime import datetime
    from zoneinfo import ZoneInfo

    times = day * DAY + 900.0 * np.array(sorted(quarters))
    clock = [datetime.fromtimestamp(time, ZoneInfo(zone)) for time in times.tolist()]

    assert hours_of_week(times, ZoneInfo(zone)).tolist() == [at.weekday() * 24 + at.hour for at in clock]


def test_a_cell_is_the_mean_over_the_weeks(section, make_store):
    week = 7 * DAY
    times = [START + 9 * 3600] * 3 + [START + week + 9 * 3600] + [START + 3 * DAY, START + week + 10 * 3600]
    made = section("week", make_store(ABSOLUTE, submit_time=times))

    cells = figures(made)["week"].data["matrix"]
    assert cells[2][9] == 2
    assert cells[5][0] == 1
    assert facts(made)["arrivals.cycle.busiest_hour"] == 9
    assert facts(made)["arrivals.cycle.busiest_hour_share"] == pytest.approx(4 / 6)
    assert facts(made)["arrivals.cycle.weekend_share"] == pytest.approx(1 / 6)
    assert facts(made)["arrivals.cycle.working_hours_share"] == pytest.approx(5 / 6)


def test_of_hours_that_a_short_trace_does_not_reach_nothing_is_said(section, make_store):
    times = [START + 9 * 3600] * 3 + [START + 10 * 3600] + [START + 11 * 3600] * 2
    made = section("week", make_store(ABSOLUTE, submit_time=times))

    assert facts(made) == {"arrivals.cycle.busiest_hour": 9, "arrivals.cycle.quietest_hour": 10}
    assert "nothing is known of 165 of the 168 hours" in notes(made)


def test_hours_of_a_relative_trace_are_not_known(section, make_store):
    assert "unknown start" in notes(section("week", make_store(submit_time=[0.0, 5.0])))
