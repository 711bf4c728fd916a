"""Step functions in SQL."""

import duckdb
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics.steps import step

NUMBERS = st.floats(-1e9, 1e9)


@given(st.lists(NUMBERS, unique=True, max_size=40).map(sorted), st.lists(NUMBERS, max_size=20))
def test_a_step_function_has_the_value_of_as_many_edges_as_are_reached(edges, others):
    x = [*edges, *others]
    values = list(range(10, 11 + len(edges)))
    with duckdb.connect() as engine:
        engine.execute("create table t as select unnest(?::double[]) as x", [x])
        found = engine.sql(f"select {step('x', edges, values)} from t").fetchall()
    assert [value for (value,) in found] == [10 + n for n in np.searchsorted(edges, x, side="right").tolist()]


def test_what_is_unknown_has_the_last_value():
    with duckdb.connect() as engine:
        select = ", ".join(step(x, [1.0, 2.0, 3.0], range(4)) for x in ("null", "'nan'::double"))
        assert engine.sql(f"select {select}").fetchall() == [(3, 3)]


def test_a_row_is_compared_with_the_logarithm_of_the_number_of_edges():
    nested = step("x", [float(edge) for edge in range(127)], range(128))
    depth = longest = 0
    for word in nested.split():
        depth += (word == "case") - (word == "end")
        longest = max(longest, depth)
    assert longest == 7
