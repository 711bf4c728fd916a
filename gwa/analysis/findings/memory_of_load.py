"""Arrivals that remember."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import number

MINIMUM_HURST = 0.6


@finding(
    "hurst.wavelet.without_cycles",
    "hurst.wavelet.without_cycles.low",
    section="dependence-over-time",
    advice="A model with independent arrivals makes queues look shorter than they are.",
)
def memory_of_load(facts: Facts) -> tuple[float, str] | None:
    """Said where the interval of the Hurst parameter, daily and weekly cycles removed, lies above 0.6."""
    hurst, low = (facts[name] for name in memory_of_load.needs)
    if low < MINIMUM_HURST:
        return None
    claim = "arrivals are long-range dependent beyond their daily and weekly cycles"
    return min(hurst, 1) / 2, f"Busy times last: {claim} (Hurst parameter {number(round(hurst, 2))})."
