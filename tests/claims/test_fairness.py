"""Who is said to hold more than a share, and to go ahead, where it is known whom a scheduler favours."""

import pytest

from tests.claims.fairness import WORLDS, rates

SEEDS = range(900, 905)
"""`python -m tests.claims.fairness 100` has the rates."""

EQUAL = [name for name in WORLDS if name.startswith("equal")]


def test_of_equal_users_nobody_is_above_in_the_order_of_arrival():
    assert rates("equal users in order", SEEDS).above == 0


def test_a_user_who_is_favoured_twice_is_found():
    said = rates("one of equal users is favoured twice", SEEDS)
    assert said.found >= 4
    assert said.wrongly == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", EQUAL)
def test_of_equal_users_somebody_is_above_in_one_of_twenty_logs_at_most(name):
    said = rates(name, range(900, 940))
    assert said.above <= 0.05 * said.logs


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in WORLDS if name.startswith("unequal")])
def test_who_asks_for_more_is_not_said_to_go_ahead(name):
    said = rates(name, range(900, 940))
    assert said.favoured <= 0.05 * said.logs
