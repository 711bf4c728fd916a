"""Who is called a runaway, in worlds in which jobs run beyond their limits and in which they do not."""

from functools import cache

import pytest

from tests.claims.runaways import WORLDS, Named, rates

LOGS = 4
"""Of each world; `python -m tests.claims.runaways 400` has the rates."""


@cache
def few(world):
    return rates(world, LOGS)


@pytest.mark.parametrize("world", WORLDS)
def test_what_runs_is_not_named_and_nothing_is_said_where_limits_are_not_enforced(world):
    found = few(world)
    assert found.wrongly == 0
    assert found.silent == LOGS or "not enforced" not in world


def test_what_was_never_written_off_is_found():
    found = sum(map(few, WORLDS), Named())
    assert found.lost >= 2 * LOGS * (len(WORLDS) - 2)
    assert found.found >= 0.95 * found.lost
