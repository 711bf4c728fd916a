"""What users are told of their own waits: against sums over all seconds, and not where it cannot be known."""

import re

import numpy as np
import pytest

from gwa.analysis.advice import letter
from gwa.analysis.waiting_advice import MINIMUM_SHARE, advice_on_waits
from gwa.metrics.waiting import waiting
from gwa.report.letter import as_text
from tests.claims.waiting import CPUS, WORLDS, Scheduler
from tests.metrics.test_waiting import header

SEED = 500


def a_log(make_store, name, seed=SEED, kept=None):
    columns, _ = Scheduler(WORLDS[name], seed).log()
    chosen = slice(None) if kept is None else kept(columns)
    return columns, make_store(
        header(CPUS), **{field: np.array(column)[chosen].tolist() for field, column in columns.items()}
    )


def advice_by_id(store, user):
    return {one.id: one for one in advice_on_waits(store, user)}


def share(text):
    found = re.search(r"([\d.]+) %", text)
    assert found
    return float(found[1]) / 100


def half_of_full(columns, user):
    """Return in which share of the seconds that found the machine full half would have been free."""
    submit, wait, run, size = (
        np.array(columns[name], float) for name in ("submit_time", "wait_time", "run_time", "n_procs")
    )
    start = submit + wait
    edges = np.unique(np.concatenate([submit, start, start + run]))
    middles, lengths = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    free = CPUS - np.array([size[(start < now) & (now < start + run)].sum() for now in middles])
    full = half = 0.0
    for job in np.flatnonzero(np.array(columns["user_id"]) == user):
        here = (submit[job] < middles) & (middles < start[job]) & (size[job] > free)
        full += lengths[here].sum()
        half += lengths[here & (np.ceil(size[job] / 2) <= free)].sum()
    return half / full


def test_half_of_the_processors_is_a_sum_over_all_seconds(make_store):
    columns, store = a_log(make_store, "backfilled")
    told = {user: advice_by_id(store, user) for user in sorted(set(columns["user_id"]))}
    said = {user: found["half-size"] for user, found in told.items() if "half-size" in found}
    assert len(said) >= 3
    for user, one in said.items():
        assert share(one.because) == pytest.approx(half_of_full(columns, user), abs=0.03)


def test_a_user_at_a_ceiling_is_told_so_and_no_other(make_store):
    columns, store = a_log(make_store, "limit of processors")
    held = {one.id for one in waiting(store).ceilings if (one.waited or 0.0) >= MINIMUM_SHARE}
    told = {user for user in set(columns["user_id"]) if "own-ceiling" in advice_by_id(store, user)}
    assert told == held
    assert told
    for user in told:
        one = advice_by_id(store, user)["own-ceiling"]
        assert one.do == "More than 32 processors at once may not help: ask whether a limit holds you."
        text = as_text(letter(store, user), "log")
        assert "never held more than 32 processors for long" in " ".join(text.split())


@pytest.mark.parametrize("name", ["backfilled", "drained", "in order"])
def test_without_limits_no_ceiling_is_told(make_store, name):
    columns, store = a_log(make_store, name)
    assert not any("own-ceiling" in advice_by_id(store, user) for user in set(columns["user_id"]))


def test_where_jobs_are_missing_nothing_is_told(make_store):
    def without_the_busiest(columns):
        users = np.array(columns["user_id"])
        names, jobs = np.unique(users, return_counts=True)
        return users != names[jobs.argmax()]

    columns, store = a_log(make_store, "backfilled", kept=without_the_busiest)
    assert not any(advice_by_id(store, user) for user in set(columns["user_id"]))


def test_a_selection_tells_a_user_what_the_whole_log_does(make_store):
    columns, store = a_log(make_store, "backfilled")
    user = next(one for one in sorted(set(columns["user_id"])) if advice_by_id(store, one))
    own = store.filtered(f"user_id = '{user}'")
    assert advice_by_id(own, user) == advice_by_id(store, user)


def test_projects_are_told_nothing_of_waits(make_store):
    columns, _ = Scheduler(WORLDS["limit of processors"], SEED).log()
    store = make_store(header(CPUS), **columns, project_id=columns["user_id"])
    user = next(one.id for one in waiting(store).ceilings if one.waited)
    ids = {one.id for one in letter(store, user, "project").advice}
    assert not ids & {"own-ceiling", "half-size", "free-hours"}
