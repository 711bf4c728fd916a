"""What is packed into planes of bytes comes out again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.breakdown.planes import packed, unpacked

WHOLE = st.lists(st.integers(0, 2**50), max_size=30)
SECONDS = st.lists(st.integers(0, 10**15).map(lambda micros: micros / 1e6), max_size=30)


@given(WHOLE, SECONDS)
def test_numbers_come_out_as_they_were(whole, seconds):
    layout, content = packed({"jobs": {"n": whole}, "usage": {"seconds": seconds}})
    found = unpacked(layout, content)
    assert found["jobs"]["n"].tolist() == whole
    assert found["usage"]["seconds"] == pytest.approx(np.array(seconds), rel=1e-12, abs=1e-9)


def test_a_column_has_as_many_planes_as_its_largest_number_needs():
    layout, _ = packed({"t": {"a": [0, 255], "b": [0, 256], "c": [2**24, 1], "d": [0.5, 1]}})
    assert [(column.planes, column.scale) for column in layout["t"].columns] == [
        (1, 1), (2, 1), (4, 1), (3, 1_000_000),
    ]  # fmt: skip


def test_planes_lie_in_the_order_in_which_pages_write_the_names_of_tables():
    layout, content = packed({"b": {"n": [1]}, "a": {"n": [2]}})
    assert list(layout) == ["a", "b"]
    assert packed({"a": {"n": [2]}, "b": {"n": [1]}}) == (layout, content)


def test_the_same_numbers_give_the_same_bytes():
    tables = {"t": {"a": list(range(1000))}}
    assert packed(tables) == packed(tables)


@pytest.mark.parametrize("values", [[-1], [float("nan")], [float("inf")]])
def test_what_is_no_amount_is_refused(values):
    with pytest.raises(ValueError, match=r"t\.a: a number is negative or not finite"):
        packed({"t": {"a": values}})


def test_columns_of_a_table_have_one_length():
    with pytest.raises(ValueError, match="differ in length"):
        packed({"t": {"a": [1], "b": []}})
