"""Where functions are zero or least, beside scipy."""

import math
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.optimize import minimize as scipy_minimize

from gwa.statistics.search import LOOKS, minimize, minimize_simplex, root

NUMBER = st.floats(-3, 3)
TOLERANCE = st.sampled_from([1e-12, 1e-6, 0.01])
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


CROSSING = {
    "line": lambda a: lambda x: x - a,
    "cubic": lambda a: lambda x: (x - a) ** 3,
    "exponential": lambda a: lambda x: math.exp(x) - math.exp(a),
    "falling": lambda a: lambda x: math.cos(x / 4) - math.cos(a / 4) if x > 0 else 1.0,
    "step": lambda a: lambda x: -1.0 if x < a else 2.0,
    "flat": lambda a: lambda x: max(min(x - a, 0.5), 0.0) - 0.25,
    "tiny": lambda a: lambda x: (x - a) ** 3 * 1e-200,
}


@pytest.mark.parametrize("kind", CROSSING)
@given(
    a=st.floats(0.5, 3),
    low=st.floats(-3, 0),
    high=st.floats(3.5, 9),
    tolerance=TOLERANCE,
)
def test_a_root_is_sought_where_scipy_seeks_it(kind, a, low, high, tolerance):
    function = CROSSING[kind](a)
    ours: list[float] = []
    theirs: list[float] = []

    def seen(places):
        return lambda x: (places.append(float(x)), function(x))[1]

    found = root(seen(ours), low, high, tolerance)
    assert found == brentq(seen(theirs), low, high, xtol=tolerance, maxiter=499)
    assert ours == theirs


def test_a_root_at_a_border_is_found_and_none_within_one_sign_refused():
    assert root(lambda x: x, 0.0, 1.0) == 0.0
    assert root(lambda x: x - 1, 0.0, 1.0) == 1.0
    with pytest.raises(ValueError, match="one sign"):
        root(lambda x: x + 1, 0.0, 1.0)


SIMPLEX_LOSSES = {
    "bowl": lambda x: float((x**2 * np.arange(1, x.size + 1)).sum()),
    "valley": lambda x: float(((1 - x) ** 2).sum() + 100 * ((x[1:] - x[:-1] ** 2) ** 2).sum()),
    "kinked": lambda x: float(np.abs(x - 0.3).sum() + math.sin(5 * x[0])),
    "steps": lambda x: float(np.floor(3 * x).sum() ** 2),
    "flat": lambda _: 1.0,
    "falling": lambda x: float(-x.sum()),
    "infinite": lambda x: math.inf if x[0] > 1 else float((x**2).sum()),
    "not a number": lambda x: math.nan if x[0] > 1 else float((x**2).sum()),
}


@pytest.mark.parametrize("kind", SIMPLEX_LOSSES)
@given(start=st.lists(st.floats(-3, 3), min_size=1, max_size=4), tolerance=TOLERANCE)
def test_a_simplex_goes_where_that_of_scipy_goes(kind, start, tolerance):
    loss = SIMPLEX_LOSSES[kind]
    ours: list[list[float]] = []
    theirs: list[list[float]] = []

    def seen(places):
        return lambda x: (places.append(x.tolist()), loss(x))[1]

    found = minimize_simplex(seen(ours), start, tolerance)
    options: Any = {"xatol": tolerance, "fatol": tolerance}
    # Which of equal losses comes first depends on the processor in scipy.
    with patch("numpy.argsort", partial(np.argsort, kind="stable")), np.errstate(invalid="ignore"):
        expected: Any = scipy_minimize(seen(theirs), start, method="Nelder-Mead", options=options)
    if expected.success:
        assert ours == theirs
        assert found.tolist() == expected.x.tolist()
    else:  # both look as often as they may, ours to the end of a step
        assert len(theirs) == LOOKS * len(start)
        assert ours[: len(theirs)] == theirs


def test_the_least_of_a_bowl_is_found_from_afar():
    assert minimize_simplex(SIMPLEX_LOSSES["bowl"], [100.0, -50.0], 1e-9) == pytest.approx([0, 0], abs=1e-7)
