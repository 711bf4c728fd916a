"""The users by what they submit."""

from gwa.report.document import Facts
from tests.analysis.sections.blocks import DAY, START, facts, tables


def test_a_column_that_would_be_empty_is_left_out(section, make_store):
    brief = make_store(submit_time=[START, START + 60.0], user_id=["a", "b"], run_time=[5.0, 6.0])
    long = make_store(submit_time=[START, START + 2 * DAY], user_id=["a", "a"], run_time=[5.0, 6.0])

    columns = [
        [c.key for c in tables(section("users", store))["users-by-cpu"].columns] for store in (brief, long)
    ]
    assert "arrivals_per_day" not in columns[0]
    assert "arrivals_per_day" in columns[1]


def test_a_page_states_one_number_of_users_with_half_of_the_jobs(section, make_store):
    users = ["a"] * 4 + ["b"] * 2 + ["c"] * 2 + ["d"] + ["e"]
    store = make_store(submit_time=[START] * 10, user_id=users, run_time=[5.0] * 10, n_procs=[1] * 10)
    ranking = section("user-ranking", store)
    listed = {
        fact.id
        for block in ranking.blocks
        if isinstance(block, Facts) and block.listed
        for fact in block.facts
    }

    assert facts(section("inequality", store))["users.half_jobs"] == 2
    assert facts(ranking)["users.dominant"] == 1  # as the thesis counts
    assert "users.dominant" not in listed
