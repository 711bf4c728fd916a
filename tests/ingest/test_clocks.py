"""Tests of `gwa.ingest.clocks`: local times, and the hour that clocks repeat."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gwa.formats.open import open_trace
from gwa.ingest.clocks import REPEATED
from gwa.store.options import ReadOptions

ZONES = ("Europe/Amsterdam", "America/Los_Angeles", "Australia/Sydney", "Asia/Tokyo", "UTC")


def seconds(clock, zone):
    """Return the first of the Unix times at which clocks show a time."""
    return datetime.fromisoformat(clock).replace(tzinfo=ZoneInfo(zone), fold=0).timestamp()


CLOCKS = (
    "2017-11-05 00:59:59", "2017-11-05 01:00:00", "2017-11-05 01:30:00", "2017-11-05 01:59:59",
    "2017-11-05 02:00:00", "2017-10-29 02:30:00", "2017-10-29 03:00:00", "2017-04-02 02:30:00",
    "2017-07-01 12:00:00", "2017-12-31 23:59:59",
)  # fmt: skip


@pytest.mark.parametrize("zone", ZONES)
def test_local_times_are_the_first_that_clocks_show(zone, tmp_path):
    path = tmp_path / "jobs.csv"
    rows = [f"{number},u,{clock},{clock},{clock},1" for number, clock in enumerate(CLOCKS)]
    path.write_text("\n".join(["job_id,user,submit_time,start_time,end_time,cores", *rows]) + "\n")
    with open_trace([path], "table", ReadOptions(format_options={"map": f"zone={zone}"})) as store:
        found = dict(store.rows("select job_id, submit_time from jobs"))
    assert found == {number: seconds(clock, zone) for number, clock in enumerate(CLOCKS)}


def test_a_job_in_the_repeated_hour_is_counted(tmp_path):
    """As in the Philly trace: from half past midnight to half past one, on the day when summer time ends."""
    path = tmp_path / "cluster_job_log"
    attempt = {"start_time": "2017-11-05 00:30:00", "end_time": "2017-11-05 01:30:00", "detail": []}
    early = {"start_time": "2017-10-05 00:30:00", "end_time": "2017-10-05 01:30:00", "detail": []}
    path.write_text(
        json.dumps(
            [
                {"status": "Pass", "vc": "v", "jobid": f"application_{number}", "attempts": [one],
                 "submitted_time": one["start_time"], "user": "u"}
                for number, one in enumerate((attempt, early))
            ]
        )
    )  # fmt: skip
    with open_trace([path], "philly") as store:
        assert store.rows("select run_time from jobs") == [(3600,), (3600,)]
        assert ("repeated hour", REPEATED, 1) in store.rows("from repairs")
