"""Against an earlier period both values are said always, and a rank is that among earlier changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.analysis.comparison.period_changes import PeriodPart, change_statement, period_changes
from gwa.metrics.interval_values import MEASURES
from gwa.store.subset import Subset, select
from tests.conftest import examples

DAY = 86_400.0
DATED = (("Times", "Unix seconds, UTC"), ("Processors", "64"))


def months(make_store, counts, waits=None, user=None):
    """Return a log from January 1970 on with so many jobs, all alike, in each month, and waits if given."""
    begins = np.array([f"{1970 + month // 12}-{month % 12 + 1:02}-01" for month in range(len(counts) + 1)])
    edges = begins.astype("datetime64[D]").astype(float) * DAY
    submit = np.concatenate(
        [
            np.linspace(low, high, count, endpoint=False)
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        ]
    )
    columns = {
        "submit_time": submit.tolist(),
        "run_time": [600.0] * submit.size,
        "n_procs": [2] * submit.size,
        "user_id": [user or f"U{number % 3}" for number in range(submit.size)],
    }
    if waits is not None:
        columns["wait_time"] = np.repeat(np.asarray(waits, float), counts).tolist()
    return make_store(DATED, **columns)


def part(store, period):
    return PeriodPart(period, select(store, Subset(period)))


COUNTS = [200, 210, 190, 205, 215, 200, 190, 220, 200, 210, 205, 195, 190, 200, 400, 300, 210]


def test_both_values_are_those_that_pandas_counts(make_store):
    store = months(make_store, COUNTS, waits=np.arange(len(COUNTS)) * 100)
    found = period_changes(part(store, "1970-03"), part(store, "1970-02")).by_measure

    assert (found["jobs"].before, found["jobs"].after) == pytest.approx((210 / 28, 190 / 31))
    assert (found["wait"].before, found["wait"].after) == (100, 200)
    assert (found["median_wait"].before, found["median_wait"].after) == (100, 200)
    assert (found["runtime"].before, found["runtime"].after) == (600, 600)
    assert found["users"].after == 3
    assert found["busy"].after == pytest.approx(190 * 1200 / (31 * DAY), rel=0.02)
    assert all(one.rank is None for one in found.values())


def test_the_largest_change_of_a_log_is_said_to_be_that(make_store):
    """March 1971 has twice the jobs of February, and nothing changed so much before."""
    store = months(make_store, COUNTS)
    changes = period_changes(part(store, "1971-03"), part(store, "1971-02"))
    jobs = changes.by_measure["jobs"]

    assert (jobs.rank, jobs.changes) == (1, 14)
    _, text = change_statement(changes)
    assert text.startswith(
        "Busy processors went from 0.0992 in 1971-02 to 0.179, the largest of 13 changes from month to"
        " month; jobs a day from 7.14 to 12.9 (rank 1)."
    )
    assert "run times" not in text


@examples(8)
@given(st.lists(st.integers(20, 80), min_size=14, max_size=18))
def test_the_rank_counts_the_changes_that_were_as_large(counts):
    from tests.conftest import _stores

    with _stores() as make:
        store = months(make, counts)
        names = [f"{1970 + month // 12}-{month % 12 + 1:02}" for month in range(len(counts))]
        found = period_changes(part(store, names[-1]), part(store, names[-2])).by_measure["jobs"]
    days = np.diff(
        np.arange("1970-01", len(counts) + 1, dtype="datetime64[M]").astype("datetime64[D]")
    ).astype(float)
    differences = np.abs(np.diff(np.log(np.array(counts) / days)))

    assert found.changes == len(counts) - 1
    assert found.rank == sum(differences >= differences[-1] - 1e-12)


def test_without_twelve_earlier_changes_there_is_no_rank(make_store):
    store = months(make_store, COUNTS)
    ranks = {
        name: period_changes(part(store, name), part(store, before)).by_measure["jobs"].rank
        for before, name in (("1971-01", "1971-02"), ("1970-12", "1971-01"), ("1970-02", "1971-02"))
    }

    assert ranks == {"1971-02": None, "1971-01": None}
    assert period_changes(part(store, "1971-02"), part(store, "1971-01")).by_measure["jobs"].changes == 13


def test_what_looks_equal_is_not_said_to_have_gone_from_one_to_the_other(make_store):
    """Users and run times are the same in all months, and processors but for less than is shown."""
    store = months(make_store, COUNTS, waits=np.arange(len(COUNTS)) * 100)
    _, text = change_statement(period_changes(part(store, "1970-03"), part(store, "1970-02")))
    assert "users" not in text.lower()
    assert "run times" not in text
    assert "jobs a day from 7.5 to 6.13" in text
    same = months(make_store, [310, 280, 310])
    number, text = change_statement(period_changes(part(same, "1970-03"), part(same, "1970-02")))
    assert (number, text) == (
        "no difference", "All values that are known are as in 1970-02, to the digits shown.",
    )  # fmt: skip


def test_a_month_in_a_hole_of_the_log_is_no_history(make_store):
    counts = [*COUNTS[:8], 0, *COUNTS[9:]]
    store = months(make_store, counts)
    jobs = period_changes(part(store, "1971-05"), part(store, "1971-04")).by_measure["jobs"]

    assert jobs.changes == len(counts) - 1 - 2


def test_the_history_is_that_of_the_same_selection(make_store):
    store = months(make_store, COUNTS)
    own = select(store, Subset(users=("U1",)))
    changes = period_changes(part(own, "1971-03"), part(own, "1971-02")).by_measure

    assert changes["jobs"].after == pytest.approx(133 / 31, rel=0.02)
    assert changes["jobs"].changes == 14


def test_a_report_against_another_period_answers_with_both_values(make_store):
    with gwa.Trace(months(make_store, COUNTS), "made") as trace:
        report = trace.filter(period="1971-03").report(["overview"], against=trace.filter(period="1971-02"))
    answer = next(one for one in report.answers if one.id == "changed")

    assert (answer.state, answer.number, answer.section) == ("known", "0.0992 to 0.179", "against")
    assert "too few weeks" not in answer.text
    assert report.fact("against.jobs.before").value == pytest.approx(200 / 28)
    assert report.fact("against.jobs.rank").value == 1
    table = report.table("against").frame()
    assert len(table) == sum(
        fact.id.endswith(".after") for fact in report.facts() if fact.id.startswith("against.")
    )
    assert {
        fact.id.split(".")[1] for fact in report.facts() if fact.id.startswith("against.")
    } <= MEASURES.keys()
