"""Small numeric steps."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from gwa.statistics.numeric import minimize

NUMBER = st.floats(-3, 3)
LOSSES = {
    "parabola": lambda a, b: lambda x: (x - a) ** 2 + b,
    "kinked": lambda a, b: lambda x: abs(x - a) * b + math.sin(5 * x),
    "steps": lambda a, b: lambda x: math.floor(x * a) + b,
    "flat": lambda a, _: lambda _x: a,
    "rising": lambda a, b: lambda x: a * x + b,
    "exponential": lambda a, b: lambda x: math.exp(max(-600, min(600, a * x))) + b * x,
    "not a number": lambda a, _: lambda x: math.nan if x > a else x * x,
}


@pytest.mark.parametrize("kind", LOSSES)
@given(
    a=NUMBER, b=NUMBER, low=NUMBER, width=st.floats(0, 1e6), tolerance=st.sampled_from([0, 1e-12, 1e-8, 1e-5])
)
def test_a_minimum_is_searched_where_scipy_searches_it(kind, a, b, low, width, tolerance):
    loss = LOSSES[kind](a, b)
    ours: list[float] = []
    theirs: list[float] = []

    def seen(places):
        return lambda x: (places.append(float(x)), loss(x))[1]

    found = minimize(seen(ours), low, low + width, tolerance)
    expected: Any = minimize_scalar(
        seen(theirs), bounds=(low, low + width), method="bounded", options={"xatol": tolerance}
    )
    assert ours == theirs
    assert found == expected.x
