"""The users by what they submit."""

from tests.analysis.sections.blocks import DAY, START, tables


def test_a_column_that_would_be_empty_is_left_out(section, make_store):
    brief = make_store(submit_time=[START, START + 60.0], user_id=["a", "b"], run_time=[5.0, 6.0])
    long = make_store(submit_time=[START, START + 2 * DAY], user_id=["a", "a"], run_time=[5.0, 6.0])

    columns = [
        [c.key for c in tables(section("users", store))["users-by-jobs"].columns] for store in (brief, long)
    ]
    assert "arrivals_per_day" not in columns[0]
    assert "arrivals_per_day" in columns[1]
