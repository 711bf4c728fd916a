"""What may be said of values that are compared."""

from hypothesis import given
from hypothesis import strategies as st

from gwa.words.compared import look_equal, single_largest
from gwa.words.formatting import show


@given(st.lists(st.integers(0, 9)))
def test_the_largest_is_named_where_there_is_one_only(values):
    named = single_largest(range(len(values)), lambda place: values[place])
    largest = [place for place, value in enumerate(values) if value == max(values)]
    assert named == (largest[0] if len(largest) == 1 else None)


@given(st.floats(0, 1e6), st.sampled_from(["seconds", "count", "fraction", ""]))
def test_values_look_equal_where_their_texts_are(value, unit):
    assert look_equal(value, value, unit)
    assert look_equal(value, value + 1e-9, unit) == (show(value, unit) == show(value + 1e-9, unit))
    assert not look_equal(value, 2 * value + 2, unit)
