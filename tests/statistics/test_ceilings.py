"""When an amount that was never exceeded is a ceiling."""

from dataclasses import replace

import pytest

from gwa.statistics.ceilings import Evidence, found

CLEAR = Evidence(starts=40, above=40, own=39, both=39, chance=0.1, days=9)


def test_a_clear_pattern_is_one():
    assert found([CLEAR], tests=50) == [True]


@pytest.mark.parametrize(
    "changed",
    [
        {"starts": 19, "above": 19, "own": 19, "both": 19},
        {"days": 2},
        {"above": 31},
        {"own": 31, "both": 31},
        {"chance": 0.26},
    ],
    ids=str,
)
def test_what_misses_one_condition_is_none(changed):
    """Few starts or days, room below it, other triggers, or own ends that come all the time."""
    assert found([replace(CLEAR, **changed)], tests=1) == [False]


def test_the_more_owners_are_looked_at_the_clearer_it_must_be():
    weak = Evidence(starts=20, above=20, own=16, both=16, chance=0.2, days=5)
    assert found([weak], tests=1) == [True]
    assert found([weak], tests=1000) == [False]
    assert found([weak, CLEAR], tests=1000) == [False, True]


def test_p_values_are_those_of_a_binomial_distribution():
    rare = Evidence(starts=20, above=20, own=1, both=1, chance=0.01, days=1)
    assert rare.expected == 0.1
    assert rare.p_value == pytest.approx(1 - 0.9**20)
