"""Free hours of the week: found where there is a rhythm, and not where there is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.breakdown.free_hours import HOURS, MINIMUM_WEEKS, MORE_OFTEN, free_parts, parts_of
from gwa.util.units import HOUR
from tests.metrics.test_waiting import header

MONDAY = 852_508_800.0
"""6 January 1997, a Monday."""


def spells(seed, weeks=60, share=0.5, length=30.0):
    """Return weeks in which processors are free in spells of hours that know no week."""
    rng = np.random.default_rng(seed)
    free = rng.random() < share
    found: list[float] = []
    while len(found) < weeks * 168:
        found += [float(free)] * int(1 + rng.exponential(length * (2 * share if free else 2 - 2 * share)))
        free = not free
    return np.array(found[: weeks * 168]).reshape(weeks, 168)


@pytest.mark.parametrize("length", [3.0, 30.0, 300.0])
def test_without_a_rhythm_of_the_week_none_is_said(length):
    said = [bool(list(parts_of(spells(seed, length=length)))) for seed in range(200)]
    assert np.mean(said) <= 0.05


def test_a_rhythm_is_found_in_most_logs():
    found = 0
    for seed in range(40):
        free = spells(seed, share=0.4)
        free[:, 120:] = np.maximum(free[:, 120:], np.random.default_rng(seed).random((60, 48)) < 0.6)
        parts = list(parts_of(free))
        found += bool(parts) and all(part.hour >= 120 for part in parts)
    assert found >= 0.9 * 40


@settings(max_examples=100)
@given(st.integers(0, 40), st.integers(0, 10**6), st.floats(0, 1))
def test_what_is_said_is_counted_in_the_weeks_that_did_not_choose(weeks, seed, share):
    free = (np.random.default_rng(seed).random((weeks, 168)) < share).astype(float)
    free[:, 30:36] = 1.0
    counts = free[1::2]
    for part in parts_of(free):
        hours = [(part.hour + ahead) % 168 for ahead in range(HOURS)]
        assert part.share == pytest.approx(np.mean([counts[:, hour].mean() for hour in hours]))
        assert part.usual == pytest.approx(counts.mean())
        assert part.share >= part.usual + MORE_OFTEN
        assert part.weeks == len(counts) >= MINIMUM_WEEKS


def test_a_machine_that_is_idle_on_sundays_is(make_store):
    """Jobs hold 48 of 64 processors from Monday to Saturday, and 8 on Sundays, by quarters of a day."""
    quarters = np.arange(30 * 28)
    jobs = np.where(quarters % 28 < 24, 6, 1)
    begins = np.repeat(MONDAY + 6 * HOUR * quarters, jobs)
    store = make_store(
        header(64),
        job_id=list(range(1, len(begins) + 1)),
        submit_time=begins.tolist(),
        wait_time=[0.0] * len(begins),
        run_time=[6.0 * HOUR] * len(begins),
        n_procs=[8] * len(begins),
        user_id=["a"] * len(begins),
    )
    parts = free_parts(store, 64.0, 32.0)
    assert [part.hour for part in parts] == [144, 150, 156]
    assert {(part.share, round(part.usual, 3)) for part in parts} == {(1.0, round(1 / 7, 3))}
    assert free_parts(store, 64.0, 16.0) == []
    assert free_parts(store, 64.0, 65.0) == []
