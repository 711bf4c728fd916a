"""Measurements of the bags of a trace for the models of Anoep's thesis."""

import math

import numpy as np

from gwa.metrics.bags import Definition, bagged
from gwa.statistics.sample import Sample
from gwa.store.store import Store


def gaps_in_bags(store: Store, definition: Definition) -> Sample:
    """Return the seconds between consecutive tasks of a bag."""
    return store.sample(
        "round(gap)",
        "(select submit_time - lag(submit_time) over (partition by bag order by submit_time, job_id) as gap"
        f" from {bagged(store, definition)}) as gaps",
    )


def simultaneous_share(gaps: Sample) -> float:
    """Return the share of *gaps* that are 0."""
    return 1 - gaps.restrict(above=0.0).n / gaps.n if gaps.n else 0.0


def _by_bag(store: Store, definition: Definition) -> str:
    """Return the query for the geometric mean and the variance of run times in bags of two or more tasks."""
    return (
        "(select exp(avg(ln(greatest(run_time, 1)))) as centre, var_pop(run_time) as variance"
        f" from {bagged(store, definition)} where run_time >= 0 group by bag having count(*) >= 2) as of_bags"
    )


def run_time_centres(store: Store, definition: Definition) -> Sample:
    """Return, for each task, the geometric mean of the run times of its bag, in whole seconds."""
    return store.sample(
        "round(exp(avg(ln(greatest(run_time, 1))) over (partition by bag)))",
        f"(select * from {bagged(store, definition)} where run_time >= 0) as tasks",
    )


def run_time_variances(store: Store, definition: Definition) -> Sample:
    """Return the variances of run times in bags, rounded to whole s², those below 1 left out."""
    return store.sample("round(variance)", _by_bag(store, definition)).restrict(low=1.0)


def correlate_variance(store: Store, definition: Definition) -> float:
    """Return Pearson's correlation of the logarithms of run time and variance over bags, 0 if unknown."""
    r = store.row(
        f"select corr(ln(centre), ln(variance)) from {_by_bag(store, definition)} where variance >= 1"
    )[0]
    known = r is not None and math.isfinite(r)
    return float(np.clip(r, -1.0, 1.0)) if known else 0.0
