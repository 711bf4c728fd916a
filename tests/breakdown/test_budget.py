"""What the hours of a machine became, against recounts by hand, and the sentence that says it."""

import gzip
import re
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.analysis.budget_sentence import budget_sentence
from gwa.breakdown.breakdown import breakdown
from gwa.breakdown.budget import PARTS, Budget, budget, hundred
from gwa.breakdown.dimensions import by_name
from gwa.errors import TraceError
from gwa.evaluation.whatif.world import recorded
from gwa.metrics.outcomes import OUTCOMES
from gwa.metrics.stillness import known_area, stillness
from gwa.metrics.waiting import waiting
from gwa.metrics.window import window
from tests.conftest import HOME, LOGS

HOUR = 3600.0
SIZE = (("Times", "Unix seconds, UTC"), ("MaxProcs", "64"))


@given(st.dictionaries(st.sampled_from(PARTS), st.floats(0, 1e15), min_size=1))
def test_numbers_add_up_to_a_hundred_and_are_near_their_shares(parts):
    numbers, whole = hundred(parts), sum(parts.values())
    assert sum(numbers.values()) == (100 if whole > 0 else 0)
    for name, value in parts.items():
        assert not whole or abs(numbers[name] - 100 * value / whole) < 1
        assert value or not numbers[name]


def busy_log(make_store, header, size=400, codes=(0, 1, 5)):
    """Return the store of a machine of 64 processors that is busy for months, and its columns."""
    rng = np.random.default_rng(5)
    submit = np.sort(1.6e9 + rng.integers(0, 60 * 86_400, size)).astype(float)
    columns = {
        "submit_time": submit.tolist(),
        "wait_time": rng.integers(0, 900, size).astype(float).tolist(),
        "run_time": rng.integers(60, 9 * 3600, size).astype(float).tolist(),
        "n_procs": rng.integers(1, 17, size).tolist(),
        "status": rng.choice(codes, size).tolist(),
        "user_id": [f"u{n}" for n in rng.integers(0, 5, size)],
    }
    return make_store(header, **columns), columns


def recounted(columns, period, gaps=()):
    """Return the processor-seconds in a period, outside gaps, by status."""
    start = np.array(columns["submit_time"]) + np.array(columns["wait_time"])
    end = start + np.array(columns["run_time"])

    def within(first, last):
        return np.clip(np.minimum(end, last) - np.maximum(start, first), 0, None)

    held = within(*period) - sum((within(*gap) for gap in gaps), np.zeros(len(end)))
    amount, status = held * np.array(columns["n_procs"]), np.array(columns["status"])
    return {code: float(amount[status == code].sum()) for code in {*status.tolist()}}


def test_parts_are_those_of_a_recount_and_add_up(make_store):
    store, columns = busy_log(make_store, SIZE)
    found, period = budget(store), window(store).period
    assert period
    assert found.seconds
    assert found.total
    gaps = [(one.begin, one.end) for one in stillness(store).unaccounted]

    held = recounted(columns, period, gaps)

    assert found.kind == "machine"
    assert found.parts["finished"] == pytest.approx(held[1], rel=1e-12)
    assert found.parts["unfinished"] == pytest.approx(held[0] + held[5], rel=1e-12)
    assert sum(found.parts.values()) == pytest.approx(found.total, rel=1e-12)
    assert found.total == 64 * found.seconds
    area, seconds = known_area(store, period)
    assert found.used / found.total == pytest.approx(area / seconds / 64, rel=1e-12)


@pytest.mark.parametrize(("header", "is_known"), [(SIZE, True), (SIZE[:1], False)])
def test_a_user_has_a_share_of_the_machine_only_where_its_size_is_stated(make_store, header, is_known):
    store, _ = busy_log(make_store, header)
    found = breakdown(store, by_name("users"), "by_cpu")
    assert found
    assert {row["utilization"] is not None for row in found.rows} == {is_known}


GREW: Final = (*SIZE, ("Sizes", '[["2020-10-10", 96], [1604000000, 80]]'))


def test_of_a_machine_that_grew_the_hundred_are_the_processors_of_each_moment(make_store):
    store, columns = busy_log(make_store, GREW)
    found, period = budget(store), window(store).period
    assert period
    since_when = [-inf, datetime(2020, 10, 10, tzinfo=UTC).timestamp(), 1.604e9]

    def capacity(first, last):
        return sum(
            size * max(0.0, min(last, until) - max(first, since))
            for size, since, until in zip((64, 96, 80), since_when, [*since_when[1:], inf], strict=True)
        )

    gaps = [(one.begin, one.end) for one in stillness(store).unaccounted]
    there = capacity(*period) - sum(capacity(*gap) for gap in gaps)
    held = sum(recounted(columns, period, gaps).values())
    assert found.total == pytest.approx(there, rel=1e-12)
    assert found.parts["unused"] == pytest.approx(there - held, rel=1e-12)

    facts = gwa.Trace(store, "grew").facts()
    whole = sum(recounted(columns, period).values())
    assert facts["utilization.mean"] == pytest.approx(whole / capacity(*period), rel=1e-9)
    assert facts["utilization.known_mean"] == pytest.approx(held / there, rel=1e-12)
    assert (facts["trace.cpus"], facts["trace.cpus_least"]) == (96, 64)

    of_one_size = store.filtered("true", (1.6021e9, 1.6022e9))
    assert of_one_size.system.size == 64
    assert "changed" in waiting(store).why_unknown
    with pytest.raises(TraceError, match="the number of processors changed"):
        recorded(store, "easy")


def test_without_a_size_and_of_some_jobs_nothing_is_said_of_the_machine(make_store):
    store, _ = busy_log(make_store, (("Times", "Unix seconds, UTC"),))
    found = budget(store)
    assert found.kind == "used"
    assert found.total == found.used
    assert {"unused", "outages"}.isdisjoint(found.parts)

    whole, _ = busy_log(make_store, SIZE)
    part = whole.filtered("user_id = 'u1'")
    assert part.is_selection
    assert not whole.is_selection
    assert not whole.filtered("true", (1.6e9, 1.601e9)).is_selection
    found = budget(part)
    assert found.capacity is None
    text = budget_sentence(found, is_selection=True)
    assert text.startswith("These jobs held ")
    assert "unused" not in text


def made(kind, *, jobs=100, told=True, bound=False, capacity=None, outages=None, restarted=0.0, **outcomes):
    """Return a budget of so many processor-hours by outcome."""
    held = {name: outcomes.get(name, 0.0) * HOUR for name in OUTCOMES}
    return Budget(
        kind, jobs, HOUR, held, restarted * HOUR, {}, capacity and capacity * HOUR,
        outages and outages * HOUR, told, bound,
    )  # fmt: skip


# ruff: noqa: E501 - a sentence a line
SENTENCES = [
    (made("none"), {}, "No job ran for any time."),
    (
        made("count", jobs=20, completed=1393.0), {},
        "20 jobs held 1,393 processor-hours; all of it became finished work.",
    ),
    (
        made("count", jobs=3, completed=8.0, failed=8.0), {},
        "3 jobs held 16 processor-hours; 50 % of that did not finish.",
    ),
    (made("count", jobs=1, told=False, completed=0.01), {}, "1 job held 36 processor-seconds; how jobs ended is not recorded."),
    (
        made("log", completed=26.0, failed=5.0, running=69.0), {},
        ("Of every 100 processor-hours in the log, 26 became finished work, 5 ran without finishing and 69 were"
         " held by jobs that still ran at the end."),
    ),
    (
        made("used", completed=830.0, limit=170.0), {},
        "Of every 100 processor-hours used, 83 became finished work and 17 ran without finishing.",
    ),
    (
        made("used", told=False, completed=900.0), {"most": 2576},
        ("Jobs held 900 processors on average and at most 2,576 at once; neither the size of the machine nor"
         " how jobs ended is recorded."),
    ),
    (
        made("used", told=False, completed=900.0, capacity=800), {"most": 100},
        "100 jobs held 900 processor-hours; how jobs ended is not recorded.",
    ),
    (
        made("log", told=False, completed=900.0), {},
        "100 jobs held 900 processor-hours; how jobs ended is not recorded.",
    ),
    (
        replace(made("count", jobs=20, completed=900.0), has_unknown_runs=True), {},
        "20 jobs held 900 processor-hours; what earlier runs of jobs held is not recorded.",
    ),
    (
        replace(made("log", completed=900.0, failed=100.0), has_unknown_runs=True), {},
        ("Of every 100 processor-hours in the log, 90 became finished work and 10 ran without finishing;"
         " what earlier runs of jobs held is not recorded."),
    ),
    (
        made("machine", completed=1.0, capacity=1000), {},
        "Of every 100 processor-hours, less than 1 was used.",
    ),
    (
        made("machine", told=False, completed=610.0, capacity=1000), {},
        "Of every 100 processor-hours, 61 were used and 39 went unused; how jobs ended is not recorded.",
    ),
    (
        made("machine", bound=True, completed=620.0, cancelled=220.0, capacity=1000), {},
        ("Of every 100 processor-hours, at most 62 became finished work, at least 22 ran without finishing and"
         " 16 went unused."),
    ),
    (
        made("machine", completed=580.0, failed=80.0, capacity=1000), {},
        "Of every 100 processor-hours, 58 became finished work, 8 ran without finishing and 34 went unused.",
    ),
    (
        made("machine", completed=500.0, running=10.0, unknown=20.0, capacity=1000, outages=30, restarted=40.0), {},
        ("Of every 100 processor-hours, 50 became finished work, 1 was held by jobs that still ran at the end,"
         " 2 went to jobs whose end is not recorded, 4 went into runs that were started again, 40 went unused"
         " and 3 fell to outages."),
    ),
    (
        made("machine", completed=999.0, failed=1.0, capacity=1000), {},
        "Of every 100 processor-hours, more than 99 became finished work.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("found", "known", "said"), SENTENCES, ids=range(len(SENTENCES)))
def test_each_situation_has_its_sentence(found, known, said):
    assert budget_sentence(found, **known) == said


LOGS_RECOUNTED = {
    "CEA-Curie-2011-2.1-cln": 93_312,
    "KTH-SP2-1996-2.1-cln": 100,
    "LLNL-Thunder-2007-1.1-cln": 4_008,
    "HPC2N-2002-2.1-cln": 240,
    "LANL-CM5-1994-4.1-cln": 1_024,
    "RICC-2010-2": 8_192,
}


@pytest.mark.parametrize("name", LOGS_RECOUNTED)
def test_the_parts_of_a_real_log_are_those_of_its_text(name):
    path = LOGS / "swf" / f"{name}.swf.gz"
    if not path.exists():
        pytest.skip(f"{path.relative_to(HOME.parent)} is not here")
    text = gzip.decompress(path.read_bytes()).decode("latin-1")
    rows = np.array([line.split()[:11] for line in text.splitlines() if line[:1] not in {";", ""}], float)
    (zero,) = map(float, re.findall(r"UnixStartTime: *(\d+)", text))
    columns = {
        "submit_time": rows[:, 1] + zero, "wait_time": np.maximum(rows[:, 2], 0),
        "run_time": np.maximum(rows[:, 3], 0), "n_procs": np.maximum(rows[:, 4], 0), "status": rows[:, 10],
    }  # fmt: skip
    with gwa.open(path) as trace:
        found, period = budget(trace.store), window(trace.store).period
        assert period
        assert found.total
        gaps = [
            (part.begin, part.end)
            for one in stillness(trace.store).unaccounted
            if (part := one.within(period)).seconds > 0
        ]
    held = recounted(columns, period, gaps)
    whole = LOGS_RECOUNTED[name] * (period[1] - period[0] - sum(end - begin for begin, end in gaps))

    def of_hundred(seconds):
        return pytest.approx(100 * seconds / whole, abs=1e-6)

    assert found.total == pytest.approx(whole, rel=1e-12)
    assert 100 * found.used / found.total == of_hundred(sum(held.values()))
    if found.is_told:
        assert 100 * found.parts["finished"] / found.total == of_hundred(held[1.0])
