"""The efficiency of owners: what the largest of a class wasted is the sum over their jobs."""

import pytest

import gwa
from gwa.breakdown.breakdown import largest
from gwa.breakdown.dimensions import by_name
from gwa.metrics.efficiency import RATIOS, most_wasteful_users, overall
from tests.conftest import HOME


@pytest.mark.parametrize(("name", "field"), [("users", "user_id"), ("queues", "queue_id")])
def test_what_owners_wasted_is_the_sum_over_their_jobs(make_store, name, field):
    owners = ["a", "b", "a", None, "c"]
    store = make_store(
        user_id=owners, queue_id=owners, submit_time=[0.0] * 5, run_time=[10.0, 10.0, 100.0, 10.0, 10.0],
        n_procs=[2, 1, 1, 1, 1], average_cpu_time=[5.0, 10.0, 20.0, 1.0, 4.0],
    )  # fmt: skip

    found = largest(store, by_name(name), "wasted_cpu_seconds")

    assert [(row["id"], row["wasted_cpu_seconds"]) for row in found] == [("a", 90), ("c", 6)]
    assert [row["efficiency_cpu"] for row in found] == [30 / 120, 4 / 10]
    ((jobs,),) = store.rows(f"select count(*) from jobs where {field} = 'a'")
    assert found[0]["jobs"] == jobs == 2
    assert overall(store).parts["cpu"].wasted * 3600 == pytest.approx(90 + 6 + 9)
    assert overall(store, f"{field} = 'c'").parts["cpu"].mean == 0.4


def test_users_who_wasted_most_come_first():
    with gwa.open(HOME / "sample_traces" / "swf" / "tiny.swf") as trace:
        order = RATIOS["time"]
        users = most_wasteful_users(trace.store, order)
        one_by_one = {
            user: overall(trace.store, f"user_id = '{user}'").parts["time"].wasted
            for (user,) in trace.store.rows("select distinct user_id from jobs where user_id is not null")
        }
    assert users == sorted(one_by_one, key=lambda user: (-one_by_one[user], user))[: len(users)]
    assert users
