"""Sizes of jobs that are powers of two."""

import pytest

from tests.analysis.sections.blocks import START, facts, tables


def test_powers_of_two_are_counted_among_parallel_jobs(section, make_store):
    store = make_store(
        submit_time=[START] * 6, run_time=[10.0] * 6, n_procs=[1, 1, 4, 4, 6, 0], user_id=["u"] * 6
    )
    made = section("powers-of-two", store)

    assert facts(made)["jobs.parallel.power_of_two"] == pytest.approx(2 / 3)
    assert facts(made)["jobs.parallel.power_of_two_cpu"] == pytest.approx(8 / 14)
    assert [row[:3] for row in tables(made)["sizes"].rows] == [(1, True, 2), (4, True, 2), (6, False, 1)]
