"""Run times that no usual distribution describes."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction
from gwa.words.formatting import number as number_text
from gwa.words.message import message

MINIMUM_DISTANCE = 0.1
MINIMUM_JOBS = 500
"""Of fewer jobs, the sample of a distribution may itself be that far from it."""

MINIMUM_FITS = 3


@finding(
    "trace.ran",
    section="fits",
    advice="Use the values themselves, or a mixture, in place of a fitted distribution.",
)
def odd_run_times(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if each distribution fitted to run times is off by a tenth of the jobs or more.

    The distance is Kolmogorov and Smirnov's, of three distributions or more and at least 500 jobs.
    """
    distances = {
        name.split(".")[2]: value
        for name, value in facts.items()
        if name.startswith("fit.runtime.") and name.endswith(".ks") and isinstance(value, float)
    }
    too_few = len(distances) < MINIMUM_FITS or facts["trace.ran"] < MINIMUM_JOBS
    if too_few or min(distances.values()) < MINIMUM_DISTANCE:
        return None
    best = min(distances.values())
    text = message(
        "None of the {distances} distributions fitted to the run times describes them: "
        "the best is off by up to {best} of the jobs.",
        distances=number_text(len(distances)),
        best=fraction(best),
    )
    return 0.2 + best, text
