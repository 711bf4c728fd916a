"""A policy of one's own: what it sees, that its jobs start when it says so, and what it does wrong."""

import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gwa
from gwa.errors import SimulationError
from gwa.evaluation.whatif.world import recorded
from gwa.simulation.backfilling import known, schedule
from gwa.simulation.jobs import Jobs
from gwa.simulation.policy import policy_called
from tests.conftest import HOME
from tests.simulation import own

CPUS = 6
HERE = own.__name__
POLICIES = ("fcfs", "easy", "easy_by_reservation", "ShortestKnown", "clairvoyant", "hourly")
MANY = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 9), st.integers(1, CPUS), st.integers(0, 12)),
    min_size=1,
    max_size=14,
)
SAME = {"fcfs": "fcfs", "easy": "easy", "easy_by_reservation": "easy"}
"""The policies of the simulator that those of one's own are."""


def jobs_of(rows):
    jobs = Jobs.of(*np.array(rows, float).T)
    return replace(jobs, user=np.array([f"U{number % 3}" for number in range(len(jobs))]))


@pytest.fixture
def define(monkeypatch):
    """Return what makes policies of the lines of a module called *mine*."""

    def defined(text):
        module = ModuleType("mine")
        exec(text, vars(module))  # noqa: S102 - the tests' own
        monkeypatch.setitem(sys.modules, "mine", module)
        return "mine:policy"

    return defined


# --- Schedules ---


@pytest.mark.parametrize("name", SAME)
@settings(max_examples=300)
@given(rows=MANY)
def test_what_is_written_as_the_simulator_schedules_starts_each_job_when_it_does(name, rows):
    jobs = jobs_of(rows)
    assert schedule(jobs, CPUS, f"{HERE}:{name}").tolist() == schedule(jobs, CPUS, SAME[name]).tolist()


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("log", ["sample", "swf/KTH-SP2-1996-2.1-cln.swf.gz"])
def test_it_does_so_on_a_log(name, log, request):
    path = HOME / "sample_traces" / "swf" / "tiny.swf"
    with gwa.open(path if log == "sample" else request.getfixturevalue("logs") / log) as trace:
        world = recorded(trace.store, "easy")
    fitting = world.only(world.size <= world.capacity)
    expected = replace(fitting, policy=SAME[name]).starts()
    assert np.array_equal(replace(fitting, policy=f"{HERE}:{name}").starts(), expected)


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=200)
@given(rows=MANY)
def test_a_policy_sees_and_does_what_the_slow_loop_says(name, rows):
    jobs, policy, states = jobs_of(rows), getattr(own, name), []

    class Spied:
        clairvoyant = getattr(policy, "clairvoyant", False)

        def __init__(self):
            self.asked = policy() if isinstance(policy, type) else policy

        def __call__(self, state):
            states.append(replace(state, waiting=list(state.waiting)))
            return self.asked(state)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own, "spied", Spied, raising=False)
        starts = schedule(jobs, CPUS, f"{HERE}:spied")
    expected, seen = own.slow_starts(policy, jobs, CPUS, jobs.user)

    assert starts.tolist() == expected
    assert [replace(state, again=0) for state in states] == [replace(state, again=0) for state in seen]


# --- What is seen ---


def test_run_times_are_seen_by_the_clairvoyant_only():
    jobs = Jobs.of([0, 0, 0], [5, 3, 9], [4, 4, 4], [10, 10, 10])
    assert schedule(jobs, 4, f"{HERE}:clairvoyant").tolist() == [3, 0, 8]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own.clairvoyant, "clairvoyant", False)
        with pytest.raises(SimulationError, match="clairvoyant, at 0 s: TypeError: "):
            schedule(jobs, 4, f"{HERE}:clairvoyant")


def test_a_policy_is_asked_again_when_it_says_so():
    jobs = Jobs.of([1, 2, 7], [1, 20, 1], [1, 4, 1])
    assert schedule(jobs, 4, f"{HERE}:hourly").tolist() == [5, 10, 30]


def test_what_a_policy_prints_is_no_result(define, capsys):
    name = define("def policy(cluster):\n    print('hello')\n    return cluster.waiting")
    schedule(Jobs.of([0], [1], [1]), 1, name)
    assert capsys.readouterr() == ("", "hello\n")


# --- What is wrong ---


WRONG = {
    "return []": r"starts no job, though nothing else is to happen; job 0 is the first that waits",
    "return [cluster.waiting[0]] * 2": r"starts job 0 twice",
    "return cluster.waiting": r"starts job 1 on 3 processors, and 2 are free",
    "return [cluster.waiting[0]._replace(number=2)]": r"starts job 2, which does not wait",
    "return [cluster.waiting[0]._replace(number=-1)]": r"starts job -1, which does not wait",
    "return [1]": r"returns int, expected jobs that wait",
    "return 'no'": r"returns str, expected jobs that wait",
    "return None": r"TypeError: 'NoneType' object is not iterable",
    "raise KeyError('what')": r"KeyError: 'what'",
    "yield cluster.waiting[0]; raise KeyError('what')": r"KeyError: 'what'",
    "raise SystemExit(3)": r"SystemExit: 3",
    "cluster.ask_again(0.5); return []": r"asks to be asked again at 0\.5 s, expected a second later",
    "cluster.ask_again(float('nan')); return []": r"asks to be asked again at nan s",
}


@pytest.mark.parametrize("body", WRONG)
def test_what_a_policy_does_wrong_is_an_error_of_a_line(body, define):
    name = define(f"def policy(cluster):\n    {body}")
    with pytest.raises(SimulationError, match=f"^policy mine:policy, at 0 s: {WRONG[body]}") as error:
        schedule(Jobs.of([0, 0], [1, 1], [2, 3]), 4, name)
    assert "\n" not in str(error.value)


def test_a_policy_that_always_asks_again_ends(define, monkeypatch):
    monkeypatch.setattr("gwa.simulation.policy.MAXIMUM_IDLE", 100)
    name = define("def policy(cluster):\n    cluster.ask_again(cluster.time + 1)\n    return []")
    with pytest.raises(SimulationError, match="at 100 s: starts no job"):
        schedule(Jobs.of([0], [1], [1]), 4, name)


def test_a_class_that_cannot_be_made_is_named(define):
    with pytest.raises(SimulationError, match=r"^policy mine:policy: TypeError: .*argument"):
        schedule(Jobs.of([0], [1], [1]), 4, define("class policy:\n    def __init__(self, more): ..."))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "lottery",
            "'lottery' is not a policy, expected one of fcfs, sjf, sjf-backfill, easy, conservative or",
        ),
        ("nowhere:policy", "policy nowhere:policy: ModuleNotFoundError: No module named 'nowhere'; expected"),
        ("math:policy", "policy math:policy: math has no policy, expected a function of that name"),
        ("math:pi", "policy math:pi: is a float, expected a function"),
        (":policy", "':policy' is not the name of a policy, expected one such as package:function"),
        ("os:path.join", "'os:path.join' is not the name of a policy"),
        ("..mine:policy", "'..mine:policy' is not the name of a policy"),
        ("mine:policy:more", "'mine:policy:more' is not the name of a policy"),
    ],
)
def test_a_name_that_leads_nowhere_is_told(name, said):
    with pytest.raises(SimulationError) as error:
        known(name)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["def policy(:\n", "raise ValueError('a\\nb')", "raise SystemExit"])
def test_a_module_that_cannot_be_imported_is_told(text, tmp_path, monkeypatch):
    (tmp_path / "broken_policy.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(
        SimulationError, match=r"^policy broken_policy:policy: \w+: .*; expected a module"
    ) as error:
        policy_called("broken_policy:policy")
    assert "\n" not in str(error.value)
