"""What went wrong."""

from gwa.analysis.answers.base import NOTICEABLE, Known, Statement, question
from gwa.analysis.answers.stretches import outages
from gwa.report.figures.spark import spark
from gwa.report.formatting import fraction
from gwa.report.message import joined, message


@question("wrong", message("What went wrong?"), "outcomes", "stretches")
def wrong(known: Known) -> Statement:
    """Return how jobs ended, and outages."""
    counts = {name: known.get(f"jobs.{name}.count") or 0 for name in ("completed", "failed", "cancelled")}
    total = sum(counts.values())
    outage = outages(known)
    if not total:
        return Statement(
            "unknown", "", message("How jobs ended is not recorded.{outages}", outages=outage), "outcomes"
        )
    shares = {name: count / total for name, count in counts.items()}
    bad = shares["failed"] + shares["cancelled"]
    parts = [
        message("{shares} {done}", shares=fraction(shares[name]), done=done)
        for name, done in (("failed", "failed"), ("cancelled", message("were cancelled")))
        if shares[name] >= NOTICEABLE
    ]
    known_ones = message(" whose outcome is recorded") if known.get("jobs.unknown.count") else ""
    said = (
        message(
            "Of the jobs{known_ones}, {parts}", known_ones=known_ones, parts=joined(message(" and "), parts)
        )
        if parts
        else message(
            "{value} jobs{known_ones} completed", value="Nearly all" if bad else "All", known_ones=known_ones
        )
    )
    words = joined(
        ", ", (message("{name} {share}", name=name, share=fraction(share)) for name, share in shares.items())
    )
    picture = spark(
        "answer-wrong",
        "Jobs by outcome",
        [*shares.values()],
        message("Jobs by outcome: {words}.", words=words),
        shape="bars",
    )
    return Statement("known", fraction(bad), joined("", (said, ".", outage)), "outcomes", picture)
