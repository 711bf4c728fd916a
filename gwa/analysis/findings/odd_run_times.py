"""Run times that no usual distribution describes."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction
from gwa.statistics.distribution import distributions

MINIMUM_DISTANCE = 0.1


@finding(
    section="fits",
    advice="Use the values themselves, or a model of mixtures, in place of a fitted distribution.",
)
def odd_run_times(facts: Facts) -> tuple[float, str] | None:
    """Said where the best of the distributions fitted to run times is off by a tenth of the jobs (KS)."""
    distances = {
        name.split(".")[2]: value
        for name, value in facts.items()
        if name.startswith("fit.runtime.") and name.endswith(".ks") and isinstance(value, float)
    }
    if not distances or min(distances.values()) < MINIMUM_DISTANCE:
        return None
    best = min(distances, key=lambda name: (distances[name], name))
    best_fit = f"the best, {distributions()[best].title}, is off by {fraction(distances[best])} of the jobs"
    text = f"No usual distribution describes the logarithm of the run times: {best_fit}."
    return 0.2 + distances[best], text
