"""What the section on shares says, and what it must not say."""

import pytest

from gwa.analysis.base import analyses
from gwa.analysis.fairness_sentences import of_starvation, of_stated, of_users
from gwa.breakdown.fairness import Share
from gwa.breakdown.going_ahead import Order
from gwa.breakdown.starvation import Starved
from gwa.metrics.quotas import Quotas
from gwa.metrics.stated_shares import StatedShares
from tests.analysis.sections.blocks import facts, notes, tables
from tests.breakdown.test_fairness import uneven

HOUR = 3600.0
ABOVE = Share("a", 200 * HOUR, 50 * HOUR, 100 * HOUR, 2.0, 1.5, 0.001, 0.0)
FAIR = Share("b", 100 * HOUR, 80 * HOUR, 200 * HOUR, 0.5, 0.4, 1.0, 0.0)
AHEAD = {"a": Order("a", 90, 60.0, 3.0, 0.01), "b": Order("b", 10, 0.0, 60.0, 1.0)}
BEHIND = {"a": Order("a", 90, 6.0, 30.0, 1.0), "b": Order("b", 10, 3.0, 0.0, 1.0)}


def section(store):
    return next(one for one in analyses() if one.id == "who-got-their-share").section(store)


def said(shares, orders):
    return " ".join(of_users(shares, orders))


def test_who_is_above_and_goes_ahead_is_said_to_do_both():
    assert said([ABOVE, FAIR], AHEAD) == (
        "User a held 2.00 times an equal split while others waited (at least 1.50 times, by weeks), and its"
        " jobs went ahead of earlier like ones of others at 60 of 90 starts."
    )


@pytest.mark.parametrize(
    ("orders", "what"), [(BEHIND, "was not found"), (None, "cannot be told whose jobs went")]
)
def test_who_is_above_and_does_not_go_ahead_has_asked_for_more(orders, what):
    text = said([ABOVE, FAIR], orders)
    assert "(at least 1.50 times, by weeks). Who asks for more" in text
    assert what in text


def test_none_above_is_said_of_those_that_could_be_tested_only():
    assert said([FAIR], AHEAD).startswith("That 1 user could be tested, and did not hold more")
    assert said([FAIR, FAIR], AHEAD).startswith("Of 2 users that could be tested, none held more")
    untested = Share("c", HOUR, 0.0, HOUR, 9.0, None, None, 0.0)
    assert said([untested], AHEAD).startswith("Too few weeks")


@pytest.mark.parametrize(
    "changed",
    [{"chance": 0.06}, {"ratio": 1.24, "least": 1.1}, {"ratio": 1.3, "least": 0.99}, {"chance": None}],
)
def test_who_may_be_above_by_chance_or_by_little_is_not(changed):
    assert not Share(**(vars(ABOVE) | changed)).is_above


def test_of_stated_shares_is_said_what_is_above_them():
    (text,) = of_stated("projects", [ABOVE, FAIR])
    assert text.startswith("Project a held 2.00 times its stated share")


def test_starvation_is_said_of_one_who_has_many_of_the_long_waits_and_few_of_the_jobs():
    (text,) = of_starvation([Starved("a", 500, 60), Starved("b", 4500, 40)])
    assert text == (
        "Of 100 jobs that waited longer than 99 % of like ones, 60 are of user a, who submitted 10 % of the"
        " jobs compared."
    )


@pytest.mark.parametrize(
    "found",
    [
        [],
        [Starved("a", 500, 0)],
        [Starved("a", 500, 60), Starved("b", 500, 40)],
        [Starved("a", 20, 9), Starved("b", 500, 1)],
        [Starved(name, 500, 19) for name in "abcdef"],
    ],
)
def test_starvation_is_not_said_of_many_of_few_or_of_who_has_most_jobs(found):
    assert list(of_starvation(found)) == []


def test_a_log_in_which_one_holds_eight_of_ten(make_store):
    found = section(uneven(make_store))
    assert facts(found)["fairness.moved"] == pytest.approx(0.3, abs=0.005)
    assert [row["id"] for row in facts(found)["fairness.above"]] == ["a"]
    assert "User a held 1.6" in notes(found)
    assert "User b lacked most" in notes(found)
    assert tables(found)["fairness-user"].rows[0][2] == pytest.approx(0.8, abs=0.005)
    assert {row["id"] for row in facts(found)["fairness.by_month"]} == {"1997-01", "1997-02", "1997-03"}


def test_of_a_log_that_lacks_jobs_shares_are_listed_and_nothing_is_said_of_splits(make_store):
    store = uneven(make_store)
    part = make_store(
        (("MaxProcs", "10"), ("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC")),
        **{
            name: [
                row[0] for row in store.rows(f"select {name} from jobs where job_id % 3 > 0 order by job_id")
            ]
            for name in ("job_id", "user_id", "submit_time", "wait_time", "run_time", "n_procs", "status")
        },
    )
    found = section(part)
    assert "33.3 % of the numbers of jobs are absent" in notes(found)
    assert "held" not in notes(found).replace("what others held is not known", "")
    assert "fairness.above" not in facts(found)
    assert facts(found)["fairness.by_user"]


def test_of_a_selection_its_users_are_listed_with_shares_of_all(make_store):
    store = uneven(make_store)
    whole, part = (
        facts(section(one))["fairness.by_user"] for one in (store, store.filtered("user_id = 'b'"))
    )
    assert part == [row for row in whole if row["id"] == "b"]


def test_stated_shares_are_those_of_the_file_of_quotas(make_store):
    store = uneven(make_store)
    store.stated["quota"] = Quotas(users={"a": 100.0, "b": 100.0})
    found = section(store)
    assert [row["stated_share"] for row in facts(found)["fairness.stated_users"]] == [0.5, 0.5]
    assert "User a held 1.6" in notes(found)
    assert "times its stated share" in notes(found)


def test_shares_of_slurm_go_before_quotas(make_store):
    store = uneven(make_store)
    store.stated["quota"] = Quotas(users={"a": 100.0, "b": 100.0})
    store.stated["shares"] = StatedShares({}, {"a": 0.4, "b": 0.1})
    found = section(store)
    assert [row["stated_share"] for row in facts(found)["fairness.stated_users"]] == pytest.approx([0.8, 0.2])
    assert not any(row["above"] for row in facts(found)["fairness.stated_users"])
