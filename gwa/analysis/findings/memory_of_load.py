"""How long arrivals remember, where their spectrum tells."""

from gwa.analysis.finding import Facts, finding
from gwa.analysis.sections.dependence_over_time import in_words
from gwa.report.message import message

WEIGHTS = {message("power law"): 0.2, message("one memory time"): 0.15}
"""A question of modelling comes after everything that concerns the system."""


@finding(
    "dependence.verdict",
    "dependence.counts",
    "dependence.roots",
    "dependence.scale.min",
    "dependence.scale.max",
    section="dependence-over-time",
    advice="A model with independent arrivals tends to underestimate queues.",
)
def memory_of_load(facts: Facts) -> tuple[float, str] | None:
    """Shown if the spectrum of arrivals is a power law, or has one memory time that the log can measure."""
    verdict = facts["dependence.verdict"]
    known = {message("power law"): "hurst", message("one memory time"): "memory_time"}.get(verdict)
    if known is None or facts.get(f"dependence.{known}") is None:
        return None
    return WEIGHTS[verdict], in_words(facts)
