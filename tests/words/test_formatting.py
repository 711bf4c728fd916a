"""How values are written for readers."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.words.formatting import FORMATS, MISSING, brief, show
from gwa.words.unit import Unit

UNITS = get_args(Unit)


def test_every_unit_has_a_way_to_be_written():
    assert set(FORMATS) == set(UNITS)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), float("-inf")])
def test_what_is_missing_says_so(value, unit):
    assert show(value, unit) == MISSING


@pytest.mark.parametrize("unit", UNITS)
def test_yes_and_no_are_words(unit):
    assert (show(True, unit), show(False, unit)) == ("yes", "no")  # noqa: FBT003 - the values


@pytest.mark.parametrize("unit", UNITS)
@given(value=st.integers() | st.floats() | st.sampled_from([0, -0.0, 1e300, 5e-324, 10**400, -(10**400)]))
def test_any_number_becomes_a_short_text(unit, value):
    for zone in (None, "Europe/Madrid"):
        text = show(value, unit, zone)

        assert text == text.strip()
        assert 0 < len(text) <= 40
        assert "e+" not in text
        assert "nan" not in text
        assert not text.startswith("-")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "", "0"),
        (-1234567.0, "", "−1,234,567"),
        (0.1 + 0.2, "", "0.3"),
        (99999.5, "", "100,000"),
        (1e300, "count", "1 × 10³⁰⁰"),
        (1.5e-7, "", "1.5 × 10⁻⁷"),
        (10**400, "count", "1 × 10⁴⁰⁰"),
        (28476, "count", "28,476"),
        (0, "fraction", "0 %"),
        (1, "fraction", "100 %"),
        (1e-9, "fraction", "< 0.1 %"),
        (0.9999, "fraction", "> 99.9 %"),
        (0.489, "fraction", "48.9 %"),
        (-0.05, "fraction", "−5 %"),
        (1.04, "fraction", "104 %"),
        (0, "seconds", "0 s"),
        (45, "seconds", "45 s"),
        (59.96, "seconds", "60 s"),
        (60, "seconds", "1 min"),
        (3599.7, "seconds", "1 h"),
        (4980, "seconds", "1 h 23 min"),
        (-4980, "seconds", "−1 h 23 min"),
        (86400, "seconds", "24 h"),
        (276480, "seconds", "3.2 days"),
        (31557600, "seconds", "365 days"),
        (0, "kilobytes", "0 KB"),
        (1023, "kilobytes", "1,023 KB"),
        (1572864, "kilobytes", "1.5 GB"),
        (3600, "cpu seconds", "1 CPU hours"),
        (12.5, "per day", "12.5 per day"),
        (3.4912345, "per hour", "3.49 per hour"),
    ],
)
def test_numbers_are_written_as_people_do(value, unit, text):
    assert show(value, unit) == text


@pytest.mark.parametrize(
    ("value", "zone", "text"),
    [
        (0, "UTC", "1970-01-01 00:00:00"),
        (0, "Asia/Tokyo", "1970-01-01 09:00:00"),
        (843494403.9, "Europe/Stockholm", "1996-09-23 18:00:03"),
        (0, None, "day 1, 00:00"),
        (187200, None, "day 3, 04:00"),
        (-60, None, "day 0, 23:59"),
        (1e18, "UTC", "1 × 10¹⁸"),
    ],
)
def test_moments_are_dates_or_days_since_the_start(value, zone, text):
    assert show(value, "timestamp", zone) == text


def test_tables_are_brief_and_hostile_text_is_not_cut():
    assert brief("5 per day") == "5 per day"
    assert brief(3.6e7, "cpu seconds") == "10,000 h"


def test_text_stays_as_it_is():
    assert show("=cmd|' /C calc'!A0", "count") == "=cmd|' /C calc'!A0"


def test_lists_and_objects_are_written_part_by_part():
    assert show([1, None, 2.5], "count") == "1, not recorded, 2.5"
    assert show({"day": "1996-12-19", "jobs": 291}) == "day: 1996-12-19 · jobs: 291"
