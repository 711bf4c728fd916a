"""How jobs end."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._failures import failures
from gwa.metrics.outcomes import cpu_seconds_by_status, jobs_by_status
from gwa.report.document import Block, Column, Fact, Facts, Table
from gwa.report.message import capitalized, message
from gwa.store.schema import STATUS
from gwa.store.store import Store

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
    facts=("jobs.completed", "jobs.failed", "jobs.cancelled", "jobs.unknown", "jobs.never_ran", "jobs.ended"),
    needs=("status",),
)
def outcomes(store: Store) -> Iterator[Block]:
    """
    How jobs ended, the CPU time that went into each ending, and when and whose jobs did not complete.

    Of a period, these are the jobs that ended in it; those that never ran ended when they stopped waiting.
    """
    jobs, seconds = jobs_by_status(store), cpu_seconds_by_status(store)
    names: list[tuple[int | None, str]] = [*STATUS.items(), (None, "unknown")]
    counts = [
        Fact(
            f"jobs.{name}.count",
            jobs.get(code, 0),
            message("{capitalize} jobs", capitalize=capitalized(name)),
            "count",
        )
        for code, name in names
    ]
    counts.append(
        Fact("jobs.never_ran.count", never_ran(store), "Failed or cancelled without running", "count")
    )
    yield Facts(tuple(counts), listed=False)
    total = sum(seconds.values()) or 1.0
    yield Table(
        "outcomes",
        "How jobs ended",
        (
            Column("outcome", "Outcome"),
            Column("jobs", "Jobs", "count"),
            Column("share", "Share of jobs", "fraction"),
            Column("cpu_seconds", "CPU time", "cpu seconds"),
            Column("cpu_share", "Share of CPU time", "fraction"),
        ),
        tuple(
            (
                name,
                jobs[code],
                jobs[code] / sum(jobs.values()),
                seconds.get(code, 0.0),
                seconds.get(code, 0.0) / total,
            )
            for code, name in names
            if jobs.get(code)
        ),
    )
    yield from failures(store)


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
