"""Sizes of jobs that are powers of two."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction
from gwa.words.message import message

MINIMUM_SHARE = 0.6
MINIMUM_JOBS = 100
MINIMUM_SIZES = 3


@finding(
    "jobs.parallel.power_of_two",
    "jobs.parallel.power_of_two_large",
    "jobs.parallel.count",
    "jobs.parallel.powers",
    section="powers-of-two",
    advice="A model of job sizes must reproduce this.",
)
def powers_of_two(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if at least 60 % of 100 or more parallel jobs use a power of two processors.

    So must jobs of more than four processors, since most small numbers are powers of two; and there
    must be three different powers with at least 2 % of the parallel jobs each, or it is one common size.
    """
    share, large, jobs, powers = (facts[name] for name in powers_of_two.needs)
    if min(share, large) < MINIMUM_SHARE or jobs < MINIMUM_JOBS or powers < MINIMUM_SIZES:
        return None
    return 0.3 + share / 5, message(
        "{share} of the parallel jobs use a power of two processors.", share=fraction(share)
    )
