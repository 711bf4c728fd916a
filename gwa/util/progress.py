"""Report the progress of long work; the command line draws it, the default is silent."""

from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """A listener that ignores all progress; subclasses draw it."""

    @contextmanager
    def step(self, label: str, total: float | None = None) -> Iterator["Progress"]:
        """Begin a piece of work that will `advance` up to *total*; None if the total is unknown."""
        del label, total
        yield self

    def advance(self, amount: float = 1) -> None:
        """Record that *amount* more of the current step is done."""


SILENT = Progress()
"""Progress that is not shown."""
