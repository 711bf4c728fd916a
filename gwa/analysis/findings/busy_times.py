"""Busy and quiet times of one length, where the spectrum of arrivals tells."""

from gwa.analysis.finding import Facts, finding
from gwa.analysis.sections.dependence_over_time import in_words

WEIGHT = 0.15
"""A question of modelling comes after everything that concerns the system."""


@finding(
    "dependence.verdict",
    "dependence.counts",
    "dependence.roots",
    "dependence.memory_time",
    section="dependence-over-time",
    advice="Model arrivals with busy and quiet times of this length; long-range dependence is not needed.",
)
def busy_times(facts: Facts) -> tuple[float, str] | None:
    """Shown if the spectrum of arrivals has one memory time, which the log is long enough to measure."""
    return (WEIGHT, in_words(facts)) if facts["dependence.verdict"] == "one memory time" else None
