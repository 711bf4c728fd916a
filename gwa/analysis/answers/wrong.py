"""What went wrong."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gwa.analysis.answers.base import NOTICEABLE, Known, Statement, question
from gwa.report.document import Figure, Verbatim
from gwa.report.figures.spark import spark
from gwa.report.formatting import fraction, seconds
from gwa.report.message import Message, joined, message, plural

ENDINGS: Final = {
    "limit": message("reached their time limit"),
    "failed": message("failed"),
    "cancelled": message("were cancelled"),
}
"""What jobs did that did not complete."""

MAXIMUM_JOB_SHARE: Final = 0.05
MAXIMUM_USER_SHARE: Final = 0.5
"""The core-hours of an outcome hang on a job or a user with more of them."""

Shares = Mapping[str, float]
"""The shares of outcomes, of the jobs whose outcome is known."""


@question("wrong", message("What went wrong?"), "outcomes", "capacity")
def wrong(known: Known) -> Statement:
    """Return how jobs ended, by core-hour and by job, and outages."""
    outages = _outages(known.facts)
    jobs, hours = _shares(known, "jobs"), _shares(known, "core_hours")
    if not jobs:
        text = message("{unknown}{outages}", unknown=_unknown(known), outages=outages)
        return Statement("unknown", "", text, "outcomes")
    shares = hours or jobs
    text = joined("", (*_endings(known, jobs, hours), outages))
    return Statement("known", _worth(jobs, hours), text, "outcomes", _picture(shares, is_by_hour=bool(hours)))


def _shares(known: Known, amount: str) -> Shares:
    """Return the shares of an *amount* that went into each known outcome; empty where there is none of it."""
    names = ("completed", *ENDINGS)
    amounts = {name: known.get(f"outcomes.{amount}.{name}") for name in names}
    total = sum(value for value in amounts.values() if value)
    return {name: value / total for name, value in amounts.items() if value is not None} if total else {}


def _unknown(known: Known) -> Message:
    """Return why it is unknown how jobs ended."""
    match known.get("outcomes.codes"):
        case "one":
            return message(
                "How jobs ended is unknown: all jobs of the log have the same status, so other outcomes may not"
                " be recorded."
            )
        case "exit codes":
            return message("How jobs ended is unknown: the status field of the log holds exit codes.")
        case "several":
            return message("No job with a known outcome ended.")
        case _:
            return message("How jobs ended is not recorded.")


def _bad(shares: Shares) -> float:
    """Return the share of what did not complete."""
    return sum(share for name, share in shares.items() if name in ENDINGS)


def _worth(jobs: Shares, hours: Shares) -> Message:
    """Return the shares that did not complete as the number of the answer."""
    if not hours:
        return message("{jobs} of jobs", jobs=fraction(_bad(jobs)))
    return message(
        "{hours} of core-hours, {jobs} of jobs", hours=fraction(_bad(hours)), jobs=fraction(_bad(jobs))
    )


def _endings(known: Known, jobs: Shares, hours: Shares) -> Iterator[Message]:
    """Yield the sentences on how jobs ended."""
    is_whole = not known.get("outcomes.jobs.unknown")
    names = [name for name in ENDINGS if max(jobs.get(name, 0.0), hours.get(name, 0.0)) >= NOTICEABLE]
    whose = "" if is_whole else message(" whose outcome is known")
    if names and hours:
        first, *others = names
        went = message(
            "{share} went into jobs that {ending}", share=fraction(hours[first]), ending=ENDINGS[first]
        )
        parts = [
            message("{share} into jobs that {ending}", share=fraction(hours[name]), ending=ENDINGS[name])
            for name in others
        ]
        yield message(
            "Of the core-hours{whose}, {hours} (of the jobs: {jobs}).",
            whose="" if is_whole else message(" of jobs whose outcome is known"),
            hours=_listed([went, *parts]),
            jobs=_listed([fraction(jobs[name]) for name in names]),
        )
    elif names:
        parts = [
            message("{share} {ending}", share=fraction(jobs[name]), ending=ENDINGS[name]) for name in names
        ]
        yield message("Of the jobs{whose}, {jobs}.", whose=whose, jobs=_listed(parts))
    elif _bad(jobs) or _bad(hours):
        yield message("Nearly all jobs{whose} completed.", whose=whose)
    else:
        yield message("All jobs{whose} completed.", whose=whose)
    yield from _holder(known, names)
    if names and known.get("outcomes.jobs.limit") is None:
        yield message(" Whether any of them reached a time limit is unknown.")
    running = known.get("outcomes.jobs.running")
    if running:
        yield plural(
            " {n} job had not ended when the log did.", " {n} jobs had not ended when the log did.", running
        )


def _listed(parts: Sequence[str]) -> Message:
    """Return *parts* as a list in words."""
    *first, last = parts
    return joined(message(" and "), (joined(", ", first), last)) if first else joined("", [last])


def _holder(known: Known, names: Sequence[str]) -> Iterator[Message]:
    """Yield on whom the core-hours of the largest of the outcomes *names* hang, where it is one user or job."""
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
    elif job_share and job_share > MAXIMUM_JOB_SHARE:
        yield message(
            " A single job has {share} of the core-hours of those that {ending}.",
            share=fraction(job_share),
            ending=ENDINGS[name],
        )


def _picture(shares: Shares, *, is_by_hour: bool) -> Figure | None:
    """Return a bar for each way not to complete; None where all jobs completed."""
    bad = {name: share for name, share in shares.items() if name in ENDINGS}
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


def _outages(facts: Mapping[str, Any]) -> str:
    count, lost = facts.get("capacity.outages.count"), facts.get("capacity.outages.seconds")
    if not count or lost is None:
        return ""
    return message(
        " {count} ({lost} in all).",
        count=plural("{n} possible outage", "{n} possible outages", count),
        lost=seconds(lost),
    )
