"""
What a change touches of the waiting, and what is refused, in worlds in which it is known why jobs wait.

The reference is the scheduler of these worlds, run again on the changed machine.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import tests.claims.waiting as made
from gwa.cli import gwa
from gwa.errors import ArgumentError, TraceError
from gwa.evaluation.capacity.rule import planned
from gwa.evaluation.touched import MAXIMUM_BY_RULES, REPLAYED, touched, user_ceilings
from gwa.evaluation.whatif import words
from gwa.evaluation.whatif.answer import asked
from gwa.evaluation.whatif.change import changed, kinds, parsed
from gwa.evaluation.whatif.page import report
from gwa.evaluation.whatif.world import recorded
from gwa.formats.registry import writer
from gwa.metrics.waiting import CONDITIONS, Waiting, waiting
from gwa.metrics.waiting_ceilings import Ceiling
from tests.claims.waiting import WORLDS, Scheduler
from tests.evaluation.test_whatif import make_world
from tests.metrics.test_waiting import header

SEED = 500


def a_log(make_store, name, seed=SEED):
    columns, _ = Scheduler(WORLDS[name], seed).log()
    return make_store(header(made.CPUS), **columns)


def waits(scheduler):
    return np.array(scheduler.log()[0]["wait_time"])


def moments(**shares):
    """Return the waiting of 10,000 moments with given shares, in which all else is open."""
    conditions = np.full(10_000, CONDITIONS.index("open"))
    first = 0
    for name, share in shares.items():
        conditions[first : (first := first + round(share * 10_000))] = CONDITIONS.index(name)
    return Waiting(conditions=conditions, places=np.arange(10_000), capacity=64.0)


# --- How much is touched ---


@given(st.lists(st.integers(0, 100), min_size=len(CONDITIONS), max_size=len(CONDITIONS)).filter(any))
def test_shares_are_those_of_the_conditions_and_rules_what_no_replay_has(weights):
    total = sum(weights)
    shares = {name: weight / total for name, weight in zip(CONDITIONS, weights, strict=True)}
    found = moments(**{name: share for name, share in shares.items() if name != "open"})
    told = touched(found, REPLAYED)

    assert told.is_bound == "none"
    assert told.share == pytest.approx(sum(shares[name] for name in REPLAYED), abs=0.002)
    assert told.by_rules == pytest.approx(shares["open"] + shares["ceiling"], abs=0.002)
    without = touched(found, REPLAYED, with_ceilings=False)
    assert without.by_rules == pytest.approx(shares["open"], abs=0.002)
    assert told.is_by_rules == ((told.by_rules or 0.0) > MAXIMUM_BY_RULES)


def test_a_bound_is_called_one_and_what_is_unknown_has_no_share():
    known = moments(full=0.5, larger=0.25)
    missing = replace(known, is_bound="full_at_least", missing="20 % of the numbers of jobs are absent")
    shared = replace(known, partitions="overlapping")
    inferred = replace(known, is_bound="room_at_least", is_inferred=True)

    assert touched(known, REPLAYED).sentence() == (
        "75 % of the waiting was under conditions that this change touches: 50 % while fewer processors were"
        " free than the job asked for, 25 % beside a larger job that waited."
    )
    assert touched(inferred, REPLAYED).sentence().startswith("At most 75 % of the waiting was")
    assert touched(missing, REPLAYED).sentence() == (
        "At least 50 % of the waiting was under conditions that this change touches: 50 % while fewer"
        " processors were free than the job asked for (20 % of the numbers of jobs are absent)."
    )
    assert touched(shared, REPLAYED).sentence().endswith("(partitions share processors).")
    for one in (touched(missing, ("ceiling",)), touched(replace(known, why_unknown="of two"), REPLAYED)):
        assert (one.share, one.is_bound) == (None, "unknown")
        assert "cannot be told" in one.sentence()
    for one in (touched(missing, REPLAYED), touched(shared, REPLAYED)):
        assert one.by_rules is None
        assert not one.is_by_rules
    few = Waiting(conditions=np.zeros(10, int), places=np.arange(10))
    assert "waited too little" in touched(few, REPLAYED).sentence()
    assert "Hardly any" in touched(known, ("ceiling",)).sentence()


def test_each_change_says_which_conditions_it_touches():
    assert all(set(one.touches) <= set(CONDITIONS) and one.touches for one in kinds().values())
    assert kinds()["limit"].touches == ("ceiling",)
    assert not any({"held", "ceiling", "open"} & set(kinds()[name].touches) for name in ("cpus", "gpus"))


@pytest.mark.slow
def test_with_many_processors_no_more_vanishes_than_is_touched(make_store, monkeypatch):
    beyond, logs = 0, 0
    for name, world in WORLDS.items():
        for seed in range(500, 506):
            found = waiting(a_log(make_store, name, seed))
            before, more = waits(Scheduler(world, seed)), Scheduler(world, seed)
            with monkeypatch.context() as patch:
                patch.setattr(made, "CPUS", 20 * made.CPUS)
                after = waits(more)
            share = touched(found, REPLAYED).share
            held = (found.shares() or {})["held"]
            assert share is not None
            beyond += 1 - after.sum() / before.sum() > share + held + 0.05
            logs += 1
    assert beyond <= 0.05 * logs


# --- What is refused ---


def test_where_ceilings_rule_another_size_is_refused_and_a_replay_with_them_offered(make_store):
    store = a_log(make_store, "limit of processors")
    with pytest.raises(TraceError) as refused:
        asked(store, [parsed("cpus +20%")])
    assert "or at a ceiling of the owner, for reasons that no replay knows, expected at most 20 %" in str(
        refused.value
    )
    assert "With --limit user=32 the ceilings of users are replayed, too" in str(refused.value)
    found = asked(store, [parsed("limit user=32"), parsed("cpus +20%")])
    assert found.touched is not None
    assert not found.touched.is_by_rules
    assert set(found.old.world.ceilings.values()) == set(found.new.world.ceilings.values()) == {32}
    told = planned(store, "+20%")
    assert {reason.id for one in told.outcomes for reason in vars(one).get("reasons", ())} >= {"rules"}
    assert told.touched is not None
    assert told.touched.sentence() == touched(waiting(store), REPLAYED).sentence()


def test_where_no_rule_kept_jobs_waiting_nothing_is_refused(make_store):
    store = a_log(make_store, "backfilled")
    found = asked(store, [parsed("cpus +20%")])
    assert not words.reach(found)[1:]
    assert found.plain()["waiting"] == (found.touched.plain() if found.touched else None)
    reasons = {reason.id for one in planned(store, "+20%").outcomes for reason in vars(one)["reasons"]}
    assert "rules" not in reasons
    facts = {fact.id: fact.value for fact in report(found, "log").facts()}
    assert facts["whatif.touched"] == pytest.approx(1, abs=0.01)
    assert facts["whatif.by_rules"] == pytest.approx(0, abs=0.01)


def test_of_other_changes_it_is_said_what_a_replay_does_not_know(make_store):
    found = asked(a_log(make_store, "limit of processors"), [parsed("scheduler fcfs")])
    first, second = words.reach(found)
    assert "under conditions that this change touches" in first
    assert second.endswith("for reasons that no replay knows.")


# --- Ceilings of users ---


def test_without_ceilings_jobs_wait_as_where_there_are_none(make_store):
    """The direction is that of the same jobs in the same world without the limit, and about as much."""
    store = a_log(make_store, "limit of processors")
    limited, free = (Scheduler(WORLDS["limit of processors"], SEED) for _ in range(2))
    free.world = replace(free.world, most_processors=np.inf)
    truth = waits(free).mean() / waits(limited).mean()
    found = asked(store, [parsed("limit user=none")])

    assert not found.new.world.ceilings
    assert "u" in "".join(found.old.world.ceilings)
    assert words.question(found) == "What if no user had a ceiling?"
    assert any("has the ceilings of users that the log shows: " in one for one in words.remarks(found))
    assert found.effects[0].ratio == pytest.approx(truth, rel=0.5)
    assert truth < 0.7
    assert [name for name, _ in found.members if "kind of backfilling" in name] == []


def test_lower_ceilings_leave_out_what_no_longer_fits_and_hold_in_the_replay():
    world = replace(make_world(3), policy="easy")
    new = changed(world, [parsed("limit user=4")])
    start = new.starts()

    assert new.size.max() <= 4
    assert len(new) == (world.size <= 4).sum()
    for user in set(new.user.tolist()):
        own = new.user == user
        times = np.concatenate([start[own] + new.run[own], start[own]])
        held = np.cumsum(np.concatenate([-new.size[own], new.size[own]])[np.argsort(times, kind="stable")])
        assert held.max() <= 4


@pytest.mark.parametrize("text", ["4", "user=", "user=0", "user=-3", "user=some", "project=4", "user=none"])
def test_a_ceiling_that_says_nothing_possible_is_refused(text):
    with pytest.raises(ArgumentError, match="--limit"):
        changed(make_world(1), [parsed(f"limit {text}")])


def test_a_log_whose_jobs_have_no_users_has_no_user(make_store):
    """An engine masks what is unknown; all such jobs are not those of one user."""
    store = make_store(
        (("MaxProcs", "64"),), submit_time=[0.0, 1.0], wait_time=[0.0, 0.0], run_time=[60.0, 60.0],
        n_procs=[2, 2], user_id=[None, "a"], queue_id=[None, "q"],
    )  # fmt: skip
    world = recorded(store, "easy")
    assert (world.user.tolist(), world.queue.tolist()) == (["", "a"], ["", "q"])


def test_ceilings_need_users_and_are_of_processors():
    world = make_world(1)
    with pytest.raises(ArgumentError, match="does not record users"):
        changed(replace(world, user=np.full(len(world), "")), [parsed("limit user=4")])
    with pytest.raises(ArgumentError, match="is of processors"):
        changed(replace(world, unit="GPUs"), [parsed("limit user=4")])


def test_ceilings_of_users_are_read_where_the_log_cannot_tell_whose_they_are():
    found = replace(
        moments(),
        ceilings=(
            Ceiling("user", "a", "processors", 32.0),
            Ceiling("partition", "p", "processors", 16.0, same=("user b", "qos q")),
            Ceiling("user", "c", "jobs", 3.0),
        ),
    )
    assert user_ceilings(found) == {"a": 32, "b": 16}


def test_the_command_says_what_is_touched_and_refuses_in_a_line(make_store, tmp_path):
    path = tmp_path / "limited.gwf"
    writer(path).save(a_log(make_store, "limit of processors"), path)
    refused = CliRunner().invoke(gwa, ["whatif", str(path), "--cpus", "+20%"])
    assert refused.exit_code == 1
    assert str(refused.exception).startswith("what another size does to waits cannot be told: 7")
    done = CliRunner().invoke(gwa, ["whatif", str(path), "--limit", "user=none", "--json"])
    answer = json.loads(done.stdout)
    assert answer["waiting"]["shares"]["ceiling"] == pytest.approx(0.74, abs=0.01)
    assert set(answer["ceilings"].values()) == {32}
    told = CliRunner().invoke(gwa, ["plan", str(path), "--json"])
    assert json.loads(told.stdout)["waiting"]["by_rules"] > MAXIMUM_BY_RULES
