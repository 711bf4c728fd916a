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


def test_small_sizes_are_no_evidence_and_rare_powers_are_not_common(section, make_store):
    """Of the sizes up to 4 most are powers of two by themselves; 2 % of the parallel jobs make one common."""
    sizes = [1] * 10 + [2] * 30 + [3] * 5 + [4] * 40 + [6] * 10 + [8] * 12 + [32] * 2 + [64]
    count = len(sizes)
    store = make_store(
        submit_time=[START] * count, run_time=[10.0] * count, n_procs=sizes, user_id=["u"] * count
    )
    found = facts(section("powers-of-two", store))

    assert found["jobs.parallel.power_of_two"] == pytest.approx(85 / 100)
    assert found["jobs.parallel.power_of_two_large"] == pytest.approx(15 / 25)
    assert found["jobs.parallel.powers"] == 4
    assert found["jobs.procs.distinct"] == 8


def test_without_larger_sizes_their_share_is_not_known(section, make_store):
    store = make_store(submit_time=[START] * 3, run_time=[10.0] * 3, n_procs=[2, 3, 4], user_id=["u"] * 3)
    assert facts(section("powers-of-two", store))["jobs.parallel.power_of_two_large"] is None
