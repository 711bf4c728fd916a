"""Arrivals that vary at all scales, where their spectrum tells."""

from gwa.analysis.finding import Facts, finding
from gwa.analysis.sections.dependence_over_time import in_words

WEIGHT = 0.2
"""A question of modelling comes after everything that concerns the system."""


@finding(
    "dependence.verdict",
    "dependence.counts",
    "dependence.roots",
    "dependence.hurst",
    "dependence.scale.min",
    "dependence.scale.max",
    section="dependence-over-time",
    advice="A model with independent arrivals tends to underestimate queues.",
)
def memory_of_load(facts: Facts) -> tuple[float, str] | None:
    """Shown if the spectrum of arrivals is a power law."""
    return (WEIGHT, in_words(facts)) if facts["dependence.verdict"] == "power law" else None
