"""What-if: replays of known worlds give their waits, and changes have their true answers."""

import csv
import json
from dataclasses import replace
from itertools import combinations
from math import exp, log, sqrt

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import gwa as package
from gwa.cli import gwa
from gwa.cli.whatif import CHANGES, POLICIES
from gwa.errors import ArgumentError, TraceError
from gwa.evaluation.capacity import words as plan_words
from gwa.evaluation.capacity.rule import plan
from gwa.evaluation.whatif import words
from gwa.evaluation.whatif.answer import answer
from gwa.evaluation.whatif.change import changed, kinds, parsed, resized
from gwa.evaluation.whatif.effect import TAIL, WAIT, Effect, Pair, Simulated, effect
from gwa.evaluation.whatif.page import KEYS, report
from gwa.evaluation.whatif.validation import MINIMUM_ERROR, OFFSET, error_of, half_years, validate
from gwa.evaluation.whatif.world import NEW, World, recorded
from gwa.simulation import backfilling
from gwa.simulation._queue import from_queue
from gwa.simulation.jobs import Jobs
from gwa.util.units import DAY, WEEK
from tests.conftest import HOME, LOGS
from tests.evaluation.made_months import MACHINES, Made, submitted

TINY = str(HOME / "sample_traces" / "swf" / "tiny.swf")


def make_world(seed, policy="easy", weeks=40, jobs=2000):
    """Return jobs of several users on a machine that is busy for half of the time or more."""
    rng = np.random.default_rng(seed)
    capacity = int(2 ** rng.integers(5, 9))
    users = int(rng.integers(5, 20))
    owner = rng.choice(users, jobs, p=rng.dirichlet(np.full(users, 0.7)))
    size = np.minimum(2 ** rng.integers(0, int(np.log2(capacity)), jobs), capacity // 2)
    run = np.clip(rng.lognormal(8, 1.5, jobs), 10, 2 * DAY)
    run *= rng.uniform(0.55, 0.85) * capacity * weeks * WEEK / (run * size).sum()
    share = np.exp(rng.normal(0, 0.4, weeks))
    week = rng.choice(weeks, jobs, p=share / share.sum())
    run = np.round(np.clip(run, 1, 4 * DAY))
    return World(
        np.sort(np.round((week + rng.random(jobs)) * WEEK)),
        np.full(jobs, np.nan),
        run,
        np.round(run * rng.uniform(1, 5, jobs)) + 1,
        size.astype(np.int64),
        np.arange(jobs),
        np.array([f"q{number}" for number in rng.integers(0, 3, jobs)]),
        np.array([f"U{number}" for number in owner]),
        capacity,
        policy,
    )


def largest_user(world):
    work = world.run * world.size
    return max(sorted(set(world.user.tolist())), key=lambda user: work[world.user == user].sum())


# --- Known worlds ---


@pytest.mark.parametrize("policy", POLICIES)
def test_a_replay_under_the_policy_that_made_a_log_gives_its_waits(policy):
    made = make_world(1, policy)
    world = replace(made, wait=made.starts() - made.submit)
    found = answer(world, [parsed("cpus +20%")])

    assert (found.old.wait == world.wait).all()
    assert found.validation.level.ratio == 1
    assert found.validation.weeks.size
    assert found.validation.simulated == pytest.approx(found.validation.recorded)
    assert not found.validation.gaps


def hidden_waits(seed, world):
    """Return what simulates a machine with priorities, reservations, and a size other than stated."""
    rng = np.random.default_rng(seed)
    has_priorities, has_reservations = rng.random(2) < 0.5
    part = rng.choice([0.95, 1.0, 1.05])
    count = int(rng.integers(5, 20))
    begin, length = np.sort(rng.random(count)) * world.span, rng.uniform(3600, DAY, count)
    share = rng.uniform(0.2, 1, count)

    def waits(one):
        capacity = max(int(one.capacity * part), int(one.size.max()))
        rank = one.requested if one.policy == "sjf" else one.submit.copy()
        if has_priorities:
            rank = rank + DAY * np.array([int(name[1:]) for name in one.queue])
        columns = [one.submit, one.run, np.maximum(one.requested, one.run), one.size.astype(float), rank]
        if has_reservations:
            blocked = [
                begin,
                length,
                length,
                np.maximum(np.floor(share * capacity), 1),
                np.full(count, -1e12),
            ]
            columns = [np.concatenate(pair) for pair in zip(columns, blocked, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        submit, run, estimate, size, ranks = (column[order] for column in columns)
        start = from_queue(
            submit, run, estimate, size.astype(np.int64), capacity, ranks, one.policy == "easy"
        )
        found = np.empty(order.size)
        found[order] = start - submit
        return found[: len(one)]

    return waits, (bool(has_priorities), bool(has_reservations), float(part))


ASKED = ("cpus +20%", "cpus +10%", "cpus -10%", "scheduler fcfs", "scheduler sjf", "without-user U")


def true_and_found(seed):
    """Return the true ratio of mean waits of a world with a hidden maker, and the answer."""
    made = make_world(seed)
    waits, _ = hidden_waits(seed, made)
    world = replace(made, wait=waits(made))
    text = ASKED[seed % len(ASKED)]
    changes = [parsed(f"without-user {largest_user(world)}" if text.endswith(" U") else text)]
    new = changed(world, changes)
    kept = np.isin(world.job, new.job)
    truth = (waits(new).mean() + OFFSET) / (world.wait[kept].mean() + OFFSET)
    return truth, answer(world, changes)


def test_the_true_answer_of_hidden_makers_is_in_the_interval():
    """Twelve of the hundred worlds of the slow test."""
    found = [true_and_found(seed) for seed in range(12)]
    held = [one.effects[0].low <= truth <= one.effects[0].high for truth, one in found]

    assert np.mean(held) >= 0.8


@pytest.mark.slow
def test_the_true_answer_of_a_hundred_hidden_makers():
    found = [true_and_found(seed) for seed in range(100)]
    held = np.array([one.effects[0].low <= truth <= one.effects[0].high for truth, one in found])
    right = np.array([(truth > 1) == (one.effects[0].ratio > 1) for truth, one in found])

    assert held.mean() >= 0.8
    assert right.mean() >= 0.9


# --- Effects ---


def test_nothing_changes_where_nothing_is_changed():
    """Both sides of such a ratio are one schedule: there is nothing to err by."""
    found = answer(make_world(2), [parsed("cpus -0%")])

    assert found.is_unchanged
    assert [one.ratio for one in (*found.effects, *found.sizes, *found.queues)] == [1.0] * 10
    assert all(one.low == 1 == one.high and not one.is_sure for one in found.effects)
    assert "ideal machine, no job starts earlier or later. " in words.answer_sentence(found)


def test_without_a_user_in_nobodys_way_no_other_job_starts_earlier():
    world = make_world(2)
    last = world.submit[-1] + 30 * DAY
    alone = replace(
        world,
        submit=np.append(world.submit[:-1], last),
        user=np.append(world.user[:-1], "alone"),
    )
    found = answer(alone, [parsed("without-user alone")])

    assert found.not_submitted == 1
    assert "no other job starts earlier or later" in words.answer_sentence(found)
    assert {one.low for one in found.effects} == {1.0}


@pytest.mark.parametrize("submit", [[7.0], [7.0, 7.0]])
def test_jobs_of_one_instant_have_no_means_over_time(submit):
    """No time passes between the first submission and the last, so a utilization of 0 % would be false."""
    count = len(submit)
    world = replace(make_world(1, jobs=count), submit=np.array(submit), run=np.full(count, 100.0))
    found = answer(world, [parsed("cpus +100%")])
    page = report(found, "log")

    assert found.plain()["utilization"] == {"old": None, "new": None}
    assert not any("utilization" in fact.id or "backlog" in fact.id for fact in page.facts())
    assert not any("Utilization" in remark for remark in words.remarks(found))


def test_no_ratio_is_told_of_waits_that_a_minute_decides():
    """A mean wait of 0.4 s instead of 0 s was "1.01 times as long": a minute is added to each."""
    idle = replace(make_world(2, jobs=60), size=np.full(60, 1))
    short, middle = (replace(Effect("mean wait", 9, 0.0, 0.4, 1.01, 0.5, 2.0), old=old, new=new)
                     for old, new in ((0.0, 0.4), (90.0, 300.0)))  # fmt: skip
    found = replace(answer(idle, [parsed("load 0.9")]), is_unchanged=False)

    said = words.answer_sentence(replace(found, effects=(short,)))
    assert "wait for < 1 s on average instead of 0 s: waits of less than a minute are not told apart." in said
    assert "times as long, a minute added to each (" in words.answer_sentence(
        replace(found, effects=(middle,))
    )


def test_a_replay_in_which_nobody_waits_is_called_so():
    """It waited "0 times as long as recorded"."""
    idle = replace(make_world(2, jobs=60), size=np.full(60, 1), wait=np.full(60, 500.0))
    found = answer(idle, [parsed("load 0.9")])

    assert words.answer_sentence(found).endswith("without the change, no job waits, and recorded ones did.")


@pytest.mark.parametrize("change", ["cpus +20%", "cpus -10%", "scheduler fcfs", "requests perfect"])
def test_waits_before_and_after_are_those_of_the_ratio_beside_them(change):
    """They were of the first replay, and the ratio of all: 0.5 times as long stood beside more than that."""
    found = answer(make_world(6), [parsed(change)])

    for one in (*found.effects, *found.sizes, *found.queues):
        offset = 0 if one.is_slowdown else 60
        assert (one.new + offset) / (one.old + offset) == pytest.approx(one.ratio)
        assert one.low <= one.ratio <= one.high


def test_the_ratio_is_the_geometric_mean_of_independent_simulations():
    world = make_world(3)
    found = answer(world, [parsed("cpus +50%")])

    def mean(capacity, policy, estimate):
        jobs = Jobs.of(world.submit, world.run, np.minimum(world.size, capacity), estimate)
        return (backfilling.schedule(jobs, capacity, policy) - jobs.submit).mean() + 60

    large, smaller = world.capacity * 3 // 2, int(world.capacity * 0.98)
    ratios = [
        mean(large, "easy", world.requested) / mean(world.capacity, "easy", world.requested),
        mean(int(large * 0.98), "easy", world.requested) / mean(smaller, "easy", world.requested),
        mean(large, "conservative", world.requested) / mean(world.capacity, "conservative", world.requested),
        mean(large, "easy", world.run) / mean(world.capacity, "easy", world.run),
    ]

    olds = [
        mean(capacity, policy, estimate)
        for capacity, policy, estimate in (
            (world.capacity, "easy", world.requested), (smaller, "easy", world.requested),
            (world.capacity, "conservative", world.requested), (world.capacity, "easy", world.run),
        )
    ]  # fmt: skip

    assert [ratio for _, ratio in found.members] == pytest.approx(ratios)
    assert log(found.effects[0].old + 60) == pytest.approx(np.mean(np.log(olds)))
    assert log(found.effects[0].ratio) == pytest.approx(np.mean(np.log(ratios)))
    assert found.effects[0].new < found.effects[0].old


def test_the_interval_is_never_narrower_than_the_error_of_replays():
    found = answer(make_world(4), [parsed("cpus +10%")])

    for one in (*found.effects, *found.sizes, *found.queues):
        assert one.high / one.low >= exp(2 * 1.96 * MINIMUM_ERROR) * 0.999999


def test_the_interval_of_a_tail_has_the_error_of_tails():
    """It had that of mean waits, and held 40 of 60 answers on hidden machines of a fifth less."""
    plain = submitted(1, 100)
    world = replace(plain, wait=MACHINES["nine_tenths"](plain))
    found = answer(world, [parsed("cpus -10%")])
    (tail,) = (one for one in found.effects if one.name == TAIL.name)
    every = np.ones(len(world), bool)
    of_means, of_tails = (error_of(half_years(world, found.old.start, every, one)) for one in (None, 0.95))

    assert of_tails > 1.5 * of_means
    assert log(tail.high / tail.low) / 2 >= 1.96 * of_tails


def test_the_tail_is_the_quantile_of_the_waits():
    world = make_world(5)
    pair = Pair(Simulated.of(world), Simulated.of(replace(world, capacity=world.capacity * 2)))
    found = effect(TAIL, [pair], MINIMUM_ERROR)
    assert found is not None

    assert found.old == np.quantile(pair.old.wait, 0.95, method="inverted_cdf")
    assert found.ratio == pytest.approx(
        (np.quantile(pair.new.wait, 0.95, method="inverted_cdf") + 60) / (found.old + 60)
    )


def test_utilization_and_the_queue_are_those_of_a_sum_over_seconds():
    world = make_world(6, jobs=60, weeks=1)
    world = replace(world, submit=np.floor(world.submit / 600), run=np.ceil(world.run / 600))
    run = Simulated.of(world)
    seconds = np.arange(world.submit[0], world.submit[-1])
    busy = [world.size[(run.start <= now) & (now < run.start + world.run)].sum() for now in seconds]
    waiting = run.wait.sum() / world.span

    assert run.utilization == pytest.approx(np.mean(busy) / world.capacity)
    assert run.waiting == waiting


# --- Trust ---


def test_the_error_is_that_of_a_difference_of_two_blocks():
    rng = np.random.default_rng(1)
    blocks = rng.normal(0.5, 0.8, 4000)
    changes = blocks[::2] - blocks[1::2]

    assert error_of(blocks.tolist()) == pytest.approx(sqrt(np.mean(changes**2)), rel=0.05)


def test_half_years_are_whole():
    world = replace(make_world(7, weeks=60), wait=np.full(2000, 100.0))
    first, second = half_years(world, world.submit + 40.0, np.ones(2000, bool))

    assert (first, second) == pytest.approx((log(100 / 160), log(100 / 160)))


@pytest.mark.parametrize("change", ["scheduler fcfs", "without-user U0", "cpus -10%", "load 0.9"])
def test_an_answer_is_called_a_replay_first_and_then_how_sure_it_is(change):
    """However well the replay of the machine as it was follows the log."""
    made = make_world(8)
    found = answer(replace(made, wait=made.starts() - made.submit), [parsed(change)])
    sentence = words.answer_sentence(found)

    assert found.plan is None
    assert sentence.startswith("In a replay on an ideal machine, ")
    assert sentence.endswith(
        "Not validated against this log: replayed without the change, jobs wait 1.00 times as long as"
        " recorded."
    )
    assert not found.forecasts
    assert report(found, "log").answer == sentence


@pytest.mark.parametrize(("wait", "says"), [(np.nan, "which records no waits."), (0.0, "no job waited;")])
def test_what_a_replay_cannot_be_compared_with_is_told(wait, says):
    made = make_world(8)
    found = answer(replace(made, wait=np.full(len(made), wait)), [parsed("load 0.9")])

    assert f"Not validated against this log, {'' if np.isnan(wait) else 'in which '}{says}" in (
        words.answer_sentence(found)
    )


@pytest.mark.parametrize("change", ["cpus +20%", "cpus +50%"])
def test_more_processors_are_those_of_a_plan(change):
    """The rule of `gwa plan` answers, or says why it cannot; then the replay is called what it is."""
    made = Made.of(1, "short_kept")
    found = answer(made.world, [parsed(change)])
    sentence = words.answer_sentence(found)
    expected = plan(made.world, found.new.world.capacity, capacity_is_stated=True, has_curve=False)

    assert found.plan == expected
    assert [one.name for one in found.effects] == ["mean wait", "mean bounded slowdown"]
    if change == "cpus +20%":
        assert sentence == plan_words.sentences(expected)[0]
        assert sentence.startswith("With 20 % more processors ")
        assert [figure.id for figure in report(found, "log").figures()][:2] == ["before-after", "replayed"]
    else:
        assert not found.forecasts
        assert sentence.startswith("In a replay on an ideal machine, jobs wait for ")
        assert "Not validated against this log" in sentence
        assert words.remarks(found)[0].startswith("Cannot tell what the p95 wait of all jobs")
        refused = next(one for one in report(found, "log").tables() if one.id == "refused")
        assert len(refused.rows) >= 1


def test_a_machine_that_does_not_keep_up_is_given_no_ratio():
    """Jobs that need 70 % of a machine do not fit half of it: a longer log would have longer waits."""
    world = make_world(1)
    slow, fast = (answer(world, [parsed(f"cpus {change}")]) for change in ("-50%", "+20%"))
    facts = {fact.id: fact.value for fact in report(slow, "log").facts()}

    assert slow.falls_behind
    assert not fast.falls_behind
    assert "does not keep up with the jobs" in words.answer_sentence(slow)
    assert "such answers" not in words.answer_sentence(slow)
    assert facts["whatif.ratio"] is None
    assert {facts[f"whatif.{key}.{of}"] for key in KEYS.values() for of in ("ratio", "range")} == {None}
    (figure,) = (one for one in report(slow, "log").figures() if one.id == "replayed")
    assert "lie" not in figure.note
    assert facts["whatif.new_backlog"] == slow.new.backlog
    assert "keep up" not in words.answer_sentence(fast)


def test_the_backlog_is_the_work_that_waits_on_average():
    """Two jobs of 100 s on all of the machine, a second apart, and a last one at 200 s: 99 s of one wait."""
    world = replace(make_world(1, jobs=3), submit=np.array([0.0, 1.0, 200.0]), run=np.full(3, 100.0))
    world = replace(world, size=np.full(3, world.capacity), requested=np.full(3, 100.0))

    assert Simulated.of(world).backlog == pytest.approx(100 * 99 / 200)


def test_what_a_log_does_not_say_is_named():
    world = make_world(9, weeks=20)
    world = replace(world, wait=world.starts() - world.submit, requested=np.full(len(world), np.nan))
    gaps = " ".join(validate(world, world.starts(), capacity_is_stated=False).gaps)

    assert "No job records a requested time" in gaps
    assert "The size of the machine is not stated" in gaps
    waiting = replace(world, wait=np.full(len(world), np.nan))
    assert "records no waits" in validate(waiting, world.starts(), capacity_is_stated=True).gaps[0]


# --- Changes ---


@given(st.integers(1, 10**6), st.integers(-99, 400))
def test_sizes_are_stated_or_relative(capacity, percent):
    expected = round(capacity * (1 + percent / 100))
    text = f"{percent:+d}%"
    if expected >= 1:
        assert resized(capacity, text, "--cpus") == expected
    else:
        with pytest.raises(ArgumentError, match="leaves a machine of"):
            resized(capacity, text, "--cpus")
    assert resized(capacity, str(capacity + 7), "--cpus") == resized(capacity, "+7", "--cpus")


@pytest.mark.parametrize(
    "text",
    ["cpus x", "cpus 0", "cpus -100%", "cpus 5%", "cpus 1.5", "load 0", "load -1", "load 11", "load nan",
     "scheduler best", "requests none", "walltime-cap soon", "walltime-cap 0h", "walltime-cap 1s",
     "without-user nobody", "gpus many"],
)  # fmt: skip
def test_a_change_that_says_nothing_possible_is_refused(text):
    with pytest.raises(ArgumentError):
        changed(make_world(1), [parsed(text)])


@pytest.mark.parametrize("text", ["", "cpus", "disks +20%", "cpus  "])
def test_an_unknown_change_is_refused_with_what_is_known(text):
    with pytest.raises(ArgumentError, match=r"is not a change, expected one such as cpus \+20%"):
        parsed(text)


@given(st.integers(0, 50), st.floats(0.2, 3))
def test_a_load_is_reached_by_whole_weeks_of_users(seed, factor):
    world = make_world(1)
    new = changed(world, [parsed(f"load {factor:.3f}")], seed)
    week = np.floor((world.submit - world.submit[0]) / WEEK)
    keys = [f"{user} {number}" for user, number in zip(world.user, week, strict=True)]
    work = world.run * world.size
    largest = max(
        work[np.array(keys) == key].sum() for key in {keys[number] for number in np.argsort(-work)[:20]}
    )
    total = np.bincount(np.unique(keys, return_inverse=True)[1], work).max()

    assert abs((new.run * new.size).sum() - float(f"{factor:.3f}") * work.sum()) <= max(total, largest)
    assert (np.diff(new.submit) >= 0).all()
    assert new.submit[0] >= world.submit[0]
    assert new.submit[-1] <= world.submit[-1]
    own = new.job != NEW
    assert (new.submit[own] == world.submit[new.job[own]]).all()
    assert not np.isfinite(new.wait[~own]).any()


@given(st.integers(2, 200))
def test_a_limit_divides_jobs_and_keeps_their_work(hours):
    made = make_world(1)
    world = replace(made, wait=made.starts() - made.submit)
    new = changed(world, [parsed(f"walltime-cap {hours}h")])

    assert (new.run * new.size).sum() == pytest.approx((world.run * world.size).sum())
    assert new.run.max() <= hours * 3600
    assert new.requested.max() <= hours * 3600
    assert (np.diff(new.submit) >= 0).all()
    assert (np.sort(new.job[new.job != NEW]) == world.job).all()


def test_requests_are_perfect_or_doubled():
    world = make_world(1)
    world = replace(world, requested=np.where(np.arange(2000) % 2, world.requested, np.nan))

    assert (changed(world, [parsed("requests perfect")]).requested == world.run).all()
    doubled = changed(world, [parsed("requests doubled")]).requested
    assert (doubled == 2 * np.where(np.arange(2000) % 2, world.requested, world.run)).all()


def test_jobs_that_no_longer_fit_and_those_of_a_user_are_left_out_of_both_sides():
    world = make_world(1)
    found = answer(world, [parsed("without-user U0"), parsed("cpus -60%")])
    left = (world.user != "U0") & (world.size <= found.new.world.capacity)

    assert found.new.world.job.tolist() == world.job[left].tolist()
    assert found.not_submitted == (~left).sum()
    assert found.effects[0].jobs == left.sum()
    of_first = effect(WAIT, [Pair(found.old, found.new)], MINIMUM_ERROR)
    assert of_first is not None
    assert of_first.old == pytest.approx((world.starts() - world.submit)[left].mean())


def test_a_change_that_leaves_no_job_is_refused():
    with pytest.raises(ArgumentError, match="leaves no job"):
        answer(replace(make_world(1), user=np.full(2000, "U")), [parsed("without-user U")])


# --- Traces and the command line ---


def test_gpus_are_a_pool_of_their_own(make_store):
    rows = {
        "job_id": [1, 2, 3], "submit_time": [0, 10, 20], "wait_time": [0, 5, 0], "run_time": [60, 60, 60],
        "n_procs": [8, 8, 8], "n_gpus": [0.5, 2.0, None],
    }  # fmt: skip
    world = recorded(make_store(**rows), "easy", "GPUs")

    assert world.size.tolist() == [1, 2]
    assert world.capacity == 3  # busy at once, as nothing states the GPUs
    with pytest.raises(TraceError, match="no job records GPUs"):
        recorded(make_store(**{name: rows[name] for name in rows if name != "n_gpus"}), "easy", "GPUs")


def test_the_options_are_the_kinds_of_changes():
    assert {name.replace("_", "-") for name in CHANGES} == set(kinds())
    assert set(POLICIES) == set(backfilling.POLICIES)
    shown = CliRunner().invoke(gwa, ["whatif", "--help"]).output
    assert all(f"--{name}" in shown for name in kinds())


def test_the_command_answers_and_writes_a_page(tmp_path):
    done = CliRunner().invoke(
        gwa, ["whatif", TINY, "--cpus", "+20%", "--json", "-o", str(tmp_path / "out")], catch_exceptions=False
    )
    found = json.loads(done.stdout)
    page = (tmp_path / "out" / "whatif.html").read_text()

    assert done.exit_code == 0
    assert found["trust"]["is_validated"] is False
    assert [one["is_answered"] for one in found["plan"]["answers"]] == [False, False]
    assert found["processors"] == {"old": 48, "new": 58}
    assert "<h1><bdi>What if there were 58 processors instead of 48?</bdi></h1>" in page
    assert '<p class="found-out"><bdi>In a replay on an ideal machine, jobs wait for ' in page
    assert page.index("In a replay") < page.index("Mean wait now and changed") < page.index("Replays are of")
    assert page.count('class="note') == 0, "what it rests on stands in one table"
    assert (tmp_path / "out" / "whatif.json").exists()


def test_sentences_do_not_mix_with_a_piped_table():
    done = CliRunner().invoke(gwa, ["whatif", TINY, "--cpus", "+20%"], catch_exceptions=False)

    assert done.stdout.startswith("measure,jobs,now,changed,ratio,low,high\nmean wait,1179,")
    assert "\nmean wait: 1 % to 5 %," in done.stdout
    assert done.stderr.startswith("What if there were 58 processors instead of 48? In a replay on an ideal ")


@pytest.mark.parametrize("options", [[], ["--cpus", "4", "--gpus", "4"]])
def test_no_change_and_two_pools_are_errors_of_usage(options):
    assert CliRunner().invoke(gwa, ["whatif", TINY, *options]).exit_code == 2


# --- Real logs ---

REAL = ("KTH-SP2-1996-2.1-cln", "SDSC-Par-1996-3.1-cln", "HPC2N-2002-2.1-cln", "LANL-CM5-1994-4.1-cln",
        "CEA-Curie-2011-2.1-cln", "RICC-2010-2")  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not LOGS.exists(), reason="needs the logs of ../shared")
def test_changes_between_half_years_have_the_recorded_sign():
    """Where recorded mean waits of two half-years of a log differ by more than 25 %, so do simulated ones."""
    right, wrong = 0, []
    for name in REAL:
        world, simulated = replayed(name)
        half_year = np.floor((world.submit - world.submit[0]) / (26 * WEEK))
        known = np.isfinite(world.wait)
        blocks = [(half_year == number) & known for number in range(int(world.span / WEEK) // 26)]
        means = [(world.wait[rows].mean() + OFFSET, simulated[rows].mean() + OFFSET) for rows in blocks]
        for (wait, replay), (other, again) in combinations(means, 2):
            if abs(log(wait / other)) > log(1.25):
                is_right = (wait > other) == (replay > again)
                right += is_right
                wrong += [] if is_right else [name]

    assert right >= 10
    assert len(wrong) <= 1


LEVELS = {
    "KTH-SP2-1996-2.1-cln": 0.45,
    "SDSC-Par-1996-3.1-cln": 0.81,
    "HPC2N-2002-2.1-cln": 0.21,
    "LANL-CM5-1994-4.1-cln": 4.48,
    "CEA-Curie-2011-2.1-cln": 0.19,
    "RICC-2010-2": 2.29,
}
"""The replay's mean wait relative to that recorded."""


@pytest.mark.slow
@pytest.mark.skipif(not LOGS.exists(), reason="needs the logs of ../shared")
@pytest.mark.parametrize("name", REAL)
def test_replays_of_real_logs_do_not_wait_as_recorded(name):
    world, simulated = replayed(name)
    found = validate(world, simulated + world.submit, capacity_is_stated=True)

    assert found.level.ratio == pytest.approx(LEVELS[name], abs=0.006)


def replayed(name):
    """Return the world of a log, of which some waits may be unknown, and its simulated waits."""
    (path,) = (LOGS / "swf").glob(f"{name}*")
    with package.open(path) as trace:
        world = recorded(trace.store, "easy")
    world = world.only(world.size <= world.capacity)
    return world, world.starts() - world.submit


# --- As a dimension of experiments ---


def test_changes_are_a_dimension_of_an_experiment(tmp_path):
    """Each run is that of the changed world; the page says which size keeps waits below the limit."""
    done = CliRunner().invoke(
        gwa, ["simulate", str(HOME / "experiments" / "capacity.toml"), "-o", str(tmp_path), "--jobs", "1"]
    )
    assert done.exit_code == 0, done.stderr
    with package.open(TINY) as trace:
        world = recorded(trace.store, "easy")
    with (tmp_path / "results.csv").open() as text:
        rows = {row["change"]: row for row in csv.DictReader(text)}

    assert list(rows) == ["none", "cpus +25%", "cpus +50%", "cpus +100%", "cpus +200%"]
    for change, row in rows.items():
        one = world if change == "none" else changed(world, [parsed(change)])
        wait = one.starts() - one.submit
        assert float(row["wait"]) == pytest.approx(wait.mean())
        assert float(row["wait_p95"]) == pytest.approx(np.quantile(wait, 0.95, method="inverted_cdf"))
        assert int(row["processors"]) == one.capacity
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["answer"].startswith(
        "With 144 processors, 95 % of the jobs wait for less than 1 h; with 96, "
    )
