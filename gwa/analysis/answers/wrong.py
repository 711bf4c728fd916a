"""What went wrong."""

from collections.abc import Iterator, Sequence
from typing import Final

from gwa.analysis.answers.base import NOTICEABLE, AnswerStatement, Known, question
from gwa.analysis.answers.stretches import outages
from gwa.analysis.endings import (
    ENDINGS,
    ENDINGS_OF_ONE,
    NOT_COMPLETED,
    Shares,
    core_hour_shares,
    shares,
    went_into,
    whose,
)
from gwa.report.document import Figure
from gwa.report.figures.spark import spark
from gwa.words.formatting import cpu_seconds, fraction
from gwa.words.message import Message, Verbatim, joined, message, plural

MAXIMUM_JOB_SHARE: Final = 0.05
MAXIMUM_USER_SHARE: Final = 0.5
"""The core-hours of an outcome hang on a job or a user with more of them."""


@question("wrong", message("What went wrong?"), "outcomes", "stretches", "usage")
def wrong(known: Known) -> AnswerStatement:
    """Return how jobs ended, by core-hour and by job, and outages."""
    outage = outages(known)
    jobs, hours = shares(known.get("outcomes.shares"), "jobs"), core_hour_shares(known.facts)
    if not jobs:
        text = message("{unknown}{outages}", unknown=_unknown(known), outages=outage)
        return AnswerStatement("unknown", "", text, "outcomes")
    text = joined("", (*_endings(known, jobs, hours), outage))
    picture = _picture(hours or jobs, is_by_hour=bool(hours))
    worth = fraction((hours or jobs)[NOT_COMPLETED])
    return AnswerStatement("known", worth, text, "outcomes", picture, _caption(jobs, hours))


def _unknown(known: Known) -> Message:
    """Return why it is unknown how jobs ended."""
    match known.get("outcomes.codes"):
        case "one":
            return message(
                "How jobs ended is unknown: all jobs of the log have the same status, so other outcomes may"
                " not be recorded."
            )
        case "exit codes":
            return message("How jobs ended is unknown: the status field of the log holds exit codes.")
        case "several":
            return message("No job with a known outcome ended.")
        case _ if known.has("state"):  # such as jobs that wait or run
            return message("No job with a known outcome ended.")
        case _:
            return message("How jobs ended is not recorded.")


def _caption(jobs: Shares, hours: Shares) -> Message:
    """Return what the number is of: the share that did not complete, by core-hour and by job."""
    if not hours:
        return message("of the jobs did not complete")
    return message("of core-hours not completed; of jobs {jobs}", jobs=fraction(jobs[NOT_COMPLETED]))


def _all_completed(known: Known) -> Message:
    """Return that all jobs completed, and whether some of them had run before."""
    of = whose(known.facts)
    if known.get("outcomes.requeued.jobs"):
        return message(
            "All jobs{whose} completed in the end, some of them after earlier runs.", whose=of.jobs
        )
    return message("All jobs{whose} completed.", whose=of.jobs)


def _endings(known: Known, jobs: Shares, hours: Shares) -> Iterator[Message]:
    """Yield the sentences on how jobs ended."""
    of = whose(known.facts)
    names = [name for name in ENDINGS if max(jobs.get(name, 0.0), hours.get(name, 0.0)) >= NOTICEABLE]
    if names:
        yield went_into(names, jobs, hours, of)
    elif jobs[NOT_COMPLETED]:
        yield message("Nearly all jobs{whose} completed.", whose=of.jobs)
    else:
        yield _all_completed(known)
    yield from _holder(known, names)
    if names and known.get("outcomes.jobs.limit") is None:
        yield message(" Whether any of them reached a time limit is unknown.")
    yield from _requeued(known)
    running = known.get("outcomes.jobs.running")
    if running:
        yield plural(
            " {n} job had not ended when the log did.", " {n} jobs had not ended when the log did.", running
        )


def _requeued(known: Known) -> Iterator[Message]:
    """Yield how many jobs ran before they were requeued, and what went into these runs."""
    jobs, held = known.get("outcomes.requeued.jobs"), known.get("outcomes.requeued.cpu_seconds")
    earlier, whole = known.get("usage.earlier_runs"), known.get("usage.cpu_seconds")
    if earlier and whole:
        yield message(
            " {share} of the core-hours were held by runs that were not the last of their job; whether a"
            " checkpoint was kept the log does not say.",
            share=fraction(earlier / whole),
        )
    elif jobs and held:
        yield plural(
            " {n} job was requeued after it had run: {held} went into its earlier runs.",
            " {n} jobs were requeued after they had run: {held} went into their earlier runs.",
            jobs,
            held=cpu_seconds(held),
        )
    elif jobs:
        yield plural(
            " {n} job was requeued after it had run.", " {n} jobs were requeued after they had run.", jobs
        )


def _holder(known: Known, names: Sequence[str]) -> Iterator[Message]:
    """Yield who has most core-hours of the largest of the outcomes *names*, where it is one user or job."""
    rows = {row["id"]: row for row in known.get("outcomes.holders") or [] if row["id"] in names}
    if not rows:
        return
    name = max(rows, key=lambda name: known.get(f"outcomes.core_hours.{name}") or 0.0)
    user, user_share, job_share = (rows[name][key] for key in ("user", "user_share", "job_share"))
    if user_share and MAXIMUM_USER_SHARE < user_share < 1:
        yield message(
            " {user} has {share} of the core-hours of those that {ending}.",
            user=Verbatim(user),
            share=fraction(user_share),
            ending=ENDINGS[name],
        )
    elif known.get(f"outcomes.jobs.{name}") == 1:
        yield message(" Only one job {ending}.", ending=ENDINGS_OF_ONE[name])
    elif job_share and job_share > MAXIMUM_JOB_SHARE:
        yield message(
            " A single job has {share} of the core-hours of those that {ending}.",
            share=fraction(job_share),
            ending=ENDINGS[name],
        )


def _picture(amounts: Shares, *, is_by_hour: bool) -> Figure | None:
    """Return a bar for each way not to complete; None where all jobs completed."""
    bad = {name: share for name, share in amounts.items() if name in ENDINGS}
    if not any(bad.values()):
        return None
    names = {"limit": message("time limit"), "failed": message("failed"), "cancelled": message("cancelled")}
    title = (
        message("Core-hours that went into jobs that did not complete")
        if is_by_hour
        else message("Jobs that did not complete")
    )
    words = joined(
        ", ",
        (message("{name} {share}", name=names[name], share=fraction(share)) for name, share in bad.items()),
    )
    return spark(
        "answer-wrong",
        title,
        [*bad.values()],
        message("{title}: {words}.", title=title, words=words),
        shape="bars",
        labels=[names[name] for name in bad],
        unit="fraction",
    )
