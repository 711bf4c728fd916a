"""Maintenance windows: past ones recounted by hand; quiet hours in worlds that have some, or none."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import gwa
from gwa.breakdown.maintenance import MaintenanceWindow, met, owners, quietest, still_running
from gwa.errors import ArgumentError
from gwa.metrics.window import window
from gwa.store.system import System
from tests.program import invoke

BERLIN = ZoneInfo("Europe/Berlin")
HEADER = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "Europe/Berlin"), ("MaxProcs", "64"))
MONDAY = datetime(2025, 9, 1, tzinfo=BERLIN).timestamp()
HOUR, DAY, WEEK = 3600.0, 86400.0, 604800.0


def weeks_of_jobs(rng, weeks, quiet_day=None, per_hour=1) -> dict[str, Any]:
    """Return jobs of some weeks from a Monday in Berlin on, of which one day of the week may have few."""
    submit = np.sort(MONDAY + rng.uniform(0, weeks * WEEK, int(weeks * 168 * per_hour)))
    if quiet_day is not None:
        days = np.array([datetime.fromtimestamp(time, BERLIN).weekday() for time in submit])
        submit = submit[(days != quiet_day) | (rng.random(len(submit)) < 0.1)]
    return {
        "submit_time": submit.tolist(),
        "wait_time": rng.integers(0, 600, len(submit)).astype(float).tolist(),
        "run_time": rng.integers(600, 9000, len(submit)).astype(float).tolist(),
        "n_procs": rng.integers(1, 9, len(submit)).tolist(),
        "user_id": [f"u{n}" for n in rng.integers(0, 4, len(submit))],
        "status": [1] * len(submit),
    }


@pytest.mark.parametrize("text", ["2025-11-12T06:30..2025-11-12T14:00", "2026-02-07T22:00..2026-02-08T03:00"])
def test_past_windows_are_those_at_the_same_hours_of_the_clock(make_store, text):
    """The clock is put back within the log, on 26 October."""
    jobs = weeks_of_jobs(np.random.default_rng(3), 14)
    store = make_store(HEADER, **jobs)
    asked = MaintenanceWindow.parse(text, store.system)
    found, known = met(store, asked), window(store).period
    assert found
    assert known

    begin = datetime.fromtimestamp(asked.begin, BERLIN)
    begins = [begin + timedelta(weeks=week) for week in range(-30, 30)]
    expected = [
        (one.timestamp(), one.timestamp() + asked.end - asked.begin)
        for one in begins
        if one != begin
        and known[0] <= one.timestamp()
        and one.timestamp() + asked.end - asked.begin <= known[1]
    ]
    assert list(found.windows) == expected
    start = np.array(jobs["submit_time"]) + np.array(jobs["wait_time"])
    end, procs = start + np.array(jobs["run_time"]), np.array(jobs["n_procs"])
    for place, (since, until) in enumerate(expected):
        assert found.cut[place] == ((start < since) & (end > since)).sum()
        assert found.held_back[place] == ((start >= since) & (start < until)).sum()
        held = np.clip(np.minimum(end, until) - np.maximum(start, since), 0, None)
        assert found.held[place] == pytest.approx((held * procs).sum(), rel=1e-9)

    of_users = {user: amount for user, _, amount in owners(store, found)}
    assert sum(of_users.values()) == pytest.approx(found.held[-12:].sum(), rel=1e-9)


def test_a_quiet_day_of_the_week_is_found_and_was_quiet_in_other_weeks(make_store):
    store = make_store(HEADER, **weeks_of_jobs(np.random.default_rng(5), 16, quiet_day=6))
    asked = MaintenanceWindow.parse("2026-01-14T06:00..2026-01-14T18:00", store.system)
    first, *others = quietest(store, asked)
    assert 6 * 24 <= first.hour <= 6 * 24 + 12
    assert first.quiet >= 0.9 * first.weeks
    assert first.weeks >= 6
    apart = [abs(one.hour - other.hour) % 168 for one in (first, *others) for other in others if one != other]
    assert all(min(gap, 168 - gap) >= 12 for gap in apart)


def test_hours_that_are_quiet_by_chance_are_not_said_to_be_quiet(make_store):
    """Of the weeks that did not choose them a quarter are quiet, as of all windows."""
    quiet = weeks = 0
    for seed in range(8):
        store = make_store(HEADER, **weeks_of_jobs(np.random.default_rng(seed), 16))
        found = quietest(store, MaintenanceWindow(MONDAY + 30 * WEEK, MONDAY + 30 * WEEK + 6 * HOUR))
        quiet, weeks = quiet + sum(one.quiet for one in found), weeks + sum(one.weeks for one in found)
    assert weeks > 200
    assert quiet / weeks == pytest.approx(0.25, abs=0.1)


def test_jobs_of_the_end_are_listed_by_the_limits_that_let_them_run_on(make_store):
    jobs = weeks_of_jobs(np.random.default_rng(1), 6)
    last = max(jobs["submit_time"]) + 3600.0
    for name, values in {
        "submit_time": [last] * 4, "wait_time": [0.0, 0.0, 0.0, None], "run_time": [None] * 4,
        "n_procs": [4, 8, 2, 1], "user_id": ["a", "a", "b", "c"], "status": [None] * 4,
    }.items():  # fmt: skip
        jobs[name] = [*jobs[name], *values]
    limits = [3600.0] * (len(jobs["submit_time"]) - 4) + [DAY, 10 * DAY, None, DAY]
    store = make_store(HEADER, **jobs, req_time=limits)

    asked = MaintenanceWindow(last + 2 * DAY, last + 3 * DAY)
    found = still_running(store, asked)
    assert [(one.user, one.jobs, one.processors, one.last, one.unlimited) for one in found] == [
        ("a", 1, 8, last + 10 * DAY, 0),
        ("b", 1, 2, None, 1),
    ]
    assert still_running(store, MaintenanceWindow(MONDAY, MONDAY + DAY)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-01-01", "expected two moments"),
        ("2026-01-02..2026-01-01", "expected an end after its begin"),
        ("2026-01-01..2027-01-01", "by 14 days at most"),
        ("soon..later", "expected two moments"),
    ],
)
def test_a_window_that_is_none_is_refused(text, said):
    with pytest.raises(ArgumentError, match=said):
        MaintenanceWindow.parse(text, System(zone="UTC", relative=False))


def test_the_report_has_the_section_where_a_window_is_stated(make_store):
    store = make_store(HEADER, **weeks_of_jobs(np.random.default_rng(2), 12))
    assert not gwa.Trace(store, "t").facts("maintenance")
    asked = MaintenanceWindow.parse("2025-12-03T06:00..2025-12-03T18:00", store.system)
    store.stated = {"window": asked}
    facts: Any = gwa.Trace(store, "t").facts("maintenance")
    assert facts["maintenance.begin"] == datetime(2025, 12, 3, 5, tzinfo=UTC).timestamp()
    assert facts["maintenance.windows"] >= 10
    assert facts["maintenance.held.median"] <= facts["maintenance.held.p90"]
    rows = facts["maintenance.quietest"]
    assert all(0 <= row["quiet"] <= row["weeks"] for row in rows)
    assert all(row["next"] > "2025-11-2" for row in rows)


def test_a_window_that_is_none_writes_no_page(slurm_sample, tmp_path):
    result = invoke("report", slurm_sample, "--window", "soon", "-o", tmp_path / "page")
    assert "expected two moments such as" in str(result.exception)
    assert not (tmp_path / "page").exists()
