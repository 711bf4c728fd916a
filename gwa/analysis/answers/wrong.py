"""What went wrong."""

from collections.abc import Mapping
from typing import Any

from gwa.analysis.answers.base import NOTICEABLE, Known, Statement, question
from gwa.report.figures.spark import spark
from gwa.report.formatting import fraction, seconds
from gwa.report.message import joined, message, plural


@question("wrong", message("What went wrong?"), "outcomes", "capacity")
def wrong(known: Known) -> Statement:
    """Return how jobs ended, and outages."""
    counts = {name: known.get(f"jobs.{name}.count") or 0 for name in ("completed", "failed", "cancelled")}
    total = sum(counts.values())
    outages = _outages(known.facts)
    if not total:
        return Statement(
            "unknown", "", message("How jobs ended is not recorded.{outages}", outages=outages), "outcomes"
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
    return Statement("known", fraction(bad), joined("", (said, ".", outages)), "outcomes", picture)


def _outages(facts: Mapping[str, Any]) -> str:
    count, lost = facts.get("capacity.outages.count"), facts.get("capacity.outages.seconds")
    if not count or lost is None:
        return ""
    return message(
        " {count} ({lost} in all).",
        count=plural("{n} possible outage", "{n} possible outages", count),
        lost=seconds(lost),
    )
