"""Days, weeks and months: by the clock of a zone, and numbered where there are no dates."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np

from gwa.metrics.calendar import Calendar
from gwa.metrics.timeline import Counts


def test_days_follow_the_clock_of_the_zone_through_daylight_saving():
    zone = ZoneInfo("Europe/Amsterdam")
    first = datetime(2025, 3, 29, 12, tzinfo=zone).timestamp()
    last = datetime(2025, 4, 1, 1, tzinfo=zone).timestamp()
    days = Calendar.of(first, last, zone, relative=False)

    assert [*days.days()[1]] == ["2025-03-29", "2025-03-30", "2025-03-31", "2025-04-01"]
    assert np.diff(days.edges).tolist() == [86400, 82800, 86400, 86400]
    assert days.weekdays.tolist() == [5, 6, 0, 1]
    assert [*days.weeks()[1]] == ["week of 2025-03-24", "week of 2025-03-31"]
    assert [*days.months()[1]] == ["2025-03", "2025-04"]


def test_days_of_a_relative_trace_are_numbered():
    days = Calendar.of(86400.0, 31.5 * 86400, ZoneInfo("UTC"), relative=True)

    assert [*days.days()[1][:3]] == ["day 2", "day 3", "day 4"]
    assert days.days()[1][-1] == "day 32"
    assert [*days.weeks()[1]] == [f"week of day {day}" for day in (2, 5, 12, 19, 26)]
    assert [*days.months()[1]] == ["30 days from day 2", "30 days from day 32"]


def test_weeks_begin_on_mondays_and_are_called_by_them_in_every_language():
    first = datetime(2024, 2, 27, tzinfo=UTC).timestamp()
    days = Calendar.of(first, first + 20 * 86400, ZoneInfo("UTC"), relative=False)
    edges, names = days.weeks()

    assert [datetime.fromtimestamp(edge, UTC).weekday() for edge in edges[1:-1]] == [0, 0, 0]
    assert [*names] == [f"week of {day}" for day in ("2024-02-26", "2024-03-04", "2024-03-11", "2024-03-18")]
    assert {vars(name)["template"] for name in names} == {"week of {day}"}


def test_days_are_named_only_when_they_are_asked_for(monkeypatch):
    made: list[str] = []

    def noted(template, **_):
        made.append(template)
        return "a name"

    monkeypatch.setattr("gwa.metrics.calendar.message", noted)
    days = Calendar.of(0.0, 1e9, ZoneInfo("UTC"), relative=True)
    named = [days.days(), days.weeks(), days.months()]

    assert not made
    assert named[0][1][-1] == "a name"
    assert made == ["day {number}"]


def test_a_hostile_span_of_eight_thousand_years_is_no_trouble():
    first, last = 0.0, datetime(9999, 12, 31, tzinfo=UTC).timestamp()
    days = Calendar.of(first, last, ZoneInfo("Europe/Paris"), relative=False)
    quarters = Counts(900.0, np.array([0, int(last // 900)]), np.array([3, 4]))

    assert len(days.days()[1]) == len(days.edges) - 1
    assert quarters.per(days.edges)[[0, -1]].tolist() == [3, 4]
