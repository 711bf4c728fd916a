"""The ledger of sessions: what it counts, what it does not say, and how it is filled."""

import json
from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import gwa
from gwa.cli import gwa as command
from gwa.errors import ModelError
from gwa.models.base import presets
from gwa.models.families.gwa import Gwa
from gwa.models.families.gwa.filling import Filling
from gwa.models.families.gwa.ledger import MAXIMUM_WORK, Ledger
from gwa.models.generate import GenerationRequest
from gwa.models.streams import Extent
from gwa.util.units import DAY, HOUR, WEEK

PRESET: Any = presets()["gwa-kth-sp2"].model


def sessions(seed, weeks=8, count=600):
    """Return starts and works of sessions of some whole weeks."""
    rng = np.random.default_rng(seed)
    start = (40 + rng.random(count) * weeks) * WEEK
    start[:2] = 40 * WEEK, (40 + weeks) * WEEK - 1
    return np.floor(start), np.rint(rng.lognormal(8, 2, count))


@given(st.integers(0, 2**32), st.integers(0, WEEK // HOUR))
@settings(deadline=None, max_examples=25)
def test_every_session_is_counted_where_it_started(seed, hours):
    """Whole weeks that begin at any hour: what comes after the last border is in the first week."""
    start, work = sessions(seed)
    start += hours * HOUR
    ledger = Ledger.fit(start, work)

    first = start.min() // WEEK
    expected = Counter(
        (
            int(one // WEEK - first) % 8,
            int(one % WEEK // (6 * HOUR)),
            sum(amount > edge for edge in ledger.edges),
        )
        for one, amount in zip(start.tolist(), work.tolist(), strict=True)
    )
    places = np.argwhere(ledger.counts)
    found = {tuple(place): int(ledger.counts[tuple(place)]) for place in places.tolist()}
    whole = hours % 6 == 0
    assert found == expected or (not whole and sum(found.values()) >= 0.99 * start.size)


def test_short_logs_have_days_or_hours_for_periods():
    rng = np.random.default_rng(1)
    found = [Ledger.fit(rng.random(400) * span, rng.random(400) * 100) for span in (5 * DAY, 5 * HOUR, 600.0)]

    assert [(one.period, one.block) for one in found] == [(DAY, 6 * HOUR), (HOUR, HOUR), (HOUR, HOUR)]
    assert [sum(one.sessions) for one in found] == [400, 400, 400]


def test_half_of_the_classes_have_as_many_sessions_and_half_as_much_work():
    ledger = Ledger.fit(*sessions(3, count=8000))
    by_class = ledger.counts.sum((0, 1))
    work = by_class * np.array(ledger.work)

    assert by_class[:4] == pytest.approx(np.full(4, 8000 / 7), rel=0.02)
    assert work[-4:] == pytest.approx(np.full(4, work.sum() / 6), rel=0.2)


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=25)
def test_periods_are_drawn_whole_two_at_a_time(seed):
    ledger = Ledger.fit(*sessions(seed % 7))
    drawn = list(islice(ledger.draw(np.random.default_rng(seed)), 6))

    periods = []
    for number, (starts, classes) in enumerate(drawn):
        assert (np.diff(starts) >= 0).all()
        block = ((starts - number * WEEK) // (6 * HOUR)).astype(int)
        counts = np.zeros_like(ledger.counts[0])
        np.add.at(counts, (block, classes), 1)
        (same,) = np.flatnonzero((ledger.counts == counts).all((1, 2)))[:1]
        periods.append(int(same))
    assert all(second == (first + 1) % 8 for first, second in zip(periods[::2], periods[1::2], strict=True))


@given(st.integers(0, 2**32), st.integers(1, 30), st.sampled_from([6, 12, 24]))
@settings(deadline=None, max_examples=40)
def test_no_cell_counts_fewer_than_the_threshold(seed, least, hours):
    whole = Ledger.fit(*sessions(seed, count=2000))
    found = whole.coarsened(least, hours * HOUR)

    for counts in (found.sessions, found.any_period, found.any_time):
        assert all(count == 0 or count >= least for count in counts)
    kept = sum(found.sessions) + sum(found.any_period) + sum(found.any_time)
    assert 2000 - least * len(found.work) < kept <= 2000
    assert Ledger.parsed(json.loads(json.dumps(found.plain()))) == found


def test_what_is_in_no_week_comes_as_often():
    whole = Ledger.fit(*sessions(5, count=2000))
    found = whole.coarsened(5)
    drawn = [classes for _, classes in islice(found.draw(np.random.default_rng(1)), 80)]

    assert sum(found.sessions) < 600
    by_class = np.bincount(np.concatenate(drawn), minlength=len(whole.work)) / 10
    assert by_class == pytest.approx(whole.counts.sum((0, 1)), rel=0.1, abs=10)


def test_blocks_that_do_not_divide_the_period_are_refused():
    ledger = Ledger.fit(*sessions(1))
    for hours in (7, 9, 48):
        with pytest.raises(ModelError, match="expected a multiple of 6 h"):
            ledger.coarsened(1, hours * HOUR)


@pytest.mark.parametrize(
    "wrong",
    [{"sessions": [1, 2]}, {"sessions": [0] * 4}, {"edges": [9.0, 3.0]}, {"block": 7.0}, {"any_time": [1]}],
)
def test_a_ledger_that_is_none_is_refused(wrong):
    right = {"period": 20.0, "block": 10.0, "edges": [5.0], "work": [2.0, 8.0], "sessions": [1, 0, 0, 2]}
    assert Ledger.parsed(right).sessions == (1, 0, 0, 2)
    with pytest.raises(ModelError, match="expected"):
        Ledger.parsed(right | wrong)


def single_jobs(rng):
    """Return a function that draws sessions of one job on one processor."""

    def draw(number):
        run = np.rint(rng.lognormal(8, 2, number))
        return {
            "submit_time": np.zeros(number), "run_time": run, "n_procs": np.ones(number, np.int64),
            "session": np.arange(number),
        }  # fmt: skip

    return draw


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=15)
def test_sessions_are_of_the_class_that_is_counted_and_their_work_is_kept(seed):
    ledger = Ledger.fit(*sessions(seed, count=2000))
    filling = Filling(ledger, single_jobs(np.random.default_rng(seed)))
    total = counted = 0.0
    for starts, classes in islice(ledger.draw(np.random.default_rng(seed)), 12):
        jobs = filling.fill(starts, classes)
        assert jobs["submit_time"].tolist() == np.floor(starts).tolist()
        of_class = ledger.classify(jobs["run_time"])
        assert (of_class == classes).mean() > 0.99, "a class may be empty"
        total, counted = total + jobs["run_time"].sum(), counted + np.array(ledger.work)[classes].sum()
    assert total == pytest.approx(counted, rel=0.02)
    assert jobs["run_time"].max() <= MAXIMUM_WORK * ledger.work[-1]


def test_a_class_that_is_never_drawn_is_filled_with_the_nearest():
    ledger = Ledger(HOUR, HOUR, (10.0, 1e7), (5.0, 50.0, 1e9), (1, 0, 2))
    filling = Filling(ledger, single_jobs(np.random.default_rng(1)))
    jobs = filling.fill(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2]))

    assert jobs["submit_time"].tolist() == [1.0, 2.0, 3.0]
    assert jobs["run_time"][0] <= 10
    assert jobs["run_time"][1:].min() > 1e5


@pytest.mark.parametrize("seed", [1, 2])
def test_the_work_of_a_workload_is_that_of_the_weeks_that_were_drawn(seed):
    weeks = 20
    blocks = GenerationRequest(PRESET, Extent(days=7.0 * weeks), seed).blocks()
    made = sum(float(block["run_time"] @ block["n_procs"]) for block in blocks)
    drawn = islice(PRESET.ledger.draw(np.random.default_rng(seed).spawn(2)[0]), weeks)

    counted = sum(np.array(PRESET.ledger.work)[classes].sum() for _, classes in drawn)
    assert made == pytest.approx(counted, rel=0.02)


def test_the_file_says_what_it_holds_of_the_log(sample, tmp_path):
    out = tmp_path / "m.json"
    words = ["model", "fit", str(sample / "swf" / "tiny.swf"), "gwa", "--k", "3", "--block-hours", "12"]
    done = CliRunner().invoke(command, [*words, "-o", str(out)])
    said = json.loads(out.read_text())

    assert said["holds"].startswith("counts of ")
    assert said["parameters"]["ledger"]["least"] == 3
    assert said["holds"] in done.stderr


@pytest.mark.parametrize("option", [["--k", "5"], ["--block-hours", "24"]])
def test_only_a_ledger_is_coarsened(sample, option):
    done = CliRunner().invoke(command, ["model", "fit", str(sample / "swf" / "tiny.swf"), "lublin", *option])

    assert done.exit_code
    assert "has no ledger of sessions, expected the model gwa" in str(done.exception)


@pytest.mark.logs
@pytest.mark.slow
def test_the_load_of_a_whole_log_is_kept_unscaled(logs):
    """Mean within 5 % over four seeds, and their standard deviation of ln at most 5 %."""
    with gwa.open(logs / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz") as trace:
        model = Gwa.fit(trace.store)
        span, work = trace.store.row(
            "select max(submit_time) - min(submit_time), sum(n_procs * run_time) from ran"
        )
    made = []
    for seed in range(1, 5):
        blocks = GenerationRequest(model, Extent(days=span / DAY), seed).blocks()
        made.append(sum(float(block["run_time"] @ block["n_procs"]) for block in blocks) / work)

    assert np.mean(made) == pytest.approx(1.0, abs=0.05)
    assert np.std(np.log(made), ddof=1) <= 0.05
