"""How long jobs wait."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.waits import held_share, queued
from gwa.metrics.weighted_waits import WeightedWaits, weighted_waits
from gwa.report.document import Block, Fact, Facts
from gwa.report.facts import number, summary
from gwa.report.figures.cdf import Curve, cdf
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.words.formatting import seconds
from gwa.words.message import message

RANGE: Final = {
    "low": message("{what}, lower end of the 90 % range over users"),
    "high": message("{what}, upper end of the 90 % range over users"),
}


@analysis(
    "Waiting times",
    Chapter.WAITS,
    facts=("jobs.wait", "wait.weighted", "wait.ran", "wait.held", "wait.submitted"),
    needs=("wait_time",),
)
def waits(store: Store) -> Iterator[Block]:
    """
    Waits of all jobs whose wait is known, and by core-hour of those that ran.

    A wait is from when a job could have started, where the log records that, else from submission: a job that
    depends on others, or that asked for a later time, waits for the system only from then on. What lay before
    is said beside it.
    Most jobs are small; most core-hours are in large ones. The median wait by core-hour is the least wait
    such that jobs which waited no longer hold half of the core-hours of all jobs that ran, with those until
    the end of the log for jobs that had not ended. It is exact. Its 90 % range is over 400 draws of the users
    with all their jobs (bootstrap), rounded outward to classes of waits 6 % wide. Where one job has more than
    5 % of the core-hours, one user more than half, or the jobs count for fewer than 30 equal ones, (Σc)²/Σc²,
    no range is given: these few decide.
    """
    times = store.sample(queued(store))
    curves: dict[str, Curve] = {"jobs": times.ecdf()}
    yield Facts(summary("jobs.wait", times, "seconds", message("wait")))
    yield Facts(tuple(_weighted(weighted_waits(store))))
    if store.has("eligible_time"):
        since_submission = store.sample("wait_time")
        yield Facts(tuple(_held(store, since_submission)))
        curves = {
            message("once they could start"): times.ecdf(),
            message("since submission"): since_submission.ecdf(),
        }
    yield cdf(
        "waits",
        "Wait time of a job",
        curves,
        "Wait time",
        message(
            "Cumulative fraction of jobs by wait: half wait at most {median}, 95 % at most {quantile}.",
            median=seconds(times.median()),
            quantile=seconds(times.quantile(0.95)),
        ),
        unit="seconds",
    )


def _held(store: Store, since_submission: Sample) -> Iterator[Fact]:
    """Yield what lay before jobs could have started, and how long jobs waited with it."""
    jobs, share = held_share(store)
    yield Fact("wait.held.jobs", jobs, "Jobs that could not have started at once", "count")
    yield Fact("wait.held.share", share, "Share of all waiting before jobs could have started", "fraction")
    for name, label, part in (
        ("median", message("Median wait since submission"), 0.5),
        ("p95", message("95th percentile of wait since submission"), 0.95),
    ):
        yield Fact(f"wait.submitted.{name}", number(since_submission.quantile(part)), label, "seconds")


def _weighted(waits: WeightedWaits) -> Iterator[Fact]:
    """Yield the waits of the jobs that ran by core-hour, and by job."""
    quantiles = {
        "median": (message("Median wait by core-hour"), waits.median, waits.jobs_median),
        "p95": (message("95th percentile of wait by core-hour"), waits.p95, waits.jobs_p95),
    }
    labels = {
        "median": message("Median wait of jobs that ran"),
        "p95": message("95th percentile of wait of jobs that ran"),
    }
    for place, (name, (label, by_hour, by_job)) in enumerate(quantiles.items()):
        yield Fact(f"wait.weighted.{name}", number(by_hour), label, "seconds")
        ends = waits.ranges[place] if waits.ranges else (None, None)
        for (end, template), value in zip(RANGE.items(), ends, strict=True):
            text = message(template, what=label)
            yield Fact(f"wait.weighted.{name}_{end}", number(value), text, "seconds", text="unknown")
        yield Fact(f"wait.ran.{name}", number(by_job), labels[name], "seconds")
    known = message("Share of core-hours whose wait is known")
    yield Fact("wait.weighted.known", waits.known_share, known, "fraction")
    equal = message("Equal jobs that the core-hours count for")
    yield Fact("wait.weighted.effective_jobs", number(waits.effective_jobs), equal)
    largest = message("Share of core-hours of the largest job")
    yield Fact("wait.weighted.largest_job", waits.largest_job, largest, "fraction")
    holder = asdict(waits.holder) if waits.holder else None
    yield Fact("wait.weighted.holder", holder, "Who decides the waits by core-hour", text="none")
