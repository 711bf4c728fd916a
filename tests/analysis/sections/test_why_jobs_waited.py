"""What the section on why jobs waited says, and what it must not say."""

from typing import Any

import numpy as np
import pytest

from gwa.analysis.waiting_conditions import as_shown
from gwa.analysis.waiting_sentences import in_short, sentences
from gwa.metrics.waiting import CONDITIONS, Waiting, waiting
from tests.analysis.sections.blocks import facts, figures, notes, tables
from tests.claims.waiting import CPUS, NOTED, WORLDS, Scheduler
from tests.metrics.test_waiting import header, simulated

HALF = {"full": 5000, "larger": 2000, "open": 3000}
ROOM = "room for every waiting job"
PRIORITY = "can be priority"


def made(counts, **fields):
    """Return waiting with so many moments of each condition."""
    conditions = np.repeat([CONDITIONS.index(name) for name in counts], list(counts.values()))
    return Waiting(
        "t",
        np.arange(len(conditions)),
        conditions,
        np.ones(len(conditions)),
        **{"knows_holds": True, **fields},
    )


def said(counts, **fields):
    return " ".join(sentences(made(counts, **fields)))


def test_values_are_said_as_values():
    text = said(HALF)
    assert text.startswith("50 % of the waiting was while fewer processors were free")
    assert "At most 20 % can be priority" in text
    assert "At least 30 % was while there was room" in text


@pytest.mark.parametrize(
    ("fields", "begins"),
    [
        (
            {"is_bound": "full_at_least", "missing": "9 % of the numbers of jobs are absent"},
            "At least 50 %",
        ),
        ({"partitions": "overlapping"}, "50 %"),
    ],
)
def test_nothing_is_said_of_room_where_what_fills_it_is_not_known(fields, begins):
    text = said(HALF, **fields)
    assert text.startswith(begins)
    assert ROOM not in text
    assert PRIORITY not in text


def test_of_a_machine_that_may_be_larger_full_is_at_most_and_nothing_is_said_of_priority():
    text = said(HALF, is_bound="room_at_least", capacity=340.0)
    assert text.startswith("At most 50 %")
    assert "of the 340 ever in use at once" in text
    assert PRIORITY not in text


def test_without_holds_no_order_is_excluded():
    text = said(HALF, knows_holds=False)
    assert "Dependencies and holds are not recorded" in text
    assert ROOM not in text


def test_what_is_unknown_may_be_priority_and_little_room_is_not_said():
    text = said({"full": 9000, "unknown": 600, "open": 400})
    assert "At most 6 % can be priority" in text
    assert ROOM not in text


def test_a_small_bound_is_said_as_one():
    assert "At most 0.1 % can be priority" in said({"full": 99_999, "larger": 1})


def test_few_moments_have_no_share():
    assert said({"full": 999}).startswith("These jobs waited too little")


def test_the_section_has_facts_for_all_and_tables_by_class(section, make_store):
    store = make_store(header(32), **simulated())
    made = section("why-jobs-waited", store)
    found = facts(made)
    assert sum(found[f"waiting.{name}.share"] for name in CONDITIONS) == pytest.approx(1)
    assert sum(found[f"waiting.{name}.share_by_core_hour"] for name in CONDITIONS) == pytest.approx(1)
    assert found["waiting.is_bound"] == "none"
    waited = np.array(simulated()["wait_time"]).sum()
    assert found["waiting.seconds"] == pytest.approx(waited)
    for kind in ("size", "user", "hour", "month"):
        rows = found[f"waiting.by_{kind}"]
        assert all(sum(row[name] for name in CONDITIONS) == pytest.approx(1) for row in rows)
        assert sum(row["share"] for row in rows) <= 1 + 1e-9
    assert {"waiting-size", "waiting-user", "waiting-hour"} <= set(tables(made))
    assert "of the waiting was while fewer processors were free" in notes(made)


def test_holds_that_are_not_recorded_are_unknown_and_not_none(section, make_store):
    columns = simulated()
    del columns["eligible_time"]
    found = facts(section("why-jobs-waited", make_store(header(32), **columns)))
    assert found["waiting.held.share"] is None
    assert {row["held"] for row in found["waiting.by_user"]} == {None}


def test_the_section_says_why_it_says_nothing(section, make_store):
    made = section("why-jobs-waited", make_store(header(8), **simulated()))
    assert "more processors were busy than the log says" in notes(made)
    assert facts(made)["waiting.full.share"] is None


def test_a_log_without_reasons_has_the_same_ceilings_and_says_nothing_of_reasons(section, make_store):
    limited, _ = Scheduler(WORLDS["limit of processors"], 3).log()
    plain = {name: values for name, values in limited.items() if name != "pending_reason"}
    stores = [make_store(header(CPUS), **columns) for columns in (plain, limited)]
    without, noted = ([one.id for one in waiting(store).ceilings] for store in stores)
    assert without == noted
    made = [section("why-jobs-waited", store) for store in stores]
    assert "waiting.reasons" not in facts(made[0])
    assert "noted" not in notes(made[0])
    assert facts(made[1])["waiting.reasons"][0]["reason"] == NOTED["limit"]
    assert facts(made[1])["waiting.by_reason"][0]["id"] == NOTED["limit"]
    assert "not of the whole wait" in notes(made[1])


def test_what_tells_of_room_is_not_shown_where_rows_are_missing(section, make_store):
    """In no table, bar or caption: facts have it, with what they are a bound of."""
    columns = simulated()
    users = np.array(columns["user_id"])
    names, jobs = np.unique(users, return_counts=True)
    kept = users != names[jobs.argmax()]
    store = make_store(header(32), **{name: np.array(one)[kept].tolist() for name, one in columns.items()})
    made = section("why-jobs-waited", store)
    assert facts(made)["waiting.is_bound"] == "full_at_least"
    shown = [column.key for table in tables(made).values() for column in table.columns]
    assert "unknown" in shown
    assert not {"ceiling", "unused", "larger", "cycle", "open"} & set(shown)
    texts = str([(figure.data, figure.alt) for figure in figures(made).values()])
    assert "Not known" in texts
    assert "Room for all" not in texts


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"missing": "9 %"}, {"unknown": 0.7, "full": 0.3}),
        ({"partitions": "overlapping"}, {"unknown": 0.5, "outage": 0.2, "full": 0.3}),
        ({}, {"outage": 0.2, "full": 0.3, "open": 0.5}),
    ],
)
def test_that_nothing_ran_is_shown_only_where_no_rows_are_missing(fields, shown):
    waiting = made({"outage": 2000, "full": 3000, "open": 5000}, **fields)
    found = as_shown(waiting, waiting.shares() or {})
    assert {name: share for name, share in found.items() if share} == pytest.approx(shown)


def test_a_bound_of_nothing_is_not_said():
    missing = {"is_bound": "full_at_least", "missing": "9 % of the numbers of jobs are absent"}
    assert said({"larger": 9999, "full": 1}, **missing).startswith("Jobs may be missing")


SHORT: dict[str, tuple[dict[str, Any], str]] = {
    "room": ({}, "At least 30 % was while there was room for every waiting job"),
    "priority": (
        {"knows_holds": False},
        "At most 20 % can be priority, or room kept for larger jobs. Dependencies",
    ),
    "missing": ({"is_bound": "full_at_least", "missing": "9 %"}, "Jobs may be missing (9 %)"),
    "overlapping": ({"partitions": "overlapping"}, "Partitions share processors"),
    "a machine that may be larger": (
        {"is_bound": "room_at_least", "capacity": 340.0},
        "At most 50 % of the waiting was while fewer processors were free than the job asked for, of the 340",
    ),
    "unknown": ({"why_unknown": "the log does not record waits"}, "Why jobs waited cannot be told: the log"),
}
"""What is known of waiting, and how what the bar does not say itself begins."""


@pytest.mark.parametrize("kind", SHORT)
def test_beside_a_bar_stands_what_it_does_not_say_itself(kind):
    fields, begins = SHORT[kind]
    text = " ".join(in_short(made(HALF, **fields)))
    assert text.startswith(begins)
    assert (ROOM in text) == (kind == "room")
    assert (PRIORITY in text) == (kind == "priority")


def test_of_few_moments_a_bar_says_that_they_are_few():
    assert " ".join(in_short(made({"full": 999}))).startswith("These jobs waited too little")
