"""The account of a conversion: what became of every row."""

from dataclasses import dataclass

from gwa.errors import TraceError


@dataclass(frozen=True)
class Account:
    """Counts of the rows of all sources: rows = jobs + folded + rejected + comments."""

    rows: int
    jobs: int
    folded: int
    rejected: int
    comments: int

    def check(self) -> None:
        """Raise `TraceError` if a row was lost, which would be a bug of gwa."""
        if self.rows != self.jobs + self.folded + self.rejected + self.comments:
            message = f"the account does not add up: {self}; please report this"
            raise TraceError(message)
