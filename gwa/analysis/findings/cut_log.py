"""A log that does not know all jobs that ran at its start or end."""

from gwa.analysis.finding import Facts, finding
from gwa.metrics.window import LACKING
from gwa.words.formatting import seconds
from gwa.words.message import message

UNAFFECTED = 0.95
"""A log whose load is known for a larger share of its span is as good as whole."""

ADVICE = message(
    "Where running jobs are missing, levels are lower bounds, and run times and waits of long jobs are"
    " underrepresented."
)


@finding("window.cut", "trace.span_seconds", section="data-quality", advice=ADVICE)
def cut_log(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if submissions and ends show that the log was cut out of a longer one, and it matters.

    It does where the load is not known for a twentieth of the time that the jobs span, or more.
    """
    lacking = LACKING.get(facts["window.cut"])
    if not lacking:
        return None
    first, last, span = facts.get("window.first"), facts.get("window.last"), facts["trace.span_seconds"]
    if first is None or last is None:
        return 0.9, message(
            "The log {lacking}: utilization and other levels are lower bounds throughout.", lacking=lacking
        )
    if last - first > UNAFFECTED * span:
        return None
    known = message("{last} of the {span} that its jobs span", last=seconds(last - first), span=seconds(span))
    return 0.5 + 0.4 * (1 - min((last - first) / span, 1)), (
        message(
            "The log {lacking}: utilization and other levels are known for {known}.",
            lacking=lacking,
            known=known,
        )
    )
