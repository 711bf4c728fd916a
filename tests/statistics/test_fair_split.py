"""The equal split against the obvious way, and the test of who held more, against known series."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.statistics.fair_split import MINIMUM_BLOCKS, at_least, equal_split, holm, mean_above

CLASSES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 50), st.integers(0, 50), st.integers(1, 4)),
    min_size=1,
    max_size=12,
)


def filled(asked, total, weights):
    """Return the split of a *total* as water that rises by small steps until it is used up."""
    low, high = 0.0, float(max(asked) + 1)
    for _ in range(100):
        level = (low + high) / 2
        used = sum(min(want, level * weight) for want, weight in zip(asked, weights, strict=True))
        low, high = (level, high) if used < total else (low, level)
    return [min(want, high * weight) for want, weight in zip(asked, weights, strict=True)]


@given(CLASSES)
def test_the_split_is_that_of_rising_water(rows):
    places, held, waited, weights = (np.array(column) for column in zip(*rows, strict=True))
    asked = (held + waited).astype(float)
    found = equal_split(places, asked, held.astype(float), weights.astype(float))
    for place in set(places.tolist()):
        here = places == place
        expected = filled(asked[here].tolist(), held[here].sum(), weights[here].tolist())
        assert found[here] == pytest.approx(expected, abs=1e-6)
        assert found[here].sum() == pytest.approx(held[here].sum())


@given(CLASSES, st.randoms(use_true_random=False))
def test_the_split_does_not_depend_on_the_order(rows, random):
    order = list(range(len(rows)))
    random.shuffle(order)
    places, held, waited, _ = (np.array(column, float) for column in zip(*rows, strict=True))
    places = places.astype(np.int64)
    found = equal_split(places, held + waited, held)
    mixed = equal_split(places[order], (held + waited)[order], held[order])
    assert mixed == pytest.approx(found[order])


def test_of_nothing_nothing_is_split():
    assert equal_split(np.zeros(0, np.int64), np.zeros(0), np.zeros(0)).tolist() == []


def test_who_holds_twice_the_split_each_week_is_above_by_more_than_chance():
    split = np.array([10.0, 12, 9, 11, 10, 12, 9, 11, 10, 8])
    least, chance = at_least(2 * split, split) or (0.0, 1.0)
    assert least == pytest.approx(2.0)
    assert chance < 0.001


def test_a_single_week_makes_nobody_above():
    held = np.array([10.0] * 9 + [100.0])
    least, chance = at_least(held, np.full(10, 10.0)) or (1.0, 0.0)
    assert least < 1
    assert chance > 0.1


def test_too_few_weeks_tell_nothing():
    weeks = MINIMUM_BLOCKS - 1
    assert at_least(np.full(weeks, 3.0), np.ones(weeks)) is None
    assert at_least(np.append(np.full(weeks, 3.0), [0.0] * 9), np.append(np.ones(weeks), [0.0] * 9)) is None
    assert mean_above(np.ones(weeks)) == 1.0


def test_a_mean_is_as_likely_as_student_has_it():
    # mean 1, deviation 2, ten values: t = 1.5811, of which 7.43 % of the distribution are above.
    values = np.array([1.0, 1, 1, 1, 1, 1, 1, 1, 1 + 4.242640687, 1 - 4.242640687])
    assert mean_above(values) == pytest.approx(0.0742, abs=0.0005)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_chances_of_several_tests_are_never_smaller_and_keep_their_order(chances):
    found = holm(chances)
    assert all(after >= before for before, after in zip(chances, found, strict=True))
    assert [found[at] for at in np.argsort(chances, kind="stable")] == sorted(found)
