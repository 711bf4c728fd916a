"""The reasons of waiting that a scheduler notes, beside the pattern that a limit leaves."""

from collections import Counter

import pytest

from gwa.analysis.waiting_sentences import sentences
from gwa.metrics.waiting import waiters, waiting
from gwa.metrics.waiting_reasons import reasons
from tests.claims.waiting import CPUS, NOTED, WORLDS, Scheduler
from tests.metrics.test_waiting import header

LIMIT = NOTED["limit"]


@pytest.fixture(scope="module")
def limited():
    """Return the columns of a log of users who have a limit of processors."""
    columns, _ = Scheduler(WORLDS["limit of processors"], 3).log()
    return columns


def test_the_reasons_of_jobs_that_waited_are_counted(make_store, limited):
    store = make_store(header(CPUS), **limited)
    waited = [
        reason
        for reason, wait in zip(limited["pending_reason"], limited["wait_time"], strict=True)
        if wait > 0
    ]
    (one,) = reasons(store, waiters(store))
    assert (one.reason, one.is_limit) == (LIMIT, True)
    assert one.jobs == Counter(waited)[LIMIT] > 100
    assert one.share == pytest.approx(one.jobs / len(waited))


def test_the_reasons_of_a_period_are_those_of_its_jobs(make_store, limited):
    submitted = sorted(limited["submit_time"])
    first, last = submitted[0], submitted[len(submitted) // 3]
    of_period = [
        reason
        for reason, wait, submit in zip(
            limited["pending_reason"], limited["wait_time"], limited["submit_time"], strict=True
        )
        if wait > 0 and first <= submit < last
    ]
    part = make_store(header(CPUS), **limited).filtered("true", (first, last))
    (one,) = reasons(part, waiters(part))
    assert one.jobs == Counter(of_period)[LIMIT] > 10
    assert one.share == pytest.approx(one.jobs / len(of_period))


def test_a_ceiling_says_what_was_noted_of_its_starts(make_store, limited):
    found = waiting(make_store(header(CPUS), **limited))
    ours = [one for one in found.ceilings if not one.is_common]
    assert ours
    assert all(one.limit == LIMIT and one.limited and one.limited > 0.8 for one in ours)
    assert "noted names a limit, most often" in " ".join(sentences(found))


def test_what_is_no_limit_of_an_owner_is_none(make_store, limited):
    columns = {**limited, "pending_reason": [reason and "Dependency" for reason in limited["pending_reason"]]}
    found = waiting(make_store(header(CPUS), **columns))
    assert {one.limited for one in found.ceilings if not one.is_common} == {0.0}
    assert "noted names a limit" not in " ".join(sentences(found))
