"""Who waits how long."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._monthly_waits import monthly_waits
from gwa.breakdown.breakdown import breakdown
from gwa.breakdown.dimensions import Dimension, by_name
from gwa.report.document import Block, Fact, Facts, Note
from gwa.report.figures.bars import bars
from gwa.store.store import Store
from gwa.words.compared import single_largest
from gwa.words.formatting import seconds
from gwa.words.message import message, within_sentence

KINDS: Final = {"months": "month", "hours": "hour", "requests": "request", "projects": "project"}
"""The dimensions, and the last part of the ids of their facts."""

MAXIMUM_ROWS: Final = 36
"""The figure of more classes has the last."""


@analysis("Wait times by class", Chapter.WAITS, facts=("wait",), needs=("wait_time",), order=1)
def waits_by_class(store: Store) -> Iterator[Block]:
    """
    How long jobs waited by month, by hour of submission, by requested time and by project.

    Waits are from when a job could have started, where the log records that: a job that depends on others,
    or that asked for a later time, waits for the system only from then on. Else they are from submission.
    All quantiles are exact. In each month, the queue (else the partition, else the class
    of sizes) with the longest waits is that of the largest 95th percentile. By processors, queue and user
    they stand in the tables of these.
    """
    if not store.row("select count(*) as n from jobs where wait_time >= 0")[0]:
        yield Note("No job has a known wait.")
        return
    yield from monthly_waits(store)
    known = {name: rows for name in KINDS if (rows := _classes(store, by_name(name)))}
    if not known:
        yield Note("Neither the dates of submissions nor requested times nor projects are known.")
    for name, rows in known.items():
        yield from _class_blocks(KINDS[name], by_name(name).heading, rows)


def _classes(store: Store, dimension: Dimension) -> list[dict[str, Any]]:
    """Return the waits of each class with a known wait, ranked ones by the number of these jobs."""
    records = breakdown(store, dimension, "by_jobs")
    of = "queued" if store.has("eligible_time") else "wait"
    rows = [
        {"id": row["id"], "jobs": row["waited"], "median": row[f"{of}_median"], "p95": row[f"{of}_p95"]}
        for row in (records.rows if records else ())
        if row["waited"]
    ]
    return sorted(rows, key=lambda row: (-row["jobs"], row["id"])) if dimension.is_ranked else rows


def _class_blocks(kind: str, heading: str, rows: Sequence[dict[str, Any]]) -> Iterator[Block]:
    yield Facts(
        (Fact(f"wait.by_{kind}", rows, message("Wait time by {lower}", lower=within_sentence(heading))),),
        listed=False,
    )
    shown = rows[-MAXIMUM_ROWS:]
    if len(rows) == 1:
        return
    longest = single_largest(shown, lambda row: float(row["p95"]))
    what = message("The wait that 95 % of the jobs do not exceed, by {lower}", lower=within_sentence(heading))
    yield bars(
        f"waits-{kind}",
        message("95th percentile of wait times by {lower}", lower=within_sentence(heading)),
        [row["id"] for row in shown],
        [row["p95"] for row in shown],
        heading,
        "95th percentile of wait",
        message("{what}: longest for {id}, {p95}.", what=what, id=longest["id"], p95=seconds(longest["p95"]))
        if longest
        else message("{what}.", what=what),
        unit="seconds",
    )
