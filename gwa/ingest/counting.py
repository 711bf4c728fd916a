"""
Count what becomes of the rows while files are read, and settle the store when all are.

Every format that fills a store does it through `count_batch` and `finish_store`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gwa.errors import StrictError, TraceError
from gwa.ingest.batch import Batch
from gwa.ingest.cleaning import finish
from gwa.ingest.source.head import FileHead
from gwa.ingest.spec import RepairStep
from gwa.store.account import Account
from gwa.store.store import Store
from gwa.store.system import ABSOLUTE, from_header

UNIX: Final = 5e8
"""Submit times from here on (1985) are Unix times: no log is sixteen years long."""

SHOWN: Final = 10_000
"""How many rejects are kept with their text; all are counted."""


@dataclass
class RowCounts:
    """The running account of the file in hand, or of all files."""

    rows: int = 0
    comments: int = 0
    rejected: int = 0
    folded: int = 0

    def add(self, other: "RowCounts") -> None:
        """Add the account of one more file."""
        self.rows += other.rows
        self.comments += other.comments
        self.rejected += other.rejected
        self.folded += other.folded


def count_batch(store: Store, path: Path, batch: Batch, count: RowCounts, *, strict: bool) -> None:
    """Add a batch to the account and keep its rejects, or stop at the first when *strict*."""
    count.rows += batch.total
    count.comments += batch.remarks
    rejects = sorted(batch.rejects, key=lambda reject: reject.line)
    if strict and rejects:
        message = f"{path}:{rejects[0].line}: {rejects[0].reason}"
        raise StrictError(message)
    room = max(0, SHOWN - count.rejected)
    count.rejected += len(rejects)
    store.insert("rejects", [(path.name, bad.line, bad.reason, bad.text) for bad in rejects[:room]])


def _refuse_empty(store: Store, heads: Sequence[FileHead], expected: str, count: RowCounts) -> None:
    """Raise `TraceError` when nothing was a job, saying what was met instead."""
    if store.row("select count(*) as n from recorded")[0]:
        return
    first = store.rows("select line, reason from rejects order by file, line limit 1")
    met = (
        f"{count.rejected} of {count.rows} lines were refused"
        if count.rejected
        else f"none of its {count.rows} lines or records tells of one"
    )
    why = f", the first at line {first[0][0]}: {first[0][1]}" if first else ""
    message = f"{heads[0].path}: no job in it: {met}{why}; expected {expected}"
    raise TraceError(message)


def _date(store: Store) -> None:
    """Say in the header that times are Unix times, where they can be nothing else."""
    earliest = store.row("select min(submit_time) as earliest from jobs")[0]
    if earliest is not None and earliest >= UNIX and from_header(store.header).relative:
        store.set_header((("Times", ABSOLUTE), *(line for line in store.header if line[0] != "Times")))


def finish_store(
    store: Store, heads: Sequence[FileHead], expected: str, total: RowCounts, steps: Sequence[RepairStep] = ()
) -> None:
    """Finish the jobs of a store after all rows were read; raise `TraceError` when there are none."""
    _refuse_empty(store, heads, expected, total)
    folded = finish(store, steps)
    _date(store)
    jobs = int(store.row("select count(*) as n from recorded")[0])
    store.set_account(Account(total.rows, jobs, folded + total.folded, total.rejected, total.comments))
