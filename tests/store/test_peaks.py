"""The most that was held at once, against the obvious second-by-second computation."""

import duckdb
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gwa.store.peaks import peak_query
from tests.conftest import examples

JOBS = st.lists(
    st.tuples(st.integers(-40, 200), st.integers(0, 90), st.integers(1, 5)), min_size=1, max_size=15
)


def answer(edges, **options):
    """Return the peak and the seconds above the capacity."""
    return duckdb.connect().execute(peak_query(edges, **options)).fetchall()[0]


def asked(jobs, **options):
    """Return the peak of jobs, and the seconds above the capacity."""
    jobs_sql = ", ".join(f"({begin}.0, {begin + run}.0, {held}.0)" for begin, run, held in jobs)
    table = f"(values {jobs_sql}) as job(begin, finish, held)"
    edges = (
        f"select cast(begin as double) as t, cast(held as double) as d from {table}"
        f" union all select cast(finish as double) as t, -cast(held as double) as d from {table}"
    )
    return answer(edges, **options)


@examples(60)
@given(JOBS, st.integers(0, 12), st.sampled_from([1.0, 7.0, 20.0, 600.0]))
def test_peak_and_seconds_above_are_those_of_every_second(jobs, capacity, width):
    held = np.zeros(400)
    for begin, run, amount in jobs:
        held[begin + 50 : begin + 50 + run] += amount

    assert asked(jobs, capacity=capacity, width=width) == (
        held.max(),
        (held > capacity).sum() or None,
    )


def test_without_a_capacity_only_the_peak_is_sought():
    assert asked([(0, 10, 2), (5, 10, 3)]) == (5.0, None)


def test_of_nothing_there_is_no_peak():
    nothing = "select cast(0 as double) as t, cast(0 as double) as d where false"

    assert answer(nothing) == (None, None)


def test_what_begins_at_an_unknown_time_is_held_at_last():
    edges = "select * from (values (1.0, 2.0), (null, 3.0), (5.0, 1.0), (9.0, -1.0)) as edge(t, d)"

    assert answer(edges)[0] == 5.0
