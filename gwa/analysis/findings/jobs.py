"""What jobs are like: their run times, their processors and their bags."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, number
from gwa.words.message import message

MINIMUM_IN_BAGS = 0.5
MAXIMUM_RATIO = 2 / 3

MINIMUM_DISTANCE = 0.1
MINIMUM_FITTED = 500
"""Of fewer jobs, the sample of a distribution may itself be that far from it."""
MINIMUM_FITS = 3

MINIMUM_POWERS = 0.6
MINIMUM_JOBS = 100
MINIMUM_SIZES = 3

MINIMUM_SEQUENTIAL = 0.8

MINIMUM_SHORT = 0.05


@finding(
    "bags.text.jobs_in_bags_fraction",
    "bags.text.single_if_even",
    "bags.text.size.mean",
    section="bags-of-tasks",
    advice="To model or simulate this load, submit bags of tasks, not single jobs.",
)
def bags(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if half of the jobs or more are submitted within two minutes of another job of the same user.

    Users who submit many jobs do so by chance, too: jobs without another one so near must be at most two
    thirds of what they would be if each user's jobs of a day were spread evenly at random over eight hours.
    """
    share, expected, mean = (facts[name] for name in bags.needs)
    if share < MINIMUM_IN_BAGS or 1 - share > MAXIMUM_RATIO * expected:
        return None
    text = message(
        "{share} of the jobs come in bags of tasks: submitted less than two minutes "
        "from another job of the same user, {mean} jobs a bag on average.",
        share=fraction(share),
        mean=number(round(mean, 1)),
    )
    return share / 2, text


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
    too_few = len(distances) < MINIMUM_FITS or facts["trace.ran"] < MINIMUM_FITTED
    if too_few or min(distances.values()) < MINIMUM_DISTANCE:
        return None
    best = min(distances.values())
    text = message(
        "None of the {distances} distributions fitted to the run times describes them: "
        "the best is off by up to {best} of the jobs.",
        distances=number(len(distances)),
        best=fraction(best),
    )
    return 0.2 + best, text


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
    if min(share, large) < MINIMUM_POWERS or jobs < MINIMUM_JOBS or powers < MINIMUM_SIZES:
        return None
    return 0.3 + share / 5, message(
        "{share} of the parallel jobs use a power of two processors.", share=fraction(share)
    )


@finding("jobs.sequential.count", "jobs.parallel.count", section="parallelism")
def sequential(facts: Facts) -> tuple[float, str] | None:
    """Shown if four in five of the jobs that ran, or more, used one processor."""
    jobs, parallel = facts["jobs.sequential.count"], facts["jobs.parallel.count"]
    if not jobs or (share := jobs / (jobs + parallel)) < MINIMUM_SEQUENTIAL:
        return None
    if not parallel:
        return 0.3, message("Every job that ran counts as one processor.")
    consumed = [facts.get(f"jobs.{kind}.cpu_seconds") or 0.0 for kind in ("sequential", "parallel")]
    total = sum(consumed)
    used = (
        message("; they used {consumed} of the CPU time", consumed=fraction(consumed[0] / total))
        if total
        else ""
    )
    return 0.4, message(
        "{share} of the jobs that ran used one processor{used}.", share=fraction(share), used=used
    )


@finding(
    "jobs.runtime.one_second",
    "jobs.runtime.resolution",
    section="run-times",
    advice="Such jobs often fail at once. They dominate mean slowdowns.",
    action="Check how the shortest jobs ended.",
)
def short_jobs(facts: Facts) -> tuple[float, str] | None:
    """Shown if at least 5 % of the jobs that ran took one second or less, by a clock of seconds."""
    share, resolution = (facts[name] for name in short_jobs.needs)
    if share < MINIMUM_SHORT or resolution > 1:
        return None
    return 0.2 + share, message(
        "{share} of the jobs that ran took one second or less.", share=fraction(share)
    )
