"""Why jobs waited: against logs worked out by hand, and against the obvious way, moment by moment."""

import csv
import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.metrics import spans
from gwa.metrics import waiting as module
from gwa.metrics.stillness import stillness
from gwa.metrics.waiting import CONDITIONS, MINIMUM_MOMENTS, waiting
from gwa.metrics.waiting_classes import by_class
from gwa.metrics.waiting_levels import held_level
from gwa.store.engines.spark_sql import to_spark_sql
from tests.claims.machine import Machine
from tests.conftest import HOME, _stores, queries_of
from tests.metrics.test_stillness import BEGIN as GAP
from tests.metrics.test_stillness import ZONED, listed, without

CASES = HOME.parent / "shared" / "cases" / "whywait"
HOUR = 3600.0
DAY = 86_400.0
START = 852_076_800.0  # Wednesday, 1 January 1997, 0:00 UTC


def header(cpus=None, gpus=None):
    """Return the header of a log of a machine of a known size."""
    sizes = (("MaxProcs", cpus), ("GPUs", gpus))
    dated = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC"))
    return (*dated, *((key, str(value)) for key, value in sizes if value))


def case(make_store, name):
    """Return the store of a log worked out by hand, and what is right of it."""
    if not CASES.is_dir():
        pytest.skip(f"there are no cases in {CASES.relative_to(HOME.parent)} beside the checkout")
    right = json.loads((CASES / "right.json").read_text())[name]
    with (CASES / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    times = {key: [START + float(row[key]) for row in rows] for key in ("submit", "eligible", "start", "end")}
    store = make_store(
        header(right["given"]["capacity"], right["given"].get("gpus")),
        submit_time=times["submit"],
        eligible_time=times["eligible"],
        wait_time=[start - submit for start, submit in zip(times["start"], times["submit"], strict=True)],
        run_time=[end - start for end, start in zip(times["end"], times["start"], strict=True)],
        n_procs=[int(float(row["size"])) for row in rows],
        n_gpus=[float(row["gpus"]) for row in rows],
        user_id=[row["user"] for row in rows],
        partition_id=[row["partition"] for row in rows],
        status=[1] * len(rows),
    )
    return store, right


@pytest.mark.parametrize("name", ["1_full_and_larger", "2_held", "3_open", "4_gpu", "5_outage", "6_ceiling"])
def test_logs_worked_out_by_hand(make_store, name):
    store, right = case(make_store, name)
    found = waiting(store)
    shares = found.shares() or {}
    users = sorted({user for (user,) in store.rows("select user_id from jobs")})
    ceilings = [[float(users.index(one.id)), one.unit, one.most] for one in found.ceilings]
    assert ceilings == right["ceilings"]
    assert {name: share for name, share in shares.items() if share > 0.002} == pytest.approx(
        right["shares"], abs=0.002
    )


# The obvious way: every level and every waiting job is looked up at every moment.


def slowly(jobs, cpus, moments):
    """Return the condition at each of *moments* places on the line of all waiting seconds."""
    waits = [start - submit for submit, _, start, _, _ in jobs]
    order = sorted(range(len(jobs)), key=lambda n: (jobs[n][2], jobs[n][0], n))
    edges = np.cumsum([waits[n] for n in order])
    found = []
    for k in range(moments):
        position = (k + 0.5) * edges[-1] / moments
        place = int(np.searchsorted(edges, position))
        job = jobs[order[place]]
        found.append(condition(jobs, job, cpus, job[0] + position - (edges[place] - waits[order[place]])))
    return found


def condition(jobs, job, cpus, t):
    """Return the first condition of a *job* that holds at the moment *t*."""
    _, eligible, start, _, asked = job
    hour = t // HOUR

    def busy(moment):
        return sum(size for _, _, begin, end, size in jobs if begin <= moment < end)

    edges = sorted({moment for one in jobs for moment in one[2:4]})
    first, last = min(edges[0], t), max(edges[-1], t)

    def most(low, high):
        inside = [low * HOUR, *(edge for edge in edges if low * HOUR <= edge < (high + 1) * HOUR)]
        return max(busy(moment) for moment in inside)

    def known(low, high):
        return most(low, high) if low >= first // HOUR and high <= last // HOUR else np.inf

    usable = min(known(hour - 24, hour), known(hour, hour + 24))
    room = min(cpus - busy(t), usable - busy(t))
    idle = [(a, b) for a, b in pairwise(edges) if not busy(a) and b - a >= HOUR]
    blocking = [size for _, ready, begin, _, size in jobs if ready <= t < begin]
    if t < eligible:
        return "held"
    if any(a <= t < b for a, b in idle):
        return "outage"
    if asked > cpus - busy(t):
        return "full"
    if busy(t) + asked > usable:
        return "unused"
    if max(blocking) > room:
        return "larger"
    return "cycle" if t > start - 60 else "open"


@st.composite
def logs(draw):
    """Return jobs of whole seconds: submission, when they could start, start, end and size."""
    jobs = []
    for _ in range(draw(st.integers(2, 12))):
        submit = draw(st.integers(0, 3 * 86_400))
        held = draw(st.sampled_from((0, 0, 600, 7200)))
        waited = draw(st.sampled_from((0, 30, 600, 7200, 90_000)))
        run = draw(st.sampled_from((60, 3600, 50_000, 200_000)))
        eligible = submit + min(held, waited)
        jobs.append((submit, eligible, submit + waited, submit + waited + run, draw(st.integers(1, 8))))
    return jobs


@settings(max_examples=20, deadline=None)
@given(jobs=logs(), cpus=st.integers(8, 12), small=st.sampled_from([0, 10_000]))
def test_each_moment_has_the_first_condition_that_holds(jobs, cpus, small):
    jobs = [(0, 0, 2000, 2060, 1), *jobs]  # enough waits for shares
    with _stores() as make, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOMENTS", 1500)
        patch.setattr(module, "MAXIMUM_OVER", 2.0)
        patch.setattr(spans, "SMALL_TRACE", small)  # levels in memory, or by the engine
        store = make(
            header(cpus),
            submit_time=[START + job[0] for job in jobs],
            eligible_time=[START + job[1] for job in jobs],
            wait_time=[float(job[2] - job[0]) for job in jobs],
            run_time=[float(job[3] - job[2]) for job in jobs],
            n_procs=[job[4] for job in jobs],
        )
        found = waiting(store)
        assert not found.why_unknown
        shifted = [tuple(START + moment for moment in job[:4]) + job[4:] for job in jobs]
        expected = slowly(shifted, cpus, len(found.places))
    assert [CONDITIONS[place] for place in found.conditions] == expected


def simulated(users=6, size=400, *, cpus=32, days=20, seed=5):
    """Return the columns of a log of jobs that start in the order of submission, on a machine of *cpus*."""
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.integers(0, int(days * DAY), size)).astype(float)
    run = np.maximum(60, rng.lognormal(8.6, 1.2, size)).round()
    asked = rng.choice([1, 2, 4, 8, 16], size)
    starts = np.zeros(size)
    for place in range(size):
        begin = max(submit[place], starts[:place].max(initial=0.0))
        ends = starts[:place] + run[:place]
        for moment in [begin, *np.sort(ends[ends > begin])]:
            if asked[:place][ends > moment].sum() + asked[place] <= cpus:
                starts[place] = moment
                break
    return {
        "job_id": list(range(1, size + 1)),
        "submit_time": (START + submit).tolist(),
        "eligible_time": (START + submit).tolist(),
        "wait_time": (starts - submit).tolist(),
        "run_time": run.tolist(),
        "n_procs": asked.tolist(),
        "user_id": [f"u{n}" for n in np.minimum(rng.geometric(0.4, size), users)],
        "status": [1] * size,
    }


def test_a_selection_has_the_moments_of_its_jobs_and_the_levels_of_all(make_store):
    store = make_store(header(32), **simulated())
    row = next(one for one in by_class(store, waiting(store))["user"] if one.name == "u1")
    part = waiting(store.filtered("user_id = 'u1'"))
    assert len(part.places) == row.moments
    assert part.shares() == row.conditions


def test_a_period_has_the_moments_in_it(make_store):
    store = make_store(header(32), **simulated())
    whole = waiting(store)
    periods = (START, START + 9 * DAY), (START + 9 * DAY, START + 99 * DAY)
    parts = [waiting(store.filtered("true", period)) for period in periods]
    assert all(len(part.places) for part in parts)
    places = np.concatenate([part.places for part in parts])
    assert sorted(places.tolist()) == whole.places.tolist()
    assert all(np.array_equal(part.conditions, whole.conditions[part.places]) for part in parts)


def test_without_the_busiest_user_the_machine_was_full_for_at_least_a_share(make_store):
    columns = simulated()
    names, jobs = np.unique(columns["user_id"], return_counts=True)
    kept = np.array(columns["user_id"]) != names[jobs.argmax()]
    rest = {name: np.array(values)[kept].tolist() for name, values in columns.items()}
    assert waiting(make_store(header(32), **columns)).is_bound == "none"
    assert waiting(make_store(header(32), **rest)).is_bound == "full_at_least"
    assert waiting(make_store(header(), **columns)).is_bound == "room_at_least"
    assert "jobs may be missing" in waiting(make_store(header(), **rest)).why_unknown


def test_what_was_removed_stands_in_the_header(make_store):
    """A cleaned log, whose jobs may have new numbers; few jobs that were removed are not missed."""
    for removed, bound in ((300, "full_at_least"), (3, "none")):
        note = ("Note", f"THIS IS A CLEANED VERSION OF THE LOG! user=2 ({removed} jobs removed)")
        assert waiting(make_store((*header(32), note), **simulated())).is_bound == bound


def test_where_rows_are_missing_it_is_not_known_whether_anything_ran(make_store):
    log = Machine(load=0.85).log(np.random.default_rng(6))
    cut = without(log, log["submit_time"] + log["wait_time"], GAP, GAP + 20 * DAY)
    store = make_store(ZONED, **listed(cut))
    (missing,) = stillness(store).of("missing")
    found = waiting(store)
    rows = store.rows(f"select moment from {found.table} as sampled order by place")
    moments = np.array([moment for (moment,) in rows])
    inside = (missing.begin <= moments) & (moments < missing.end)
    conditions = {CONDITIONS[code] for code in found.conditions[inside].tolist()}
    assert inside.sum() > 100
    assert conditions <= {"held", "unknown", "full"}


def test_nothing_is_said_where_more_is_busy_than_there_is(make_store):
    found = waiting(make_store(header(8), **simulated()))
    assert found.shares() is None
    assert "more processors were busy" in found.why_unknown


def test_partitions_with_processors_of_their_own_are_looked_at_apart(make_store):
    """A job of a full partition finds the machine full, whatever is free in the other one."""
    one, other = simulated(), simulated(seed=6)
    both = {name: one[name] + other[name] for name in one if name != "job_id"}
    apart = waiting(make_store(header(64), **both, partition_id=["a"] * 400 + ["b"] * 400))
    assert apart.partitions == "apart"
    whole = [waiting(make_store(header(32), **columns)) for columns in (one, other)]
    assert not any(part.why_unknown for part in whole)
    waited = [part.seconds * len(part.places) for part in whole]
    expected = np.average([(part.shares() or {})["full"] for part in whole], weights=waited)
    assert (apart.shares() or {})["full"] == pytest.approx(expected, abs=0.01)
    shared = waiting(make_store(header(32), **one, partition_id=["a", "b"] * 200))
    assert shared.partitions == "overlapping"


def test_fewer_than_a_thousand_moments_have_no_share(make_store):
    found = waiting(make_store(header(32), **simulated()))
    assert found.shares(slice(0, MINIMUM_MOMENTS)) is not None
    assert found.shares(slice(0, MINIMUM_MOMENTS - 1)) is None


def test_a_level_of_seconds_is_not_held():
    assert held_level(np.array([4.0, 9.0]), np.array([1e6, 300.0])) == 4.0
    assert held_level(np.array([4.0, 9.0]), np.array([1e5, 300.0])) == 9.0


def test_all_its_queries_have_a_counterpart_in_spark(make_store, monkeypatch):
    store = make_store(header(64, 8), **simulated(), partition_id=["a", "b"] * 200, n_gpus=[1.0, 0.0] * 200)
    asked = queries_of(store, monkeypatch)
    assert by_class(store, waiting(store))
    assert sum("sum(looked)" in sql for sql in asked) == 2  # of processors, and of GPUs
    assert all(to_spark_sql(sql) for sql in asked)
