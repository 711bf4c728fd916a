"""Whether the machine was large enough, against a machine that is watched second by second."""

import numpy as np
import pytest

from gwa.metrics.window import window
from tests.analysis.sections.blocks import ABSOLUTE, START, facts, notes

CPUS = 10


def jobs(seed, many=400, wait=3000.0):
    """Return jobs of two days, most of them short, half of which wait."""
    rng = np.random.default_rng(seed)
    waits = np.where(rng.random(many) < 0.5, 0.0, np.round(rng.exponential(wait, many)))
    return {
        "submit_time": (START + np.sort(rng.integers(0, 172_800, many))).astype(float).tolist(),
        "wait_time": waits.tolist(),
        "run_time": np.round(rng.exponential(1200, many) + 1).tolist(),
        "n_procs": rng.integers(1, 6, many).tolist(),
    }


def watched(given, first, last):
    """Return the processors of running, and of running and waiting, jobs in each second of a period."""
    length = int(last - first)
    running, needed = np.zeros(length), np.zeros(length)
    for submit, wait, run, procs in zip(*given.values(), strict=True):
        begin, start, end = (
            int(np.clip(t - first, 0, length)) for t in (submit, submit + wait, submit + wait + run)
        )
        running[start:end] += procs
        needed[begin:end] += procs
    return running, needed


@pytest.mark.parametrize("seed", range(5))
def test_demand_is_that_of_a_machine_watched_by_the_second(section, make_store, seed):
    given = jobs(seed)
    store = make_store(ABSOLUTE, **given)
    first, last = window(store).period or (0.0, 0.0)
    running, needed = watched(given, first, last)
    edges = np.arange(0, len(needed), 600)
    means = np.array([needed[at : at + 600].mean() for at in edges])
    seconds = np.array([len(needed[at : at + 600]) for at in edges])
    above = means > CPUS
    busy = np.array([running[at : at + 600].mean() for at in edges])

    found = facts(section("demand", store))
    assert found["demand.mean"] == pytest.approx(needed.mean() / CPUS, rel=1e-9)
    assert found["demand.above"] == pytest.approx(seconds[above].sum() / seconds.sum(), rel=1e-9)
    expected = busy[above] @ seconds[above] / seconds[above].sum() / CPUS
    assert found["demand.busy_above"] == pytest.approx(expected, rel=1e-9)


def always_full(many=300):
    """Return jobs that hold all processors one after the other, each of which waits for an hour."""
    return {
        "submit_time": [START + 600.0 * number for number in range(many)],
        "wait_time": [3600.0] * many,
        "run_time": [600.0] * many,
        "n_procs": [10] * many,
    }


def test_a_machine_that_is_full_while_jobs_wait_is_too_small(section, make_store):
    assert "too small" in notes(section("demand", make_store(ABSOLUTE, **always_full())))


def test_a_machine_on_which_jobs_wait_beside_idle_processors_is_not_called_too_small(section, make_store):
    store = make_store(ABSOLUTE, **{**always_full(), "n_procs": [6] * 300})
    made = section("demand", store)
    assert facts(made)["demand.busy_above"] == pytest.approx(0.6, abs=0.05)
    assert "too small" not in notes(made)
    assert "only 60 %" in notes(made)


def test_a_machine_with_room_for_all_is_large_enough(section, make_store):
    store = make_store(ABSOLUTE, **{**always_full(), "n_procs": [1] * 300})
    assert "large enough for all" in notes(section("demand", store))


def test_a_machine_of_unknown_size_is_not_judged(section, make_store):
    store = make_store(ABSOLUTE[:2], **always_full())
    assert notes(section("demand", store)).startswith("Whether the machine is large enough is unknown")
