"""Bound the wait of a job."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._common import JSON, TRACE, opened, options, require_known, to_file
from gwa.cli._terminal import echo, echo_json

if TYPE_CHECKING:
    from gwa.evaluation.prediction import Bounds, BoundScore, Query, WaitingJobs
    from gwa.store.system import System

COLUMNS: Final = (
    "bounded", "method", "jobs", "answered", "held", "held, largest", "weak windows", "loss", "median s",
)  # fmt: skip


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
@JSON
@options
@to_file
def command(
    trace: Path, requested: float | None, method: str, compares: bool, as_json: bool, **params: Any
) -> None:
    """
    Bound the wait time of a job that is submitted at the end of a log.

    The bound is meant to hold for 95 % of such jobs, with 95 % confidence. It rests on the waits of earlier
    jobs of the same queue, size and requested time, and it is printed with how often such bounds held in this
    log. --compare ranks all methods by their loss: how tight bounds are, and how often they fail.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa wait sample.sacct --procs 4 --time 2h --queue cpu
      gwa wait sample.sacct --compare
    """
    from gwa.evaluation.prediction import BoundScore, WaitingJobs, predictors

    require_known([method], list(predictors()), "method", "--method")
    with opened(trace, params) as opened_trace:
        jobs, system = WaitingJobs.of(opened_trace.store), opened_trace.store.system
    _require_jobs(trace, jobs)
    if compares:
        _print_methods(jobs, as_json=as_json)
        return
    query = _query(jobs, requested, params)
    bounds = predictors()[method].bounds(jobs.with_query(query))
    score = BoundScore.of(jobs, bounds.first(len(jobs)))
    if as_json:
        echo_json(json.dumps(_as_json(bounds, score), indent=1))
    else:
        echo(_sentence(bounds, system))
        if score:
            echo(_calibration(score))


def _require_jobs(trace: Path, jobs: "WaitingJobs") -> None:
    from gwa.errors import TraceError

    if not len(jobs):
        raise TraceError(f"{trace}: no job has a known wait and run time, expected a log that records waits")


def _query(jobs: "WaitingJobs", requested: float | None, params: dict[str, Any]) -> "Query":
    """Return the job that is asked about; raise a usage error for a queue or user that the log lacks."""
    from gwa.evaluation.prediction import UNKNOWN, Query

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


def _sentence(bounds: "Bounds", system: "System") -> str:
    """Return the bound in words."""
    from gwa.report.formatting import seconds, show

    bound, jobs, since = float(bounds.bound[-1]), int(bounds.jobs[-1]), float(bounds.since[-1])
    if bound != bound:  # noqa: PLR0124 - nan
        return "Too few jobs: a bound takes 59 jobs that have started."
    day = show(since, "timestamp", zone=None if system.relative else system.timezone.key)
    wider = "Too few jobs are of its own class, so the bound is that of a wider one."
    coarse = f" {wider}" if bounds.level[-1] else ""
    basis = f"with 95 % confidence, from {jobs:,} jobs since {day}"
    return f"95 % of such jobs start within {seconds(bound)} ({basis}).{coarse}"


def _calibration(score: "BoundScore") -> str:
    """Return in words how often such bounds held."""
    from gwa.evaluation.prediction import QUANTILE
    from gwa.report.formatting import fraction

    weak = "" if score.coverage >= QUANTILE else " That is less than 95 %: do not rely on it."
    return (
        f"In this log, such bounds held for {fraction(score.coverage)} of {score.jobs:,} jobs, and for"
        f" {fraction(score.largest)} of the tenth with most processors.{weak}"
    )


def _as_json(bounds: "Bounds", score: "BoundScore | None") -> dict[str, object]:
    bound = float(bounds.bound[-1])
    known = bound == bound  # noqa: PLR0124 - not nan
    return {
        "bound": bound if known else None,
        "jobs": int(bounds.jobs[-1]),
        "since": float(bounds.since[-1]) if known else None,
        "is_of_wider_class": bool(bounds.level[-1]),
        "held": asdict(score) if score else None,
    }


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
