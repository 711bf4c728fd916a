"""How jobs end."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.endings import NOT_COMPLETED
from gwa.analysis.sections._failures import failures
from gwa.analysis.sections._requeues import requeued
from gwa.analysis.sections.breakdowns import dimension_blocks
from gwa.breakdown.dimensions import OUTCOME_NAMES, by_name
from gwa.metrics.outcomes import (
    BAD_OUTCOMES,
    KNOWN_OUTCOMES,
    OUTCOMES,
    Coding,
    Outcome,
    Total,
    coding,
    jobs_by_status,
    totals,
)
from gwa.report.columns import column, table_of
from gwa.report.document import Block, Column, Fact, Facts, Note, Table
from gwa.report.facts import facts_of, number
from gwa.store.schema import STATUS
from gwa.store.store import Store
from gwa.words.message import message

NEVER_RAN = """
select status, count(*) filter (where n_procs = 0 or run_time < 1) as never,
    count(*) filter (where run_time is null and not coalesce(n_procs = 0, false)) as untimed,
    count(*) filter (where run_time >= 1) as timed
from jobs where status in (0, 5) group by status
"""

MINIMUM_TIMED = 0.05
"""Where fewer jobs of an outcome have a run time, a missing one does not say that a job did not run."""


@analysis(
    "Outcomes",
    Chapter.OUTCOMES,
    facts=(
        "jobs.completed", "jobs.failed", "jobs.cancelled", "jobs.unknown", "jobs.never_ran", "jobs.ended",
        "outcomes",
    ),
    needs=("status",),
)  # fmt: skip
def outcomes(store: Store) -> Iterator[Block]:
    """
    How jobs ended, the core-hours that went into each outcome, and when and whose jobs did not complete.

    Of a period, these are the jobs that ended in it; those that never ran ended when they stopped waiting.

    A job reached its time limit if the state of its source says so or, where limits are enforced (less than 5
    % of the jobs run over 5 % and ten minutes longer than they requested), if it failed or was cancelled
    after 98 % of its requested time or more. Its core-hours need not be lost: many programs save their state.
    A job is running if it had started and not ended when the log did; its core-hours are those until then. An
    outcome that no job of the log has is unknown rather than 0, unless the log has the states or exit codes
    of its source.
    """
    known, of_outcome = coding(store), totals(store)
    statuses = jobs_by_status(store)
    names: list[tuple[int | None, str]] = [*STATUS.items(), (None, "unknown")]
    counts = facts_of(
        "jobs",
        *(
            (f"{name}.count", statuses.get(code, 0), message("Jobs of status {name}", name=name), "count")
            for code, name in names
        ),
        ("never_ran.count", never_ran(store), "Failed or cancelled without running", "count"),
    )
    yield Facts((*counts, *_facts(known, of_outcome)), listed=False)
    yield from (Note(text) for text in _unknown(known))
    yield _table(of_outcome)
    yield from dimension_blocks(store, by_name("outcomes"), has_table=False)
    yield from requeued(store)
    yield from failures(store)


def _facts(known: Coding, of_outcome: Mapping[Outcome, Total]) -> Iterator[Fact]:
    """Yield jobs and core-hours of each outcome, None where the log does not tell it apart."""
    for name, total in of_outcome.items():
        is_told = known.tells(name)
        word = OUTCOME_NAMES[name]
        hours, jobs = (number(total.hours), total.jobs) if is_told else (None, None)
        label = message("Core-hours of jobs by outcome: {outcome}", outcome=word)
        yield Fact(f"outcomes.core_hours.{name}", hours, label, "hours")
        label = message("Jobs by outcome: {outcome}", outcome=word)
        yield Fact(f"outcomes.jobs.{name}", jobs, label, "count")
    yield Fact("outcomes.shares", _shares(known, of_outcome), "Shares of jobs and core-hours by outcome")
    holders = [_holders(name, total) for name, total in of_outcome.items() if total.hours]
    yield Fact("outcomes.holders", holders, "Largest user and job of each outcome, by core-hours")
    yield Fact("outcomes.codes", known.codes, "What the log records of outcomes")
    yield Fact("outcomes.limits_enforced", known.is_enforced, "Whether jobs end at their requested time")


def _shares(known: Coding, of_outcome: Mapping[Outcome, Total]) -> list[dict[str, Any]]:
    """Return the shares of each outcome of the jobs whose outcome is known, and of all not completed."""
    told = {name: of_outcome[name] for name in KNOWN_OUTCOMES if known.tells(name)}
    jobs, hours = sum(one.jobs for one in told.values()), sum(one.hours for one in told.values())
    rows: list[dict[str, Any]] = [
        {"id": name, "jobs": one.jobs / jobs, "core_hours": one.hours / hours if hours else None}
        for name, one in told.items()
        if jobs
    ]
    bad = [row for row in rows if row["id"] in BAD_OUTCOMES]
    if rows:
        spent = math.fsum(row["core_hours"] for row in bad) if hours else None
        rows.append({"id": NOT_COMPLETED, "jobs": math.fsum(row["jobs"] for row in bad), "core_hours": spent})
    return rows


def _holders(name: Outcome, total: Total) -> dict[str, Any]:
    user, share = total.largest_user or (None, None)
    return {"id": name, "user": user, "user_share": share, "job_share": total.largest_job}


def _unknown(known: Coding) -> Iterator[str]:
    """Yield what is unknown of the outcomes of this log, and why."""
    if known.codes == "one":
        yield message("All jobs of the log have the same status. Other outcomes may not be recorded.")
    elif known.codes == "exit codes":
        yield message("The status field of the log holds exit codes, which do not say how a job ended.")
    elif known.codes == "several":
        yield from (
            message(
                "No job of the log has the status {status}: it may not be recorded.",
                status=OUTCOME_NAMES[name],
            )
            for name in ("completed", "failed", "cancelled")
            if not known.tells(name)
        )
        if not known.tells("limit"):
            yield (
                message("Requested times are not recorded, so jobs at their time limit are not known.")
                if known.is_enforced is None
                else message(
                    "Many jobs run longer than requested, so jobs at their time limit are not known."
                )
            )


def _table(of_outcome: Mapping[Outcome, Total]) -> Table:
    """Return how jobs ended, in the order of the outcomes."""
    shown = {name: of_outcome[name] for name in OUTCOMES if of_outcome[name].jobs}
    jobs, hours = (
        sum(values) for values in zip(*((one.jobs, one.hours) for one in shown.values()), strict=True)
    )
    largest = {name: one.largest_user or (None, None) for name, one in shown.items()}
    return table_of(
        "outcomes",
        "How jobs ended",
        shown,
        {
            Column("outcome", "Outcome"): lambda name: OUTCOME_NAMES[name],
            column("jobs"): lambda name: shown[name].jobs,
            column("jobs_share", "share"): lambda name: shown[name].jobs / jobs,
            column("core_hours"): lambda name: shown[name].hours,
            column("core_hours_share"): lambda name: shown[name].hours / hours if hours else None,
            Column("largest_user", "Largest user"): lambda name: largest[name][0],
            Column("user_share", "Its share", "fraction"): lambda name: largest[name][1],
            Column("job_share", "Largest job", "fraction"): lambda name: shown[name].largest_job,
        },
        note=message("The last three columns are of the core-hours of an outcome."),
    )


def never_ran(store: Store) -> int:
    """
    Return how many jobs failed or were cancelled with no processor, or a run time of 0 s or none.

    A missing run time counts only where others of that outcome have one: a log may record none of them.
    """
    counts = store.rows(NEVER_RAN)
    return sum(
        never + (untimed if timed >= MINIMUM_TIMED * (never + untimed + timed) else 0)
        for _, never, untimed, timed in counts
    )
