"""Where functions are zero or least, also where they are awkward."""

import math

import numpy as np
import pytest

from gwa.statistics.search import minimize, minimize_simplex, root


@pytest.mark.parametrize(
    ("function", "place"),
    [
        (lambda x: (x - 2) ** 3, 2.0),
        (lambda x: math.exp(x) - math.e, 1.0),
        (lambda x: -1.0 if x < 1.5 else 2.0, 1.5),
        (lambda x: (x - 2) ** 3 * 1e-200, 2.0),
    ],
)
def test_a_root_is_found_where_there_is_one(function, place):
    assert root(function, -3, 9, 1e-12) == pytest.approx(place, abs=1e-4)


def test_a_root_at_a_border_is_found_and_none_within_one_sign_refused():
    assert root(lambda x: x, 0.0, 1.0) == 0.0
    assert root(lambda x: x - 1, 0.0, 1.0) == 1.0
    with pytest.raises(ValueError, match="different signs"):
        root(lambda x: x + 1, 0.0, 1.0)


def test_a_minimum_stays_within_its_bounds():
    assert minimize(lambda x: x, 2, 5, 1e-9) == pytest.approx(2, abs=1e-6)
    assert minimize(lambda x: abs(x - 0.3), -1, 1e6, 1e-9) == pytest.approx(0.3, abs=1e-3)
    assert math.isfinite(minimize(lambda x: math.nan if x > 1 else x * x, -3, 3, 1e-9))


def test_the_least_of_a_valley_is_found_from_afar_past_what_is_infinite():
    def valley(x):
        if x[0] > 2:
            return math.inf
        return float((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)

    assert minimize_simplex(valley, [-1.5, 2.0], 1e-8) == pytest.approx([1, 1], abs=1e-5)
    assert np.isfinite(minimize_simplex(lambda _: math.inf, [3.0, 0.0], 1e-6)).all()
