"""Report the progress of long work; the command line draws it, the default is silent."""

from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """A listener that ignores all progress; subclasses draw it."""

    @contextmanager
    def step(self, label: str, total: float | None = None) -> Iterator["Progress"]:
        """
        Begin a piece of work.

        Parameters
        ----------
        label
            What the work is, for people.
        total
            How much `advance` will add up to; None if that is unknown.

        Yields
        ------
        Progress
            What is told how the work advances, until the end of a ``with``.

        """
        del label, total
        yield self

    def advance(self, amount: float = 1) -> None:
        """
        Record that more of the current step is done.

        Parameters
        ----------
        amount
            How much, in the unit of the total of the step.

        """


SILENT = Progress()
"""Progress that is not shown."""
