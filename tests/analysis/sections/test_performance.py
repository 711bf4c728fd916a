"""Running and waiting jobs by day of the log's own clock, against every second of them."""

from datetime import date, datetime, time
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.analysis.base import analyses
from gwa.store.store import Store
from tests.analysis.sections.blocks import facts
from tests.conftest import examples

CHANGES = {
    "Europe/Berlin": date(2025, 3, 30),
    "America/New_York": date(2025, 11, 2),
    "Australia/Lord_Howe": date(2025, 10, 5),
    "Asia/Kathmandu": date(2025, 6, 1),
}
DAY = 86400

JOBS = st.lists(
    st.tuples(st.integers(-DAY, 2 * DAY), st.integers(0, 40_000), st.integers(1, 80_000)),
    min_size=2,
    max_size=8,
)


@examples(25)
@given(st.sampled_from(sorted(CHANGES)), JOBS)
def test_averages_over_days_are_those_of_every_second(name, jobs):
    zone = ZoneInfo(name)
    midnight = int(datetime.combine(CHANGES[name], time(), zone).timestamp())
    with Store.create() as store:
        store.begin(["job_id", "submit_time", "wait_time", "run_time", "n_procs"])
        rows = [
            (n, float(midnight + submit), float(wait), float(run), 1)
            for n, (submit, wait, run) in enumerate(jobs)
        ]
        store.insert("recorded", rows)
        store.set_header((("Times", "Unix seconds, UTC"), ("TimeZoneString", name)))
        found = facts(next(one for one in analyses() if one.id == "performance").section(store))
    first = -(-(midnight + min(submit for submit, _, _ in jobs)) // 900) * 900
    last = (midnight + max(map(sum, jobs))) // 900 * 900
    if last <= first:
        return
    running, waiting = np.zeros((2, last - first))
    for submit, wait, run in jobs:
        start = midnight + submit + wait
        waiting[max(midnight + submit - first, 0) : max(start - first, 0)] += 1
        running[max(start - first, 0) : max(start + run - first, 0)] += 1
    day_of = np.array([_day(moment, zone) for moment in range(first, last, 900)]).repeat(900)
    for level, seconds in (("running", running), ("waiting", waiting)):
        days = [seconds[day_of == day].mean() for day in np.unique(day_of)]
        assert found[f"perf.{level}.min"] == pytest.approx(min(days), abs=1e-9)
        assert found[f"perf.{level}.mean"] == pytest.approx(np.mean(days), abs=1e-9)
        assert found[f"perf.{level}.max"] == pytest.approx(max(days), abs=1e-9)


def _day(moment, zone):
    return datetime.fromtimestamp(moment, zone).toordinal()
