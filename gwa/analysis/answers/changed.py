"""What changed."""

from collections.abc import Mapping
from typing import Any, Final

from gwa.analysis.answers.base import Known, Statement, course, question
from gwa.report.document import Unit
from gwa.report.formatting import show
from gwa.report.message import message, plural

MEASURES: Final[Mapping[str, tuple[str, Unit]]] = {
    "peak": (message("The maximum of busy processors"), "count"),
    "busy": (message("The mean of busy processors"), "count"),
    "users": (message("Users per week"), "count"),
    "jobs": (message("Jobs per week"), "count"),
    "wait": (message("The mean wait time"), "seconds"),
    "failed": (message("The share of failed jobs"), "fraction"),
    "runtime": (message("The median run time"), "seconds"),
    "processors": (message("Mean processors per job"), "count"),
}


@question("changed", message("What changed?"), "changes", "arrivals")
def changed(known: Known) -> Statement:
    """Return what changed over the life of the log."""
    changes = known.get("changes")
    picture = course(known, "arrivals", message("Jobs submitted over time"))
    if changes is None:
        return Statement(
            "unknown",
            "",
            message("Whether anything changed is unknown: the log has too few weeks with jobs."),
            "changes",
            picture,
        )
    if not changes:
        return Statement(
            "not found",
            message("none found"),
            message("No lasting change of weekly values is found."),
            "changes",
            picture,
        )
    largest = max(changes, key=_factor)
    name, unit = MEASURES[largest["what"]]
    before, after = show(largest["before"], unit), show(largest["after"], unit)
    others = (
        message(" {changes}.", changes=plural("{n} more change", "{n} more changes", len(changes) - 1))
        if len(changes) > 1
        else ""
    )
    text = message(
        "{name} went from {before} to {after} (from {when}).{others}",
        name=name,
        before=before,
        after=after,
        when=largest["when"],
        others=others,
    )
    return Statement("found", plural("{n} change", "{n} changes", len(changes)), text, "changes", picture)


def _factor(change: Mapping[str, Any]) -> float:
    """Return how many times the larger level is the smaller one."""
    low, high = sorted((abs(change["before"]), abs(change["after"])))
    return float(high / low) if low else float("inf")
