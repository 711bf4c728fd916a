"""Clocks of samples: worlds with a known shift, and worlds without one, in which nothing may be said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.ingest.clock_skew import outside, skew


def world(seed, jobs=60, step=60.0, shift=0.0, leftover=0.02):
    """
    Return the moments of samples in use of a node with one job at a time, by their clock, and its free time.

    Programs begin late and end early, a tenth of the jobs uses nothing, and now and then something is in use
    that is of no job.
    """
    rng = np.random.default_rng(seed)
    now, held, used = 0.0, [], []
    for _ in range(jobs):
        length = rng.lognormal(8.0, 1.2) + 60
        held.append((now, now + length))
        if rng.random() > 0.1:
            begin = now + min(rng.lognormal(2.3, 0.8), length / 2)
            used.append((begin, now + length - min(rng.exponential(3), length * 0.3)))
        now += length + (rng.uniform(1, 3) if rng.random() < 0.4 else rng.exponential(900))
    moments = np.arange(rng.uniform(0, step), now, step)
    in_use = inside(moments, used) | ((rng.random(len(moments)) < leftover) & ~inside(moments, held))
    edges = [-1e300, *(moment for pair in held for moment in pair), 1e300]
    return moments[in_use] + shift, np.array(edges).reshape(-1, 2)


def inside(moments, intervals):
    return np.array([any(begin <= one < end for begin, end in intervals) for one in moments])


@pytest.mark.parametrize("step", [15.0, 60.0])
def test_nothing_is_said_of_clocks_that_are_right(step):
    assert [skew(*world(seed, step=step, jobs=30)) for seed in range(20)] == [None] * 20


@pytest.mark.parametrize("shift", [60.0, -60.0, 3600.0, -7200.0])
def test_the_interval_holds_the_shift(shift):
    found = [skew(*world(seed, shift=shift, step=30.0, jobs=30)) for seed in range(20)]
    told = [one for one in found if one]
    assert len(told) >= 19
    assert all(low <= shift <= high and not low <= 0 <= high for low, high in told)


def test_a_memory_that_is_always_in_use_tells_nothing():
    _, free = world(1)
    assert skew(np.arange(0.0, 5e5, 60.0), free) is None


def test_few_samples_tell_nothing():
    in_use, free = world(1, shift=3600.0)
    assert skew(in_use[:29], free) is None


@given(
    moments=st.lists(st.floats(0, 1000), max_size=30),
    edges=st.lists(st.integers(0, 1000), min_size=2, max_size=12, unique=True),
    shifts=st.lists(st.integers(-500, 500), min_size=1, max_size=5),
)
def test_counting_equals_counting_one_by_one(moments, edges, shifts):
    free = np.array(sorted(edges)[: len(edges) // 2 * 2], float).reshape(-1, 2)
    expected = [
        sum(any(begin + shift <= one < end + shift for begin, end in free) for one in moments)
        for shift in shifts
    ]
    assert outside(np.array(sorted(moments)), free, np.array(shifts, float)).tolist() == expected
