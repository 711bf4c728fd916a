"""How long jobs waited."""

from collections.abc import Mapping, Sequence
from typing import Any

from gwa.analysis.answers.base import Known, Statement, question
from gwa.report.document import Figure, Verbatim
from gwa.report.figures.spark import spark
from gwa.report.formatting import seconds
from gwa.report.message import joined, message


@question("wait", message("How long did jobs wait?"), "waits", "slowdown")
def wait(known: Known) -> Statement:
    """Return how long jobs waited."""
    median, high = known.get("jobs.wait.median"), known.get("jobs.wait.p95")
    if median is None or high is None:
        return Statement("unknown", "", message("Wait times are not recorded."), "waits")
    text = message(
        "Half of the jobs waited {median} or less, 5 % longer than {high}.",
        median=seconds(median),
        high=seconds(high),
    )
    worst = known.get("wait.worst")
    if worst:
        text += message(" Worst served: {kind} {id}.", kind=worst["kind"], id=Verbatim(worst["id"]))
    return Statement("known", seconds(median), text, "waits", _by_size(known.get("wait.by_size") or []))


def _by_size(classes: Sequence[Mapping[str, Any]]) -> Figure | None:
    waits = [one["p95"] for one in classes]
    if len(waits) <= 1 or not any(waits):
        return None
    words = joined(", ", (message("{id}: {p95}", id=one["id"], p95=seconds(one["p95"])) for one in classes))
    title = message("95th percentile of wait times by number of processors")
    return spark(
        "answer-wait", title, waits, message("{title}: {words}.", title=title, words=words), shape="bars"
    )
