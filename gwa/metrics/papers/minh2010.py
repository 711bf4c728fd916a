"""
What Minh and Wolters measure: bags, parallelism, burstiness, correlation (2010) and repetitions (2009).

Sources: T. N. Minh and L. Wolters, the integrated model of parallel workloads (2010), sections IV, V and
VII; the temporal locality model (2009), sections 3 and 5. The two papers select and count differently: see
`YEAR_2010` and `YEAR_2009`. Where they leave a definition open, the one that gives their numbers is taken.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from gwa.metrics.bags import COMPLETED, MINH, Definition, bags, clustered_table
from gwa.metrics.steps import step
from gwa.statistics.dependence import spatial_entropy
from gwa.statistics.distribution import FitError
from gwa.statistics.mixture import GaussianMixture
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store


@dataclass(frozen=True)
class JobSelection:
    """The jobs that count, and what their parallelism is."""

    name: str
    where: str
    procs: str

    @property
    def jobs(self) -> str:
        """The query for their number, submission, run time and processors."""
        return (
            f"(select job_id, submit_time, run_time, {self.procs} as procs from jobs"
            f" where submit_time is not null and {self.where}) as selected"
        )


YEAR_2010: Final = JobSelection("2010", COMPLETED, "coalesce(req_n_procs, n_procs)")
"""Completed jobs, and the processors that they requested."""

YEAR_2009: Final = JobSelection("2009", "run_time >= 0 and n_procs > 0", "n_procs")
"""Jobs however they ended, and the processors that they got."""

RANGES: Final = ((0.0, 1e2), (1e2, 1e3), (1e3, 1e4), (1e4, 1e5), (1e5, 1e6))
"""The ranges of mean run times of bags in table III of 2010, in seconds."""


def jobs(store: Store, selection: JobSelection) -> int:
    """Return how many jobs are selected (2010, table I; 2009, table 1)."""
    return int(store.row(f"select count(*) as n from {selection.jobs}")[0])


def mean_interarrival(store: Store, selection: JobSelection = YEAR_2010) -> float:
    """Return the mean seconds between submissions (2010, section VII-B); nan for fewer than two jobs."""
    first, last, n = store.row(
        f"select min(submit_time), max(submit_time), count(*) as n from {selection.jobs}"
    )
    return (last - first) / (n - 1) if n > 1 else math.nan


def in_bags(store: Store, definition: Definition = MINH) -> float:
    """Return the share of the selected jobs that are in bags of two or more (2010, table II)."""
    inside, total = store.row(
        "select sum(case when size >= 2 then size else 0 end) as inside, sum(size) as total"
        f" from {bags(store, definition)}"
    )
    return int(inside) / int(total) if total else math.nan


def variability(store: Store, definition: Definition = MINH) -> list[tuple[float, int]]:
    """
    Return the mean standard deviation of run times in a bag, and the number of bags, for each of `RANGES`.

    The standard deviation is that of a population, bags weigh alike, and the ranges are of their mean
    run times (2010, table III); nan where there is none.
    """
    tasks = clustered_table(store, definition)
    deviation = "sqrt(greatest(n * squares - total * total, 0)) / n"
    rows = store.rows(
        f"""
        select place, cast(sum(cast({deviation} as decimal(38, 6))) as double) as total, count(*) as n from (
            select *, case when total < 100 * n then 0 when total < 1000 * n then 1
            when total < 10000 * n then 2 when total < 100000 * n then 3 else 4 end as place from (
                select cast(count(*) as double) as n,
                cast(sum(cast(run_time as decimal(38, 6))) as double) as total,
                cast(sum(cast(run_time * run_time as decimal(38, 6))) as double) as squares
                from {tasks} where run_time >= 0 group by bag having count(*) >= 2
            ) as summed
        ) as placed group by place
        """
    )
    means = {place: (total / n, n) for place, total, n in rows}
    return [means.get(place, (math.nan, 0)) for place in range(len(RANGES))]


def groups(store: Store, selection: JobSelection = YEAR_2010) -> dict[int, list[int]]:
    """
    Return the groups of parallelism (2010, table IV): label, and the sizes in processors that bear it.

    The label of a size is log2 of how many jobs have it, rounded, plus 1. The paper's number of groups is
    the greatest label, although some label below may be empty.
    """
    sizes = store.sample("procs", selection.jobs)
    labelled: dict[int, list[int]] = {}
    for size, count in zip(sizes.values, sizes.counts, strict=True):
        labelled.setdefault(round(math.log2(count)) + 1, []).append(int(size))
    return dict(sorted(labelled.items()))


def spatial(store: Store, selection: JobSelection = YEAR_2010) -> float:
    """Return the spatial burstiness, the normalised entropy of run time over sizes (2010, table V)."""
    columns = store.arrays(
        "select procs, cast(sum(cast(run_time as decimal(38, 6))) as double) as total"
        f" from {selection.jobs} where procs >= 1 group by procs order by procs"
    )
    sizes = np.asarray(columns["procs"], np.float64)
    several = sizes.size and sizes[-1] > 1
    return spatial_entropy(sizes, np.asarray(columns["total"], np.float64)) if several else math.nan


def correlation(store: Store, selection: JobSelection = YEAR_2010) -> float:
    """Return Pearson's correlation of run time and processors (2010, table VI; 2009, table 3), exactly."""
    exact = "sum(cast({} as decimal(38, 6)))"
    columns = ("run_time", "procs", "run_time * run_time", "procs * procs", "run_time * procs")
    sums = ", ".join(f"{exact.format(column)} as s{place}" for place, column in enumerate(columns))
    n, *totals = store.row(f"select count(*) as n, {sums} from {selection.jobs}")
    if not n:
        return math.nan
    x, y, xx, yy, xy = (Fraction(value) for value in totals)
    spread = (n * xx - x * x) * (n * yy - y * y)
    return float(n * xy - x * y) / math.sqrt(spread) if spread > 0 else math.nan


def squashed_area(store: Store, selection: JobSelection = YEAR_2009) -> float:
    """Return processors times seconds, summed over all jobs (2009, section 5.2)."""
    area = "cast(sum(cast(run_time * procs as decimal(38, 6))) as double)"
    return float(store.row(f"select {area} as area from {selection.jobs}")[0] or 0.0)


def repetitions(store: Store, expression: str = "run_time", jobs: str = YEAR_2009.jobs) -> Sample:
    """
    Return how many *jobs* in a row, in the order of submission, have the same value (2009, section 3.3).

    >>> from gwa.metrics.papers.minh2010 import labels
    >>> from gwa.statistics.mixture import GaussianMixture
    >>> mixture = GaussianMixture((0.5, 0.5), (0.0, 10.0), (1.0, 1.0))
    >>> labels("run_time", mixture, Sample.of([0, 1, 9, 10]))
    'case when run_time < 9.0 then 0 else 1 end'
    """
    order = "order by submit_time, job_id"
    return store.sample(
        "length",
        f"""(
        select count(*) as length from (
            select sum(begins) over ({order} rows between unbounded preceding and current row) as run from (
                select submit_time, job_id, case when value is not distinct from lag(value) over ({order})
                and lag(job_id) over ({order}) is not null then 0 else 1 end as begins
                from (select submit_time, job_id, {expression} as value from {jobs}) as valued
            ) as marked
        ) as numbered group by run
        ) as runs""",
    )


def mean_repetitions(
    store: Store, expressions: Sequence[str], selection: JobSelection = YEAR_2009
) -> list[float]:
    """
    Return the mean of `repetitions` of each of *expressions*, which takes one pass; nan without jobs.

    They are known of each of the jobs: the first one differs from the one before it, which is unknown.
    """
    begins = ", ".join(
        f"v{place} is distinct from lag(v{place}) over w as b{place}" for place in range(len(expressions))
    )
    values = ", ".join(f"{expression} as v{place}" for place, expression in enumerate(expressions))
    runs = ", ".join(f"count(*) filter (where b{place}) as runs{place}" for place in range(len(expressions)))
    ordered, window = store.sorted_rows(
        f"select submit_time, job_id, {values} from {selection.jobs}", "submit_time, job_id"
    )
    marked = f"(select {begins} from {ordered} window w as ({window})) as marked"
    jobs, *run_counts = store.row(f"select count(*) as jobs, {runs} from {marked}")
    return [jobs / int(count) if jobs else math.nan for count in run_counts]


def labels(
    column: str,
    mixture: GaussianMixture,
    sample: Sample,
    scale: Callable[[Floats], Floats] | None = None,
) -> str:
    """
    Return the SQL for the label of each value of *column*: the component it most probably comes from.

    *sample* are the values that occur, which *scale* brings on that of the mixture; labels change between few
    of them, so that the labels of all jobs stay in the engine. Use it with `repetitions` (2009, section
    3.3, step 2).
    """
    if not sample.n:
        raise FitError("there are no values to label")
    components = mixture.labels(scale(sample.values) if scale else sample.values)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(components)) + 1))
    return step(column, sample.values[starts[1:]].tolist(), components[starts].tolist())
