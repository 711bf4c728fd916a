"""How bursty arrivals are at several scales, and how unevenly run time is spread over sizes."""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.timeline import Counts, Floats, counts, exact_sum
from gwa.report.document import Block, Fact, Facts, FactTable, Note
from gwa.report.facts import facts_of, number
from gwa.report.figures.lines import lines
from gwa.statistics.dependence import entropy, poisson_entropy, spatial_entropy
from gwa.statistics.numeric import dot
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, MINUTE, WEEK
from gwa.words.formatting import decimal
from gwa.words.message import joined, message

BIN_SECONDS: Final = 900
SCALES: Final = {
    15 * MINUTE: "15 min",
    30 * MINUTE: "30 min",
    HOUR: "1 h",
    6 * HOUR: "6 h",
    DAY: "1 day",
    WEEK: "1 week",
}

RUN_TIME_BY_SIZE: Final = """
select {procs} as procs, {run_time} as run_time from ran where {procs} >= 1 group by {procs} order by {procs}
"""

RUN_TIME_RANKS: Final = """
with size as (select n_procs, count(*) as jobs from ran group by n_procs),
ranked as (select n_procs, 2 * sum(jobs) over (order by n_procs) - jobs as twice from size)
select run_time, count(*) as jobs, cast(sum(ran.n_procs) as double) as procs,
    cast(sum(twice) as double) as ranks
from ran inner join ranked on ran.n_procs = ranked.n_procs group by run_time order by run_time
"""
"""For each run time, how many jobs have it, their processors, and twice the ranks of those less 1/2."""


@analysis(
    "Burstiness",
    Chapter.MODELLERS,
    facts=("burstiness", "correlation.runtime_procs"),
    needs=("submit_time",),
    order=2,
)
def burstiness(store: Store) -> Iterator[Block]:
    """
    How evenly arrivals are spread over time, and run time over sizes of jobs.

    The normalised entropy of Minh and Wolters (2010) is -sum p ln p / ln N, 1 for an even spread and near 0
    for a single burst; p is the share of the arrivals in each of N intervals from the first arrival to the
    last, empty ones included: as in the paper, they begin with the first arrival and not on the clock. The
    value of as many random arrivals is next to it; it is below 1. The index of dispersion is the variance of
    the arrivals in an interval over their mean: 1 at random at every scale, and rising with the scale for
    bursts that do not even out. Spatial entropy is of the run time at each number of processors, over the
    greatest number.
    """
    first = store.row("select min(submit_time) from jobs")[0]
    arrived = counts(store, f"(submit_time - {first!r})", float(BIN_SECONDS))
    rows = {scale: row for scale in SCALES if (row := _row(arrived, scale))}
    if rows:
        yield FactTable(
            "burstiness",
            "Arrivals by scale",
            ("Normalised entropy", "at random", "Index of dispersion"),
            tuple((SCALES[scale], row) for scale, row in rows.items()),
        )
        yield _dispersion(rows)
        yield _entropy(rows)
    else:
        yield Note("All jobs arrive at once: there is no spread over time.")
    yield from _size_blocks(store)


def _row(arrived: Counts, scale: int) -> tuple[Fact, ...] | None:
    """Return the facts of a *scale* in seconds, None where all arrivals lie in one interval."""
    factor = scale // BIN_SECONDS
    coarse = arrived.coarser(factor)
    bins, total = coarse.bins, coarse.counts
    intervals = int(bins[-1]) + 1
    if intervals < 2:  # noqa: PLR2004 - one interval has no spread
        return None
    # The index of dispersion leaves out an incomplete last interval.
    complete = (int(arrived.bins[-1]) + 1) // factor
    busy = total[bins < complete]
    jobs = Sample.weighted(np.append(busy, 0), np.append(np.ones(len(busy), np.int64), complete - len(busy)))
    dispersion = jobs.variance(1) / jobs.mean() if jobs.n > 1 and jobs.total() else math.nan
    temporal, at_random = entropy(total, intervals), poisson_entropy(int(total.sum()), intervals)
    suffix = message("in intervals of {scales}", scales=SCALES[scale])
    return facts_of(
        "burstiness",
        (f"temporal.{scale}s", number(temporal), message("Entropy of arrivals {suffix}", suffix=suffix), ""),
        (
            f"poisson.{scale}s",
            number(at_random),
            message("Entropy of random arrivals {suffix}", suffix=suffix),
            "",
        ),
        (
            f"dispersion.{scale}s",
            number(dispersion),
            message("Index of dispersion {suffix}", suffix=suffix),
            "",
        ),
    )


def _dispersion(rows: dict[int, tuple[Fact, ...]]) -> Block:
    """Return the figure of the index of dispersion by scale."""
    scales, dispersion = _curve(rows, 2)
    return lines(
        "burstiness",
        "Index of dispersion of arrivals by scale",
        {"arrivals": (scales, dispersion), "at random": (scales, [1.0] * len(scales))},
        "Length of an interval",
        "Variance over mean of arrivals",
        message(
            "The index of dispersion of arrivals is {scales}; at random it would be 1.",
            scales=_in_words(scales, dispersion),
        ),
        log=(True, True),
        unit="seconds",
        dashed=["at random"],
    )


def _entropy(rows: dict[int, tuple[Fact, ...]]) -> Block:
    """Return the figure of the entropy of arrivals by scale."""
    scales, entropies = _curve(rows, 0)
    return lines(
        "burstiness-entropy",
        "Entropy of arrivals by scale",
        {"arrivals": (scales, entropies), "at random": _curve(rows, 1)},
        "Length of an interval",
        "Normalised entropy",
        message(
            "The normalised entropy of arrivals is {scales}; 1 is an even spread.",
            scales=_in_words(scales, entropies),
        ),
        unit="seconds",
        dashed=["at random"],
    )


def _curve(rows: dict[int, tuple[Fact, ...]], place: int) -> tuple[list[float], list[float]]:
    """Return the scales at which the fact at *place* is known, and its values."""
    values = {scale: facts[place].value for scale, facts in rows.items()}
    curve = {float(scale): float(value) for scale, value in values.items() if isinstance(value, int | float)}
    return list(curve), list(curve.values())


def _in_words(scales: list[float], values: list[float]) -> str:
    """Return *values* at *scales* in words."""
    parts = (
        message("{value} at {scales}", value=decimal(value, ".3g"), scales=SCALES[int(scale)])
        for scale, value in zip(scales, values, strict=True)
    )
    return joined(", ", parts) or message("not known")


def _size_blocks(store: Store) -> Iterator[Block]:
    """Yield the entropy of run time over sizes, and the correlation of the two."""
    facts = []
    for name, field, label in (
        ("spatial", "n_procs", message("Entropy of run time over processors")),
        ("spatial_requested", "req_n_procs", message("Entropy of run time over requested processors")),
    ):
        columns = store.arrays(RUN_TIME_BY_SIZE.format(procs=field, run_time=exact_sum("run_time")))
        sizes, times = (np.asarray(columns[key], np.float64) for key in ("procs", "run_time"))
        if len(sizes) and sizes[-1] > 1:
            facts.append(Fact(f"burstiness.{name}", number(spatial_entropy(sizes, times)), label))
    if facts:
        facts += _correlations(store)
        yield Facts(tuple(facts))
    else:
        yield Note("No job ran on more than one processor: nothing is spread over sizes.")


def _correlations(store: Store) -> tuple[Fact, ...]:
    """Return the correlation of run time and processors, by value and by rank, ties at their mean rank."""
    columns = store.arrays(RUN_TIME_RANKS)
    time, jobs, procs, ranks = (
        np.asarray(columns[key], np.float64) for key in ("run_time", "jobs", "procs", "ranks")
    )
    sizes = store.sample("n_procs", "ran")
    label = message("Correlation of run time and processors")
    by_value = _correlation(time, jobs, procs, sizes)
    by_rank = _correlation(2 * np.cumsum(jobs) - jobs, jobs, ranks, _twice_ranks(sizes))
    return facts_of(
        "correlation",
        ("runtime_procs", by_value, message("{label} (Pearson)", label=label), ""),
        ("runtime_procs_rank", by_rank, message("{label} (Spearman)", label=label), ""),
        unknown="undefined",
    )


def _twice_ranks(sample: Sample) -> Sample:
    return Sample((2 * sample.cumulative - sample.counts).astype(np.float64), sample.counts)


def _correlation(x: Floats, counts: Floats, totals: Floats, y: Sample) -> float | None:
    """Return the correlation of *x*, each *counts* times, with *y*, whose sums at each x are *totals*."""
    n, mean = y.n, dot(counts, x) / y.n
    spread = dot(counts, (x - mean) ** 2) * n * y.variance()
    covariance = dot(x - mean, totals - counts * y.mean())
    return max(-1.0, min(covariance / math.sqrt(spread), 1.0)) if spread > 0 else None
