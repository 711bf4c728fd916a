"""What rows of tasks know: compared with a slow and obvious computation, and with other futures."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import TraceError
from gwa.tasks import proof
from gwa.tasks.features import MEANING, features
from gwa.tasks.history import Ledger
from gwa.tasks.jobs import NEVER, SubmittedJobs
from gwa.tasks.proof import planted_gain, redrawn, unchanged_rows
from gwa.tasks.task import BY_NAME, choose, splits

JOB = st.tuples(
    st.integers(0, 40),  # submission
    st.one_of(st.none(), st.integers(0, 30)),  # wait, None: never started
    st.one_of(st.none(), st.integers(0, 30)),  # run time, None: still running
    st.sampled_from([1, 1, 4]),
    st.sampled_from([np.nan, 600.0, 7200.0]),
    st.integers(-1, 2),  # user
    st.sampled_from([0.0, 1.0, np.nan]),
    st.one_of(st.just(np.nan), st.integers(1, 1000).map(float)),
    st.booleans(),  # whether it is known when a job left that never started
)


def made(rows, cpus=8):
    """Return jobs of tuples as `JOB` has them."""
    rows = sorted(rows, key=lambda row: row[0])
    submit = np.array([row[0] for row in rows], float)
    start = np.array([NEVER if row[1] is None else row[0] + row[1] for row in rows], float)
    run = np.array([np.nan if row[1] is None or row[2] is None else row[2] for row in rows], float)
    end = np.where(np.isnan(run), NEVER, start + np.nan_to_num(run))
    left = np.where(start < NEVER, start, [row[0] + 5.0 if row[8] else np.nan for row in rows])
    ended = ~np.isnan(run)
    none = np.full(len(rows), np.nan)
    return SubmittedJobs(
        job=np.arange(len(rows)),
        submit=submit,
        clock=submit + 3600.0,
        start=start,
        end=end,
        left=left,
        asked={
            "procs": np.array([row[3] for row in rows], float),
            "nodes": none,
            "gpus": none,
            "request": np.array([row[4] for row in rows], float),
            "req_memory": none,
        },
        names={
            name: np.array([row[5] if name == "user" else -1 for row in rows])
            for name in ("queue", "partition", "qos", "project", "user", "executable")
        },
        outcomes={
            "wait": np.where(start < NEVER, start - submit, np.nan),
            "run_time": run,
            "failure": np.where(ended, [row[6] for row in rows], np.nan),
            "max_memory": np.where(ended, [row[7] for row in rows], np.nan),
            "energy": none,
        },
        cpus=cpus,
    )


def request_class(request):
    return -1 if np.isnan(request) else sum(request > edge for edge in (900, 3600, 14400, 43200))


def slow_row(jobs, i):
    """Return what is known of job *i* at its submission, with a loop over all jobs for each question."""
    now, everybody = jobs.submit[i], range(len(jobs))
    procs, request, user = jobs.asked["procs"], jobs.asked["request"], jobs.names["user"]
    kind = [(user[j], procs[j], request_class(request[j])) for j in everybody]
    has_user = user[i] >= 0
    waiting = [j for j in everybody if jobs.submit[j] < now and jobs.left[j] >= now]
    running = [j for j in everybody if jobs.start[j] < now <= jobs.end[j]]
    mine = [j for j in everybody if has_user and user[j] == user[i]]
    like = [j for j in mine if kind[j] == kind[i]]

    def past(rows, known, name):
        told = [j for j in rows if known[j] < now and not np.isnan(jobs.outcomes[name][j])]
        return [jobs.outcomes[name][j] for j in sorted(told, key=lambda j: (known[j], j))]

    def mean(values):
        return np.expm1(np.mean(np.log1p(values[-50:]))) if values else np.nan

    def last(values, n=1):
        return np.mean(values[-n:]) if values else np.nan

    run, memory = past(mine, jobs.end, "run_time"), past(mine, jobs.end, "max_memory")
    waits, bad = past(like, jobs.start, "wait"), past(mine, jobs.end, "failure")
    earlier = [jobs.submit[j] for j in everybody if jobs.submit[j] < now]
    nothing = dict.fromkeys(("nodes", "gpus", "req_memory", "queue", "partition", "qos"), np.nan)
    return nothing | {
        "project": np.nan,
        "executable": np.nan,
        "energy_last": np.nan,
        "energy_like": np.nan,
        "procs": procs[i],
        "request": request[i],
        "user": user[i] if has_user else np.nan,
        "hour": (now + 3600) / 3600,
        "weekday": 3,
        "gap": now - max(earlier) if earlier else np.nan,
        "waiting": len(waiting),
        "backlog": sum(procs[j] * request[j] for j in waiting) / jobs.cpus,
        "free": 1 - sum(procs[j] for j in running) / jobs.cpus,
        "own_waiting": len(set(waiting) & set(mine)) if has_user else np.nan,
        "own_running": len(set(running) & set(mine)) if has_user else np.nan,
        "run_last": last(run),
        "run_two": last(run, 2),
        "run_mean": mean(run),
        "run_like": mean(past(like, jobs.end, "run_time")),
        "wait_like": mean(waits),
        "wait_like_last": last(waits),
        "bad_mean": np.mean(bad) if bad else np.nan,
        "bad_like": last(past(like, jobs.end, "failure"), 50),
        "memory_last": last(memory),
        "memory_like": mean(past(like, jobs.end, "max_memory")),
        "user_jobs": sum(jobs.end[j] < now for j in mine) if has_user else np.nan,
    }


@given(st.lists(JOB, min_size=1, max_size=30))
def test_rows_are_what_a_slow_computation_of_each_finds(rows):
    jobs = made(rows)
    fast = features(jobs)

    assert list(fast) == list(MEANING)
    for i in np.flatnonzero(jobs.left >= jobs.submit):  # others may not have been in the queue
        slow = slow_row(jobs, i)
        for name in MEANING:
            assert fast[name][i] == pytest.approx(slow[name], nan_ok=True, rel=1e-5, abs=2e-3), name


@given(st.lists(JOB, min_size=2, max_size=40), st.integers(0, 2**32 - 1))
def test_another_future_changes_no_row(rows, seed):
    jobs, rng = made(rows), np.random.default_rng(seed)
    before = features(jobs)
    for i in range(len(jobs)):
        if jobs.left[i] >= jobs.submit[i]:
            after = features(redrawn(jobs, jobs.submit[i], rng, i))
            for name in before:
                assert np.array_equal(before[name][i], after[name][i], equal_nan=True), name


def world(size=3000, seed=0):
    """Return jobs of a small machine of a few users."""
    rng = np.random.default_rng(seed)
    rows = [
        (int(at), int(wait), int(run), 1, 600.0, int(user), float(bad), np.nan, True)
        for at, wait, run, user, bad in zip(
            np.sort(rng.integers(0, 2_000_000, size)),
            rng.exponential(2000, size),
            rng.exponential(5000, size),
            rng.integers(0, 20, size),
            rng.integers(0, 2, size),
            strict=True,
        )
    ]
    return made(rows)


@pytest.mark.parametrize("name", ["wait", "run_time", "failure"])
def test_a_fact_of_the_future_gains_nothing_by_way_of_the_maker(name):
    jobs, task = world(), BY_NAME[name]
    chosen = choose(task, jobs)
    columns = {key: values[chosen.rows] for key, values in features(jobs).items()}

    found = planted_gain(task, jobs, chosen, columns)
    assert found.gain < 0.005
    assert found.error < 0.02
    assert found.leak > 0.1


def test_a_maker_that_looks_ahead_is_found_out(monkeypatch):
    jobs, task = world(), BY_NAME["run_time"]
    chosen = choose(task, jobs)
    columns = {key: values[chosen.rows] for key, values in features(jobs).items()}

    class Leaky(Ledger):
        def __init__(self, keys, known, asked):
            super().__init__(keys, np.minimum(known, asked - 1), asked)

    def leaky(jobs):
        return {**features(jobs), "run_last": jobs.outcomes["run_time"]}

    monkeypatch.setattr(proof, "Ledger", Leaky)
    with pytest.raises(TraceError, match="run_time: a planted fact of the future gains 0"):
        planted_gain(task, jobs, chosen, columns)
    assert unchanged_rows(jobs, chosen.rows) == 50
    monkeypatch.setattr(proof, "features", leaky)
    with pytest.raises(TraceError, match="run_last depend on what came later"):
        unchanged_rows(jobs, chosen.rows)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), min_size=1, max_size=60),
)
def test_no_label_of_an_earlier_split_is_known_after_the_border(jobs):
    submit = np.array(sorted(at for at, _ in jobs), float)
    known = submit + [after for _, after in jobs]
    split, (valid, test) = splits(submit, known)

    assert set(split[submit >= test]) <= {"test"}
    for name, low, high in (("train", -1.0, valid), ("valid", valid, test)):
        inside = split == name
        assert ((submit >= low) & (submit < high) & (known < high))[inside].all()
        assert (inside | (split == "gap"))[(submit >= low) & (submit < high)].all()
    assert valid == submit[int(0.7 * submit.size)]
    assert test == submit[int(0.8 * submit.size)]


def test_each_job_left_out_is_counted_once_by_its_reason():
    jobs = made(
        [
            (0, None, None, 1, 600.0, 0, 1.0, np.nan, True),
            (1, 2, None, 1, 600.0, 0, 1.0, np.nan, True),
            (2, 2, 5, 4, 600.0, 0, 1.0, np.nan, True),
            (3, 2, 5, 1, 600.0, 0, np.nan, np.nan, True),
            (4, 2, 5, 1, 600.0, 0, 0.0, np.nan, True),
        ],
        cpus=3,
    )
    assert list(choose(BY_NAME["failure"], jobs).left_out.values()) == [1, 1, 0, 1, 1]
    assert list(choose(BY_NAME["wait"], jobs).left_out.values()) == [1, 0, 0, 1, 0]
    assert choose(BY_NAME["wait"], replace(jobs, cpus=None)).rows.tolist() == [1, 2, 3, 4]
