"""Sums of hypergeometric numbers, against SciPy's and against counting."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from gwa.statistics.hypergeometric import Draw, upper_tail
from tests.conftest import examples


@st.composite
def draws(draw):
    size = draw(st.integers(1, 30))
    return Draw(draw(st.integers(0, size)), draw(st.integers(0, size)), size)


@examples(100)
@given(draws(), st.integers(0, 31))
def test_one_draw_is_scipys(draw, least):
    expected = hypergeom.sf(least - 1, draw.all, draw.marked, draw.drawn)

    assert upper_tail([draw], least) == pytest.approx(expected, abs=1e-12)


@examples(50)
@given(st.lists(draws(), max_size=3), st.integers(0, 20))
def test_several_draws_add_up(several, least):
    each = [
        [hypergeom.pmf(number, one.all, one.marked, one.drawn) for number in range(31)] for one in several
    ]
    expected = 0.0
    for numbers in product(range(31), repeat=len(several)):
        if sum(numbers) >= least:
            mass = 1.0
            for masses, number in zip(each, numbers, strict=True):
                mass *= masses[number]
            expected += mass

    assert upper_tail(several, least) == pytest.approx(expected, abs=1e-9)
