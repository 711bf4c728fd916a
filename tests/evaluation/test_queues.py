"""
The comparison of queues, each number against a slow count of the same jobs.

Schedules are those of `tests.simulation.slow`, which works everything out anew at each event; halves and
draws of weeks hold for any submissions.
"""

import json
import math
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, median, pstdev, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gwa
from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.queues import replay as queue_replay
from gwa.evaluation.queues.card import DRAWS, OFF, UNKNOWN, WITHIN, QueueCard, QueueReference, other_draws
from gwa.evaluation.queues.numbers import Scale, catalogue, numbers
from gwa.evaluation.queues.own_weeks import BLOCK, draw_weeks, halves, weeks_of
from gwa.evaluation.queues.replay import LOADS, POLICIES, offered_load, replay
from gwa.evaluation.queues.words import COLUMNS, HEADLINE, OWN_WEEKS, headline, rows, sentences
from tests.program import invoke as run
from tests.simulation.slow import Cluster, Job

WEEK = 604_800.0


def jobs(size=1500, seed=1, mean=3000.0, weeks=8):
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.integers(0, weeks * int(WEEK), size)).astype(float)
    run_time = np.rint(rng.exponential(mean, size))
    users = rng.integers(0, 20, size)
    return JobArrays(submit, run_time, rng.integers(1, 9, size), run_time * 2 + 60, users, 16)


def few(rows, cpus=4):
    """Return a workload of rows of submission, run time, processors and requested time, nan for none."""
    submit, run_time, procs, requested = np.array(rows, float).T
    return JobArrays(submit, run_time, procs.astype(np.int64), requested, np.zeros(len(rows), np.int64), cpus)


def test_the_offered_load_is_work_over_what_the_machine_could_do_until_the_last_submission():
    """8 x 2 + 4 x 4 (of the 6 that it asks for) + 4 x 1 = 36 of 4 x 10 processor seconds."""
    assert offered_load(few([(5, 8, 2, 8), (9, 4, 6, 4), (15, 4, 1, 4)])) == pytest.approx(36 / 40)
    assert math.isnan(offered_load(few([(5, 8, 2, 8), (5, 4, 1, 4)])))


def test_gaps_are_scaled_by_one_factor_and_waits_are_those_that_follow():
    """
    At .72 of 4 processors, 36 processor seconds take 12.5 s: gaps of 4 and 6 become 5 and 7.5.

    The first job holds 2 processors until 8, the second all from 8 to 12, the third comes at 12.5.
    """
    found = replay(few([(5, 8, 2, 8), (9, 4, 6, 4), (15, 4, 1, 4)]), 0.72, "fcfs")
    assert found is not None

    assert found.jobs.submit == pytest.approx([0, 5, 12.5])
    assert found.wait == pytest.approx([0, 3, 0])
    assert found.slowdown == pytest.approx([1, 1, 1]), "of a run of less than 10 s"


def test_a_job_without_a_request_asks_for_its_run_time():
    known, unknown = (few([(0, 8, 2, 8), (4, 4, 4, wanted), (9, 4, 1, 4)]) for wanted in (4, math.nan))

    assert numbers(unknown)["requests"] == pytest.approx(2 / 3)
    assert {**numbers(known), "requests": 0} == {**numbers(unknown), "requests": 0}


def slow_waits(work, load, policy):
    """Return when jobs are submitted and how long they wait, by the slow scheduler."""
    sizes = [min(size, work.cpus) for size in work.procs.tolist()]
    busy = sum(run * size for run, size in zip(work.run.tolist(), sizes, strict=True))
    factor = busy / (work.cpus * (work.submit[-1] - work.submit[0])) / load
    submit = [float((at - work.submit[0]) * factor) for at in work.submit.tolist()]
    estimates = np.maximum(np.maximum(work.run, work.requested), 1.0).tolist()
    made = [Job(*row) for row in zip(submit, work.run.tolist(), sizes, estimates, strict=True)]
    starts = Cluster(made, work.cpus, policy).schedule()
    return submit, [start - at for start, at in zip(starts, submit, strict=True)]


@pytest.mark.parametrize(("name", "policy"), POLICIES.items())
def test_numbers_of_a_replay_are_those_of_a_slow_count(name, policy):
    work = jobs(150, mean=40_000)
    found = numbers(work)
    for load in LOADS:
        submit, waits = slow_waits(work, load, policy)
        slowdowns = [
            max((wait + run) / max(run, 10), 1) for wait, run in zip(waits, work.run.tolist(), strict=True)
        ]
        of = {key.removesuffix(f"@{load:g}"): value for key, value in found.items()}
        assert of[f"waits.{name}.mean"] == pytest.approx(fmean(waits))
        assert of[f"waits.{name}.median"] == pytest.approx(median(waits))
        assert of[f"slowdown.{name}.mean"] == pytest.approx(fmean(slowdowns))
        assert of[f"slowdown.{name}.median"] == pytest.approx(median(slowdowns))
        assert sum(wait > of[f"waits.{name}.p95"] for wait in waits) == 8, "of 150"
        large = [wait for wait, size in zip(waits, work.procs.tolist(), strict=True) if size > 16 / 3]
        assert of[f"waits.{name}.by_size.1"] == pytest.approx(fmean(large))
        assert f"waits.{name}.by_size.1/32" not in of, "no job is as small"
        queue = naive_queue(submit, waits)
        replayed = replay(work, load, policy)
        assert replayed is not None
        assert replayed.queue().tolist() == queue
        assert of[f"queue.{name}.cv"] == pytest.approx(pstdev(queue) / fmean(queue))
        middle = fmean(queue)
        shifted = sum((a - middle) * (b - middle) for a, b in zip(queue, queue[24:], strict=False))
        assert of[f"queue.{name}.acf24"] == pytest.approx(shifted / sum((a - middle) ** 2 for a in queue))


def test_a_policy_whose_schedule_is_long_is_left_out_of_all_that_is_compared_and_named(monkeypatch):
    """Of jobs that request far more than they run for many reservations move: none may, as it is set here."""
    work = jobs(1500, mean=6000)
    whole, seeds = numbers(work), [numbers(jobs(1500, seed=seed, mean=6000)) for seed in range(5)]
    monkeypatch.setattr(queue_replay, "MINIMUM_MOVES", 0)
    monkeypatch.setattr(queue_replay, "MOVES_OF_A_JOB", 0)
    reference = QueueReference.of(work)
    keys = {"left_out.conservative@0.7", "left_out.conservative@0.8"}
    card = QueueCard(reference, (numbers(work, but=reference.left_out), *seeds))

    assert reference.left_out == card.left_out == keys
    rest = {key: value for key, value in whole.items() if "conservative" not in key}
    assert reference.real == {**rest, **dict.fromkeys(keys, 1.0)}
    assert not [line for line in card.lines if "conservative" in line.number.id]
    assert card.line("policies.conservative_over_easy").verdict == UNKNOWN
    assert card.line("waits.easy.mean").mean is not None
    assert card.order[1] < QueueCard(QueueReference(whole, (whole,)), tuple(seeds)).order[1]
    (said,) = (one for one in sentences(card) if "left out" in one)
    assert said.startswith("Policy conservative is left out at 70 % and 80 % load: more than 10 reservations")
    assert not [one for one in sentences(QueueCard(QueueReference(whole), tuple(seeds))) if "left out" in one]


def test_what_one_seed_lacks_is_compared_of_none():
    """A mean over the seeds whose schedules are short would be one of short queues."""
    whole = numbers(jobs(300))
    short = {key: value for key, value in whole.items() if "conservative" not in key or "0.8" in key}
    card = QueueCard(QueueReference(whole, (whole,) * 20), (whole, {**short, "left_out.conservative@0.7": 1}))

    assert card.line("waits.conservative.mean").seeds == ()
    assert len(card.line("waits.conservative.mean", 0.8).seeds) == 2
    assert len(card.line("waits.easy.mean").seeds) == 2


def naive_queue(submit, waits):
    """Return how many jobs wait at the end of each hour, counted one by one."""
    ends = [hour * 3600.0 for hour in range(1, int(submit[-1] // 3600) + 2)]
    return [sum(bool(at < end <= at + wait) for at, wait in zip(submit, waits, strict=True)) for end in ends]


def test_policies_are_compared_by_their_mean_slowdowns():
    found = numbers(jobs(300, mean=20_000))
    for load in LOADS:
        for name in ("fcfs", "conservative", "sjf"):
            ratio = found[f"slowdown.{name}.mean@{load:g}"] / found[f"slowdown.easy.mean@{load:g}"]
            assert found[f"policies.{name}_over_easy@{load:g}"] == pytest.approx(ratio)
        assert f"policies.easy_over_easy@{load:g}" not in found


def test_weeks_and_days_vary_as_whole_ones_do():
    work = jobs(weeks=9)
    found, since = numbers(work), work.submit - work.submit[0]
    weeks, days = (int(since[-1] // length) for length in (WEEK, 86400.0))
    held = work.run * np.minimum(work.procs, work.cpus)

    def sums(length, count, amounts):
        return [
            float(amounts[(since >= n * length) & (since < (n + 1) * length)].sum()) for n in range(count)
        ]

    for name, values in (
        ("weeks.jobs_cv", sums(WEEK, weeks, np.ones(len(work)))),
        ("weeks.work_cv", sums(WEEK, weeks, held)),
        ("days.work_cv", sums(86400.0, days, held)),
    ):
        assert found[name] == pytest.approx(pstdev(values) / fmean(values))
    assert "weeks.jobs_cv" not in numbers(jobs(weeks=5))


def test_neither_the_pace_nor_what_is_larger_than_the_machine_matters():
    work = jobs(400, mean=20_000)
    slower, larger = replace(work, submit=work.submit * 3), replace(work, procs=work.procs * 4)
    whole = replace(work, procs=np.minimum(work.procs * 4, 16))

    for name, value in numbers(slower).items():
        if not name.startswith(("load", "weeks", "days")):
            assert numbers(work)[name] == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert numbers(larger) == numbers(whole)


@pytest.mark.parametrize("size", [0, 1])
def test_what_cannot_be_replayed_has_no_numbers_and_this_is_said(size):
    card = QueueCard(QueueReference.of(jobs(300)), (numbers(jobs(size)),))

    assert numbers(jobs(size)) == {}
    assert {line.verdict for line in card.lines} == {UNKNOWN}
    assert list(sentences(card)) == [
        "Queues are not compared: jobs are all submitted at once, or have no work."
    ]
    json.dumps([*rows("none", card), headline(card)], allow_nan=False)


TIMES = st.lists(st.integers(0, 14 * int(WEEK)), min_size=2, max_size=60)


@given(times=TIMES, origin=st.integers(0, 10**9))
def test_halves_are_as_many_whole_weeks_and_hold_every_job_between_once(times, origin):
    submit = np.sort(np.array(times, float)) + origin
    work = replace(jobs(len(times)), submit=submit)
    parts = halves(work)

    if parts is None:
        return
    length = next(one for one in (WEEK, 86400.0, 3600.0) if submit[-1] - submit[0] >= 4 * one)
    begin = math.ceil(submit[0] / length)
    half = (math.floor(submit[-1] / length) - begin) // 2
    expected = [
        [at for at in submit.tolist() if n * half <= at / length - begin < (n + 1) * half] for n in (0, 1)
    ]
    assert [part.submit.tolist() for part in parts] == expected
    assert all(np.isin(part.run, work.run).all() for part in parts)


@settings(max_examples=60)
@given(times=TIMES, seed=st.integers(0, 99), weeks=st.integers(5, 13))
def test_drawn_weeks_are_weeks_of_the_log_in_pairs_as_many_as_it_has(times, seed, weeks):
    submit = np.sort([0.0, *(at % (weeks * WEEK) for at in times), weeks * WEEK - 1])
    work = replace(jobs(submit.size), submit=submit)
    drawn = draw_weeks(work, np.random.default_rng(seed))

    assert len(weeks_of(work)) == weeks
    if weeks < 6:
        assert drawn is None
        return
    assert drawn is not None
    assert (np.diff(drawn.submit) >= 0).all()
    assert drawn.submit.size == 0 or 0 <= drawn.submit[0] <= drawn.submit[-1] < weeks * WEEK
    own = [_week(work, number) for number in range(weeks)]
    laid = [_week(drawn, number) for number in range(weeks)]
    assert all(week in own for week in laid)
    pairs = [own[number] + own[(number + 1) % weeks] for number in range(weeks)]
    for first in range(0, weeks - 1, BLOCK):
        assert laid[first] + laid[first + 1] in pairs


def _week(work, number):
    """Return the jobs of a week: hour of the week, run time and processors of each."""
    inside = work.submit // WEEK == number
    hours = work.submit[inside] % WEEK
    return list(zip(hours, work.run[inside], work.procs[inside], work.requested[inside], strict=True))


def test_a_copy_is_at_1_and_own_weeks_are_not_off():
    work = jobs(weeks=12)
    reference = QueueReference.of(work)
    copy = QueueCard(reference, (numbers(work),) * 5)
    own = QueueCard(reference, tuple(other_draws(work)))

    assert len(reference.draws) == DRAWS
    assert not any(draw in reference.draws for draw in own.made), "they are other draws"
    assert {line.mean for line in copy.lines} == {0.0}
    assert {line.verdict for line in copy.lines} == {WITHIN}
    assert copy.spread == 0
    assert sum(line.is_off for line in own.lines) <= 0.05 * len(own.lines)
    assert own.line("waits.easy.mean").verdict == WITHIN


def test_what_is_off_lies_beyond_the_least_own_weeks_and_seeds():
    name = next(one for one in catalogue() if one.key == "waits.easy.mean@0.7")
    waits = [math.exp(0.02 * n) * 1000 - 60 for n in range(-10, 10)]
    reference = QueueReference({name.key: 940.0}, tuple({name.key: wait} for wait in waits))

    def line(*ratios):
        return QueueCard(reference, tuple({name.key: 1000 * one - 60} for one in ratios)).line(name.id)

    own = [0.02 * n for n in range(-10, 10)]
    low, high = (math.exp(fmean(own) + sign * 1.96 * stdev(own)) for sign in (-1, 1))
    assert line(1).band == pytest.approx((low, high))
    assert [line(one).verdict for one in (1.2, 1.24, 1.3, 0.7)] == [WITHIN, WITHIN, OFF, OFF]
    scattered = line(0.6, 1.3, 2.4, 1.4, 1.1)
    assert scattered.verdict == WITHIN, "its seeds scatter, which the spread says"
    card = QueueCard(reference, tuple({name.key: 1000 * one - 60} for one in (0.6, 1.3, 2.4, 1.4, 1.1)))
    assert card.spread == pytest.approx(stdev(map(math.log, (0.6, 1.3, 2.4, 1.4, 1.1))) / stdev(own))
    assert scattered.mean == pytest.approx(fmean(map(math.log, (0.6, 1.3, 2.4, 1.4, 1.1))))


def test_a_log_of_few_weeks_has_no_band_and_is_not_judged():
    card = QueueCard(QueueReference.of(jobs(weeks=5)), (numbers(jobs(seed=2, weeks=5)),) * 5)

    assert {line.verdict for line in card.lines} == {UNKNOWN}
    assert card.spread is None
    assert "How far its own weeks are is unknown: the log has fewer than 6." in next(sentences(card))
    assert card.order == (0, 0)


def test_policies_are_in_order_where_own_weeks_agree():
    work = jobs(2500, mean=9_000, weeks=12)
    reference = QueueReference.of(work)
    right, cases = QueueCard(reference, (reference.real,)).order
    swapped = {
        key.replace(".easy.", ".?.").replace(".fcfs.", ".easy.").replace(".?.", ".fcfs."): value
        for key, value in reference.real.items()
    }

    assert 0 < right == cases
    assert QueueCard(reference, (swapped,)).order[0] < cases
    assert QueueCard(reference, (reference.real,) * 3).order == (3 * right, 3 * cases)


def test_what_is_said_of_a_model_is_what_may_be_said():
    work = jobs(weeks=16)
    parts = halves(work)
    assert parts is not None
    reference = QueueReference.of(*parts)
    made = [
        numbers(replace(jobs(seed=seed, mean=6000), requested=np.full(1500, np.nan))) for seed in range(5)
    ]
    card = QueueCard(reference, tuple(made))
    said = list(sentences(card, "lublin"))
    waits = [one["waits.easy.mean@0.7"] + 60 for one in (reference.real, *made)]
    ratio = math.exp(fmean(math.log(wait / waits[0]) for wait in waits[1:]))

    assert said[0].startswith(
        f"Under EASY at 70 % load, jobs of lublin wait {ratio:.2f} times as long as those it was fitted to;"
        " the log's own weeks, drawn again, give "
    )
    assert said[1].startswith("A seed is typically off by a further factor of ")
    other = math.exp(card.line("waits.easy.mean").other or 0)
    assert said[2].startswith(f"The other half of the log waits {other:.2f} times as long: a held-out ratio")
    assert said[3].startswith("Policies are in the log's order in ")
    assert said[4].startswith("Gaps are scaled by ")
    assert said[5] == "Jobs without requested times have perfect estimates, which flatters SJF."
    assert len(said) == 6
    alone = list(sentences(QueueCard(reference, tuple(made[:1]))))
    assert alone[1] == "It takes 5 seeds to say that of a model, not 1."


def test_a_policy_of_ones_own_that_is_easy_has_the_numbers_of_easy():
    work = jobs(300, mean=20_000)
    found = numbers(work, ["tests.simulation.own:easy"])
    own = {
        key.replace("tests.simulation.own:easy", "easy"): value
        for key, value in found.items()
        if "tests.simulation.own:easy" in key
    }

    assert {one.key for one in catalogue(["tests.simulation.own:easy"])} >= found.keys() - {"requests"}
    assert own.pop("policies.easy_over_easy@0.7") == own.pop("policies.easy_over_easy@0.8") == 1
    assert own == {key: value for key, value in found.items() if ".easy." in key}


def test_scales_read_as_they_are_written():
    assert Scale.WAIT.shown(Scale.WAIT.position(60) - Scale.WAIT.position(0)) == pytest.approx(2)
    assert Scale.RATIO.shown(Scale.RATIO.position(3) - Scale.RATIO.position(2)) == pytest.approx(1.5)
    assert (
        Scale.DIFFERENCE.shown(Scale.DIFFERENCE.position(0.3) - Scale.DIFFERENCE.position(0.1)) == 0.3 - 0.1
    )
    assert math.isnan(Scale.RATIO.position(0))
    assert all(one.help for one in catalogue())
    assert all(a != b for a, b in pairwise(one.key for one in catalogue()))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return a folder with the halves of a log of ten weeks, and five tables made like it."""
    folder = tmp_path_factory.mktemp("queues")
    assert (
        run("model", "generate", "lublin", "--days", 100, "--seed", 9, "-o", folder / "log.swf").exit_code
        == 0
    )
    assert run("model", "split", folder / "log.swf", "-o", folder / "halves").exit_code == 0
    for seed in range(1, 6):
        out = folder / f"lublin-{seed}.gwf"
        assert run("model", "generate", "lublin", "--days", 42, "--seed", seed, "-o", out).exit_code == 0
    return folder


def test_the_command_has_ratio_band_and_spread_beside_the_other_half(tables):
    made = [tables / f"lublin-{seed}.gwf" for seed in range(1, 6)]
    words = "model", "score", tables / "halves" / "second.gwf", *made
    fitted = "--trained-on", tables / "halves" / "first.gwf", "--json"
    short, long = (run(*words, *fitted, *more) for more in ((), ("--queues",)))
    (row, *_), every = (json.loads(done.stdout) for done in (short, long))
    lines = {(one["made"], one["number"], one["load"]): one for one in every}
    waits = lines["lublin", "waits.easy.mean", 0.7]

    assert set(row) >= {column.key for column in HEADLINE}
    assert list(waits) == [column.key for column in COLUMNS]
    assert waits["mean"] == row["waits.easy.ratio"]
    assert (waits["low"], waits["high"]) == (row["waits.easy.low"], row["waits.easy.high"])
    assert lines["lublin", "waits.spread", 0.7]["mean"] == row["waits.spread"] > 0
    assert waits["other_half"] == row["waits.easy.other_half"]
    assert waits["held_out"] == row["waits.easy.held_out"]
    assert lines["lublin", "load.kept", None]["mean"] == row["load.kept"]
    assert lines[OWN_WEEKS, "waits.easy.mean", 0.7]["verdict"] == WITHIN
    for done in (short, long):
        assert "jobs of lublin wait" in done.stderr
        assert "A seed is typically off by a further factor of" in done.stderr


def test_the_command_takes_a_policy_of_ones_own(sample):
    tiny = sample / "swf" / "tiny.swf"
    words = ("model", "score", tiny, tiny, "--queues", "--json")
    found = json.loads(run(*words, "--policy", "tests.simulation.own:fcfs").stdout)
    lines = {one["number"]: one for one in found if (one["made"], one["load"]) == ("tiny", 0.7)}

    own = lines["policies.tests.simulation.own:fcfs_over_easy"]
    assert {**own, "number": "policies.fcfs_over_easy"} == lines["policies.fcfs_over_easy"]
    assert run(*words, "--policy", "nix").exit_code == 2


def test_sdsc_par_has_the_waits_that_were_measured_elsewhere(logs):
    """Halves at the borders of weeks, by another program: 5,589 s and 0.96 times as long in the second."""
    with gwa.open(logs / "swf" / "SDSC-Par-1996-3.1-cln.swf.gz") as trace:
        parts = halves(JobArrays.of(trace.store))
    assert parts is not None
    reference = QueueReference.of(*parts)
    own = QueueCard(reference, tuple(other_draws(parts[0])))
    waits = own.line("waits.easy.mean")

    assert waits.real == pytest.approx(5589, abs=0.5)
    assert math.exp(waits.other or 0) == pytest.approx(0.96, abs=0.005)
    assert reference.real["slowdown.easy.mean@0.7"] == pytest.approx(95.8, abs=0.05)
    assert own.line("policies.sjf_over_easy").real == pytest.approx(0.21, abs=0.005)
    assert waits.band is not None
    assert waits.band[0] < 1.01 < waits.band[1], "the mean of ten draws of the other program"
    assert not any(line.is_off for line in own.lines)
