"""The analyses beyond the archive's own, against traces made by hand and slow pandas."""

import gzip
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gwa
from gwa.analysis.base import analyses
from gwa.analysis.sections._rounding import rounded_sample
from gwa.analysis.sections.capacity import capacity_changes, maxima
from gwa.analysis.sections.dependence_over_time import dense_series
from gwa.analysis.sections.flurries import sql_filter
from gwa.analysis.sections.inequality import top_holders, top_share
from gwa.analysis.sections.week import hours_of_week
from gwa.metrics.timeline import Counts, level
from gwa.report.document import FactTable, Figure, Note, Report, Table
from gwa.statistics.sample import Sample
from gwa.store.store import Store

DAY = 86400.0
START = 852_076_800.0  # Wednesday, 1 January 1997, 0:00 UTC
ABSOLUTE = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC"), ("MaxProcs", "10"))


@pytest.fixture
def section():
    """Return a function that makes the section of an id."""
    by_id = {one.id: one for one in analyses()}
    return lambda name, store: by_id[name].section(store)


def facts(section):
    return {fact.id: fact.value for fact in Report("", "", (section,)).facts()}


def tables(section):
    return {block.id: block for block in section.blocks if isinstance(block, Table | FactTable)}


def figures(section):
    return {block.id: block for block in section.blocks if isinstance(block, Figure)}


def notes(section):
    return " ".join(block.text for block in section.blocks if isinstance(block, Note))


# --- inequality --------------------------------------------------------------------------------


def test_lorenz_curves_are_of_users_and_groups_by_jobs_and_time(section, make_store):
    store = make_store(
        user_id=["a", "a", "a", "b", None], group_id=["g"] * 5, submit_time=[START] * 5,
        run_time=[10.0, 10.0, 10.0, 90.0, 5.0], n_procs=[1, 1, 1, 1, 1],
    )  # fmt: skip
    made = section("inequality", store)

    rows = tables(made)["inequality"].rows
    assert [row[0] for row in rows] == ["jobs of users", "CPU time of users"]
    assert rows[0][1:4] == (2, 0.25, 0.75)
    assert rows[1][1:4] == (2, 0.25, 0.75)
    assert facts(made)["users.half_jobs"] == 1
    assert facts(made)["groups.gini_jobs"] == 0


def test_without_users_and_groups_it_says_so(section, make_store):
    made = section("inequality", make_store(submit_time=[START, START]))

    assert "neither users nor groups" in notes(made)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30).filter(any), st.floats(0.01, 0.99))
def test_top_shares_are_those_of_the_sorted_list(held, share):
    ordered = sorted(held, reverse=True)
    count = top_holders(Sample.of(held), share)
    wanted = share * sum(held)

    assert sum(ordered[:count]) >= wanted - 1e-6
    assert sum(ordered[: count - 1]) < wanted + 1e-6
    assert top_share(Sample.of(held), count / len(held)) >= share - 1e-9


# --- hours of the week -------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
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


def test_the_days_of_a_short_trace_are_drawn_as_hours(section, make_store):
    store = make_store(
        ABSOLUTE, submit_time=[START + n * 1200 for n in range(30)], run_time=[3600.0] * 30,
        wait_time=[0.0] * 30, n_procs=[1] * 30, status=[1] * 30,
    )  # fmt: skip
    arrived = figures(section("arrivals", store))["arrivals"]
    done = figures(section("performance", store))

    assert arrived.title == "Jobs submitted in an hour"
    assert arrived.data["lines"][0]["y"] == [3] * 10
    assert done["throughput"].title == "Jobs ended and completed in an hour"
    assert done["throughput"].data["lines"][0]["y"] == [0, *[3] * 10]
    assert done["queue"].data["lines"][0]["y"] == pytest.approx([2, *[3] * 9, 1.5], abs=1e-4)


def test_a_column_that_would_be_empty_is_left_out(section, make_store):
    brief = make_store(submit_time=[START, START + 60.0], user_id=["a", "b"], run_time=[5.0, 6.0])
    long = make_store(submit_time=[START, START + 2 * DAY], user_id=["a", "a"], run_time=[5.0, 6.0])

    columns = [
        [c.key for c in tables(section("users", store))["users-by-jobs"].columns] for store in (brief, long)
    ]
    assert "arrivals_per_day" not in columns[0]
    assert "arrivals_per_day" in columns[1]


def test_hours_of_a_relative_trace_are_not_known(section, make_store):
    assert "unknown start" in notes(section("week", make_store(submit_time=[0.0, 5.0])))


# --- sizes -------------------------------------------------------------------------------------


def test_powers_of_two_are_counted_among_parallel_jobs(section, make_store):
    store = make_store(
        submit_time=[START] * 6, run_time=[10.0] * 6, n_procs=[1, 1, 4, 4, 6, 0], user_id=["u"] * 6
    )
    made = section("powers-of-two", store)

    assert facts(made)["jobs.parallel.power_of_two"] == pytest.approx(2 / 3)
    assert facts(made)["jobs.parallel.power_of_two_cpu"] == pytest.approx(8 / 14)
    assert [row[:3] for row in tables(made)["sizes"].rows] == [(1, True, 2), (4, True, 2), (6, False, 1)]


# --- requested and used ------------------------------------------------------------------------


def test_requested_and_used_are_compared_job_by_job(section, make_store):
    store = make_store(
        submit_time=[START] * 5,
        run_time=[3600.0, 60.0, 7300.0, 100.0, None],
        n_procs=[1, 2, 1, 1, 1],
        req_time=[3600.0, 3600.0, 7200.0, None, 3600.0],
        req_memory=[100.0, 200.0, None, 0.0, 50.0],
        used_memory=[50.0, 300.0, 10.0, 10.0, None],
        average_cpu_time=[1800.0, 60.0, 7300.0, None, None],
    )
    made = section("estimates", store)
    found = facts(made)

    assert found["estimates.time.median"] == pytest.approx(1.0)
    assert found["estimates.time.max"] == pytest.approx(1.01)
    assert found["estimates.time.limit"] == pytest.approx(2 / 3)
    assert found["estimates.time.below_tenth"] == pytest.approx(1 / 3)
    assert found["estimates.time.overall"] == pytest.approx((3600 + 120 + 7300) / (3600 + 7200 + 7200))
    assert (found["estimates.memory.min"], found["estimates.memory.max"]) == (0.5, 1.5)
    assert found["estimates.cpu.mean"] == pytest.approx(2.5 / 3)
    assert found["estimates.modal"][0] == {"req_time": 3600, "jobs": 3, "share": 0.75}
    assert found["estimates.modal_share"] == 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 3e9), min_size=1, max_size=20), st.sampled_from([0.001, 0.01]))
def test_rounding_in_the_engine_keeps_three_digits(values, finest):
    with Store.create() as store:
        store.begin(["job_id", "run_time"])
        store.insert("recorded", list(enumerate(values)))
        found = rounded_sample(store, "run_time", "jobs", finest).expand()

    assert found == pytest.approx(sorted(values), rel=5.1e-3, abs=0.51 * finest)
    assert all(float(f"{value:.3g}") == value for value in found.tolist())


# --- slowdown ----------------------------------------------------------------------------------


def test_slowdown_is_bounded_and_told_by_size_queue_and_user(section, make_store):
    store = make_store(
        submit_time=[START] * 5,
        wait_time=[100.0, 0.0, 50.0, None, 30.0],
        run_time=[1.0, 5.0, 50.0, 9.0, 10.0],
        n_procs=[1, 1, 100, 1, 0],
        queue_id=["fast", "fast", None, "fast", "slow"],
        user_id=["a", "b", "b", "c", "d"],
    )
    made = section("slowdown", store)
    found = facts(made)
    by = tables(made)

    assert (found["slowdown.bounded.min"], found["slowdown.bounded.max"]) == (1, 10.1)
    assert found["slowdown.bounded.median"] == 2
    assert [row[:2] for row in by["slowdown-sizes"].rows] == [("1", 2), ("65 and more", 1), ("all", 3)]
    assert by["slowdown-queues"].rows == (("fast", 2, 50, 50, 95, 5.55, 5.55, pytest.approx(9.645)),)
    assert [row[:2] for row in by["slowdown-users"].rows] == [("b", 2), ("a", 1)]


# --- flurries ----------------------------------------------------------------------------------


def busy_user(name="o'neill", *, ran=True):
    """Return 30 quiet days of ten jobs, and 300 jobs of one user on the tenth and eleventh."""
    quiet = [(START + day * DAY + job * 600, f"user {job}") for day in range(30) for job in range(10)]
    burst = [(START + 10 * DAY + job * 500.0, name) for job in range(300)]
    jobs = sorted([*quiet, *burst, (START + 20 * DAY, name)])
    return {
        "submit_time": [time for time, _ in jobs], "user_id": [user for _, user in jobs],
        "run_time": [60.0 if ran else None] * len(jobs), "n_procs": [1] * len(jobs),
    }  # fmt: skip


def test_a_flurry_is_found_and_its_filter_finds_its_jobs(section, make_store):
    store = make_store(ABSOLUTE, **busy_user())
    made = section("flurries", store)
    condition, numbers = tables(made)["flurries-filters"].rows[0]

    assert facts(made)["flurries.count"] == 1
    assert facts(made)["flurries.jobs"] == 300
    assert store.row(f"select count(*) from jobs where {condition}")[0] == 300
    assert "o''neill" in condition
    first, last = map(int, numbers.rpartition("=")[2].split("-"))
    within = f"job_id between {first} and {last} and user_id = 'o''neill'"
    assert store.row(f"select count(*) from jobs where {within}")[0] == 300
    assert facts(made)["flurries.without.jobs"] == 301
    assert facts(made)["flurries.with.users"] == facts(made)["flurries.without.users"] == 11
    assert facts(made)["flurries.without.cpu_seconds"] == 301 * 60


def test_a_flurry_of_jobs_that_never_ran_is_one(section, make_store):
    assert facts(section("flurries", make_store(ABSOLUTE, **busy_user(ran=False))))["flurries.count"] == 1


def test_ordinary_days_are_no_flurry(section, make_store):
    jobs = {name: values[:250] for name, values in busy_user().items()}
    jobs["user_id"] = ["one"] * 250
    jobs["submit_time"] = [START + job * 9000.0 for job in range(250)]
    made = section("flurries", make_store(ABSOLUTE, **jobs))

    assert facts(made)["flurries.count"] == 0
    assert "No user" in notes(made)


def test_a_filter_holds_fractions_of_seconds():
    assert sql_filter("u", 0.25, 3.0) == "user_id = 'u' and submit_time between 0.25 and 3"


# --- outages and size --------------------------------------------------------------------------


def test_an_outage_is_when_jobs_wait_and_none_runs(section, make_store):
    store = make_store(
        ABSOLUTE,
        submit_time=[START, START + 3600, START + 40_000],
        wait_time=[0.0, 7200.0, 0.0],
        run_time=[3600.0, 3600.0, 600.0],
        n_procs=[2, 3, 1],
    )
    made = section("capacity", store)

    assert facts(made)["capacity.stretches"] == 2
    assert facts(made)["capacity.outages.count"] == 1
    assert tables(made)["outages"].rows == ((START + 3600, START + 10_800, 7200, 1),)
    assert facts(made)["capacity.peak"] == 3
    assert facts(made)["capacity.idle"] == pytest.approx((7200 + 40_000 - 14_400) / 40_600, abs=0.02)


def test_a_rare_silence_of_a_busy_system_is_an_outage_even_without_waits(section, make_store):
    hours = [hour for hour in range(24 * 30) if not 300 <= hour < 310]
    store = make_store(
        ABSOLUTE, submit_time=[START + 3600.0 * hour for hour in hours], run_time=[3600.0] * len(hours),
        n_procs=[1] * len(hours),
    )  # fmt: skip
    made = section("capacity", store)

    assert facts(made)["capacity.outages.seconds"] == 36_000
    assert tables(made)["outages"].rows[0][0] == START + 300 * 3600


def test_a_ramp_and_noise_are_no_change_of_size():
    assert capacity_changes(np.linspace(10, 100, 40)) == []
    assert capacity_changes(np.random.default_rng(1).uniform(10, 100, 60)) == []
    assert [change.week for change in capacity_changes(np.repeat([50.0, 100.0, 60.0], 12))] == [12, 24]


def test_the_greatest_of_each_day_is_that_of_its_intervals(make_store):
    rng = np.random.default_rng(3)
    times = np.sort(rng.integers(0, 12 * 86400, 80)).astype(float).tolist()
    store = make_store(
        submit_time=times,
        run_time=rng.integers(1, 200_000, 80).astype(float).tolist(),
        n_procs=rng.integers(1, 9, 80).tolist(),
    )
    last = store.row("select max(end_time) from ran")[0]
    busy = level(store, "n_procs", ("start_time", "end_time"), "ran", width=600.0, period=(times[0], last))
    every = np.repeat(busy.values, busy.lengths)
    expected = [every[day : day + 144].max() for day in range(0, len(every), 144)]

    assert maxima(busy, DAY).tolist() == expected


# --- burstiness and memory ---------------------------------------------------------------------


def test_arrivals_at_random_have_the_entropy_of_a_poisson_process(section, make_store):
    rng = np.random.default_rng(5)
    times = np.sort(rng.uniform(0, 60 * DAY, 20_000)).tolist()
    made = section("burstiness", make_store(ABSOLUTE, submit_time=[START + time for time in times]))
    found = facts(made)

    for scale in (900, 3600, 86400):
        assert found[f"burstiness.temporal.{scale}s"] == pytest.approx(
            found[f"burstiness.poisson.{scale}s"], abs=0.002
        )
    assert found["burstiness.dispersion.900s"] == pytest.approx(1, abs=0.1)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 400_000), min_size=2, max_size=60))
def test_entropy_and_dispersion_are_those_of_all_intervals(moments):
    with Store.create() as store:
        store.begin(["job_id", "submit_time"])
        store.insert("recorded", [(number, float(moment)) for number, moment in enumerate(moments)])
        found = facts(next(one for one in analyses() if one.id == "burstiness").section(store))
    arrived = np.array(moments) - min(moments)
    for scale in (900, 21600):
        counts = np.bincount(arrived // scale)
        if len(counts) == 1:
            assert f"burstiness.temporal.{scale}s" not in found
            continue
        share = counts[counts > 0] / counts.sum()
        expected = -(share * np.log(share)).sum() / math.log(len(counts))
        assert found[f"burstiness.temporal.{scale}s"] == pytest.approx(expected, abs=1e-9)
        full = np.bincount(arrived // 900)
        whole = np.bincount(arrived // scale)[: len(full) // (scale // 900)]
        if len(whole) > 1 and whole.sum():
            expected = whole.var(ddof=1) / whole.mean()
            assert found[f"burstiness.dispersion.{scale}s"] == pytest.approx(expected)


def test_what_one_job_does_not_define_is_not_called_unrecorded(section, make_store):
    store = make_store(user_id=["a"], submit_time=[START], run_time=[60.0], n_procs=[2])
    said = Report("", "", (section("burstiness", store),)).facts()
    empty = {fact.id: fact.text for fact in said if fact.value is None}

    assert empty["correlation.runtime_procs"] == "undefined"


def test_the_correlation_of_nearly_equal_run_times_is_not_lost(section, make_store):
    store = make_store(
        submit_time=[START + k for k in range(5)],
        run_time=[9e7, 9e7 + 1, 9e7 + 2, 9e7 + 3, 5.0],
        n_procs=[1, 2, 3, 4, 0],
    )
    found = facts(section("burstiness", store))

    assert found["correlation.runtime_procs"] == pytest.approx(1, abs=1e-12)
    assert found["correlation.runtime_procs_rank"] == pytest.approx(1, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=3, max_size=40))
def test_correlations_are_those_of_scipy(jobs):
    from scipy import stats

    times, procs = np.array(jobs, dtype=float).T
    with Store.create() as store:
        store.begin(["job_id", "submit_time", "run_time", "n_procs"])
        store.insert("recorded", [(place, 5.0, float(time), size) for place, (time, size) in enumerate(jobs)])
        found = facts(next(one for one in analyses() if one.id == "burstiness").section(store))
    if np.ptp(times) == 0 or np.ptp(procs) == 0:
        assert found.get("correlation.runtime_procs") is None
        return
    assert found["correlation.runtime_procs"] == pytest.approx(stats.pearsonr(times, procs)[0])
    assert found["correlation.runtime_procs_rank"] == pytest.approx(stats.spearmanr(times, procs)[0])


def test_a_daily_cycle_looks_like_memory_until_it_is_taken_away(section, make_store):
    rng = np.random.default_rng(11)
    rate = np.tile(np.r_[np.full(48, 0.2), np.full(48, 3.0)], 61)[: 96 * 60 + 5]
    counts = rng.poisson(rate)
    times = (START + 900.0 * np.repeat(np.arange(len(rate)), counts) + 1).tolist()
    made = section("dependence-over-time", make_store(ABSOLUTE, submit_time=times))
    found = facts(made)

    assert found["correlation.arrivals.86400s"] > 0.7
    assert found["hurst.wavelet"] > 0.8
    for name in ("wavelet", "local_whittle", "periodogram", "variance_time", "rescaled_range"):
        assert found[f"hurst.{name}.without_cycles"] == pytest.approx(0.5, abs=0.12)
    assert found["hurst.wavelet.low"] < found["hurst.wavelet"] < found["hurst.wavelet.high"]
    assert set(figures(made)) == {"autocorrelation", "variance-time"}


def test_a_series_too_long_is_counted_in_longer_intervals():
    x, factor = dense_series(Counts(900.0, np.array([10, 11, 9_000_009]), np.array([2, 3, 4])))

    assert factor == 3
    assert len(x) == 3_000_000
    assert x[[0, -1]].tolist() == [5, 4]


def test_few_jobs_say_nothing_of_memory(section, make_store):
    made = section("dependence-over-time", make_store(submit_time=[START + k * 5000.0 for k in range(99)]))

    assert "at least 128 quarters of an hour and 100 jobs" in notes(made)


# --- real logs ---------------------------------------------------------------------------------


def only_completed(path, target):
    """Write the jobs of status 1, as Minh and Wolters (2010) selected them."""
    with gzip.open(path, "rt") as source, gzip.open(target, "wt", 1) as kept:
        for line in source:
            fields = line.split()
            if line.startswith(";") or (fields[10] == "1" and float(fields[3]) >= 0 and int(fields[4]) > 0):
                kept.write(line)


@pytest.mark.logs
@pytest.mark.parametrize(
    ("name", "temporal", "spatial", "correlation"),
    [
        ("HPC2N-2002-2.1-cln", (0.813, 0.832, 0.850, 0.896, 0.935), 0.2996, -0.0622),
        ("LLNL-Thunder-2007-1.1-cln", (0.895, 0.899, 0.904, 0.923, 0.941), 0.3305, 0.2302),
    ],
)
def test_burstiness_is_as_published(name, temporal, spatial, correlation, logs, tmp_path):
    """Minh and Wolters (2010), figure 6, tables V and VI; HPC2N's correlation by allocated processors."""
    target = tmp_path / "completed.swf.gz"
    only_completed(logs / "swf" / f"{name}.swf.gz", target)
    with gwa.open(target) as trace:
        found = facts(trace.report(only=["burstiness"]).sections[0])

    scales = (900, 1800, 3600, 21600, 86400)
    assert [found[f"burstiness.temporal.{scale}s"] for scale in scales] == pytest.approx(temporal, abs=6e-4)
    spatial_id = "burstiness.spatial_requested" if name.startswith("HPC2N") else "burstiness.spatial"
    assert found[spatial_id] == pytest.approx(spatial, abs=1e-4)
    assert found["correlation.runtime_procs"] == pytest.approx(correlation, abs=6e-5)


@pytest.mark.logs
def test_kth_is_as_pandas_says(logs):
    path = logs / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz"
    with gzip.open(path, "rt") as file:
        lines = [line.split() for line in file if not line.startswith(";")]
    jobs = pd.DataFrame(np.array(lines, dtype=float)).rename(
        columns={1: "submit", 2: "wait", 3: "run", 4: "procs", 8: "asked", 11: "user"}
    )
    jobs = jobs[(jobs.run >= 0) & (jobs.procs >= 1)]
    with gwa.open(path) as trace:
        report = trace.report(only=["slowdown", "estimates", "powers-of-two", "inequality"])
    found = {fact.id: fact.value for fact in report.facts()}
    slow = ((jobs.wait + jobs.run) / jobs.run.clip(lower=10)).clip(lower=1)
    parallel = jobs[jobs.procs > 1]
    is_power = np.log2(parallel.procs) % 1 == 0
    by_user = jobs.groupby("user").run.apply(lambda run: (run * jobs.procs[run.index]).sum())

    assert found["slowdown.bounded.mean"] == pytest.approx(slow.mean(), rel=2e-3)
    assert found["slowdown.bounded.median"] == pytest.approx(slow.median(), rel=5e-3)
    assert found["slowdown.bounded.p95"] == pytest.approx(slow.quantile(0.95), rel=5e-3)
    used = (jobs.run / jobs.asked)[jobs.asked > 0]
    assert found["estimates.time.median"] == pytest.approx(used.median(), rel=5e-3)
    assert found["estimates.time.mean"] == pytest.approx(used.mean(), rel=1e-3)
    assert found["jobs.parallel.power_of_two"] == pytest.approx(is_power.mean())
    tenth = by_user.sort_values(ascending=False)
    assert found["users.top_tenth_cpu"] == pytest.approx(tenth[:21].sum() / tenth.sum(), abs=0.01)
