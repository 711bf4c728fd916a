"""Every row of sacct is a job, folded into one or refused, whatever clusters, states and steps it has."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.formats.open import open_trace
from tests.conftest import examples


class Row(NamedTuple):
    """A row of sacct, in the order of its columns."""

    JobID: str
    Cluster: str = ""
    User: str = "ann"
    UID: str = ""
    Submit: str = "2024-05-01T10:00:00"
    Start: str = "2024-05-01T10:00:00"
    End: str = "2024-05-01T11:00:00"
    State: str = "COMPLETED"
    AllocCPUS: str = "1"
    MaxRSS: str = ""
    NTasks: str = ""

    @property
    def job(self) -> str:
        """The JobID without the name of a step; a list that Slurm cut short has dots, too."""
        return self.JobID if self.JobID.endswith("]") else self.JobID.partition(".")[0]

    @property
    def who(self) -> str:
        """The name of the user, else the number."""
        return self.User or self.UID

    @property
    def is_step(self) -> bool:
        """Whether the row is of a step."""
        return self.job != self.JobID

    @property
    def is_revoked(self) -> bool:
        """Whether the row is of a job that its cluster left to another."""
        return not self.is_step and self.State.startswith("REVOKED")

    @property
    def is_readable(self) -> bool:
        """Whether the JobID is one, and all times are that are read."""
        times = (self.Start, self.End) if self.is_step else (self.Submit, self.Start, self.End)
        return self.JobID not in UNREADABLE and "soon" not in times


JOBS: Final = (*"123456789", "4_3", "4_[5-6,...]", "4_[7,...]", "4+1")
ENDINGS: Final = ("", "", "", ".batch", ".extern", ".0", ".1")
UNREADABLE: Final = ("", "x", "1.", "2x")
NUMBERS: Final = (*(job + ending for job in JOBS for ending in ENDINGS), *UNREADABLE)
CLUSTERS: Final = ("a", "a", "b", "b", "c", "")
USERS: Final = (*[("ann", "")] * 5, ("ann", "5"), ("bob", ""), ("", "5"), ("", "6"), ("", ""))
DAYS: Final = ("2024-05-01", "2024-05-01", "2024-05-03", "2025-01-01")
TIMES: Final = (*(f"{day}T{hour}:00:00" for day in DAYS for hour in (10, 11, 12)), "Unknown", "", "soon")
STATES: Final = (
    "COMPLETED", "COMPLETED", "REVOKED", "REVOKED", "REVOKED by 7", "REQUEUED", "NODE_FAIL", "PREEMPTED",
    "RESIZING", "RUNNING", "PENDING", "CANCELLED by 7", "",
)  # fmt: skip
USED: Final = (("1", "", ""), ("4", "5M", "1"), ("4", "5M", ""), ("0", "", ""), ("", "", "2"))


def made(*cells: str | tuple[str, ...]) -> Row:
    """Return the row of *cells*, of which some are several."""
    return Row(*(cell for one in cells for cell in ((one,) if isinstance(one, str) else one)))


ALPHABETS: Final = (NUMBERS, CLUSTERS, USERS, TIMES, TIMES, TIMES, STATES, USED)
ROWS: Final = st.builds(made, *map(st.sampled_from, ALPHABETS))


def refused(rows: Sequence[Row]) -> list[tuple[int, bool]]:
    """Return the lines of rows that cannot be jobs or parts of them, and whether for want of their job."""
    readable = [row for row in rows if row.is_readable]
    places = {(place_of(row, readable), row.job) for row in readable if not row.is_step}
    lost = [row.is_step and row.is_readable and (row.Cluster, row.job) not in places for row in rows]
    return [
        (line, is_lost)
        for line, (row, is_lost) in enumerate(zip(rows, lost, strict=True), 2)
        if is_lost or not row.is_readable
    ]


def place_of(row: Row, readable: Sequence[Row]) -> str:
    """Return the cluster where the job of a row ran: of a revoked sibling, the first of the others."""
    others = [
        other.Cluster
        for other in readable
        if (other.JobID, other.who) == (row.JobID, row.who)
        and other.State
        and not other.is_revoked
        and other.Cluster not in {"", row.Cluster}
    ]
    return min(others) if others and row.is_revoked and row.Cluster else row.Cluster


def check(rows, folder):
    """Check the account of a log of *rows*, and what of it is refused."""
    path = folder / "a.sacct"
    path.write_text("".join(f"{'|'.join(row)}\n" for row in (Row._fields, *rows)))
    with open_trace([path], "slurm") as store:
        found, listed = store.account, store.rows("select line, reason from rejects order by line")
        found.check()
        assert found.rows == len(rows) + found.comments
        assert [(line, reason == "a step without its job") for line, reason in listed] == refused(rows)
        return found.jobs, found.folded, found.rejected


RUN = Row("7", "a")
"""A job that is readable and is alone."""


@examples(40)
@given(rows=st.lists(ROWS, min_size=30, max_size=80))
def test_every_row_is_a_job_or_folded_or_refused(rows, tmp_path_factory):
    check([*rows, RUN], tmp_path_factory.mktemp("account"))


REVOKED = Row("1", "b", State="REVOKED")

FEDERATED = {
    "steps of a revoked sibling": ([REVOKED, Row("1.0", "b"), Row("1", "a"), Row("1.0", "a")], (2, 2, 1)),
    "of no use where the other row is not readable": (
        [REVOKED, Row("1.0", "b"), Row("1", "a", Start="soon"), Row("1.0", "a")],
        (2, 1, 2),
    ),
    "siblings that have numbers in place of names": (
        [Row("1", "b", "", "5", State="REVOKED"), Row("1", "a", "", "6"), Row("1.0", "a"), Row("1.0", "b")],
        (3, 2, 0),
    ),
    "siblings of two users": (
        [REVOKED, Row("1", "b", "bob", State="REVOKED"), Row("1", "a"), Row("1.0", "b")],
        (3, 2, 0),
    ),
}


@pytest.mark.parametrize("kind", FEDERATED)
def test_siblings_and_their_steps_are_accounted_for(kind, tmp_path):
    rows, expected = FEDERATED[kind]
    assert check([*rows, RUN], tmp_path) == expected
