"""Outcomes of jobs, against rules that are applied job by job."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from gwa.metrics.outcomes import OUTCOMES, by_month, by_user, coding, totals
from tests.analysis.sections.blocks import ABSOLUTE, START


def logged(rng, many=400, **more):
    """Return jobs with requests, of which some end at their limit and some are still running."""
    requests = rng.choice([60, 600, 3600, 86400], many).astype(float)
    ratio = rng.choice([0.1, 0.5, 0.979, 0.98, 1.0, 1.05], many)
    runs = np.floor(requests * ratio)
    status = rng.choice([1, 0, 5], many)
    return {
        "submit_time": (START + np.arange(many) * 100.0).tolist(),
        "wait_time": [0.0] * many,
        "run_time": runs.tolist(),
        "req_time": requests.tolist(),
        "n_procs": rng.integers(1, 9, many).tolist(),
        "status": status.tolist(),
        "user_id": rng.choice(["a", "b", "c"], many).tolist(),
        **more,
    }


def outcome_of(job):
    if job["status"] == 1:
        return "completed"
    run, request = job["run_time"], job["req_time"]
    if request and 0.98 * request <= run <= 1.05 * request + 600 and run >= 60:
        return "limit"
    return {0: "failed", 5: "cancelled"}[job["status"]]


@pytest.mark.parametrize("seed", range(3))
def test_outcomes_are_those_of_each_job(make_store, seed):
    given = logged(np.random.default_rng(seed))
    found = totals(make_store(**given))
    jobs = [dict(zip(given, row, strict=True)) for row in zip(*given.values(), strict=True)]
    assert tuple(found) == OUTCOMES
    for name, total in found.items():
        own = [job for job in jobs if outcome_of(job) == name]
        seconds = [job["run_time"] * job["n_procs"] for job in own]
        assert total.jobs == len(own)
        assert total.hours == pytest.approx(sum(seconds) / 3600)
        if sum(seconds):
            assert total.largest_job == pytest.approx(max(seconds) / sum(seconds))
            users = {
                user: sum(s for s, job in zip(seconds, own, strict=True) if job["user_id"] == user)
                for user in "abc"
            }
            largest = max(users, key=lambda user: users[user])
            assert total.largest_user is not None
            user, share = total.largest_user
            assert user == largest
            assert share == pytest.approx(users[largest] / sum(seconds))


def test_where_limits_are_not_enforced_no_job_is_known_to_have_reached_its_limit(make_store):
    given = logged(np.random.default_rng(1))
    given["run_time"][:40] = [request * 3 + 601 for request in given["req_time"][:40]]
    store = make_store(**given)
    assert coding(store).is_enforced is False
    assert not coding(store).tells("limit")
    assert totals(store)["limit"].jobs == 0


def test_the_states_of_a_source_say_what_reached_its_limit(make_store):
    store = make_store(
        status=[0, 0, 0, 1],
        state=["TIMEOUT", "FAILED", "OUT_OF_MEMORY", "COMPLETED"],
        run_time=[10.0, 10.0, 600.0, 600.0],
        req_time=[600.0] * 4,
        n_procs=[1] * 4,
    )
    found = totals(store)
    assert [found[name].jobs for name in OUTCOMES] == [1, 1, 2, 0, 0, 0]
    assert coding(store).tells("cancelled")  # the source has a word for it, which no job has


def test_one_status_in_the_whole_log_says_nothing(make_store):
    store = make_store(status=[1, 1, None], run_time=[5.0, 6.0, None], n_procs=[1, 1, 1], wait_time=[0.0] * 3)
    assert coding(store).codes == "one"
    assert totals(store)["unknown"].jobs + totals(store)["running"].jobs == 3
    assert totals(store)["completed"].jobs == 0
    assert not coding(store).tells("completed")


def test_a_part_of_a_log_with_several_statuses_may_have_completed_entirely(make_store):
    store = make_store(status=[1, 1, 0], user_id=["a", "a", "b"], run_time=[5.0] * 3, n_procs=[1] * 3)
    part = store.filtered("user_id = 'a'")
    assert coding(part).codes == "several"
    assert totals(part)["completed"].jobs == 2
    assert totals(part)["failed"].jobs == 0
    assert coding(part).tells("failed")
    assert not coding(part).tells("cancelled")


def test_exit_codes_in_the_status_field_are_no_outcomes(make_store):
    store = make_store(status=[1, 0, 0], run_time=[5.0] * 3, n_procs=[1] * 3)
    store.repaired("exit codes", "the status column holds exit codes", 3)
    assert coding(store).codes == "exit codes"
    assert totals(store)["unknown"].jobs == 3


def test_running_jobs_count_at_the_end_of_the_log(make_store):
    store = make_store(
        submit_time=[START, START, START + 7200],
        wait_time=[0.0, 0.0, 0.0],
        run_time=[60.0, None, 0.0],
        n_procs=[1, 2, 1],
        status=[1, None, 0],
    )
    running = totals(store)["running"]
    assert (running.jobs, running.hours) == (1, 4.0)
    early = store.filtered("true", (START, START + 3600))
    assert totals(early)["running"].jobs == 0
    assert totals(early)["completed"].jobs == 1


def test_a_month_has_the_jobs_that_ended_in_it(make_store):
    given = logged(np.random.default_rng(7))
    given["submit_time"] = [START + 15_000.0 * place for place in range(400)]
    found = {one.name: one for one in by_month(make_store(ABSOLUTE, **given))}
    ended: dict[str, list[dict[str, Any]]] = {}
    for row in zip(*given.values(), strict=True):
        job = dict(zip(given, row, strict=True))
        month = datetime.fromtimestamp(job["submit_time"] + job["run_time"], tz=UTC).strftime("%Y-%m")
        ended.setdefault(month, []).append(job)

    assert found.keys() == ended.keys()
    for month, jobs in ended.items():
        outcomes = [outcome_of(job) for job in jobs]
        bad = [job for job, outcome in zip(jobs, outcomes, strict=True) if outcome != "completed"]
        one = found[month]
        assert one.jobs == len(jobs)
        assert one.share == pytest.approx(len(bad) / len(jobs))
        assert [one.limit, one.failed, one.cancelled] == [
            outcomes.count(name) for name in ("limit", "failed", "cancelled")
        ]
        assert one.cpu_seconds == sum(job["run_time"] * job["n_procs"] for job in bad)


def test_users_are_in_the_order_of_jobs_that_did_not_complete(make_store):
    given = logged(np.random.default_rng(8))
    jobs = [dict(zip(given, row, strict=True)) for row in zip(*given.values(), strict=True)]
    bad = {user: [j for j in jobs if j["user_id"] == user and outcome_of(j) != "completed"] for user in "abc"}
    first, second = by_user(make_store(**given), 2)

    assert [first.name, second.name] == sorted(bad, key=lambda user: -len(bad[user]))[:2]
    assert first.share == pytest.approx(len(bad[first.name]) / given["user_id"].count(first.name))
    assert second.cpu_seconds == sum(job["run_time"] * job["n_procs"] for job in bad[second.name])
