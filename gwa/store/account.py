"""What became of the rows of a source."""

from dataclasses import dataclass

from gwa.errors import TraceError


@dataclass(frozen=True)
class Account:
    """What became of every row of the sources: rows = jobs + folded + rejected + comments."""

    rows: int
    jobs: int
    folded: int
    rejected: int
    comments: int

    def check(self) -> None:
        """Raise `TraceError` when a row was lost, which would be a fault of gwa."""
        if self.rows != self.jobs + self.folded + self.rejected + self.comments:
            message = f"the account does not add up: {self}; please report this"
            raise TraceError(message)
