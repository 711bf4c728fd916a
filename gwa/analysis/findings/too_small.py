"""More processors busy than there are."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction, number

MINIMUM_RATIO = 1.01


@finding(
    "capacity.peak",
    "trace.cpus",
    section="utilization",
    advice="A system file (--system) can state another number of processors.",
)
def too_small(facts: Facts) -> tuple[float, str] | None:
    """Said where over 1 % more processors are busy at some time than the system is said to have."""
    peak, cpus = facts["capacity.peak"], facts["trace.cpus"]
    if peak <= cpus * MINIMUM_RATIO:
        return None
    text = (
        f"Up to {number(peak)} processors are busy at once, but the system is said to have {number(cpus)}:"
        f" times overlap in the log, or the number is wrong (+{fraction(peak / cpus - 1)})."
    )
    return 0.3 + (peak / cpus - 1), text
