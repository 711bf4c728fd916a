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


def test_who_holds_most_is_told_of_running_jobs_too(section, make_store):
    store = make_store(
        user_id=["a", "b", None], submit_time=[START] * 3, wait_time=[0.0] * 3,
        run_time=[100.0, None, 100.0], n_procs=[1, 4, 1],
        status=[1, None, 1], state=["COMPLETED", "RUNNING", "COMPLETED"],
    )  # fmt: skip
    made = facts(section("inequality", store))
    first, second = made["users.by_held"]

    assert [first["id"], second["id"]] == ["b", "a"]
    assert (first["held_seconds"], second["held_seconds"]) == (400.0, 100.0)
    assert first["held_share"] == 4 / 6
    assert made["users.half_held"] == 1


def test_without_submissions_who_holds_most_is_told_of_jobs_that_ran(section, make_store):
    store = make_store(user_id=["a", "b", "b"], run_time=[10.0, 10.0, 20.0], n_procs=[1, 1, 1])
    made = facts(section("inequality", store))

    assert [(one["id"], one["held_seconds"]) for one in made["users.by_held"]] == [("b", 30.0), ("a", 10.0)]


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
