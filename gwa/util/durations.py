"""Durations as people write them."""

import re
from typing import Final

from gwa.util.units import DAY, HOUR, MINUTE

UNITS: Final = {"": 1, "s": 1, "m": MINUTE, "min": MINUTE, "h": HOUR, "d": DAY}


def duration(text: str) -> float | None:
    """
    Return the seconds that a text such as 12h, 1.5 d, 90min or 12:30:00 says; None if it says none.

    >>> duration("12h"), duration("0:01:30"), duration("soon")
    (43200.0, 90.0, None)
    """
    if clock := re.fullmatch(r"(\d{1,6}):(\d\d):(\d\d)", text):
        hours, minutes, seconds = map(int, clock.groups())
        return float(hours * HOUR + minutes * MINUTE + seconds)
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?) *([a-z]*)", text)
    if not match or match[2] not in UNITS:
        return None
    return float(match[1]) * UNITS[match[2]]
