"""Bound the wait of a job."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._common import JSON, TRACE, opened, options, require_known, to_file
from gwa.cli._terminal import echo, echo_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gwa.evaluation.bound_classes import ClassCoverage
    from gwa.evaluation.prediction import Bounds, BoundScore, Query, WaitingJobs
    from gwa.store.system import System

PURPOSE = Purpose.REPORT

COLUMNS: Final = (
    "bounded", "method", "jobs", "answered", "held", "held, largest", "weak windows", "loss", "median s",
)  # fmt: skip

LISTED: Final = ("job", "submitted", "bound", "wait", "held")
"""The columns of the list of bounds: moments and times in seconds."""


def _seconds(_: click.Context, __: click.Parameter, text: str | None) -> float | None:
    """Return the seconds of a text such as 12h or 12:30:00; raise a usage error for another one."""
    from gwa.util.durations import duration

    found = None if text is None else duration(text)
    if text is not None and found is None:
        raise click.BadParameter(f"'{text}' is not a duration, expected one such as 30min, 12h or 12:30:00")
    return found


@click.command(name="wait")
@TRACE
@click.option(
    "--procs", type=click.IntRange(min=1), default=1, show_default=True, help="Processors of the job."
)
@click.option("--time", "requested", metavar="TIME", callback=_seconds, help="Requested time, such as 12h.")
@click.option("--queue", metavar="NAME", help="Queue, or partition where the log records no queues.")
@click.option("--user", metavar="NAME", help="User who submits the job.")
@click.option(
    "--waiting", type=click.IntRange(min=0), default=0, show_default=True, help="Own jobs that wait already."
)
@click.option(
    "--method", default="bmbp-own", show_default=True, metavar="ID", help="Method, as --compare lists."
)
@click.option("--compare", "compares", is_flag=True, help="Compare all methods on the whole log instead.")
@click.option(
    "--list", "lists", is_flag=True, help="List the bound and the wait of each job of the log instead."
)
@JSON
@options
@to_file
def command(
    trace: Path, requested: float | None, method: str, compares: bool, lists: bool, as_json: bool,
    **params: Any,
) -> None:  # fmt: skip
    """
    Bound the wait time of a job that is submitted at the end of a log.

    The bound is meant to hold for 95 % of such jobs, with 95 % confidence. It rests on the waits of earlier
    jobs of the same queue, size and requested time, and it is printed with how often such bounds held in this
    log, and for which classes of jobs they held least often. --compare ranks all methods by their loss: how
    tight bounds are, and how often they fail. --list prints the bound of each job of the log as it was known
    at submission, the wait, both in seconds, and whether the bound held: a table, or CSV when piped.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa wait sample.sacct --procs 4 --time 2h --queue cpu
      gwa wait sample.sacct --compare
      gwa wait sample.sacct --list
    """
    from gwa.evaluation.bound_classes import coverage_by_class
    from gwa.evaluation.prediction import BoundScore, WaitingJobs, predictors

    if compares and lists:
        raise click.UsageError("expected either --compare or --list")
    require_known([method], list(predictors()), "method", "--method")
    with opened(trace, params) as opened_trace:
        jobs, system = WaitingJobs.of(opened_trace.store), opened_trace.store.system
    _require_jobs(trace, jobs)
    if compares:
        _print_methods(jobs, as_json=as_json)
        return
    if lists:
        _print_bounds(jobs, predictors()[method].bounds(jobs), as_json=as_json)
        return
    query = _query(jobs, system, requested, params)
    bounds = predictors()[method].bounds(jobs.with_query(query))
    known = bounds.first(len(jobs))
    score, classes = BoundScore.of(jobs, known), coverage_by_class(jobs, known)
    beyond = _beyond_the_log(jobs, query)
    if as_json:
        echo_json(json.dumps(_as_json(bounds, score, classes, beyond), indent=1))
        return
    echo(_sentence(bounds, system))
    for sentence in (*beyond, *([_calibration(score, classes)] if score else [])):
        echo(sentence)


def _require_jobs(trace: Path, jobs: "WaitingJobs") -> None:
    from gwa.errors import TraceError

    if not len(jobs):
        raise TraceError(f"{trace}: no job has a known wait and run time, expected a log that records waits")


def _query(jobs: "WaitingJobs", system: "System", requested: float | None, params: dict[str, Any]) -> "Query":
    """Return the job that is asked about; raise a usage error for one that this log cannot have."""
    from gwa.evaluation.prediction import UNKNOWN, Query

    _require_fitting(jobs, system, params["procs"])
    numbers = {}
    for name, known in (("queue", jobs.queues), ("user", jobs.users)):
        given = params[name]
        if given is not None:
            require_known([given], known, name, f"--{name}")
        numbers[name] = UNKNOWN if given is None else known.index(given)
    return Query(
        params["procs"],
        UNKNOWN if requested is None else requested,
        numbers["queue"],
        numbers["user"],
        params["waiting"],
    )


def _require_fitting(jobs: "WaitingJobs", system: "System", procs: int) -> None:
    """Raise a usage error for a job of more processors than the system, or any job of the log, has."""
    largest = max(jobs.cpus, int(jobs.procs.max()))
    if procs > largest:
        limit = "were ever busy at once" if system.cpus_inferred else "the system has"
        message = f"{procs:,} is more processors than {limit}, expected at most {largest:,}"
        raise click.BadParameter(message, param_hint="--procs")


def _sentence(bounds: "Bounds", system: "System") -> str:
    """Return the bound in words."""
    from gwa.words.formatting import seconds, show

    bound, jobs, since = float(bounds.bound[-1]), int(bounds.jobs[-1]), float(bounds.since[-1])
    if bound != bound:  # noqa: PLR0124 - nan
        return "Too few jobs: a bound takes 59 jobs that have started."
    day = show(since, "timestamp", zone=None if system.relative else system.timezone.key)
    wider = "Too few jobs are of its own class, so the bound is that of a wider one."
    coarse = f" {wider}" if bounds.level[-1] else ""
    basis = f"with 95 % confidence, from {jobs:,} jobs since {day}"
    return f"95 % of such jobs start within {seconds(bound)} ({basis}).{coarse}"


def _beyond_the_log(jobs: "WaitingJobs", query: "Query") -> list[str]:
    """Return sentences on what is asked for beyond anything that the log has: a bound cannot rest on it."""
    from gwa.words.formatting import seconds

    sentences = []
    largest, longest = int(jobs.procs.max()), float(jobs.requested.max())
    if query.procs > largest:
        sentences.append(
            f"No job of this log had more than {largest:,} processors: the bound rests on smaller jobs."
        )
    if query.requested > 0 and not longest > 0:
        sentences.append("This log records no requested times: --time does not change the bound.")
    elif query.requested > longest:
        sentences.append(
            f"No job of this log requested more than {seconds(longest)}: the bound rests on shorter requests."
        )
    return sentences


def _calibration(score: "BoundScore", classes: "Sequence[ClassCoverage]") -> str:
    """Return in words how often such bounds held, over all and for the worst classes of jobs."""
    from gwa.evaluation.bound_classes import in_words, worst_of_each_kind
    from gwa.evaluation.prediction import QUANTILE
    from gwa.words.formatting import fraction

    worst = worst_of_each_kind(classes, below=QUANTILE)
    least = f" {in_words(worst)}" if worst else ""
    weak = "" if score.coverage >= QUANTILE else " That is less than 95 %: do not rely on it."
    return (
        f"In this log, such bounds held for {fraction(score.coverage)} of {score.jobs:,} jobs, and for"
        f" {fraction(score.largest)} of the tenth with most processors.{least}{weak}"
    )


def _as_json(
    bounds: "Bounds",
    score: "BoundScore | None",
    classes: "Sequence[ClassCoverage]",
    beyond: list[str],
) -> dict[str, object]:
    bound = float(bounds.bound[-1])
    known = bound == bound  # noqa: PLR0124 - not nan
    return {
        "bound": bound if known else None,
        "jobs": int(bounds.jobs[-1]),
        "since": float(bounds.since[-1]) if known else None,
        "is_of_wider_class": bool(bounds.level[-1]),
        "held": asdict(score) if score else None,
        "classes": [asdict(one) for one in classes],
        "notes": beyond,
    }


def _print_bounds(jobs: "WaitingJobs", bounds: "Bounds", *, as_json: bool) -> None:
    """Print the bound of each job at its submission, its wait, and whether the bound held."""
    import numpy as np

    from gwa.cli._terminal import table

    known = ~np.isnan(bounds.bound)
    columns: tuple[list[object], ...] = (
        jobs.job.tolist(),
        jobs.submit.tolist(),
        [bound if has else None for bound, has in zip(bounds.bound.tolist(), known, strict=True)],
        jobs.wait.tolist(),
        [bool(held) if has else None for held, has in zip(jobs.wait <= bounds.bound, known, strict=True)],
    )
    table(LISTED, list(zip(*columns, strict=True)), as_json=as_json)


def _print_methods(jobs: "WaitingJobs", *, as_json: bool) -> None:
    """Print how well each method bounds the waits, and the run times, of the log."""
    from gwa.cli._terminal import table
    from gwa.evaluation.prediction import BoundScore, predictors, run_time_bounds

    walks: dict[bytes, Bounds] = {}
    found = [("wait", one.id, BoundScore.of(jobs, one.bounds(jobs, walks))) for one in predictors().values()]
    found += [
        ("run time", name, BoundScore.of_values(jobs.submit, jobs.run, jobs.procs, bound))
        for name, bound in run_time_bounds(jobs).items()
    ]
    scored = [(what, name, score) for what, name, score in found if score is not None]
    rows = [
        (what, name, score.jobs, *(round(value, 4) for value in list(asdict(score).values())[1:]))
        for what, name, score in sorted(scored, key=lambda item: (item[0] != "wait", item[2].loss))
    ]
    table(COLUMNS, rows, as_json=as_json)
