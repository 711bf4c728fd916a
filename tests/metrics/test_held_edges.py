"""What is held, by part and moment, in memory: against the engine's windows, and added up by hand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics import spans
from gwa.metrics.usage import holding
from gwa.metrics.waiting_levels import busy_at, largest_waiting, level_at, levels_of_owners
from gwa.store.resources import CPU
from gwa.store.store import Store
from tests.conftest import examples

START = 1_700_000_000.0
OWNER = "coalesce(user_id, '')"
users = st.sampled_from(["ann", "ben", "cat", None])
jobs = st.lists(
    st.tuples(st.integers(0, 400_000), st.sampled_from([0, 1, 60, 7200, 90_000]), st.integers(1, 9), users),
    min_size=1,
    max_size=30,
)
looks = st.lists(st.tuples(st.floats(-90_000, 500_000), users), min_size=1, max_size=12)


def filled(jobs, looks):
    """Return a store of *jobs*, and its table of moments."""
    store = Store.create()
    store.begin(["job_id", "submit_time", "wait_time", "run_time", "n_procs", "user_id"])
    rows = [(n, START + begin, 0.0, run, size, user) for n, (begin, run, size, user) in enumerate(jobs)]
    store.insert("recorded", rows)
    moments = ", ".join(
        f"({START + t!r}::double, {place}, {'null' if user is None else repr(user)})"
        for place, (t, user) in enumerate(looks)
    )
    table = store.keep("looks", f"select * from (values {moments}) as look(moment, place, user_id)")
    return store, table


def told(level):
    """Return all that a level tells, as what can be compared."""
    return {
        "busy": level.busy.tolist(),
        "most": level.most.tolist(),
        "parts": {name: places.tolist() for name, places in level.parts.items()},
        "levels": {name: held[0].tolist() for name, held in level.levels.items() if len(held[0])},
        "seconds": {name: held[1].tolist() for name, held in level.levels.items() if len(held[1])},
        "usable": level.usable.tolist() if level.hourly else [],
    }


def both(ask):
    """Return what *ask* answers by the engine, and in memory."""
    answers = []
    for small in (10**9, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(spans, "SMALL_TRACE", small)
            answers.append(ask())
    return answers


@examples(40)
@given(jobs, looks, st.sampled_from(["''", OWNER]))
def test_levels_are_those_of_the_engine(jobs, looks, part):
    store, table = filled(jobs, looks)
    with store:
        engine, memory = both(lambda: told(level_at(store, table, holding(store, CPU), part)))
        assert memory.pop("seconds") == {
            name: pytest.approx(seconds, abs=1e-6) for name, seconds in engine.pop("seconds").items()
        }
        assert memory == engine


@examples(40)
@given(jobs, looks, st.sampled_from([None, {"ann"}, {"ann", "cat"}]))
def test_levels_of_owners_are_those_of_the_engine(jobs, looks, owners):
    store, table = filled(jobs, looks)
    with store:
        of_both = both(lambda: levels_of_owners(store, table, holding(store, CPU), OWNER, owners))
        for engine, memory in zip(*of_both, strict=True):
            assert memory.busy.tolist() == engine.busy.tolist()
            assert memory.most.tolist() == engine.most.tolist()
        engine, memory = both(lambda: busy_at(store, table, holding(store, CPU), OWNER, owners or {"ben"}))
        assert memory[0].tolist() == engine[0].tolist()
        assert {name: found.tolist() for name, found in memory[1].items()} == {
            name: found.tolist() for name, found in engine[1].items()
        }


@examples(40)
@given(jobs, looks)
def test_the_largest_that_waits_is_that_of_the_engine_and_of_all_jobs_one_by_one(jobs, looks):
    store, table = filled(jobs, looks)
    waiters = (
        f"select job_id, {OWNER} as part, submit_time as eligible, submit_time + run_time as started,"
        " cast(n_procs as double) as size from jobs where run_time > 0"
    )
    with store:
        engine, memory = both(lambda: largest_waiting(store, table, waiters, OWNER).tolist())
    assert memory == engine
    assert memory == [
        max(
            (size for begin, run, size, owner in jobs if owner == user and begin < t <= begin + run),
            default=0,
        )
        for t, user in looks
    ]


@examples(40)
@given(jobs, looks)
def test_levels_are_what_the_jobs_that_run_hold(jobs, looks):
    store, table = filled(jobs, looks)
    spans_of = [(begin, begin + run, size, user) for begin, run, size, user in jobs if run]
    with store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(spans, "SMALL_TRACE", -1)
        level = level_at(store, table, holding(store, CPU), OWNER)
    for place, (t, user) in enumerate(looks):
        moment = START + t
        assert level.busy[place] == sum(
            size
            for begin, end, size, owner in spans_of
            if owner == user and START + begin <= moment < START + end
        )
    for name, (levels, seconds) in level.levels.items():
        own = [one for one in spans_of if (one[3] or "") == name]
        lasted: dict[float, float] = {}
        for first, last in pairwise(sorted({edge for one in own for edge in one[:2]})):
            busy = sum(size for begin, end, size, _ in own if begin <= first < end)
            lasted[busy] = lasted.get(busy, 0.0) + last - first
        lasted.pop(0, None)
        assert dict(zip(levels.tolist(), seconds.tolist(), strict=True)) == lasted
        assert np.all(np.diff(levels) > 0)
