"""The account of a conversion: what became of every row."""

from dataclasses import dataclass

from gwa.errors import TraceError


@dataclass(frozen=True)
class Account:
    """
    Counts of the rows of all files that were given: rows = jobs + folded + rejected + comments + skipped.

    *skipped* are the lines of files that were not read, because their format is unknown.
    """

    rows: int
    jobs: int
    folded: int
    rejected: int
    comments: int
    skipped: int = 0

    def check(self) -> None:
        """Raise `TraceError` if a row was lost, which would be a bug of gwa."""
        if self.rows != self.jobs + self.folded + self.rejected + self.comments + self.skipped:
            message = f"the account does not add up: {self}; please report this"
            raise TraceError(message)
