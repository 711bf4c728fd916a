"""Report the progress of long work; the command line draws it, the default is silent."""

from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """A listener that ignores all progress; subclasses draw it."""

    @contextmanager
    def step(self, label: str, total: float | None = None) -> Iterator["Progress"]:
        """
        Begin a piece of work, called *label* for people; yield what is told how it advances.

        It lasts until the end of a ``with``. *total* is how much `advance` will add up to; None if that is
        unknown.
        """
        del label, total
        yield self

    def advance(self, amount: float = 1) -> None:
        """Record that an *amount* more of the current step is done, in the unit of its total."""


SILENT = Progress()
"""Progress that is not shown."""
