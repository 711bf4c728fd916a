"""Nodes by name: hours add up and jobs do not, the table counts what pandas counts, and who stood idle."""

import pytest

from gwa.analysis.sections.hosts import nodes_by_name
from gwa.breakdown.held import held
from gwa.breakdown.hosts import by_week, hosts
from gwa.metrics.window import window
from gwa.report.document import Note
from gwa.store.anonymize import anonymize
from gwa.store.hosts import on_nodes

DAY = 86_400.0
WEEKS = 8


@pytest.fixture
def store(make_store):
    """Return a store of jobs on one node or two, and on one that soon runs nothing; of some it is unknown."""
    lists = ["n1", "n2", "n[1-2]", "n1*3,n3", "n4", None]
    jobs = WEEKS * 7 * 6
    names = [lists[place % 6] if place % 6 != 4 or place < 120 else "n3" for place in range(jobs)]
    return make_store(
        submit_time=[1e9 + place * DAY / 6 for place in range(jobs)],
        wait_time=[0.0] * jobs,
        run_time=[3600.0 + place for place in range(jobs)],
        n_procs=[8] * jobs,
        n_gpus=[float(place % 3) for place in range(jobs)],
        status=[int(place % 5 > 0) for place in range(jobs)],
        user_id=[f"U{place % 7}" for place in range(jobs)],
        node_list=names,
    )


def facts(store):
    return {fact.id: fact.value for fact in nodes_by_name.section(store).facts()}


def texts(store):
    return [block.text for block in nodes_by_name.section(store).blocks if isinstance(block, Note)]


def frame(store):
    """Return each job on each of its nodes, with the seconds that it ran within the window."""
    period = window(store).period
    assert period
    found = store.frame(f"select *, host, share from {on_nodes(store)} as placed")
    ended = found.submit_time + found.run_time
    found["seconds"] = ended.clip(*period) - found.submit_time.clip(*period)
    return found[found.seconds > 0]


def test_hours_add_up_and_jobs_do_not(store):
    every, whole, placed = hosts(store), held(store), frame(store)
    assert whole
    seconds = sum(one.seconds["cpu_seconds"] for one in every)
    assert seconds == pytest.approx((placed.seconds * placed.n_procs * placed.share).sum(), rel=1e-9)
    assert facts(store)["hosts.unknown_cpu"] == pytest.approx(1 - seconds / whole.amounts["cpu_seconds"])
    assert sum(one.jobs for one in every) > placed.job_id.nunique()


def test_where_all_nodes_are_named_hours_are_those_of_usage(store):
    named = store.filtered("node_list is not null")
    whole = held(named)
    assert whole
    for name in ("cpu_seconds", "gpu_seconds"):
        assert sum(one.seconds[name] for one in hosts(named)) == pytest.approx(whole.amounts[name], rel=1e-9)


def test_jobs_are_those_that_a_table_of_jobs_counts(store):
    placed = frame(store)
    failed = placed[placed.status == 0]
    alone = failed[failed.share == 1]
    found = {one.name: one for one in hosts(store)}

    assert {name: one.jobs for name, one in found.items()} == placed.groupby(
        "host"
    ).job_id.nunique().to_dict()
    for name, one in found.items():
        assert one.failed == failed[failed.host == name].job_id.nunique()
        assert one.failed_alone == alone[alone.host == name].job_id.nunique()


def test_weeks_add_up(store):
    names = [one.name for one in hosts(store)]
    period = window(store).period
    assert period
    edges = [period[0], *(1e9 + 7 * DAY * week for week in range(1, WEEKS)), period[1]]
    seconds, failed = by_week(store, names, edges)

    assert seconds.sum(1) == pytest.approx([one.seconds["cpu_seconds"] for one in hosts(store)])
    assert failed.sum(1) == pytest.approx([one.failed for one in hosts(store)], abs=1)


def test_a_node_without_a_job_for_a_week_is_listed_without_a_reason(store):
    assert [row["id"] for row in facts(store)["hosts.idle"]] == ["n4"]
    assert facts(store)["hosts.idle_count"] == 1


def test_what_too_few_jobs_cannot_tell_is_not_said(store):
    assert texts(store) == ["4 nodes have too few jobs to tell."]
    assert facts(store)["hosts.failing"] == []


def test_nodes_of_scaled_pools_are_not_said_to_fail(store):
    store.note({"format": "kubernetes"})

    assert texts(store) == ["Names of nodes come back for other machines: none is said to fail."]
    assert "hosts.failing" not in facts(store)


def test_without_names_the_section_is_left_out(make_store):
    assert nodes_by_name.when
    assert not nodes_by_name.when(make_store(submit_time=[1.0]))


def test_nodes_have_pseudonyms_and_the_same_numbers(store):
    with anonymize(store, b"0123456789abcdef") as public:
        plain, hidden = facts(store), facts(public)

    assert all(row["id"].startswith("H~") for row in hidden["hosts.by_jobs"])
    assert sorted(row["jobs"] for row in hidden["hosts.by_jobs"]) == sorted(
        row["jobs"] for row in plain["hosts.by_jobs"]
    )
