"""How jobs ended, and how long they waited."""

from gwa.analysis import stakes
from gwa.analysis.endings import (
    ENDINGS,
    NOT_COMPLETED,
    NOTICEABLE,
    core_hour_shares,
    shares,
    went_into,
    whose,
)
from gwa.analysis.finding import Facts, finding
from gwa.analysis.served import worst_jobs, worst_wait
from gwa.util.units import DAY, HOUR
from gwa.words.formatting import fraction, number, seconds
from gwa.words.message import message

MINIMUM_NOT_COMPLETED = 0.1

MINIMUM_NEVER_RAN = 0.02


@finding(
    "outcomes.shares",
    "outcomes.jobs.unknown",
    "trace.jobs",
    section="outcomes",
    action="See whose jobs did not complete.",
    stake=stakes.went_into("limit", "failed", "cancelled"),
)
def failures(facts: Facts) -> tuple[float, str] | None:
    """Shown if a tenth of the jobs or core-hours did not complete, and half of the outcomes are known."""
    rows, unknown, jobs = (facts[name] for name in failures.needs)
    by_job, by_hour = shares(rows, "jobs"), core_hour_shares(facts)
    bad = max(by_job.get(NOT_COMPLETED, 0.0), by_hour.get(NOT_COMPLETED, 0.0))
    if bad < MINIMUM_NOT_COMPLETED or unknown + (facts.get("outcomes.jobs.running") or 0) > jobs / 2:
        return None
    names = [name for name in ENDINGS if max(by_job.get(name, 0), by_hour.get(name, 0)) >= NOTICEABLE]
    return 0.3 + bad / 2, went_into(names, by_job, by_hour, whose(facts))


@finding(
    "jobs.never_ran.count",
    "trace.jobs",
    section="outcomes",
    advice="They count as submitted jobs: leave them out of studies of run times.",
)
def never_ran(facts: Facts) -> tuple[float, str] | None:
    """Shown if at least 2 % of the jobs failed or were cancelled with a run time of 0 s or none."""
    never, jobs = facts["jobs.never_ran.count"], facts["trace.jobs"]
    if not jobs or never < jobs * MINIMUM_NEVER_RAN:
        return None
    share = never / jobs
    text = message(
        "{never} jobs ({share}) failed or were cancelled with no run time or one of 0 s.",
        never=number(never),
        share=fraction(share),
    )
    return 0.3 + share / 2, text


MINIMUM_WAIT = 4 * HOUR


@finding(
    "jobs.wait.median",
    "jobs.wait.p95",
    "completeness.ran_without_wait",
    "trace.ran",
    section="waits",
    action="See which jobs wait, and for what.",
)
def long_waits(facts: Facts) -> tuple[float, str] | None:
    """Shown if one job in twenty waits for four hours or longer, and half of the waits are known."""
    median, p95, unknown, ran = (facts[name] for name in long_waits.needs)
    if p95 < MINIMUM_WAIT or unknown > ran / 2:
        return None
    half = (
        message("half wait for {median} at most", median=seconds(median))
        if median
        else message("half do not wait")
    )
    text = message("One job in twenty waits for {p95} or longer, while {half}.", p95=seconds(p95), half=half)
    return 0.35 + min(p95 / DAY, 10) / 20, text


@finding("wait.worst", section="slowdown", action="Find out why these jobs wait longest.")
def worst_served(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if jobs of one size, queue or user wait longest, and at least twice as long as the others.

    The median wait must be at least ten minutes, or the 95th percentile four hours; the class must have
    at least 100 jobs and 2 % of the jobs, and no other class as large may wait as long. It must have waited
    longer than the others in enough intervals of the trace that chance has a probability of at most 1 %,
    after Bonferroni's correction.
    """
    worst = facts["wait.worst"]
    return 0.5 + worst["share"] / 2, message(
        "{subject} ({share} of the jobs) wait longer than the others in {longer} of {intervals} time"
        " intervals: {claim}.",
        subject=worst_jobs(worst),
        share=fraction(worst["share"]),
        longer=number(worst["longer"]),
        intervals=number(worst["intervals"]),
        claim=worst_wait(worst),
    )
