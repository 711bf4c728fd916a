"""Rows learnt by heart: planted copies are counted, new jobs are not, whatever the size of the log."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.memory import Split, memory
from gwa.evaluation.scorecard import CLOSE, NOISE, OFF

WEEK = 604_800.0


def jobs(run, procs, requested=None):
    n = len(run)
    asked = np.full(n, np.nan)
    asked[:] = np.nan if requested is None else requested
    return JobArrays(
        np.arange(n, dtype=np.float64) * 60.0,
        np.asarray(run, np.float64),
        np.asarray(procs, np.int64),
        asked,
        np.full(n, -1),
        64,
    )


def drawn(seed, n=2000):
    rng = np.random.default_rng(seed)
    return jobs(np.rint(rng.lognormal(5, 2, n)), 2 ** rng.integers(0, 6, n))


def by_hand(made, split):
    """Return the same by loops over all pairs."""
    has = all((one.requested > 0).any() for one in (made, split.training, split.held_out))

    def rows(one):
        asked = np.nan_to_num(one.requested) if has else np.zeros(len(one))
        return list(zip(np.rint(one.run), one.procs, np.rint(asked), strict=True))

    def point(row):
        return np.array([np.log1p(row[0]), np.log(row[1]), np.log1p(row[2])])

    training, held_out = rows(split.training), rows(split.held_out)

    def copied(several):
        return np.mean([row in training for row in several])

    def closest(several, records):
        return [min(np.linalg.norm(point(row) - point(one)) for one in records) for row in several]

    near, far = closest(rows(made), training), closest(rows(made), held_out)
    nearer = np.mean([0.5 if a == b else float(a < b) for a, b in zip(near, far, strict=True)])
    expected = (copied(held_out), np.mean(closest(held_out, training)))
    return copied(rows(made)), expected[0], np.mean(near), expected[1], nearer


ROWS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 4), st.integers(0, 3)), min_size=8, max_size=8)


@settings(deadline=None)
@given(ROWS, ROWS, ROWS)
def test_it_is_what_a_loop_over_all_pairs_finds(one, two, three):
    made, training, held_out = (jobs(*map(list, zip(*rows, strict=True))) for rows in (one, two, three))
    split = Split(training, held_out)
    found = memory(made, [split], is_known=True, seed=1)

    values = (found.copied, found.expected_copied, found.distance, found.expected_distance, found.nearer)
    assert values == pytest.approx(by_hand(made, split), abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_planted_copies_are_counted_beyond_what_new_jobs_have(share):
    training, held_out, made = drawn(1), drawn(2), drawn(3)
    copies = int(share * len(made))
    made.run[:copies], made.procs[:copies] = training.run[:copies], training.procs[:copies]
    found = memory(made, [Split(training, held_out)], is_known=True, seed=1)

    assert found.expected_copied == pytest.approx(
        found.copied if not share else found.expected_copied, abs=0.03
    )
    # New jobs are rows of the log by chance, too.
    assert found.beyond == pytest.approx(share * (1 - found.expected_copied), abs=0.03)
    assert found.nearer == pytest.approx(0.5 + share * (1 - found.expected_copied) / 2, abs=0.05)
    verdicts = [row[2] for row in found.rows()]
    assert verdicts == [OFF, OFF] if share == 1.0 else set(verdicts) <= {NOISE, CLOSE, OFF}


def test_what_one_of_them_does_not_request_is_not_compared():
    asked = jobs([10, 20, 30], [1, 1, 1], [60, 60, 60])
    silent = jobs([10, 20, 30], [1, 1, 1])

    assert memory(silent, [Split(asked, asked)], is_known=True, seed=1).copied == 1.0
    other = jobs([10, 20, 30], [1, 1, 1], [90, 90, 90])
    assert memory(other, [Split(asked, asked)], is_known=True, seed=1).copied == 0.0


def test_of_many_rows_some_are_drawn_and_told_the_same(monkeypatch):
    split, made = Split(drawn(1), drawn(2)), drawn(3)
    whole = memory(made, [split], is_known=True, seed=1)
    monkeypatch.setattr("gwa.evaluation.memory.MAXIMUM_ROWS", 500)
    some = memory(made, [split], is_known=True, seed=1)

    assert (some.copied, some.expected_copied) == (whole.copied, whole.expected_copied)
    assert some.nearer == pytest.approx(0.5, abs=0.06)
    assert (
        some == memory(made, [split], is_known=True, seed=1) != memory(made, [split], is_known=True, seed=2)
    )
