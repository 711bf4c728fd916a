"""Waits that the log does not record."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, number
from gwa.words.message import message

MINIMUM_SHARE = 0.02


@finding(
    "completeness.ran_without_wait",
    "trace.ran",
    section="data-quality",
    advice="Nothing can be said about how such jobs were served. They are taken to have started when they"
    " were submitted, so numbers of running jobs are as if nothing had waited.",
)
def waits_unknown(facts: Facts) -> tuple[float, str] | None:
    """Shown if the wait is unknown for at least 2 % of the jobs that ran."""
    unknown, ran = facts["completeness.ran_without_wait"], facts["trace.ran"]
    if not ran or unknown < ran * MINIMUM_SHARE:
        return None
    if unknown == ran:
        return 0.7, message("The log does not record how long jobs waited.")
    many = message(
        "{unknown} of {ran} jobs that ran ({unknown2})",
        unknown=number(unknown),
        ran=number(ran),
        unknown2=fraction(unknown / ran),
    )
    return 0.3 + 0.4 * unknown / ran, message("The log does not record the wait time of {many}.", many=many)
