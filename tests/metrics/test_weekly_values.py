"""Weeks that a log does not know are unknown, and the others are counted as they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics.weekly_values import in_silences, weekly_values

DAY = 86_400.0
WEEK = 7 * DAY
HEADER = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC"), ("MaxProcs", "64"))
MONDAY = 852_508_800.0
"""6 January 1997, 0:00 UTC."""


def jobs_of(days, daily=10):
    """Return submissions: as many on each of *days*, from the first Monday."""
    return [MONDAY + day * DAY + hour * 3600 for day in days for hour in range(daily)]


def test_a_hole_of_weeks_is_unknown_and_not_zero(make_store):
    """Days 73 to 91 are missing: most of each of the weeks that begin on days 70, 77 and 84."""
    submit = jobs_of(day for day in range(210) if not 73 <= day < 92)
    weekly = weekly_values(make_store(HEADER, submit_time=submit))

    assert weekly.silent == 3
    assert np.flatnonzero(np.isnan(weekly.values["jobs"])).tolist() == [10, 11, 12]
    assert np.nanmin(weekly.values["jobs"]) == 60
    assert weekly.omitted == 0


def test_an_empty_week_of_a_log_with_few_jobs_has_none(make_store):
    submit = [MONDAY + week * WEEK for week in range(40) for _ in range(2) if week not in {7, 20, 21}]
    weekly = weekly_values(make_store(HEADER, submit_time=submit))

    assert weekly.silent == 0
    assert np.flatnonzero(weekly.values["jobs"] == 0).tolist() == [7, 20, 21]


def test_weeks_of_wrong_clocks_at_the_ends_are_left_out(make_store):
    """Of 52 weeks with 70 jobs each, some jobs bear dates of years later."""
    late = [MONDAY + week * WEEK for week in range(60, 120) for _ in range(2)]
    weekly = weekly_values(make_store(HEADER, submit_time=sorted(jobs_of(range(52 * 7)) + late)))

    assert weekly.weeks.count == 52
    assert weekly.omitted == 67
    assert set(weekly.values["jobs"]) == {70.0}


def test_weeks_before_those_of_a_log_that_grows_stay(make_store):
    """Twentyfold growth: the first weeks have less than a tenth of the last, and are weeks of the log."""
    submit = [MONDAY + week * WEEK + n * 600 for week in range(80) for n in range(10 + 190 * week // 79)]
    weekly = weekly_values(make_store(HEADER, submit_time=submit))

    assert weekly.values["jobs"][0] <= 12
    assert weekly.omitted <= 1


def test_busy_processors_are_known_within_the_window_only(make_store):
    """A log of jobs that ended by some day lacks long ones that had not."""
    rng = np.random.default_rng(4)
    submit = np.sort(rng.uniform(0, 60 * WEEK, 6000))
    run = rng.exponential(WEEK / 2, 6000)
    ended = submit + run < 60 * WEEK
    store = make_store(
        HEADER, submit_time=(MONDAY + submit[ended]).round().tolist(), wait_time=[0.0] * int(ended.sum()),
        run_time=run[ended].round().tolist(), n_procs=[1] * int(ended.sum()),
    )  # fmt: skip
    weekly = weekly_values(store)

    assert weekly.weeks.count < 60
    assert np.isnan(weekly.values["busy"][0]) or weekly.values["busy"][0] > 40
    assert np.nanmedian(weekly.values["busy"][-4:]) == pytest.approx(50, rel=0.3)


def test_a_log_without_submissions_has_no_weeks(make_store):
    assert weekly_values(make_store(HEADER, run_time=[1.0])).weeks.count == 0


@given(st.lists(st.tuples(st.sampled_from([0, 1, 9]), st.integers(1, 12)), min_size=3, max_size=12))
def test_silent_weeks_lie_mostly_in_runs_of_seven_empty_days(runs):
    daily = [jobs for jobs, days in runs for _ in range(days)]
    daily = daily[: len(daily) // 7 * 7]
    found = in_silences(np.array(daily, float)).tolist()

    def is_silent(day):
        first = last = day
        while first > 0 and not daily[first - 1]:
            first -= 1
        while last < len(daily) - 1 and not daily[last + 1]:
            last += 1
        return not daily[day] and last - first + 1 >= 7

    usual = 7 * sum(daily) / max(len(daily), 1)
    expected = [
        usual >= 10 and sum(map(is_silent, range(week, week + 7))) > 3 for week in range(0, len(daily), 7)
    ]
    assert found == expected
