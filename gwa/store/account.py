"""The account of a conversion: what became of every row."""

from dataclasses import dataclass

from gwa.errors import RowsLostError


@dataclass(frozen=True)
class Account:
    """
    Counts of the rows of all files that were read: rows = jobs + folded + rejected + comments + skipped.

    Parameters
    ----------
    rows
        The number of rows, or of records.
    jobs
        The jobs of the trace.
    folded
        Rows that were merged into the job of another row, such as the steps of a job.
    rejected
        Rows that cannot be read.
    comments
        Comments, headers and blank lines.
    skipped
        Rows of files that were not read, because their format is unknown.

    """

    rows: int
    jobs: int
    folded: int
    rejected: int
    comments: int
    skipped: int = 0

    @property
    def adds_up(self) -> bool:
        """Whether no row was lost."""
        return self.rows == self.jobs + self.folded + self.rejected + self.comments + self.skipped

    def check(self) -> None:
        """
        Check that no row was lost.

        Raises
        ------
        RowsLostError
            If the counts do not add up, which is a bug of what made the jobs.

        """
        if not self.adds_up:
            made = self.jobs + self.folded + self.rejected + self.comments + self.skipped
            raise RowsLostError(
                f"the account does not add up: {self.rows:,} rows were read, but {made:,} became something:"
                f" {self.jobs:,} jobs,"
                f" {self.folded:,} folded, {self.rejected:,} rejected, {self.comments:,} comments,"
                f" {self.skipped:,} skipped"
            )
