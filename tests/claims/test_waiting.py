"""
Sentences on why jobs waited, in worlds in which the reason of each second is known.

A sentence is false that is more than two points off, or names a ceiling that no rule made.
"""

import re
from collections import Counter

import numpy as np
import pytest

import gwa
from gwa.analysis.waiting_sentences import sentences
from gwa.metrics.waiting import Waiting, waiting
from tests.claims.waiting import CPUS, WORLDS, Scheduler
from tests.metrics.test_waiting import header

TOLERANCE = 0.02
SEEDS = range(500, 520)
LIMITS = {
    "limit of processors": ("processors", 32.0),
    "limit of processors, fair": ("processors", 32.0),
    "limit of jobs": ("jobs", 3.0),
}


def said(text: str, pattern: str) -> float | None:
    """Return the share that a sentence says; None where it is not said."""
    found = re.search(pattern.replace("SHARE", r"([\d.]+) %"), text)
    return float(found[1]) / 100 if found else None


def judged(name: str, found: Waiting, truth: dict[str, float]) -> Counter[str]:
    """Return how many sentences are said of each kind, and how many of them are false."""
    true = Counter(truth)
    text = " ".join(sentences(found))
    counted: Counter[str] = Counter()

    def count(kind: str, *, is_false: bool) -> None:
        counted[kind] += 1
        counted[f"{kind} false"] += is_false

    for kind, pattern, share in (
        ("full", "^SHARE of the waiting was while fewer", true["full"]),
        ("held", "SHARE was before jobs could start", true["held"]),
    ):
        if (value := said(text, pattern)) is not None:
            count(kind, is_false=abs(value - share) > TOLERANCE)
    if (value := said(text, "At most SHARE can be priority")) is not None:
        count("priority", is_false=true["priority"] > value + TOLERANCE)
    if (value := said(text, "At least SHARE was while there was room")) is not None:
        count("room", is_false=value > true["limit"] + true["drained"] + TOLERANCE)
    for one in found.ceilings:
        count("ceiling", is_false=(one.unit, one.most) != LIMITS.get(name) or one.kind != "user")
    outage = (found.shares() or {})["outage"]
    count("down", is_false=abs(outage - true["down"]) > TOLERANCE)
    counted["logs with a ceiling"] += bool(found.ceilings)
    return counted


def in_world(name: str, seed: int, make_store) -> tuple[Waiting, Counter[str]]:
    columns, truth = Scheduler(WORLDS[name], seed).log()
    found = waiting(make_store(header(CPUS), **columns))
    return found, judged(name, found, truth)


@pytest.mark.parametrize("name", ["backfilled", "limit of processors", "down"])
def test_in_one_log_of_a_world_no_sentence_is_false(make_store, name):
    _, counted = in_world(name, SEEDS[0], make_store)
    assert counted["full"] == 1
    assert sum(number for kind, number in counted.items() if kind.endswith("false")) == 0
    assert counted["logs with a ceiling"] == (name in LIMITS)


def test_of_a_selection_only_ceilings_of_its_owners_are_said(make_store):
    columns, _ = Scheduler(WORLDS["limit of processors"], SEEDS[0]).log()
    store = make_store(header(CPUS), **columns)
    own = next(one.id for one in waiting(store).ceilings if one.waited and not one.is_common)
    found = waiting(store.filtered(f"user_id = '{own}'"))
    assert {one.id for one in found.ceilings} == {own}
    assert f"User {own} waited" in " ".join(sentences(found))
    assert len(waiting(store).ceilings) > 1


def test_without_the_busiest_user_nothing_is_said_of_room(make_store):
    columns, _ = Scheduler(WORLDS["backfilled"], SEEDS[0]).log()
    users = np.array(columns["user_id"])
    names, jobs = np.unique(users, return_counts=True)
    kept = users != names[jobs.argmax()]
    found = waiting(
        make_store(
            header(CPUS), **{name: np.array(column)[kept].tolist() for name, column in columns.items()}
        )
    )
    text = " ".join(sentences(found))
    assert found.is_bound == "full_at_least"
    assert text.startswith("At least")
    assert not re.search("room for every|can be priority|ceiling", text)


@pytest.mark.slow
def test_each_sentence_is_false_in_one_of_twenty_logs_at_most(make_store):
    counted: Counter[str] = Counter()
    for name in WORLDS:
        of_world: Counter[str] = Counter()
        for seed in SEEDS:
            of_world += in_world(name, seed, make_store)[1]
        ceilings = of_world["logs with a ceiling"]
        assert ceilings >= 0.9 * len(SEEDS) if name in LIMITS else ceilings <= 0.05 * len(SEEDS), name
        counted += of_world
    for kind in ("full", "held", "priority", "room", "ceiling", "down"):
        assert counted[kind], kind
        assert counted[f"{kind} false"] <= 0.05 * counted[kind], (kind, counted)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log", "bound", "condition", "share"),
    [
        ("KTH-SP2-1996-2.1-cln", "none", "open", 0.136),
        ("CEA-Curie-2011-2.1-cln", "full_at_least", "larger", 0.70),
        ("HPC2N-2002-2.1-cln", "full_at_least", "full", 0.01),
    ],
)
def test_real_logs_have_the_shares_that_were_found_by_other_means(logs, log, bound, condition, share):
    """Of a log from which users were removed, nothing is said of room."""
    with gwa.open(logs / "swf" / f"{log}.swf.gz") as trace:
        found = waiting(trace.store)
    text = " ".join(sentences(found))
    assert found.is_bound == bound
    assert (found.shares() or {})[condition] == pytest.approx(share, abs=0.01)
    assert bool(re.search("room for every|can be priority|ceiling", text)) == (bound == "none")


def test_the_partitions_of_the_sample_have_processors_of_their_own(slurm_sample):
    with gwa.open(slurm_sample) as trace:
        found = waiting(trace.store)
    assert found.partitions == "apart"
    assert (found.shares() or {})["full"] == pytest.approx(0.77, abs=0.01)
