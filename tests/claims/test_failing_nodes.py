"""Which nodes are said to fail, in worlds in which jobs fail for other reasons."""

from functools import cache

import pytest

from gwa.formats.open import open_trace
from gwa.metrics.failing_nodes import tried_nodes
from tests.claims.failing_nodes import PLACEMENTS, WORLDS, rates
from tests.conftest import HOME

CASES = HOME.parent / "shared" / "cases" / "nodes"

LOGS = 2
"""Of each world; `python -m tests.claims.failing_nodes 100` has the rates."""


@cache
def few(world, placement):
    return rates(world, placement, LOGS)


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("world", WORLDS)
def test_no_node_is_named_where_none_fails_more(world, placement):
    assert few(world, placement).wrongly == 0


def test_a_node_is_found_on_which_three_in_ten_jobs_fail_more():
    assert few("jobs fail as they do", "first free").found == LOGS


@pytest.mark.skipif(not CASES.is_dir(), reason="../shared/cases/nodes is absent")
@pytest.mark.parametrize(("case", "expected"), [("2-black-hole", ["gpu07"]), ("3-broken-script", [])])
def test_a_black_hole_is_named_and_a_broken_script_names_nobody(case, expected):
    with open_trace([CASES / case / "jobs.sacct"]) as store:
        assert [one.name for one in tried_nodes(store) if one.is_named] == expected
