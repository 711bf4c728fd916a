"""Python's search for cycles of objects that nothing refers to: it takes time, and seldom finds any here."""

import gc
from typing import Final

OBJECTS_PER_SEARCH: Final = 50_000
"""New objects after which it searches; with Python's 700, a sixth of the time of a PDF goes there."""


def search_rarely() -> None:
    """Let Python search for cycles less often in this process."""
    gc.set_threshold(OBJECTS_PER_SEARCH, *gc.get_threshold()[1:])
