"""Worlds in which what gwa claims is true, and worlds in which it is false."""

from typing import Self


class Counted:
    """Numbers of what came of several logs, which add up."""

    def __add__(self, other: Self) -> Self:
        """Return what came of both."""
        return type(self)(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))
