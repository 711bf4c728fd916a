"""How unlikely stillness is, against obvious references."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gwa.statistics.sample import Sample
from gwa.statistics.stillness import freed_together, smallest_of, survival, unlikely_runs


def runs_of(empty):
    """Return the first and the following hour of each run of empty hours."""
    padded = [False, *empty, False]
    first = [n for n in range(len(empty)) if padded[n + 1] and not padded[n]]
    return [(n, next(k for k in range(n, len(empty) + 1) if not padded[k + 1])) for n in first]


def reference(empty, hour, level):
    """Return the unlikely runs, counting hour by hour all hours but those of the run and of those found."""
    found = []
    left_out: set[int] = set()
    for first, after in sorted(runs_of(empty), key=lambda run: run[0] - run[1]):
        if after - first < 2:
            break
        skipped = left_out | set(range(first, after))
        stayed, could, entered, outside = [0.0] * 168, [0.0] * 168, 0, 0
        for n in range(len(empty)):
            before = n > 0 and empty[n - 1]
            if before and n not in skipped:
                could[hour[n]] += 1
                stayed[hour[n]] += empty[n]
            outside += not before
            entered += (not before) and empty[n] and n not in skipped
        mean = (sum(stayed) + 1) / (sum(could) + 2)
        p = (entered + 1) / (outside + 2)
        for n in range(first + 1, after):
            near = [(hour[n] + step) % 168 for step in (-1, 0, 1)]
            p *= (sum(stayed[k] for k in near) + 4 * mean) / (sum(could[k] for k in near) + 4)
        if p * len(empty) <= level:
            found.append((first, after, pytest.approx(p * len(empty))))
            left_out = skipped
    return sorted(found, key=lambda run: run[0])


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.9), st.integers(1, 400), st.integers(0, 60))
def test_unlikely_runs_are_those_of_a_count_hour_by_hour(seed, share, size, gap):
    rng = np.random.default_rng(seed)
    empty = rng.random(size) < share
    empty[size // 3 : size // 3 + gap] = True
    hour = (np.arange(size) + seed) % 168
    found = [tuple(run) for run in unlikely_runs(empty, hour, level=0.05)]
    assert found == reference(empty.tolist(), hour.tolist(), 0.05)


def test_nights_are_likely_and_a_day_without_anything_is_not():
    hour = np.arange(60 * 24)
    is_night = (hour % 24 < 8) | (hour % 24 >= 20)
    empty = is_night | (np.random.default_rng(2).random(60 * 24) < 0.3)
    assert not unlikely_runs(empty, hour % 168)
    empty[30 * 24 : 31 * 24] = True
    (run,) = unlikely_runs(empty, hour % 168)
    assert run.first <= 30 * 24
    assert run.after >= 31 * 24


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(0, 60))
def test_survival_is_the_share_of_waits_that_are_as_long(waits, seconds):
    expected = (1 + sum(wait >= seconds for wait in waits)) / (1 + len(waits))
    assert survival(Sample.of(waits), seconds) == pytest.approx(expected)


@given(st.integers(0, 200), st.integers(0, 30))
def test_users_freed_together_are_a_poisson_tail(waiting, freed):
    expected = stats.poisson.sf(freed - 2, 0.08 * waiting) if freed >= 2 else 1.0
    assert freed_together(waiting, freed) == pytest.approx(expected, rel=1e-9)


def test_of_several_probabilities_the_smallest_counts_times_their_number():
    assert smallest_of((0.3, 0.001), 4) == pytest.approx(0.008)
    assert smallest_of((0.3, 0.2), 4) == 1
