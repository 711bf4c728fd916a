"""What long work says of its progress; the command line draws it, the default is silence."""

from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """A listener that ignores what it is told; subclasses draw."""

    @contextmanager
    def step(self, label: str, total: float | None = None) -> Iterator["Progress"]:
        """Begin a piece of work that will `advance` up to *total*, or nobody knows how far."""
        del label, total
        yield self

    def advance(self, amount: float = 1) -> None:
        """Say that *amount* more of the current step is done."""


SILENT = Progress()
"""Progress that nobody watches."""
