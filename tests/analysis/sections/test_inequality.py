"""Inequality: who holds which share of the jobs and of the processor time."""

from hypothesis import given
from hypothesis import strategies as st

from gwa.analysis.sections.inequality import top_holders, top_share
from gwa.statistics.sample import Sample
from tests.analysis.sections.blocks import START, facts, notes, tables


def test_lorenz_curves_are_of_users_and_groups_by_jobs_and_time(section, make_store):
    store = make_store(
        user_id=["a", "a", "a", "b", None], group_id=["g"] * 5, submit_time=[START] * 5,
        run_time=[10.0, 10.0, 10.0, 90.0, 5.0], n_procs=[1, 1, 1, 1, 1],
    )  # fmt: skip
    made = section("inequality", store)

    rows = tables(made)["inequality"].rows
    assert [row[0] for row in rows] == ["jobs of users", "CPU time of users"]
    assert rows[0][1:4] == (2, 0.25, 0.75)
    assert rows[1][1:4] == (2, 0.25, 0.75)
    assert facts(made)["users.half_jobs"] == 1


def test_without_users_and_groups_it_says_so(section, make_store):
    made = section("inequality", make_store(submit_time=[START, START]))

    assert "neither users nor groups" in notes(made)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30).filter(any), st.floats(0.01, 0.99))
def test_top_shares_are_those_of_the_sorted_list(held, share):
    ordered = sorted(held, reverse=True)
    count = top_holders(Sample.of(held), share)
    wanted = share * sum(held)

    assert sum(ordered[:count]) >= wanted - 1e-6
    assert sum(ordered[: count - 1]) < wanted + 1e-6
    assert top_share(Sample.of(held), count / len(held)) >= share - 1e-9
