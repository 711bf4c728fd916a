"""A system that is nearly full, or mostly idle."""

from gwa.analysis.finding import Facts, finding
from gwa.util.units import WEEK
from gwa.words.formatting import fraction, seconds
from gwa.words.message import message

MINIMUM_FULL = 0.8
MAXIMUM_IDLE = 0.3

MAXIMUM_OVER = 0.02
"""Where more processors than there are are busy for longer than this, their number means nothing; and where
the log does not tell for longer what ran, so does the mean."""


@finding("utilization.mean", "trace.cpus_inferred", "window.first", "window.last", section="utilization")
def fullness(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if at least 80 %, or at most 30 %, of the processors are busy on average over the window.

    The window of observation must be a week long, and the number of processors stated: the most that were
    ever busy says nothing about how many stood idle. It is not shown if more processors than there
    are are busy for over 2 % of the time, or if rows are missing or nothing was submitted and nothing ran in
    as much of it.
    """
    mean, length = facts["utilization.mean"], facts["window.last"] - facts["window.first"]
    over = facts.get("utilization.above_capacity") or 0
    unaccounted = (facts.get("capacity.unaccounted_seconds") or 0) / max(length, 1)
    if facts["trace.cpus_inferred"] or length < WEEK or max(over, unaccounted) > MAXIMUM_OVER:
        return None
    busy = message("on average, {mean} of the processors are busy, over", mean=fraction(mean))
    if mean >= MINIMUM_FULL:
        return 0.3 + mean / 2, message(
            "The system is nearly full: {busy} {length}.", busy=busy, length=seconds(length)
        )
    if mean <= MAXIMUM_IDLE:
        return 0.6 - mean, message(
            "As far as this log shows, the system is mostly idle: {busy} {length}.",
            busy=busy,
            length=seconds(length),
        )
    return None
