"""Parts of a trace: what is left, counted in pandas, and what is not a part at all."""

import os
import subprocess
import sys
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.errors import ArgumentError, GwaError, TraceError
from gwa.store.confined import SIZES, Confined
from gwa.store.subset import Subset, bounds
from gwa.store.system import System

UTC = System(zone="UTC", relative=False)
HOSTILE = "x' or '1'='1"


@pytest.fixture
def trace(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as found:
        yield found


def dates(frame, zone):
    return pd.to_datetime(frame.submit_time, unit="s", utc=True).dt.tz_convert(zone)


def test_a_part_is_what_pandas_leaves(trace):
    frame = trace.frame()
    days = dates(frame, trace.system.zone or "UTC").dt.strftime("%Y-%m-%d")
    queue, group, day = frame.queue_id.mode()[0], frame.group_id.mode()[0], days.mode()[0]
    wanted = frame[
        (frame.queue_id == queue) & (frame.group_id == group) & (frame.n_procs > 1) & (days >= day)
    ]
    last = days.max()
    part = trace.filter(Subset(f"{day}..{last}", (queue,), (group,), where="n_procs > 1"))
    pd.testing.assert_frame_equal(part.frame(), wanted.reset_index(drop=True), check_dtype=False)


def test_every_fact_is_of_the_part_but_not_the_size_of_the_system(make_store):
    columns = {"submit_time": [0.0, 0.0, 100.0], "run_time": [50.0, 50.0, 10.0], "n_procs": [4, 4, 2]}
    trace = gwa.Trace(make_store(**columns), "made")
    whole = trace.facts()
    part = trace.filter(where="n_procs = 2").facts()
    assert (whole["trace.cpus"], part["trace.cpus"]) == (8, 8)
    assert (part["trace.jobs"], part["trace.cpu_seconds"], part["trace.span_seconds"]) == (1, 20, 10)


def test_a_report_says_that_it_is_on_a_part(trace):
    report = trace.filter(where="n_procs > 1").report(["overview"])
    assert "where n_procs > 1" in report.sections[0].blocks[0].text
    assert report.subtitle.endswith("where n_procs > 1")
    assert report.reproduction["part"] == "where n_procs > 1"


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        (Subset(queues=("nowhere",)), "no job has the queue 'nowhere', expected one of: "),
        (Subset(groups=(HOSTILE,)), "no job has the group"),
        (Subset(where="n_procs > 10000"), "the trace has no jobs that fit: where"),
        (Subset(where="nonsense > 1"), "is not a condition on jobs"),
        (Subset(where="true); drop table recorded; select (1"), "is not a condition on jobs"),
        (Subset(where="exists (from read_text('/etc/hostname'))"), "uses read_text()"),
        (Subset(where="job_id in (select 1 from 'other.parquet')"), "uses other.parquet"),
        (Subset(where="job_id not in (select job_id from source_ids)"), None),
        (Subset(where="n_procs"), None),
        (Subset(period="1970"), "they were submitted from"),
        (Subset(period="2007-13"), "expected dates such as"),
        (Subset(period="2008..2007"), "ends before it begins"),
        (Subset(period="9999"), "expected dates such as"),
        (Subset(period=".."), "expected dates such as"),
    ],
)
def test_what_is_no_part_is_told_in_a_line(trace, subset, message):
    if message is None:
        assert 0 < len(trace.filter(subset)) <= 1200
        return
    with pytest.raises(GwaError, match=message):
        trace.filter(subset)
    assert len(trace) == 1200


def test_days_are_numbered_where_the_start_is_unknown(make_store):
    trace = gwa.Trace(make_store(submit_time=[0.0, 86399.0, 86400.0, 3 * 86400.0]), "made")
    assert len(trace.filter(period="2..day 3")) == 1
    with pytest.raises(ArgumentError, match="count from an unknown start"):
        trace.filter(period="2007-03")
    with pytest.raises(TraceError, match=r"no jobs that fit: period 5: its days are 1 to 4$"):
        trace.filter(period="5")
    assert len(trace.filter(period="4")) == 1


def test_two_filters_are_the_part_of_a_part(trace):
    parallel = trace.filter(where="n_procs > 1 -- a remark")
    both = len(parallel.filter(where="run_time > 600"))
    whole = trace.store.connection.execute(
        "select count(*) from recorded where n_procs > 1 and run_time > 600"
    ).fetchone()
    assert both == whole[0]
    with pytest.raises(TraceError, match="no jobs"):
        parallel.filter(where="n_procs = 1")


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)),  # noqa: DTZ001 - the zone comes later
    st.sampled_from(["UTC", "Europe/Amsterdam", "America/Los_Angeles", "Asia/Kolkata"]),
)
def test_a_moment_lies_in_its_minute_day_month_and_year(moment, zone):
    system = System(zone=zone, relative=False)
    local = moment.replace(second=0, microsecond=0, tzinfo=ZoneInfo(zone))
    spans = [bounds(local.strftime(text), system) for text in ("%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%dT%H:%M")]
    for (first, after), (inner, before) in pairwise(spans):
        assert first <= inner < before <= after
    day = local.replace(hour=0, minute=0)
    assert spans[2] == (day.timestamp(), (day + timedelta(days=1)).timestamp())


def test_a_month_follows_another_without_a_gap():
    months = [bounds(f"2007-{month:02}", UTC) for month in range(1, 13)]
    assert [end for _, end in months[:-1]] == [first for first, _ in months[1:]]
    assert (months[0][0], months[-1][1]) == bounds("2007", UTC) == bounds("2007-01..2007-12", UTC)


CONDITIONS = {
    "n_procs > (select avg(n_procs) from jobs)": lambda f: f.n_procs > f.n_procs.mean(),
    "jobs.n_procs = (select max(other.n_procs) from jobs as other)": lambda f: f.n_procs == f.n_procs.max(),
    "user_id in (select user_id from jobs group by user_id having count(*) > 40)": lambda f: (
        f.groupby("user_id").user_id.transform("size") > 40
    ),
    "exists (from jobs as o where o.user_id = jobs.user_id and o.n_procs > jobs.n_procs)": lambda f: (
        f.n_procs < f.groupby("user_id").n_procs.transform("max")
    ),
    "n_procs = 1 -- a comment": lambda f: f.n_procs == 1,
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_may_read_other_jobs_and_qualify_its_fields(trace, condition):
    frame = trace.frame()
    expected = frame[CONDITIONS[condition](frame)].job_id.tolist()
    part = trace.filter(where=condition)
    assert part.frame().job_id.tolist() == expected
    again = part.filter(where="n_procs <= (select avg(n_procs) from jobs)").frame()
    kept = frame[frame.job_id.isin(expected)]
    assert again.job_id.tolist() == kept[kept.n_procs <= kept.n_procs.mean()].job_id.tolist()
    assert part.report(["overview"]).fact("trace.jobs").value == len(expected)


@pytest.mark.parametrize(
    "condition",
    [
        "1=1) union all select 1 where (1=1",
        "1=1) order by (n_procs",
        "1=1) group by (n_procs",
        "1=1) limit (1",
        "1=1; select 1",
        "1 in (select 1 from read_csv('x.csv'))",
        "1=1)) as t, (select 1",
    ],
)
def test_what_is_more_than_a_condition_is_refused(trace, condition):
    with pytest.raises(ArgumentError, match="is not a condition on jobs"):
        trace.filter(where=condition)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_the_hour_of_a_job_is_that_of_the_trace_in_any_zone_of_the_machine(zone, sample):
    code = (
        "import gwa\n"
        f"with gwa.open({str(sample / 'swf' / 'tiny.swf')!r}) as trace:\n"
        "    part = trace.filter(where='hour(to_timestamp(submit_time)) < 6')\n"
        "    count = 'select count(*) as n from jobs where hour(to_timestamp(submit_time)) < 6'\n"
        "    print(part.facts('trace.jobs')['trace.jobs'], trace.sql(count).n[0])\n"
    )
    environment = os.environ | {"TZ": zone}
    printed = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        expected = int((dates(trace.frame(), trace.system.zone).dt.hour < 6).sum())
    assert printed.stdout.split() == [str(expected)] * 2


GROWING = "length(repeat(user_id, n_procs)) > 4"


@pytest.mark.parametrize("kind", [".swf", ".duckdb", ".parquet"])
def test_a_condition_that_could_grow_finds_the_same_jobs_in_a_process_of_its_own(kind, sample, tmp_path):
    path = sample / "swf" / "tiny.swf"
    with gwa.open(path) as text:
        frame = text.frame()
        if kind != ".swf":
            path = tmp_path / f"trace{kind}"
            text.save(path)
    lengths = frame.user_id.str.len() * frame.n_procs
    with gwa.open(path) as trace:
        part = trace.filter(where=GROWING, user=["U1", "U2"])
        expected = frame[(lengths > 4) & frame.user_id.isin(["U1", "U2"])]
        assert part.frame().job_id.tolist() == expected.job_id.tolist()
        again = part.filter(where="n_procs <= (select median(n_procs) from jobs)")
        kept = expected[expected.n_procs <= expected.n_procs.median()]
        assert again.frame().job_id.tolist() == again.jobs().job_id.tolist() == kept.job_id.tolist()


def test_jobs_of_any_time_meet_the_condition_too_that_a_part_of_a_period_is_filtered_by(trace):
    part = trace.filter(period="2025-03-16..2025-03-23")
    condition = "n_procs >= (select median(n_procs) from jobs)"
    chosen = part.filter(where=condition).store
    for table, procs in (("jobs", part.frame().n_procs), ("all_jobs", trace.frame().n_procs)):
        assert chosen.row(f"select count(*) from {table}")[0] == int((procs >= procs.median()).sum())


@pytest.fixture
def processes(monkeypatch):
    """The conditions that a process was asked for."""
    asked, jobs = [], Confined.jobs

    def noted(confined, where, **more):
        asked.append(where)
        return jobs(confined, where, **more)

    monkeypatch.setattr(Confined, "jobs", noted)
    return asked


def test_a_condition_that_could_grow_is_asked_for_once(trace, processes):
    for months in ("2025-03-10..2025-03-15", "2025-03-16..2025-03-23"):
        assert len(trace.filter(period=months, where=GROWING))
    assert processes == [GROWING]


@pytest.mark.parametrize(
    "condition",
    [
        "user_id = 'U1' or n_procs in (1, 2) and not (queue_id like 'q%' or run_time between 60 and 7200)",
        "group_id is not null and coalesce(wait_time, 0) % 2 < 1 and user_id not ilike '%x'",
        "hour(to_timestamp(submit_time)) < 6 or to_timestamp(submit_time)::date >= date '2025-03-20'",
        "case when n_procs > 1 then lower(user_id) = 'u1' else -run_time < -5.5 end",
    ],
)
def test_a_condition_that_only_compares_needs_no_process(trace, condition, processes):
    assert 0 < len(trace.filter(where=condition)) <= 1200
    assert not processes


@pytest.mark.skipif(not SIZES.exists(), reason="only Linux limits the addresses of a process")
@pytest.mark.parametrize(
    "condition",
    [
        "repeat('x', 3000000000) <> ''",
        "len(generate_series(1, 1000000000)) > 0",
        "n_procs > (select len(list(x)) from generate_series(1, 10000000000) as t(x))",
        "user_id::int[2000000000] is null",
    ],
)
def test_a_condition_gets_no_more_memory_than_the_command(sample, condition):
    with gwa.open(sample / "swf" / "tiny.swf", memory="500MB") as trace:
        with pytest.raises(ArgumentError, match=r"fails: .*(Memory|memory|Conversion|size)"):
            trace.filter(where=condition)
        assert len(trace.filter(where="n_procs > 1")) == 529


def test_users_and_projects_are_chosen_by_name(make_store):
    columns = {"user_id": ["ada", "ada", "bob", None], "project_id": ["p", "q", "q", "q"]}
    trace = gwa.Trace(make_store(submit_time=[0.0, 1.0, 2.0, 3.0], **columns), "made")
    assert len(trace.filter(user="ada")) == 2
    assert len(trace.filter(project="q")) == 3
    assert len(trace.filter(user=("ada", "bob"), project="q")) == 2
    assert str(Subset(users=("ada",), projects=("q",))) == "user ada; project q"


@pytest.mark.parametrize(
    ("name", "said"),
    [("adda", r"did you mean ada\?"), ("ADA", r"did you mean ada\?"), ("zzz", r"expected one of: ada, bob")],
)
def test_a_name_that_is_none_is_told_with_the_nearest(make_store, name, said):
    trace = gwa.Trace(make_store(submit_time=[0.0, 1.0, 2.0], user_id=["ada", "ada", "bob"]), "made")
    with pytest.raises(ArgumentError, match=rf"^no job has the user '{name}', {said}$"):
        trace.filter(user=name)
