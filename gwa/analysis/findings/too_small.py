"""More processors busy than there are."""

from gwa.analysis.finding import Facts, finding, knows_starts
from gwa.words.formatting import fraction, number
from gwa.words.message import message

MINIMUM_SHARE = 0.02


@finding(
    "utilization.above_capacity",
    "utilization.peak",
    "trace.cpus",
    "trace.cpus_inferred",
    section="utilization",
    advice="Check the number of processors: a system file (--system) can state another one. Until then,"
    " utilization is not a fraction of the machine.",
)
def too_small(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if more processors than the system is said to have are busy for at least 2 % of the time.

    It is not shown if the waits of many jobs are unknown: when these ran is then unknown, too.
    """
    share, peak, cpus = (facts[name] for name in too_small.needs[:3])
    if share < MINIMUM_SHARE or facts["trace.cpus_inferred"] or not knows_starts(facts):
        return None
    text = message(
        "For {share} of the time, more processors are busy than the {cpus} that the "
        "system is said to have, at most {peak}.",
        share=fraction(share),
        cpus=number(cpus),
        peak=number(peak),
    )
    return 0.5 + share, text
