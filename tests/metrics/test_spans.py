"""Levels of whole seconds, which are added up in memory, against those of the engine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics import spans
from gwa.metrics.extremes import extremes
from gwa.metrics.timeline import levels
from gwa.store.store import Store
from tests.conftest import examples

START = 1_700_000_000.0
SPAN = ("start_time", "end_time")

seconds = st.integers(0, 5000).map(float)
jobs = st.lists(st.tuples(seconds, seconds, st.integers(1, 9)), min_size=1, max_size=40)
periods = st.tuples(st.integers(-100, 3000), st.integers(1, 9000))


def both(patch, ask):
    """Return what *ask* answers by the engine, and in memory."""
    answers = []
    for small in (10**9, 0):
        patch.setattr(spans, "SMALL_TRACE", small)
        answers.append(ask())
    return answers


@examples(40)
@given(jobs, periods, st.sampled_from([60.0, 600.0, 7.0]), st.booleans())
def test_levels_and_extremes_are_those_of_the_engine(jobs, period, width, is_whole):
    begins, runs, procs = zip(*jobs, strict=True)
    first = START + period[0]
    asked = (first, first + period[1])
    with Store.create() as store, pytest.MonkeyPatch.context() as patch:
        store.begin(["job_id", "submit_time", "wait_time", "run_time", "n_procs"])
        shift = 0.0 if is_whole else 0.25
        rows = [
            (n, START + begin + shift, 0.0, run, number)
            for n, (begin, run, number) in enumerate(zip(begins, runs, procs, strict=True))
        ]
        store.insert("recorded", rows)

        def ask():
            store.show(store.views()[0][1])  # what was found out is forgotten
            found = levels(store, ("n_procs", "1"), SPAN, "ran", width=width, period=asked)
            return found, extremes(store, 10, asked, width=width)

        (engine, highest), (memory, same) = both(patch, ask)
        assert (spans.spans(store, ("1",), SPAN, "ran") is not None) == is_whole
    assert same == highest
    for one, other in zip(engine, memory, strict=True):
        np.testing.assert_array_equal(one.begins, other.begins)
        np.testing.assert_array_equal(one.lengths, other.lengths)
        np.testing.assert_allclose(one.values, other.values, rtol=1e-12)
