"""Bounds on waits: against a slow obvious version, the paper's numbers, and worlds that are known."""

import csv
import json
import math
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import gwa as package
from gwa.analysis.base import analyses
from gwa.cli import gwa
from gwa.evaluation import prediction
from gwa.evaluation.bound_classes import coverage_by_class, in_words, worst_of_each_kind
from gwa.evaluation.bound_scores import BoundScore, run_time_bounds
from gwa.evaluation.job_classes import crossed
from gwa.evaluation.prediction import (
    MAXIMUM_HISTORY,
    UNKNOWN,
    Bounds,
    Query,
    WaitingJobs,
    bound_in_order,
    predictors,
    ranks,
)
from gwa.report.document import Note
from gwa.util.units import DAY
from tests import program
from tests.conftest import HOME, examples

TINY = str(HOME / "sample_traces" / "swf" / "tiny.swf")


def test_ranks_are_those_of_the_binomial_distribution():
    assert ranks()[:59].max() == 0
    for number in (59, 60, 92, 93, 124, 500, 2000, MAXIMUM_HISTORY):
        rank = int(ranks()[number])
        assert binom.cdf(rank - 1, number, 0.95) >= 0.95
        assert binom.cdf(rank - 2, number, 0.95) < 0.95


def slow_walk(moments, known, values, classes, table, maximum):
    """Return bound, jobs and since of each job by going over all earlier jobs again for each."""
    bounds: list[float] = []
    rests_on = []
    cut: dict[int, int] = {}
    misses: dict[int, int] = {}
    seen = set()
    order = sorted(range(len(known)), key=lambda job: (known[job], job))
    for job, moment in enumerate(moments):
        for other in order:
            if known[other] < moment and other not in seen:
                seen.add(other)
                kind = classes[other]
                misses[kind] = misses.get(kind, 0) + 1 if values[other] > bounds[other] else 0
                if misses[kind] == 3:
                    history = [one for one in order if one in seen and classes[one] == kind]
                    cut[kind], misses[kind] = order.index(history[-59:][0]), 0
        kind = classes[job]
        history = [one for one in order[cut.get(kind, 0) :] if one in seen and classes[one] == kind]
        history = history[-maximum:]
        rank = table[len(history)]
        bounds.append(sorted(values[one] for one in history)[rank - 1] if rank else np.nan)
        rests_on.append((len(history), moments[history[0]]) if rank else (0, np.nan))
    return bounds, *zip(*rests_on, strict=True)


@examples(30)
@given(st.integers(0, 10_000), st.integers(70, 200), st.sampled_from([60, 75, 4000]), st.integers(1, 3))
def test_a_walk_is_that_of_the_slow_version(seed, many, maximum, kinds):
    rng = np.random.default_rng(seed)
    moments = np.sort(rng.integers(0, 4000, many)).astype(float)
    drift = np.linspace(1, rng.choice([1, 1, 30]), many)
    waits = np.round(rng.exponential(20, many) * drift)
    waits[rng.random(many) < 0.03] = np.inf
    classes = rng.integers(-1, kinds - 1, many)
    with mock.patch.object(prediction, "MAXIMUM_HISTORY", maximum):
        found = bound_in_order(moments, moments + waits, waits, classes)
    times, known = moments.tolist(), (moments + waits).tolist()
    expected = slow_walk(times, known, waits.tolist(), classes.tolist(), ranks().tolist(), maximum)
    for name, values in zip(("bound", "jobs", "since"), expected, strict=True):
        assert np.array_equal(getattr(found, name), values, equal_nan=True), name


def test_a_log_without_jobs_has_no_bounds():
    nothing = np.zeros(0)
    assert bound_in_order(nothing, nothing, nothing, np.zeros(0, np.int64)).bound.size == 0


def jobs(rng, many=3000, **fields):
    """Return jobs that come every minute and wait for a time of an exponential distribution."""
    return WaitingJobs(**{
        "submit": np.arange(many) * 60.0,
        "wait": np.round(rng.exponential(900, many)),
        "run": np.round(rng.exponential(600, many)),
        "procs": rng.choice([1, 8, 64], many),
        "requested": rng.choice([600.0, 7200.0, -1.0], many),
        "queue": rng.integers(-1, 2, many),
        "user": rng.integers(-1, 9, many),
        "cpus": 64,
        "queues": ("long", "short"),
        "users": tuple(f"u{number}" for number in range(9)),
        **fields,
    })  # fmt: skip


@pytest.mark.parametrize("name", predictors())
def test_bounds_of_waits_of_one_distribution_hold(name):
    known = jobs(np.random.default_rng(3))
    score = BoundScore.of(known, predictors()[name].bounds(known))
    assert score is not None
    assert score.coverage >= 0.945
    assert score.answered > 0.95
    assert score.median < 900 * 12


@pytest.mark.parametrize("name", predictors())
def test_no_bound_depends_on_what_comes_later(name):
    known = jobs(np.random.default_rng(5), many=1200)
    later = known.start >= known.submit[800]
    changed = jobs(np.random.default_rng(5), many=1200, wait=np.where(later, known.wait * 50 + 9, known.wait))
    bounds, others = (predictors()[name].bounds(one).bound[:800] for one in (known, changed))
    assert np.array_equal(bounds, others, equal_nan=True)


@pytest.mark.parametrize("name", predictors())
def test_a_job_that_is_asked_about_changes_no_other(name):
    known = jobs(np.random.default_rng(7), many=700)
    asked = predictors()[name].bounds(known.with_query(Query(8, 600.0, queue=1, waiting=4)))
    assert np.array_equal(asked.bound[:700], predictors()[name].bounds(known).bound, equal_nan=True)
    assert np.isfinite(asked.bound[-1])


def test_predictors_walk_the_same_classes_of_the_same_jobs_once(monkeypatch):
    known = jobs(np.random.default_rng(13), many=900)
    alone = [one.bounds(known) for one in predictors().values()]
    walked = []

    def counted(moments, starts, values, classes):
        walked.append(classes.tobytes())
        return bound_in_order(moments, starts, values, classes)

    monkeypatch.setattr(prediction, "bound_in_order", counted)
    walks: dict[bytes, Bounds] = {}
    together = [one.bounds(known, walks) for one in predictors().values()]
    assert len(walked) == len(set(walked))
    for one, other in zip(alone, together, strict=True):
        for name in ("bound", "jobs", "since", "level"):
            assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)


@given(st.lists(st.tuples(*[st.integers(-3, 3) | st.integers(-(10**9), 10**9)] * 3), max_size=60))
def test_combinations_of_classes_are_numbered_in_their_order(rows):
    classes = np.array(rows, np.int64).reshape(-1, 3)
    numbers = {row: number for number, row in enumerate(sorted(set(rows)))}
    assert crossed(*classes.T).tolist() == [numbers[row] for row in rows]


def test_more_own_waiting_jobs_give_a_longer_bound_where_users_are_served_in_turn():
    many = 4000
    rng = np.random.default_rng(11)
    burst = np.arange(many) % 8  # a user submits eight jobs at once, which start one after the other
    known = jobs(
        rng, many=many, submit=(np.arange(many) // 8) * 9000.0 + burst, wait=burst * 1000.0 + 10,
        procs=np.full(many, 8), requested=np.full(many, 600.0), user=np.arange(many) // 8 % 5,
        queue=np.full(many, UNKNOWN),
    )  # fmt: skip
    few, more = (
        predictors()["bmbp-own"].bounds(known.with_query(Query(8, 600.0, user=1, waiting=waiting))).bound[-1]
        for waiting in (0, 5)
    )
    assert few == 10.0
    assert more == 7010.0


def test_run_times_are_bounded_by_requests_and_by_the_users_last_jobs():
    rng = np.random.default_rng(2)
    known = jobs(
        rng, requested=np.full(3000, 7200.0), run=np.minimum(np.round(rng.exponential(600, 3000)), 7200)
    )
    scores = {
        name: BoundScore.of_values(known.submit, known.run, known.procs, bound)
        for name, bound in run_time_bounds(known).items()
    }
    requested, learnt = scores["requested time"], scores["BMBP by the user's last jobs"]
    assert requested is not None
    assert learnt is not None
    assert requested.coverage == 1.0
    assert learnt.coverage >= 0.94
    assert learnt.loss < requested.loss


def test_the_command_says_how_far_it_is_to_be_trusted():
    done = CliRunner().invoke(gwa, ["wait", TINY, "--procs", "4", "--time", "2h", "--queue", "short"])
    assert done.exit_code == 0
    assert "95 % of such jobs start within" in done.output
    assert "In this log, such bounds held for" in done.output
    assert "do not rely on it" in done.output
    said = json.loads(CliRunner().invoke(gwa, ["wait", TINY, "--json"]).output)
    assert said["bound"] > 0
    assert said["held"]["coverage"] < 0.95


@pytest.mark.parametrize(
    "words", [["--queue", "nosuch"], ["--user", "nosuch"], ["--method", "nosuch"], ["--time", "soon"]]
)
def test_a_job_that_cannot_be_is_an_error_of_usage(words, tmp_path):
    assert program.run("wait", TINY, *words, cwd=tmp_path).returncode == 2


def test_all_methods_are_compared():
    found = json.loads(CliRunner().invoke(gwa, ["wait", TINY, "--compare", "--json"]).output)
    assert {row["method"] for row in found if row["bounded"] == "wait"} == set(predictors())
    losses = [row["loss"] for row in found if row["bounded"] == "wait"]
    assert losses == sorted(losses)


@examples(25)
@given(st.integers(0, 10_000))
def test_coverage_of_classes_is_that_of_a_group_by(seed):
    rng = np.random.default_rng(seed)
    many = int(rng.choice([900, 1300]))
    known = jobs(rng, many=many)
    bound = np.where(rng.random(many) < 0.1, np.nan, rng.exponential(1500, many))
    bounds = Bounds(bound, np.zeros(many, int), np.zeros(many), np.zeros(many, int))
    table = pd.DataFrame({"size": known.procs, "queue": known.queue, "user": known.user, "wait": known.wait})
    table = table.assign(held=known.wait <= bound)[~np.isnan(bound)]
    found = coverage_by_class(known, bounds)

    for kind, names in (("queue", known.queues), ("user", known.users)):
        parts = {name: table[table[kind] == number] for number, name in enumerate(names)}
        expected = {name: (len(part), part.held.mean()) for name, part in parts.items() if len(part) >= 100}
        expected = expected if len(expected) > 1 else {}
        assert {one.name: (one.jobs, one.coverage) for one in found if one.kind == kind} == expected
    sizes = {"jobs of 1 processor": 1, "jobs of 5 to 8 processors": 8, "jobs of 33 to 64 processors": 64}
    for one in found:
        if one.kind == "size":
            assert one.coverage == table[table["size"] == sizes[one.name]].held.mean()
    longest = table[table.wait.rank(method="max", ascending=False) <= 0.1 * len(table)]
    tenth = [(one.jobs, one.coverage) for one in found if one.kind == "wait"]
    assert tenth == ([(len(longest), longest.held.mean())] if len(longest) >= 100 else [])
    for kind in ("size", "queue", "user"):
        shares = [one.coverage for one in found if one.kind == kind]
        assert shares == sorted(shares)


def test_the_class_that_bounds_fail_is_named():
    """Over all, 97 % held: of jobs of 64 processors, 60 %."""
    many = 6000
    rng = np.random.default_rng(4)
    large = rng.random(many) < 0.08
    wait = np.where(large & (rng.random(many) < 0.4), 9000.0, 10.0)
    known = jobs(rng, many=many, procs=np.where(large, 64, 2), wait=wait, user=np.full(many, 3),
                 queue=np.full(many, UNKNOWN))  # fmt: skip
    bounds = Bounds(np.full(many, 100.0), np.zeros(many, int), np.zeros(many), np.zeros(many, int))
    worst = worst_of_each_kind(coverage_by_class(known, bounds), below=0.95)

    assert [one.name for one in worst if one.kind == "size"] == ["jobs of 33 to 64 processors"]
    assert {one.kind for one in worst} == {"size", "wait"}, "one user, and no queue: no worst of them"
    assert worst[0].coverage == pytest.approx(0.6, abs=0.06)
    assert "jobs of 33 to 64 processors" in in_words(worst)
    fine = Bounds(np.full(many, 1e5), np.zeros(many, int), np.zeros(many), np.zeros(many, int))
    assert worst_of_each_kind(coverage_by_class(known, fine), below=0.95) == []
    assert coverage_by_class(known, Bounds(np.full(many, np.nan), *[np.zeros(many, int)] * 3)) == []


def test_the_section_and_the_command_say_the_worst_classes():
    said = CliRunner().invoke(gwa, ["wait", TINY]).output
    assert "They held least often for " in said
    with package.open(TINY) as trace:
        section = next(one for one in analyses() if one.id == "wait-bounds").section(trace.store)
        facts: Any = trace.facts("bounds")
    notes = [block.text for block in section.blocks if isinstance(block, Note)]
    assert any(note.startswith("They held least often for ") for note in notes)
    assert facts["bounds.coverage_worst_size"] < facts["bounds.coverage"]
    assert facts["bounds.coverage_longest"] < facts["bounds.coverage"]


def test_bounds_are_listed_as_csv_and_json():
    listed = CliRunner().invoke(gwa, ["wait", TINY, "--list"])
    rows = list(csv.DictReader(listed.stdout.splitlines()))
    objects = json.loads(CliRunner().invoke(gwa, ["wait", TINY, "--list", "--json"]).stdout)
    score = json.loads(CliRunner().invoke(gwa, ["wait", TINY, "--json"]).stdout)["held"]

    assert [row["job"] for row in rows] == [str(one["job"]) for one in objects]
    bounded = [one for one in objects if one["bound"] is not None]
    assert len(bounded) == score["jobs"]
    assert all(one["held"] == (one["wait"] <= one["bound"]) for one in bounded)
    assert sum(one["held"] for one in bounded) / len(bounded) == pytest.approx(score["coverage"])
    with package.open(TINY) as trace:
        waits = dict(trace.store.rows("select job_id, wait_time from jobs"))
    assert all(waits[one["job"]] == one["wait"] for one in objects)
    both = CliRunner().invoke(gwa, ["wait", TINY, "--list", "--compare"])
    assert (both.exit_code, "expected one of --compare, --list" in both.stderr) == (2, True)


def test_a_job_larger_than_the_machine_is_an_error_that_names_the_largest_size(tmp_path):
    """It was answered: 29 h."""
    with package.open(TINY) as trace:
        cpus = trace.system.cpus or 0
        largest = int(trace.sample("n_procs").max())
    done = program.run("wait", TINY, "--procs", cpus + 1, cwd=tmp_path)
    assert (done.returncode, f"expected 1 to {cpus:,}" in done.stderr) == (2, True)
    assert CliRunner().invoke(gwa, ["wait", TINY, "--procs", str(largest)]).exit_code == 0
    if largest < cpus:
        assert (
            "No job of this log had more than"
            in CliRunner().invoke(gwa, ["wait", TINY, "--procs", str(cpus)]).output
        )


def test_a_request_beyond_all_others_is_said():
    beyond = CliRunner().invoke(gwa, ["wait", TINY, "--time", "9000h"])
    within = CliRunner().invoke(gwa, ["wait", TINY, "--time", "1h"])
    assert "No job of this log requested more than" in beyond.output
    assert "No job of this log" not in within.output


NAMES = ["KTH-SP2-1996", "SDSC-Par-1996", "HPC2N-2002", "LANL-CM5-1994", "CEA-Curie-2011", "RICC-2010"]


@pytest.mark.slow
@pytest.mark.parametrize("log", NAMES)
def test_bounds_held_on_real_logs(log, logs):
    (path,) = (logs / "swf").glob(f"{log}*")
    with package.open(path) as trace:
        known = WaitingJobs.of(trace.store)
        section = next(one for one in analyses() if one.id == "wait-bounds").section(trace.store)
    score = BoundScore.of(known, predictors()["bmbp-own"].bounds(known))
    assert score is not None
    assert score.coverage >= 0.95
    assert not section.failed


def test_the_last_jobs_of_a_store_are_the_end_of_all(make_store):
    rng = np.random.default_rng(1)
    store = make_store(
        submit_time=np.sort(rng.integers(0, 50, 30)).astype(float).tolist(),
        wait_time=rng.integers(0, 9, 30).astype(float).tolist(),
        run_time=[1.0] * 30,
        n_procs=list(range(1, 31)),
        user_id=[f"U{number % 4}" for number in range(30)],
    )
    every, last = WaitingJobs.of(store), WaitingJobs.of(store, 12)

    assert len(last) == 12
    assert last.procs.tolist() == every.procs[-12:].tolist()
    assert last.start.tolist() == every.start[-12:].tolist()
    assert [last.users[number] for number in last.user] == [
        every.users[number] for number in every.user[-12:]
    ]


@pytest.mark.parametrize("seed", range(4))
def test_a_score_is_what_a_loop_over_jobs_finds(seed):
    chance = np.random.default_rng(seed)
    # Of four weeks each: of 100 jobs, which are judged, of 99, which are not, and of 250.
    starts = np.repeat([0.0, 28.0, 56.0], [100, 99, 250]) * DAY
    moments = np.sort(starts + chance.uniform(0, 28 * DAY, starts.size))
    moments[0] = 0.0
    values = chance.exponential(1000, starts.size).round()
    bounds = np.where(chance.random(starts.size) < 0.1 * seed, np.nan, chance.exponential(3000, starts.size))
    bounds[:100] = 20_000.0
    procs = chance.choice([1, 2, 4, 64], starts.size)
    score = BoundScore.of_values(moments, values, procs, bounds)

    jobs = [job for job in zip(moments, values, procs, bounds, strict=True) if job[3] == job[3]]
    held = [value <= bound for _, value, _, bound in jobs]
    losses = [
        (bound - value) / 20 if value <= bound else (value - bound) * 19 / 20 for _, value, _, bound in jobs
    ]
    sizes = sorted(size for *_, size, _ in jobs)
    large = [
        ok for ok, job in zip(held, jobs, strict=True) if job[2] >= sizes[math.ceil(0.9 * (len(jobs) - 1))]
    ]
    windows = []
    for number in range(3):
        inside = [ok for ok, job in zip(held, jobs, strict=True) if job[0] // (28 * DAY) == number]
        windows += [sum(inside) < 0.9 * len(inside)] if len(inside) >= 100 else []
    assert score
    assert score.jobs == len(jobs)
    assert score.answered == pytest.approx(len(jobs) / starts.size)
    assert score.coverage == pytest.approx(sum(held) / len(held))
    assert score.largest == pytest.approx(sum(large) / len(large))
    assert score.windows == pytest.approx(sum(windows) / len(windows))
    assert score.loss == pytest.approx(sum(losses) / sum(value for _, value, _, _ in jobs))
    assert score.median == pytest.approx(np.median([bound for *_, bound in jobs]))
