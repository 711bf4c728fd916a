"""A system that is nearly full, or mostly idle."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction

MINIMUM_FULL = 0.8
MAXIMUM_IDLE = 0.3


@finding("utilization.mean", "trace.cpus_inferred", section="utilization")
def fullness(facts: Facts) -> tuple[float, str] | None:
    """Said where processors are busy at least 80 %, or at most 30 %, of the time on average."""
    mean = facts["utilization.mean"]
    all_ = "the most processors ever busy at once" if facts["trace.cpus_inferred"] else "its processors"
    if mean >= MINIMUM_FULL:
        return 0.3 + mean / 2, f"The system is nearly full: on average {fraction(mean)} of {all_} are busy."
    if mean <= MAXIMUM_IDLE:
        return 0.6 - mean, f"The system is mostly idle: on average {fraction(mean)} of {all_} are busy."
    return None
