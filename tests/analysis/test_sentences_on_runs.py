"""What is said of logs of which earlier runs of jobs are unknown, or known: never more than they tell."""

import pytest

from gwa.analysis.answers import answers, evidence
from gwa.analysis.budget_sentence import budget_sentence
from gwa.breakdown.budget import budget
from gwa.errors import GwaError
from gwa.formats.open import open_trace
from tests.conftest import HOME

CASES = HOME.parent / "shared" / "cases"
FOLDERS = ("runs", "slurm2", "open")
LOGS = sorted(path for folder in FOLDERS for path in (CASES / folder).glob("*") if path.suffix != ".md")

UNKNOWN = """
select coalesce(sum(n_requeues) filter (where runs is null or strpos(runs, ';') = 0), 0) as unknown,
    coalesce(sum(n_requeues), 0) as again from jobs
"""


def said(store):
    """Return the answer to how busy the system was, and what that and the answer to what went wrong say."""
    given = {answer.id: answer for answer in answers(evidence(store, ()), ())}
    busy, wrong = given["busy"], given["wrong"]
    return busy, [str(busy.text)], [str(wrong.text)]


def check(store):
    """Check what is said against what is known of earlier runs; return how many are unknown."""
    unknown, again = store.row(UNKNOWN)
    busy, of_busy, of_wrong = said(store)
    if unknown:
        assert busy.state != "known"
        assert not [text for text in of_busy if "were busy" in text and "at least" not in text]
        assert not busy.number or busy.number.startswith("\u2265")
        found = budget(store)
        assert found.kind in {"none", "count", "log"}
        if found.kind != "none":
            assert "what earlier runs of jobs held is not recorded" in budget_sentence(found)
    if again:
        assert "all of it became" not in budget_sentence(budget(store))
        assert not [text for text in of_wrong if "completed." in text]
    return unknown


@pytest.mark.filterwarnings("ignore:All-NaN slice")
@pytest.mark.parametrize("path", LOGS or [None], ids=lambda path: path.name if path else "none")
def test_no_log_is_said_to_show_more_than_it_does(path):
    if path is None:
        pytest.skip("there are no logs of runs beside the checkout")
    try:
        store = open_trace([path])
    except GwaError as error:
        pytest.skip(f"is no log of jobs: {error}")
    try:
        check(store)
    finally:
        store.close()


def cluster(make_store, **columns):
    """Return a store of a busy system that knows its size and window: 300 jobs, one after the other."""
    jobs = 300
    return make_store(
        header=(("Processors", "100"),),
        submit_time=[1e9 + 3600.0 * place for place in range(jobs)],
        wait_time=[0.0] * jobs,
        run_time=[3500.0] * jobs,
        n_procs=[50] * jobs,
        status=[1] * jobs,
        state=["COMPLETED"] * jobs,
        user_id=[f"u{place % 7}" for place in range(jobs)],
        **columns,
    )


def test_a_system_is_known_to_be_busy_where_no_job_ran_before(make_store):
    busy, of_busy, of_wrong = said(cluster(make_store))
    assert busy.state == "known"
    assert "at least" not in of_busy[0]
    assert of_wrong[0].startswith("All jobs completed.")


def test_a_single_earlier_run_of_which_only_the_number_is_known_makes_a_bound(make_store):
    store = cluster(make_store, n_requeues=[1, *[None] * 299])
    assert check(store) == 1
    busy, of_busy, of_wrong = said(store)
    assert (busy.state, "at least" in of_busy[0]) == ("bound", True)
    assert of_wrong[0].startswith("All jobs completed in the end, some of them after earlier runs.")


def test_earlier_runs_that_are_listed_are_known(make_store):
    runs = ["0/60/////evicted;100/3500/////completed", *[None] * 299]
    store = cluster(make_store, n_requeues=[1, *[None] * 299], runs=runs)
    assert check(store) == 0
    busy, _, of_wrong = said(store)
    assert busy.state == "known"
    assert "All jobs completed." not in of_wrong[0]
