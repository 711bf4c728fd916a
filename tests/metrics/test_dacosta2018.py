"""What Da Costa et al. measure of tasks, against pandas and scikit-learn on the events of a real cell."""

import numpy as np
import pandas as pd
import pytest

from gwa.metrics.papers import dacosta2018
from gwa.store.store import Store
from tests.conftest import LOGS

PARTS = LOGS / "google2011" / "task_events"
NAMES = ["time", "missing", "job", "task", "machine", "event", "user", "class", "priority"]
ENDED = range(2, 7)

TASKS = """
select job, task, count(*) as events, max(class) as class, max(priority) as priority,
    max(case when event between 2 and 6 then event end) as ending,
    (max(case when event between 2 and 6 then time end) - max(case when event = 1 then time end)) / 1e6
        as makespan
from {events} as e group by job, task
"""
"""A row for each task of a table of events; with three events, it has one start and one ending."""


@pytest.fixture(scope="module")
def events():
    if not PARTS.is_dir():
        pytest.skip("there are no real events beside the checkout")
    parts = [
        pd.read_csv(path, header=None, usecols=range(9), names=NAMES) for path in sorted(PARTS.iterdir())
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def tasks(events):
    """Return what pandas makes of the events: a row for each task."""
    by = events.groupby(["job", "task"], sort=False)
    found = by.agg(events=("event", "size"), priority=("priority", "max"), kind=("class", "max"))
    ends = (
        events[events.event.isin(ENDED)]
        .groupby(["job", "task"])
        .agg(ending=("event", "max"), end=("time", "max"))
    )
    starts = events[events.event == 1].groupby(["job", "task"]).agg(start=("time", "max"))
    found = found.join(ends).join(starts)
    return found.assign(makespan=(found.end - found.start) / 1e6)


@pytest.fixture(scope="module")
def store(events):
    """Return an empty store with the events beside it, and the classic tasks of three events."""
    with Store.create() as made:
        made.connection.register("events", events.drop(columns=["user", "missing", "machine"]))
        made.keep("tasks_of_events", TASKS.format(events="events"))
        made.keep("three", "select * from tasks_of_events where events = 3")
        yield made


@pytest.mark.logs
def test_tasks_have_the_events_of_pandas(store, tasks):
    found = store.sample("events", "tasks_of_events")
    expected = tasks.events.value_counts().sort_index()

    assert dict(zip(found.values, found.counts, strict=True)) == expected.to_dict()


@pytest.mark.logs
@pytest.mark.parametrize(
    ("ours", "theirs"), [("ending", "ending"), ("class", "kind"), ("priority", "priority")]
)
def test_shares_of_the_classic_tasks_are_those_of_pandas(store, tasks, ours, theirs):
    found = dacosta2018.shares(store, ours, "three")
    expected = tasks[tasks.events == 3][theirs].value_counts(normalize=True)

    assert found == pytest.approx({int(value): share for value, share in expected.items()}, rel=1e-12)


@pytest.mark.logs
@pytest.mark.parametrize("ending", [4, 5])
@pytest.mark.parametrize("group", ["", *dacosta2018.GROUPS])
def test_make_spans_by_ending_and_group_are_those_of_pandas(store, tasks, ending, group):
    low, high = dacosta2018.GROUPS.get(group, (0, 99))
    expected = tasks[
        (tasks.events == 3) & (tasks.ending == ending) & tasks.priority.between(low, high)
    ].makespan
    found = dacosta2018.makespans(store, "three", ending, group)

    assert found.n == expected.count()
    if found.n:
        assert found.mean() == pytest.approx(expected.mean(), rel=1e-12)
        assert found.median() == pytest.approx(expected.median(), rel=1e-12)
        assert dacosta2018.disparity(found) == pytest.approx(expected.mean() / expected.median(), rel=1e-12)


@pytest.mark.logs
def test_clusters_are_as_tight_as_those_of_scikit_learn(store, tasks, monkeypatch):
    monkeypatch.setattr(dacosta2018, "MAXIMUM_POINTS", 1_000_000)
    cluster = pytest.importorskip("sklearn.cluster", reason="scikit-learn is the reference")
    columns = ("priority", "class")
    ours = dacosta2018.clustering(store, "three", columns, (4, 5))
    chosen = tasks[(tasks.events == 3) & tasks.ending.isin([4, 5])].dropna(subset=["makespan"])
    x = np.column_stack((np.floor(chosen.makespan + 0.5), chosen.priority, chosen.kind))
    x = (x - x.mean(axis=0)) / x.std(axis=0)

    for k, inertia in enumerate(ours.inertias, 1):
        theirs = cluster.KMeans(k, n_init=5, random_state=0).fit(x)
        # Both stop at a local optimum, not always the same.
        assert inertia <= 1.01 * theirs.inertia_ / len(x)
        assert sum(one.share for one in ours.clusters[k - 1]) == pytest.approx(1)
    assert 1 < ours.elbow <= dacosta2018.MAXIMUM_CLUSTERS


def test_a_few_tasks_by_hand(make_store):
    store = make_store(submit_time=[0.0])
    store.rows(
        "create temp table seen as select * from (values"
        " (1, 0, 0, 0, 2, 9), (1, 0, 5000000, 1, 2, 9), (1, 0, 65000000, 4, 2, 9),"
        " (1, 1, 0, 0, 2, 9), (1, 1, 1000000, 1, 2, 9), (1, 1, 2500000, 5, 2, 9),"
        " (2, 0, 0, 0, 0, 0), (2, 0, 7000000, 1, 0, 0)"
        ") as t(job, task, time, event, class, priority)"
    )
    table = store.keep("tasks_of_events", TASKS.format(events="seen"))

    assert store.sample("events", table).expand().tolist() == [2, 3, 3]
    assert dacosta2018.makespans(store, table, 4).expand().tolist() == [60.0]
    assert dacosta2018.makespans(store, table, 5, "production").expand().tolist() == [1.5]
    assert dacosta2018.makespans(store, table, 5, "free").n == 0
    assert dacosta2018.shares(store, "class", table) == pytest.approx({0: 1 / 3, 2: 2 / 3})
