"""Whose earlier runs are called too many, in worlds in which runs are interrupted by chance."""

from functools import cache

import pytest

from tests.claims.earlier_runs import WORLDS, rates

LOGS = 2
"""Of each world; `python -m tests.claims.earlier_runs 400` has the rates."""


@cache
def few(world):
    return rates(world, LOGS)


@pytest.mark.parametrize("world", WORLDS)
def test_nobody_is_named_whose_runs_are_interrupted_by_chance(world):
    assert few(world).wrongly == 0


@pytest.mark.parametrize("world", WORLDS)
def test_whose_runs_are_interrupted_again_and_again_is_named(world):
    assert few(world).found == LOGS
