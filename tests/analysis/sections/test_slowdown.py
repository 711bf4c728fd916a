"""Bounded slowdown."""

import pytest

from tests.analysis.sections.blocks import START, facts, tables


def test_slowdown_is_bounded_and_told_by_size_queue_and_user(section, make_store):
    store = make_store(
        submit_time=[START] * 5,
        wait_time=[100.0, 0.0, 50.0, None, 30.0],
        run_time=[1.0, 5.0, 50.0, 9.0, 10.0],
        n_procs=[1, 1, 100, 1, 0],
        queue_id=["fast", "fast", None, "fast", "slow"],
        user_id=["a", "b", "b", "c", "d"],
    )
    made = section("slowdown", store)
    found = facts(made)
    by = tables(made)

    assert (found["slowdown.bounded.min"], found["slowdown.bounded.max"]) == (1, 10.1)
    assert found["slowdown.bounded.median"] == 2
    assert [row[:2] for row in by["slowdown-sizes"].rows] == [("1", 2), ("65 and more", 1), ("all", 3)]
    assert by["slowdown-queues"].rows == (("fast", 2, 50, 50, 95, 5.55, 5.55, pytest.approx(9.645)),)
    assert [row[:2] for row in by["slowdown-users"].rows] == [("b", 2), ("a", 1)]
