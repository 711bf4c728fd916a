"""Waits by month and queue, against the jobs themselves."""

import numpy as np
import pytest

from gwa.report.document import Note
from tests.analysis.sections.blocks import ABSOLUTE, DAY, START, facts, figures, tables


def trace(rng, many=600, **fields):
    """Return jobs of 90 days, from January on, with waits of whole seconds."""
    return {
        "submit_time": (START + np.sort(rng.integers(0, int(90 * DAY), many))).astype(float).tolist(),
        "wait_time": np.round(rng.exponential(300, many)).tolist(),
        "run_time": [60.0] * many,
        "n_procs": rng.choice([1, 4, 16], many).tolist(),
        **fields,
    }


def longest(given, classes):
    """Return for each month the class of the largest 95th percentile of its waits, and that percentile."""
    months = (
        np.array(given["submit_time"])
        .astype("int64")
        .astype("datetime64[s]")
        .astype("datetime64[M]")
        .astype(str)
    )
    waits = np.array(given["wait_time"])
    found = {}
    for month in np.unique(months):
        large = {
            name: np.quantile(waits[inside], 0.95)
            for name in np.unique(classes)
            if (inside := (months == month) & (classes == name)).sum() >= 20
        }
        name = max(large, key=lambda name: large[name])
        found[str(month)] = (str(name), large[name])
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_longest_waits_of_each_month_are_those_of_its_jobs(section, make_store, seed):
    rng = np.random.default_rng(seed)
    queues = rng.choice(["long", "short", "debug"], 600, p=[0.35, 0.6, 0.05])
    given = trace(rng, queue_id=queues.tolist())
    made = section("waits-by-class", make_store(ABSOLUTE, **given))
    rows = facts(made)["wait.longest_by_month"]

    assert {row["month"]: (row["class"], row["p95"]) for row in rows} == longest(given, queues)
    assert [column.label for column in tables(made)["waits-longest"].columns][:2] == ["Month", "Queue"]
    # Those with most jobs stand on top; a queue with few in every month has no row.
    assert figures(made)["waits-months"].data["rows"][:2] == ["short", "long"]


def test_who_waits_longest_in_most_months_is_said_and_a_tie_is_not(section, make_store):
    rng = np.random.default_rng(4)
    queues = rng.choice(["long", "short"], 600)
    given = trace(rng, queue_id=queues.tolist())

    def said(waits):
        made = section("waits-by-class", make_store(ABSOLUTE, **given | {"wait_time": waits}))
        months = facts(made)["wait.longest_by_month"]
        return months, [block.text for block in made.blocks if isinstance(block, Note)]

    months, notes = said((np.array(given["wait_time"]) + 5e5 * (queues == "long")).tolist())
    count = f"{len(months)} of {len(months)} months"
    assert len(notes) == 1
    assert notes[0].startswith(
        f"Queue: of those shown, long waited longest in {count}; in {months[-1]['month']}"
    )

    days = (np.array(given["submit_time"]) - START) / DAY
    turns = np.where(days < 45, queues == "long", queues == "short")
    months, notes = said((np.array(given["wait_time"]) + 5e5 * turns).tolist())
    winners = [row["class"] for row in months]
    assert bool(notes) == (winners.count("long") != winners.count("short"))


def test_without_queues_the_sizes_of_jobs_are_compared(section, make_store):
    rng = np.random.default_rng(9)
    given = trace(rng)
    made = section("waits-by-class", make_store(ABSOLUTE, **given))
    names = np.array([{1: "1", 4: "4", 16: "16"}[size] for size in given["n_procs"]])
    rows = facts(made)["wait.longest_by_month"]

    assert {row["month"]: (row["class"], row["p95"]) for row in rows} == longest(given, names)
    assert figures(made)["waits-months"].data["rows"] == ["1", "4", "16"]


def test_of_a_single_month_there_is_no_comparison_by_month(section, make_store):
    given = trace(np.random.default_rng(1))
    given["submit_time"] = [START + number for number in range(600)]
    made = section("waits-by-class", make_store(ABSOLUTE, **given))
    assert "wait.longest_by_month" not in facts(made)
    assert "waits-months" not in figures(made)
