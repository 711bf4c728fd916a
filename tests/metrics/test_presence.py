"""What jobs held, when: boxes against intervals that are added up by hand, and jobs that only seem to run."""

import re
from datetime import date
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.analysis.conditions import FactsOnDemand
from gwa.breakdown.breakdown import breakdown
from gwa.breakdown.charge.charges import BillingPeriod, month
from gwa.breakdown.charge.rates import Rate, Rates
from gwa.breakdown.dimensions import by_name
from gwa.breakdown.held import cpu_seconds_by
from gwa.evaluation.whatif.world import recorded
from gwa.formats.open import open_trace
from gwa.metrics.lacking import lacking
from gwa.metrics.presence import listed_boxes, present, runaways, unfinished, waiting_times
from gwa.metrics.quotas import Quotas, uses
from gwa.metrics.requeues import Requeues, requeues
from gwa.store.runs import UNLISTED_RUNS
from gwa.store.schema import MAXIMUM_NAME
from tests.conftest import HOME, examples

CASES = HOME.parent / "shared" / "cases" / "runs"
DAY = 86_400.0
START = 1_000_000.0


@st.composite
def several(draw):
    """Yield the boxes of a job: begin after the submission, length, processors, why it ended."""
    boxes, at = [], draw(st.integers(0, 50))
    for _ in range(draw(st.integers(1, 5))):
        length = draw(st.integers(1, 500))
        why = draw(st.sampled_from(["evicted", "requeued", "resizing"]))
        boxes.append((at, length, draw(st.integers(1, 9)), why))
        at += length + (0 if why == "resizing" else draw(st.integers(0, 90)))
    begin, length, procs, _ = boxes[-1]
    return [*boxes[:-1], (begin, length, procs, "completed")]


def as_text(boxes):
    return ";".join(f"{begin}/{length}//{procs}///{why}" for begin, length, procs, why in boxes)


def last_run(boxes):
    """Return the boxes of the last run: those after the last that ended one."""
    ends = [place for place, box in enumerate(boxes[:-1]) if box[3] != "resizing"]
    return boxes[ends[-1] + 1 :] if ends else boxes


def store_of(make_store, jobs, *, as_runs):
    """Return a store of *jobs*: a submission and boxes of each."""
    runs = [as_text(boxes) if len(boxes) > 1 or as_runs else None for _, boxes in jobs]
    return make_store(
        submit_time=[START + submitted for submitted, _ in jobs],
        wait_time=[float(boxes[0][0]) for _, boxes in jobs],
        run_time=[float(sum(box[1] for box in last_run(boxes))) for _, boxes in jobs],
        n_procs=[boxes[-1][2] for _, boxes in jobs],
        status=[1] * len(jobs),
        user_id=[f"u{place % 3}" for place in range(len(jobs))],
        runs=runs,
    )


def intervals(jobs):
    """Return what was held: start, end and processors of each box."""
    return [
        (START + submitted + begin, START + submitted + begin + length, procs)
        for submitted, boxes in jobs
        for begin, length, procs, _ in boxes
    ]


def peak(held):
    moments = sorted({moment for start, end, _ in held for moment in (start, end)})
    return max(sum(n for start, end, n in held if start <= a and end >= b) for a, b in pairwise(moments))


JOBS = st.lists(st.tuples(st.integers(0, 3000), several()), min_size=1, max_size=8)


@given(jobs=JOBS, as_runs=st.booleans())
@examples(60)
def test_boxes_are_the_intervals(make_store, jobs, as_runs):
    store = store_of(make_store, jobs, as_runs=as_runs)
    rows = store.rows(f"select start_time, end_time, n_procs from {present(store)} as present")
    assert sorted(rows) == sorted(intervals(jobs))
    assert store.system.cpus == peak(intervals(jobs))


@given(jobs=JOBS, cut=st.tuples(st.integers(-10, 5000), st.integers(1, 3000)))
@examples(60)
def test_what_users_held_is_the_sum_over_their_boxes(make_store, jobs, cut):
    store = store_of(make_store, jobs, as_runs=False)
    first = START + cut[0]
    part = store.filtered("true", (first, first + cut[1]))
    wanted: dict[str, float] = {}
    for place, job in enumerate(jobs):
        for start, end, procs in intervals([job]):
            inside = max(min(end, first + cut[1]) - max(start, first), 0.0)
            user = f"u{place % 3}"
            wanted[user] = wanted.get(user, 0.0) + procs * inside
    rows = part.rows(
        "select user_id, sum(n_procs * greatest(least(end_time, "
        f"{first + cut[1]!r}) - greatest(start_time, {first!r}), 0.0)) from "
        f"(select user_id, n_procs, start_time, end_time from {listed_boxes(part)} as listed"
        " union all select user_id, n_procs, start_time, end_time from all_ran where runs is null) as held"
        " group by user_id"
    )
    assert dict(rows) == wanted
    whole = dict.fromkeys(wanted, 0.0)
    for place, (_, boxes) in enumerate(jobs):
        whole[f"u{place % 3}"] += sum(length * procs for _, length, procs, _ in boxes)
    assert cpu_seconds_by(store, by_name("users")) == whole


@given(jobs=JOBS)
@examples(40)
def test_start_and_end_are_those_of_the_last_run(make_store, jobs):
    store = store_of(make_store, jobs, as_runs=False)
    found = store.rows("select start_time, end_time from ran order by job_id")
    wanted = [
        (START + submitted + last_run(boxes)[0][0], START + submitted + boxes[-1][0] + boxes[-1][1])
        for submitted, boxes in jobs
    ]
    assert found == wanted


def test_seconds_without_a_place_lie_at_the_end_of_their_frame(make_store):
    store = make_store(
        submit_time=[0.0], wait_time=[100.0], run_time=[50.0], n_procs=[4], status=[1],
        runs=["100/1000/300////evicted;2000/50/////completed"],
    )  # fmt: skip
    boxes = store.rows(f"select start_time, end_time, seconds, is_last_run from {listed_boxes(store)}")
    assert boxes == [(800.0, 1100.0, 300.0, False), (2000.0, 2050.0, 50.0, True)]


def test_a_run_that_had_not_ended_is_held_until_the_log_ends_and_one_whose_job_waits_again_is_not(make_store):
    store = make_store(
        submit_time=[0.0, 0.0, 900.0], wait_time=[0.0, 0.0, 0.0], run_time=[None, None, 100.0],
        n_procs=[2, 3, 1], status=[None, None, 1],
        runs=["0/100/////evicted;400//////running", "0/100/////evicted", None],
    )  # fmt: skip
    rows = store.rows(f"select start_time, end_time, n_procs from {present(store)} as present")
    assert sorted(rows) == [(0.0, 100.0, 2), (0.0, 100.0, 3), (400.0, 1000.0, 2), (900.0, 1000.0, 1)]
    assert unfinished(store) == 1


def test_runs_are_no_name_and_as_long_as_they_need_to_be(make_store):
    text = ";".join(f"{10 * place}/5/////evicted" for place in range(MAXIMUM_NAME))
    store = make_store(submit_time=[0.0], wait_time=[0.0], run_time=[5.0], n_procs=[1], runs=[text])
    assert len(store.rows(f"select 1 from {listed_boxes(store)} as listed")) == MAXIMUM_NAME


# --- What is made of them ---


TWICE = "0/3600/////preempted;7200/1800/////completed"
"""A job of an hour that waited another until it ran again, for half of one."""


def twice(make_store, **columns):
    """Return a store of a job that ran twice on four processors, and one that waited ten minutes."""
    common = {
        "submit_time": [0.0, 0.0], "wait_time": [0.0, 600.0], "run_time": [1800.0, 1800.0],
        "n_procs": [4, 2], "status": [1, 1], "user_id": ["ann", "bob"], "project_id": ["a", "b"],
        "runs": [TWICE, None],
    }  # fmt: skip
    return make_store(**common | columns)


def test_a_job_waits_again_between_runs_and_not_while_it_is_suspended_or_resized(make_store):
    store = twice(make_store)
    times = f"select submit_time, wait_time, n_procs from {waiting_times(store)} as waits where wait_time > 0"
    assert sorted(store.rows(times)) == [(0.0, 600.0, 2), (3600.0, 3600.0, 4)]
    for why in ("suspended", "resizing"):
        store = twice(make_store, runs=[TWICE.replace("preempted", why), None])
        times = f"select submit_time from {waiting_times(store)} as waits where wait_time > 0"
        assert store.rows(times) == [(0.0,)]


def test_levels_of_waiting_jobs_have_later_waits_and_wait_times_do_not(make_store):
    ran = [TWICE, *[None] * 99]
    store = make_store(
        submit_time=[0.0] * 50 + [9000.0] * 50, wait_time=[0.0] * 100, run_time=[1800.0] * 50 + [0.0] * 50,
        n_procs=[1] * 100, status=[1] * 100, runs=ran,
    )  # fmt: skip
    facts = FactsOnDemand(store).of(lambda analysis: analysis.has_facts("perf"))
    assert facts["perf.waiting.mean"].value == pytest.approx(3600 / 9000, rel=0.05)
    assert store.row("select max(wait_time) from jobs") == (0.0,)


def test_quotas_are_of_what_every_run_held(make_store):
    store = twice(make_store)
    used = {one.name: one.used for one in uses(store, Quotas(users={"ann": 100.0, "bob": 100.0}))}
    assert used == {"ann": 4 * 5400 / 3600, "bob": 1.0}
    part = Quotas(users={"ann": 100.0}, begins=date(1970, 1, 1), ends=date(1970, 1, 2))
    assert [one.used for one in uses(store, part)] == [6.0]


def test_a_replay_has_the_work_of_all_runs(make_store):
    assert sorted(recorded(twice(make_store), "fcfs").run) == [1800.0, 5400.0]


SHORT = "0/5/////preempted;7200/10/////completed"


@pytest.mark.parametrize(
    ("earlier", "runs", "seconds"),
    [("charged", SHORT, 60 + 10), ("free", SHORT, 60), ("charged", TWICE, 5400), ("free", TWICE, 1800)],
)
def test_the_least_that_is_charged_is_of_the_first_run_that_is(make_store, earlier, runs, seconds):
    """Of free earlier runs, that is the last."""
    store = twice(make_store, runs=[runs, None])
    rate = Rate(name="CPU", cpu_hour=1.0, minimum_seconds=60)
    rates = Rates(currency="EUR", rates=(rate,), earlier_runs=earlier)
    found = month(store, rates, BillingPeriod("1970-01", 0, 86_400)).usage
    assert {one.project: one.amounts["cpu_hour"] for one in found}["a"] == 4 * seconds
    store.stated = {"rates": rates}
    records = breakdown(store, by_name("projects"), "by_cpu")
    assert records
    assert {row["id"]: row["cost"] for row in records.rows}["a"] == pytest.approx(
        4 * seconds / 3600, abs=1e-6
    )


def test_of_a_project_there_is_what_earlier_runs_held(make_store):
    records = breakdown(twice(make_store), by_name("projects"), "by_cpu")
    assert records
    row, other = records.rows
    keys = ("id", "earlier_cpu_seconds", "earlier_share")
    assert [row[key] for key in keys] == ["a", 14_400, pytest.approx(2 / 3, abs=1e-6)]
    assert [other[key] for key in keys] == ["b", 0, 0]


BY_HAND = {
    "store/runs.py": "the definition",
    "ingest/clocks.py": "of jobs that are read: not all fields are there",
    "metrics/window.py": "the end of the first wait",
    "metrics/characteristics.py": "response times",
    "metrics/waits.py": "response times, for slowdowns",
}
"""The modules that add waits and run times up themselves, and why."""


def test_starts_and_ends_are_computed_in_one_place():
    """A job may have several runs: whoever adds its wait and its run time up is wrong in silence."""
    sums = re.compile(r"submit_time \+ (coalesce\()?wait_time|wait_time(, 0\))? \+ (coalesce\()?run_time")
    package = HOME / "gwa"
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if sums.search(path.read_text(encoding="utf-8"))
    }
    assert found == set(BY_HAND)


# --- Jobs that are recorded as running and do not ---


def world(make_store, rng, *, overrun=0.0, enforced=True, lost=2, n=3000):
    """Return a store cut at random, in which *lost* jobs are recorded as running and do not run."""
    submit = np.sort(rng.uniform(0, 60 * DAY, n))
    limit = rng.choice([0.5, 4, 12, 24, 72], n) * 3600.0
    run = np.where(rng.random(n) < 0.15, limit, limit * rng.beta(1, 4, n))
    over = rng.random(n) < 0.1
    if not enforced:
        run = np.where(over, limit * rng.uniform(1, 2, n), run)
    run = np.where(over & (run >= limit), run + overrun * rng.random(n), run)
    start = submit + rng.exponential(1800, n)
    end_of_log = 60 * DAY * rng.uniform(0.6, 0.95)
    kept = submit < end_of_log
    is_open = (start <= end_of_log) & (start + run > end_of_log)
    waits = start > end_of_log
    runaway = np.zeros(n, bool)
    early = np.flatnonzero(kept & ~is_open & (start < end_of_log - 20 * DAY) & (limit <= 24 * 3600))
    runaway[rng.choice(early, lost, replace=False)] = True
    ended = kept & ~is_open & ~waits & ~runaway
    store = make_store(
        submit_time=submit[kept].tolist(),
        wait_time=[None if w else float(s) for s, w in zip((start - submit)[kept], waits[kept], strict=True)],
        run_time=[float(r) if e else None for r, e in zip(run[kept], ended[kept], strict=True)],
        status=[1 if e else None for e in ended[kept]],
        req_time=limit[kept].tolist(),
        n_procs=[1] * int(kept.sum()),
    )
    return store, int((is_open & kept & ~runaway).sum())


@pytest.mark.parametrize("seed", range(8))
def test_jobs_far_beyond_enforced_limits_are_found_and_no_others(make_store, seed):
    store, still = world(make_store, np.random.default_rng(seed), lost=seed % 2 * 2)
    assert runaways(store) == seed % 2 * 2
    assert unfinished(store) == still


@pytest.mark.parametrize("seed", range(4))
def test_where_limits_are_not_enforced_none_is_named(make_store, seed):
    store, still = world(make_store, np.random.default_rng(seed), enforced=False)
    assert runaways(store) == 0
    assert unfinished(store) == still + 2


def test_a_job_that_waits_again_since_its_run_ended_is_no_runaway(make_store):
    """Whatever the time since then: it was requeued when its node failed, and nobody held it since."""
    days = range(40)
    store = make_store(
        submit_time=[0.0, *(n * DAY for n in days)],
        wait_time=[60.0] * 41,
        run_time=[None] + [3600.0] * 40,
        status=[None] + [1] * 40,
        req_time=[7200.0] * 41,
        n_procs=[None] + [1] * 40,
        n_requeues=[1] + [None] * 40,
        runs=["60/1800//4///node_fail"] + [None] * 40,
    )
    assert (runaways(store), unfinished(store)) == (0, 0)
    listed = store.row("select count(*) from all_jobs where runs is not null")
    assert listed == (1,)


# --- Logs ---


T = 1_772_438_400.0  # 2 March 2026, 8:00 UTC
HOUR = 3600.0

HELD = {
    "01": [(T + HOUR, 10 * HOUR, 64), (T + 13 * HOUR, 5 * HOUR, 64), (T + 19 * HOUR, 5 * HOUR, 64),
           (T + 19 * HOUR, 10 * HOUR, 64)],
    "02": [(1_769_889_600.0 + 8 * HOUR, 4 * HOUR, 4)],
    "05": [(1_769_896_800.0, 2 * HOUR, 64), (1_769_904_000.0, 6 * HOUR, 16), (1_769_925_600.0, HOUR, 16)],
    "06": [(T + 60, 3600.0, 4), (T + 60, 3000.0, 4), (T + 7200, 3600.0, 4), (T + 15_000, 15_000.0, 4),
           (T + 40_000, 3600.0, 4), (T + 60, 3600.0, 4)],
    "07": [(T + 60, 2700.0, 1), (T + 5000, 2700.0, 1), (T + 10_000, 3600.0, 1)],
}  # fmt: skip
"""What the jobs of a log held: when, for how long, and how many processors."""

WAITS = {
    "01": [3600.0, 3600.0],
    "02": [0.0],
    "03": [100.0],
    "05": [7200.0, 0.0],
    "06": [60.0] * 4,
    "07": [60.0],
}
"""To the first start."""

REQUEUES: dict[str, list[int | None]] = {
    "01": [2, None],
    "03": [3],
    "05": [None, None],
    "06": [None, 1, 3, None],
    "07": [2],
}


@pytest.fixture
def case():
    """Return a function that opens a log of jobs with several runs."""
    if not CASES.is_dir():
        pytest.skip("there are no logs of runs beside the checkout")
    opened = []

    def open_case(number):
        (path,) = CASES.glob(f"{number}-*")
        opened.append(open_trace([path]))
        return opened[-1]

    yield open_case
    for store in opened:
        store.close()


@pytest.mark.parametrize("number", HELD)
def test_what_jobs_of_a_log_held(case, number):
    store = case(number)
    rows = store.rows(f"select start_time, end_time - start_time, n_procs from {present(store)} as present")
    assert sorted(rows) == sorted(HELD[number])


@pytest.mark.parametrize("number", WAITS)
def test_waits_are_to_the_first_start(case, number):
    assert case(number).rows("select wait_time from jobs order by job_id") == [(w,) for w in WAITS[number]]


@pytest.mark.parametrize("number", REQUEUES)
def test_earlier_runs_are_counted_and_what_is_unknown_of_them_is_not_0(case, number):
    store = case(number)
    assert store.rows("select n_requeues from jobs order by job_id") == [(n,) for n in REQUEUES[number]]
    if number == "03":
        assert requeues(store) == Requeues(1, 3, None, None)


def test_of_a_part_earlier_runs_are_those_of_its_own_jobs(make_store):
    store = make_store(
        submit_time=[START, START + 86_400.0, START + 90_000.0],
        wait_time=[0.0] * 3,
        run_time=[600.0] * 3,
        n_procs=[4, 2, 1],
        n_gpus=[1, 3, 0],
        n_requeues=[1, 1, None],
        runs=["0/900/////requeued;3600/600/////completed", "0/60/////requeued;3600/600/////completed", None],
    )
    assert requeues(store) == Requeues(2, 2, 4 * 900.0 + 2 * 60.0, 900.0 + 3 * 60.0)
    later = store.filtered("true", (START + 86_400.0, START + 2 * 86_400.0))
    assert requeues(later) == Requeues(1, 1, 2 * 60.0, 3 * 60.0)
    assert requeues(store.filtered("n_procs = 4")) == Requeues(1, 1, 4 * 900.0, 900.0)


@pytest.mark.parametrize(
    ("counted", "procs", "runs", "unlisted"),
    [
        (2, 4, None, 2),
        (None, 4, None, 0),
        (0, 4, "0/60//4///suspended;90/60//4///completed", 0),
        (1, 4, "0/60//4///resizing;60/60//8///evicted;200/60//4///suspended;300/60//4///completed", 0),
        # The last run alone; one before it is listed, and one is not.
        (1, 4, "200/60//4///completed", 1),
        (2, 4, "0/60/////evicted;200/60/////completed", 1),
        # It waits again, and has no last run.
        (1, None, "0/60//4///evicted", 0),
        (2, None, "100/60//4///evicted", 1),
        # A sum is of all.
        (5, 4, "0/900/600////evicted;1000/60/////completed", 0),
        (5, 4, "0/900/600////evicted", 0),
    ],
)
def test_what_is_not_listed_of_earlier_runs_keeps_the_load_from_being_known(
    counted, procs, runs, unlisted, make_store
):
    ends = None if procs is None else 60.0
    store = make_store(
        submit_time=[START, START], wait_time=[0.0, 0.0], run_time=[ends, 60.0], n_procs=[procs, 1],
        status=[None, 1], n_requeues=[counted, None], runs=[runs, None],
    )  # fmt: skip
    assert store.row(f"select max({UNLISTED_RUNS}) from all_jobs") == (unlisted,)
    assert bool(lacking(store, 0.05)) == bool(unlisted)


def test_a_job_that_only_seems_to_run_holds_nothing(case):
    store = case("04")
    rows = store.rows(f"select end_time - start_time, n_procs from {present(store)} as present")
    assert sorted(rows) == [(3600.0, 16), (43_200.0, 8), (43_200.0, 16), (86_407.0, 16)]
    assert (unfinished(store), runaways(store)) == (1, 1)


def test_what_earlier_runs_held_is_free_where_rates_say_so(case):
    rate = Rate(name="CPU", cpu_hour=1.0)
    part = BillingPeriod("2026-03", 1_772_323_200, 1_775_001_600)
    held = {
        earlier: {one.project: one.amounts["cpu_hour"] / 3600 for one in month(case("01"), rates, part).usage}
        for earlier in ("charged", "free")
        for rates in [Rates(currency="EUR", rates=(rate,), earlier_runs=earlier)]
    }
    assert held == {"charged": {"bio": 640.0, "chem": 1280.0}, "free": {"bio": 640.0, "chem": 320.0}}
