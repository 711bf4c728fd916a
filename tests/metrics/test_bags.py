"""Bags of tasks, against a slow obvious Python."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gwa.metrics.bags import ARRAYS, DEFINITIONS, MINH, TEXT, THESIS, Definition, bagged, bags, nearness
from gwa.store.store import Store

EVERY = pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=DEFINITIONS)

JOB = st.fixed_dictionaries(
    {
        "submit_time": st.one_of(
            st.none(), st.sampled_from([0.0, 100.0, 120.0, 1200.0]), st.integers(0, 4000).map(float)
        ),
        "user_id": st.sampled_from([None, "a", "b"]),
        "group_id": st.sampled_from([None, "g"]),
        "req_n_procs": st.sampled_from([None, 1, 2]),
        "status": st.sampled_from([1, 1, 1, 0, None]),
        "run_time": st.sampled_from([None, 0.0, 5.0]),
        "n_procs": st.sampled_from([1, 1, 0, None]),
        "job_structure": st.sampled_from(["BoT", "UNITARY", None]),
        "job_structure_params": st.sampled_from([None, "7", "8"]),
    }
)
FIELDS = (
    "submit_time", "user_id", "group_id", "req_n_procs", "status", "run_time", "n_procs", "job_structure",
    "job_structure_params",
)  # fmt: skip
# Submissions a few seconds apart, for bags that the limit of 1200 s cuts.
DENSE = st.lists(st.integers(0, 130), min_size=5, max_size=120)


def counted(job: dict[str, Any], definition: Definition) -> bool:
    """Whether a definition is about a job at all."""
    if job["submit_time"] is None:
        return False
    if definition.where == MINH.where:
        ran = job["run_time"] is not None and (job["n_procs"] or 0) > 0
        return bool(job["status"] == 1 and ran)
    if definition.where == ARRAYS.where:
        return job["job_structure"] == "BoT" and job["job_structure_params"] is not None
    return True


def slowly(jobs: list[dict[str, Any]], definition: Definition) -> dict[int, int]:
    """Return the bag of each job, one job after the other."""
    found: dict[int, int] = {}
    last: dict[Any, tuple[float, float, int]] = {}  # of a key: last submission, begin and name of its bag
    previous = None
    for job in sorted(
        (job for job in jobs if counted(job, definition)), key=lambda job: (job["submit_time"], job["job_id"])
    ):
        key = tuple(job.get(name) for name in definition.key)
        if definition.contiguous and key != previous:
            last.clear()
        previous = key
        now, begin, bag = job["submit_time"], job["submit_time"], job["job_id"]
        if key in last:
            before, began, open_bag = last[key]
            near = definition.gap is None or now - before <= definition.gap
            if definition.below:
                near = definition.gap is not None and now - before < definition.gap
            if near and (definition.span is None or now <= began + definition.span):
                begin, bag = began, open_bag
        last[key] = (now, begin, bag)
        if key[0] is not None:
            found[job["job_id"]] = bag
    return found


def in_engine(store, definition: Definition) -> dict[int, int]:
    return dict(store.rows(f"select job_id, bag from {bagged(store, definition)}"))


def columns(jobs: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [job[name] for job in jobs] for name in jobs[0]}


QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def fill(make_store):
    """Return a function that fills one store with jobs, again and again."""
    stores: list[Store] = []

    def filled(jobs: list[dict[str, Any]]):
        numbered = [{"job_id": place + 1, **job} for place, job in enumerate(jobs)]
        if not stores:
            stores.append(make_store(**columns([{"job_id": 0, **dict.fromkeys(FIELDS)}])))
        store = stores[0]
        store.drop(*list(store._temporary))  # noqa: SLF001 - all of them
        store.rows("delete from recorded")
        names = [row[0] for row in store.rows("describe recorded")]
        store.insert("recorded", [tuple(job.get(name) for name in names) for job in numbered])
        return store, numbered

    return filled


@EVERY
@QUICK
@given(jobs=st.lists(JOB, min_size=1, max_size=25))
def test_the_engine_finds_the_bags_of_a_slow_reference(definition, jobs, fill):
    store, jobs = fill(jobs)

    assert in_engine(store, definition) == slowly(jobs, definition)


@pytest.mark.parametrize("definition", [TEXT, THESIS], ids=lambda one: one.name)
@QUICK
@given(gaps=DENSE, others=st.lists(st.integers(0, 9000), max_size=10))
def test_long_bags_are_cut_as_the_slow_reference_cuts_them(definition, gaps, others, fill):
    times = [float(sum(gaps[: place + 1])) for place in range(len(gaps))]
    jobs = [{"submit_time": time, "user_id": "a"} for time in times]
    jobs += [{"submit_time": float(time), "user_id": "b", "group_id": "g"} for time in others]
    store, jobs = fill(jobs)

    assert in_engine(store, definition) == slowly(jobs, definition)


@pytest.mark.parametrize("definition", [TEXT, MINH, ARRAYS], ids=lambda one: one.name)
@QUICK
@given(jobs=st.lists(JOB, min_size=1, max_size=25), gap=st.sampled_from([0.0, 60.0, 120.0, 900.0]))
def test_nearness_gives_the_share_of_jobs_in_bags_for_every_gap(definition, jobs, gap, fill):
    store, jobs = fill(jobs)
    wider = replace(definition, name="wider", gap=gap, below=False)
    sizes = Counter(slowly(jobs, wider).values())

    assert nearness(store, wider).restrict(high=gap).n == sum(size for size in sizes.values() if size > 1)


def test_a_bag_is_cut_at_1200_seconds_from_its_first_task_on(make_store):
    times = [float(time) for time in range(0, 2500, 100)]
    store = make_store(submit_time=times, user_id=["a"] * len(times))

    assert sorted(Counter(in_engine(store, THESIS).values()).values()) == [12, 13]
    assert store.rows(f"select count(*) from {bags(store, TEXT)}") == [(1,)]


def test_the_edge_of_a_gap_is_inside_for_the_code_and_outside_for_the_text(make_store):
    store = make_store(submit_time=[0.0, 120.0], user_id=["a", "a"])

    assert len(set(in_engine(store, THESIS).values())) == 1
    assert len(set(in_engine(store, TEXT).values())) == 2


def test_a_job_of_an_unknown_user_is_in_no_bag_but_comes_between(make_store):
    same = {"status": [1] * 3, "run_time": [1.0] * 3, "n_procs": [1] * 3}
    store = make_store(submit_time=[0.0, 1.0, 2.0], user_id=["a", None, "a"], **same)

    assert in_engine(store, TEXT) == {1: 1, 3: 1}
    assert in_engine(store, MINH) == {1: 1, 3: 3}


def test_a_job_array_is_one_bag_whenever_its_tasks_were_submitted(make_store):
    store = make_store(
        submit_time=[0.0, 1e6, 5.0],
        user_id=["a", "a", "b"],
        job_structure=["BoT", "BoT", "UNITARY"],
        job_structure_params=["7", "7", None],
    )

    assert in_engine(store, ARRAYS) == {1: 1, 2: 1}


@pytest.mark.parametrize(("groups", "shared"), [(["g", "g", "h"], True), (["g", "h", "h"], False)])
def test_neighbours_are_found_once_where_users_have_one_group(groups, shared, make_store):
    store = make_store(submit_time=[0.0, 1.0, 2.0], user_id=["a", "a", "b"], group_id=groups)
    found = [bags(store, definition) for definition in (TEXT, THESIS)]

    assert len({source.partition("from near_by_")[2].split()[0] for source in found}) == (1 if shared else 2)
    assert in_engine(store, THESIS) == ({1: 1, 2: 1, 3: 3} if shared else {1: 1, 2: 2, 3: 3})
