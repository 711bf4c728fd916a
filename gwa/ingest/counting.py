"""
Count what becomes of each row while files are read, and finish the store after the last one.

Every format that fills a store uses `count_batch` and `finish_store`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from gwa.errors import NothingReadError, StrictError
from gwa.ingest.batch import Batch
from gwa.ingest.cleaning import finish_jobs
from gwa.ingest.source.compressed import CUT
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.json_records import BROKEN_OFF
from gwa.ingest.source.lines import Reject
from gwa.ingest.spec import RepairStep
from gwa.store.account import Account
from gwa.store.schema import EARLIEST_UNIX_TIME
from gwa.store.store import Store
from gwa.store.system import ABSOLUTE, ASSUMED_UTC, from_header
from gwa.util.filenames import as_text

NO_ZONE: Final = "no time zone"
"""The name of the repair that counts jobs whose times have no zone, and of which none is stated."""

ZONE_REMARK: Final = (
    f"{NO_ZONE}: local times were taken as UTC; -O zone=Europe/Amsterdam, say, states their zone"
)
"""What a SELECT remarks on such a job, as the variable ``zone_remark``; missing where a zone is stated."""

MAXIMUM_REJECTS_KEPT: Final = 10_000
"""The number of rejects whose text is kept; all are counted."""


@dataclass
class RowCounts:
    """Counts of the rows of a file, or of all files."""

    rows: int = 0
    comments: int = 0
    rejected: int = 0
    folded: int = 0

    def add(self, other: "RowCounts") -> None:
        """Add the counts of another file."""
        self.rows += other.rows
        self.comments += other.comments
        self.rejected += other.rejected
        self.folded += other.folded


def count_batch(
    store: Store, path: Path, batch: Batch, counts: RowCounts, *, strict: bool
) -> Sequence[Reject]:
    """
    Add a batch to *counts*, store its rejects, and return those that are kept.

    Raise `StrictError` at the first one if *strict*.
    """
    counts.rows += batch.total
    counts.comments += batch.comments
    rejects = sorted(batch.rejects, key=lambda reject: reject.line)
    if strict and rejects:
        message = f"{path}:{rejects[0].line}: {rejects[0].reason}"
        raise StrictError(message)
    kept = rejects[: max(0, MAXIMUM_REJECTS_KEPT - counts.rejected)]
    counts.rejected += len(rejects)
    store.insert(
        "rejects", [(as_text(path.name), reject.line, reject.reason, reject.text) for reject in kept]
    )
    return kept


def _refuse_empty(store: Store, heads: Sequence[FileHead], expected: str, counts: RowCounts) -> None:
    """Raise `NothingReadError` if there are no jobs, with what became of the rows."""
    if store.row("select count(*) as n from recorded")[0]:
        return
    first = store.rows("select line, reason from rejects order by file, line limit 1")
    outcome = (
        f"{counts.rejected} of {counts.rows} lines were refused"
        if counts.rejected
        else f"none of its {counts.rows} lines or records tells of one"
    )
    detail = f", the first at line {first[0][0]}: {first[0][1]}" if first else ""
    message = f"{heads[0].path}: no job in it: {outcome}{detail}; expected {expected}"
    raise NothingReadError(message)


class JobTimes(NamedTuple):
    """The number of *jobs*, how many of them have any time, and the *earliest* submission."""

    jobs: int
    timed: int
    earliest: float | None


def job_times(store: Store) -> JobTimes:
    """Return what times the jobs have."""
    return JobTimes(
        *store.row(
            "select count(*), count(*) filter (where submit_time is not null or run_time is not null),"
            " min(submit_time) from jobs"
        )
    )


def mark_unix_times(store: Store, times: JobTimes) -> None:
    """State in the header that *times* are Unix times if they can be nothing else."""
    earliest = times.earliest
    if earliest is not None and earliest >= EARLIEST_UNIX_TIME and from_header(store.header).relative:
        (local,) = store.row(f"select coalesce(sum(jobs), 0) from repairs where name = '{NO_ZONE}'")
        stated = ASSUMED_UTC if 2 * local > times.jobs else ABSOLUTE
        store.set_header((("Times", stated), *(line for line in store.header if line[0] != "Times")))


def note_untimed_jobs(store: Store, times: JobTimes, needs: str) -> None:
    """Count the jobs without any time as a repair, or those of a log that *needs* another export."""
    untimed = times.jobs - times.timed
    store.repaired("no time", "jobs have neither a submit time nor a run time", untimed)
    if needs and times.timed and times.earliest is None:
        store.repaired("no time", f"the log does not say when its jobs were submitted: {needs}", times.timed)


def _require_times(times: JobTimes, heads: Sequence[FileHead], needs: str) -> None:
    """Raise `NothingReadError` if no job has any time, since those are not jobs of a trace."""
    if not times.timed:
        message = f"{heads[0].path}: none of its {times.jobs:,} jobs has a submit time or a run time"
        raise NothingReadError(f"{message}; {needs}" if needs else message)


def note_cut_files(store: Store) -> None:
    """Record as repairs the files whose compressed data, or whose document, ends too early."""
    is_cut = " or ".join(f"starts_with(reason, '{reason}')" for reason in (CUT, BROKEN_OFF))
    cut = store.rows(f"select distinct file from rejects where {is_cut} order by file")
    for (file,) in cut:
        store.repaired("cut file", f"{file} breaks off: its end is missing", 1)


def finish_store(
    store: Store,
    heads: Sequence[FileHead],
    expected: str,
    total: RowCounts,
    steps: Sequence[RepairStep] = (),
    needs: str = "",
) -> None:
    """
    Finish the jobs of a store after all rows were read.

    Raise `NothingReadError` if there are no jobs, or if no job has a time; *needs* says how to get them.
    """
    _refuse_empty(store, heads, expected, total)
    folded = finish_jobs(store, steps)
    times = job_times(store)
    note_untimed_jobs(store, times, needs)
    _require_times(times, heads, needs)
    if total.rejected:
        note_cut_files(store)
    mark_unix_times(store, times)
    store.set_account(Account(total.rows, times.jobs, folded + total.folded, total.rejected, total.comments))
