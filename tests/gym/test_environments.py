"""The environments: what a scheduler outside can do, and that the simulator's policies give its schedules."""

import subprocess
import sys
from functools import cache
from itertools import pairwise

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import gwa
from gwa.errors import ArgumentError, SimulationError
from gwa.gym import FEATURES, POLICIES, REWARDS, Workload, easy, fcfs, play, sjbf, sjf
from gwa.simulation.backfilling import schedule
from gwa.simulation.jobs import Jobs
from gwa.simulation.metrics import bounded_slowdown, wait
from gwa.simulation.stepwise import Stepwise
from tests.conftest import HOME

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"
IDS = ("gwa/Backfill-v0", "gwa/Schedule-v0")
EVERY = pytest.mark.parametrize("name", IDS)
CPUS = 6
MANY = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 9), st.integers(1, CPUS), st.integers(0, 12)),
    min_size=1,
    max_size=14,
)


@cache
def sample():
    with gwa.sample("swf") as trace:
        return Workload.of(trace, load=0.9)


@cache
def generated():
    return Workload.of("lublin", cpus=128, load=0.85, seed=3, generated=6_000)


def made(rows):
    return Workload("made", Jobs.of(*np.array(rows, float).T), CPUS)


def whole(name, workload, **changes):
    """Return an environment whose episode is all of a workload, with a window that holds it."""
    options = {"window": max(len(workload.jobs), 2)} | changes
    return gymnasium.make(name, workload=workload, jobs=None, **options)


def steps(env, policy, seed=None):
    """Yield what each step returns."""
    observation, info = env.reset(seed=seed)
    over = False
    while not over:
        observation, reward, over, truncated, info = env.step(policy(observation, info))
        assert not truncated
        yield observation, reward, over, info


# --- The simulator's schedules ---


@EVERY
@pytest.mark.parametrize("workload", [sample, generated])
def test_5000_steps_of_easy_are_the_schedule_of_the_simulator_start_by_start(name, workload):
    jobs = workload().jobs
    expected = schedule(jobs, workload().cpus, "easy") - jobs.submit[0]
    count, seen = 0, []
    # Few rows: those that may start are seen, however many wait.
    for _, _, _, info in steps(whole(name, workload(), window=8), easy):
        count += 1
        seen.append(info["time"])
    assert np.array_equal(info["start"], expected)
    assert all(before <= after for before, after in pairwise(seen))
    if workload is sample or name == "gwa/Schedule-v0":
        assert count >= 5_000


@EVERY
@settings(max_examples=300)
@given(rows=MANY)
def test_easy_is_easy_whatever_the_jobs(name, rows):
    workload = made(rows)
    expected = schedule(workload.jobs, CPUS, "easy") - workload.jobs.submit[0]
    for window in (2, 20):
        info = play(whole(name, workload, window=window), easy)
        assert info["start"].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("name", "policy"),
    [("gwa/Backfill-v0", "fcfs"), ("gwa/Schedule-v0", "fcfs"), ("gwa/Schedule-v0", "sjf")],
)
@settings(max_examples=300)
@given(rows=MANY)
def test_first_come_and_shortest_are_those_of_the_simulator(name, policy, rows):
    workload = made(rows)
    expected = schedule(workload.jobs, CPUS, policy) - workload.jobs.submit[0]
    assert play(whole(name, workload), POLICIES[policy])["start"].tolist() == expected.tolist()


@pytest.mark.parametrize(("policy", "name"), [("fcfs", IDS[0]), ("fcfs", IDS[1]), ("sjf", IDS[1])])
def test_first_come_and_shortest_of_a_part_of_a_log(policy, name):
    env = gymnasium.make(name, workload=generated(), jobs=1500, window=1500)
    info = play(env, POLICIES[policy], seed=2)
    episode = generated().episode(info["first_job"], 1500)
    assert np.array_equal(info["start"], schedule(episode, generated().cpus, policy))


def test_the_shortest_that_may_start_is_started():
    # One processor is left beside the first job until 100, when the second, of all six, has its reservation.
    rows = [(0, 100, 5, 100), (1, 10, 6, 10), (2, 50, 1, 50), (3, 20, 1, 20), (4, 99, 1, 99)]
    assert play(whole("gwa/Backfill-v0", made(rows)), sjbf)["start"].tolist() == [0, 100, 2, 52, 110]
    info = play(whole("gwa/Schedule-v0", made([*rows, (2, 20, 1, 20)])), sjbf)
    assert info["start"].tolist() == [0, 100, 42, 2, 22, 110]


# --- What holds whatever is chosen ---


@EVERY
@settings(max_examples=200)
@given(rows=MANY, seed=st.integers(0, 99), masked=st.booleans())
def test_any_choice_gives_a_schedule_that_the_machine_can_run(name, rows, seed, masked):
    workload, rng = made(rows), np.random.default_rng(seed)

    def drawn(_, info):
        allowed = info["action_mask"].astype(bool) if masked else np.ones(4, bool)
        return rng.choice(np.flatnonzero(allowed))

    *_, info = (last for *_, last in steps(whole(name, workload, window=4), drawn))
    jobs, start = workload.episode(0, len(workload.jobs)), info["start"]
    assert (start >= jobs.submit).all()
    for time in start:
        running = (start <= time) & (time < start + jobs.run)
        assert jobs.procs[running].sum() <= CPUS
    assert info["masked_actions"] == 0 or not masked


@settings(max_examples=200)
@given(rows=MANY, seed=st.integers(0, 99))
def test_whatever_is_backfilled_no_reservation_is_missed(rows, seed):
    workload, rng = made(rows), np.random.default_rng(seed)
    env = whole("gwa/Backfill-v0", workload)
    observation, info = env.reset()
    promised: dict[int, float] = {}
    over = False
    while not over:
        if info["job"][0] >= 0:
            cluster = env.unwrapped._cluster  # noqa: SLF001 - no float32
            promised.setdefault(int(info["job"][0]), cluster.reservation()[0])
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        observation, _, over, _, info = env.step(action)
    assert not observation.any()
    assert [job for job, time in promised.items() if info["start"][job] > time] == []


@EVERY
def test_a_forbidden_action_is_taken_as_0_and_counted(name):
    env = whole(name, made([(0, 100, 5, 100), (1, 10, 6, 10), (2, 50, 1, 50), (3, 200, 2, 200)]), window=8)
    info = play(env, lambda _observation, _info: 7)
    assert info["masked_actions"] > 0
    assert np.array_equal(info["start"], play(env, fcfs)["start"])


def test_what_would_delay_the_first_is_masked():
    rows = [(0, 100, 5, 100), (1, 10, 6, 10), (2, 50, 1, 50), (3, 200, 1, 200)]
    env = whole("gwa/Backfill-v0", made(rows), window=8)
    observation, info = env.reset()
    assert info["job"].tolist()[:3] == [1, 2, -1]
    _, _, _, _, info = env.step(0)
    assert info["job"].tolist()[:4] == [1, 2, 3, -1]
    assert info["action_mask"].tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
    assert info["may_start"].tolist()[:3] == [False, True, False]
    assert env.unwrapped.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
    assert observation.dtype == np.float32


def test_the_observation_is_what_its_columns_say():
    rows = [(0, 100, 5, 100), (1, 10, 6, 10), (2, 50, 1, 50)]
    env = whole("gwa/Backfill-v0", made(rows), window=4)
    observation, _ = env.reset()
    seen = [dict(zip(FEATURES, row, strict=True)) for row in observation.tolist()]
    longest = np.log1p(30 * 86400)
    shared = {"free": 1 / 6, "reservation": np.log1p(98) / longest, "spare": 0, "queue": 2 / 6}
    first = {"waits": 1, "wait": np.log1p(1) / longest, "requested": np.log1p(10) / longest}
    second = {"waits": 1, "wait": 0, "requested": np.log1p(50) / longest}
    assert seen[0] == pytest.approx(first | {"processors": 1, "fits": 0, "may_start": 0} | shared)
    assert seen[1] == pytest.approx(second | {"processors": 1 / 6, "fits": 1, "may_start": 1} | shared)
    assert not observation[2:].any()


@EVERY
@pytest.mark.parametrize("reward", REWARDS)
def test_the_return_is_minus_the_cost_of_the_episode(name, reward):
    env = gymnasium.make(name, workload=sample(), jobs=300, reward=reward)
    for seed, policy in enumerate((easy, fcfs, sjf)):
        every = list(steps(env, policy, seed))
        total, info = sum(reward for _, reward, _, _ in every), every[-1][-1]
        jobs = sample().episode(info["first_job"], 300)
        slowdown, waited = bounded_slowdown(jobs, info["start"]).mean(), wait(jobs, info["start"]).mean()
        cost = {"bounded_slowdown": slowdown - 1, "wait": waited}[reward]
        assert total == pytest.approx(-cost, rel=1e-9)
        assert (info["mean_bounded_slowdown"], info["mean_wait"]) == pytest.approx((slowdown, waited))
        assert all(one <= 0 for _, one, _, _ in every)


def test_an_episode_without_a_choice_ends_with_its_first_step():
    env = whole("gwa/Backfill-v0", made([(0, 5, 1, 5), (1, 5, 1, 5)]))
    observation, info = env.reset()
    assert not observation.any()
    assert info["start"].tolist() == [0, 1]
    assert env.step(0)[1:4] == (0.0, True, False)


# --- Gymnasium ---


@EVERY
@pytest.mark.parametrize("workload", [TINY, "lublin"])
def test_it_passes_the_checker_of_gymnasium(name, workload):
    env = gymnasium.make(name, workload=workload, jobs=60, window=8, load=1.0, generated=500)
    check_env(env.unwrapped, skip_render_check=True)


@EVERY
def test_a_seed_draws_the_episode(name):
    first, second = (gymnasium.make(name, workload=sample(), jobs=50, seed=5) for _ in range(2))
    drawn = [[env.reset()[1]["first_job"] for _ in range(5)] for env in (first, second)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 1
    assert first.reset(seed=9)[1]["first_job"] == second.reset(seed=9)[1]["first_job"]
    assert first.reset(options={"first_job": 77})[1]["first_job"] == 77


def test_each_kind_of_workload_is_taken(tmp_path):
    fitted = gwa.fit(TINY, "lublin")
    fitted.save(tmp_path / "lublin.json")
    for model in (fitted, tmp_path / "lublin.json"):
        workload = Workload.of(model, cpus=48, generated=300, seed=4)
        with gwa.generate(fitted, jobs=300, seed=4, cpus=48) as trace:
            assert workload.jobs.run.tolist() == trace.jobs()["run_time"].tolist()
        assert (len(workload.jobs), workload.cpus) == (300, 48)
    with gwa.open(TINY) as trace:
        assert len(Workload.of(trace.filter("n_procs > 1")).jobs) < len(Workload.of(TINY).jobs)
        env = gymnasium.make(IDS[0], workload=trace, jobs=20)
        assert len(play(env, easy, seed=0)["start"]) == 20


def test_jobs_that_are_left_out_are_counted():
    with gwa.open(TINY) as trace:
        wide = int(trace.sql("select count(*) as n from ran where n_procs > 16")["n"][0])
        recorded, small = Workload.of(trace), Workload.of(trace, cpus=16)
    assert wide > 0
    assert small.left_out - recorded.left_out == wide
    assert len(small.jobs) + small.left_out == len(recorded.jobs) + recorded.left_out == 1200


def test_a_load_is_reached():
    jobs = Workload.of(TINY, cpus=64, load=0.8).jobs
    assert (jobs.run * jobs.procs).sum() / (64 * np.ptp(jobs.submit)) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 1}, "window is 1, expected at least 2 rows"),
        ({"reward": "joy"}, "there is no reward 'joy', expected one of bounded_slowdown, wait"),
        ({"render_mode": "human"}, "render_mode is 'human', expected None"),
        ({"jobs": 5000}, "an episode of 5000 jobs, expected 1 to "),
        ({"jobs": 0}, "an episode of 0 jobs, expected 1 to "),
        ({"cpus": 0}, "cpus is 0, expected at least 1"),
        ({"load": -1}, "load is -1, expected a number above 0"),
        ({"workload": "no-such"}, "there is no file and no model 'no-such', expected a trace or one of"),
        ({"workload": made([(0, 1, 1, 1)]), "cpus": 4}, "expected no cpus and no load with it"),
    ],
)
def test_what_cannot_be_met_is_said(options, message):
    with pytest.raises((ArgumentError, SimulationError), match=message):
        gwa_gym().Backfill(**({"workload": TINY} | options))


def gwa_gym():
    import gwa.gym

    return gwa.gym


def test_an_episode_out_of_the_workload_is_refused():
    env = gymnasium.make(IDS[0], workload=made([(0, 1, 1, 1)]), jobs=1)
    with pytest.raises(ArgumentError, match="first_job is 1, expected 0 to 0"):
        env.reset(options={"first_job": 1})


def test_the_cluster_refuses_what_cannot_start():
    cluster = Stepwise(Jobs.of([0, 0], [5, 5], [4, 4]), CPUS)
    cluster.advance()
    cluster.start(1)
    with pytest.raises(SimulationError, match="job 0 needs 4 processors, and 2 are free"):
        cluster.start(0)
    with pytest.raises(SimulationError, match="job 1 does not wait"):
        cluster.start(1)
    cluster.advance()
    with pytest.raises(SimulationError, match="no job runs and none is to be submitted"):
        cluster.advance()


def test_without_gymnasium_is_said_what_to_install():
    program = "import sys; sys.modules['gymnasium'] = None; import gwa.gym"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "`pip install 'gridworkloads[gym]'` installs it" in done.stderr
    assert done.returncode == 1
