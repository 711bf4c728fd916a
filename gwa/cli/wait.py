"""Bound the wait of a job."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import JSON, TRACE, flag, options, require_known, shown, takes
from gwa.cli._output import to_file
from gwa.cli._reading import opened
from gwa.cli._terminal import echo_json, say, table

if TYPE_CHECKING:
    from gwa.evaluation.prediction import Bounds, WaitingJobs
    from gwa.evaluation.queue_bounds import QueueRecord
    from gwa.metrics.waiting_now import WaitingNow
    from gwa.store.store import Store

PURPOSE = Purpose.REPORT

COLUMNS: Final = (
    "bounded", "method", "jobs", "answered", "held", "held, largest", "weak windows", "loss", "median s",
)  # fmt: skip

SHOWN: Final = {"bounded", "method", "jobs", "held", "held, largest", "loss", "median s"}
"""What fits a terminal."""

QUEUED: Final = ("job", "tasks", "queue", "user", "procs", "reason", "waited", "left", "starts by")
"""
The columns of the list of what waits now: times in seconds, *left* until the moment of *starts by*.

*tasks* of an array that have not begun are listed as one; *reason* is that of the moment of asking.
"""

MINIMUM_HELD: Final = 0.97
"""Bounds that held for less than this part of the 95 % that they promise are said to be weak."""

WEAK: Final = "That is less than 95 %: do not rely on it."

OF_THE_LOG: Final = "\0"
"""What --queue-now is without a file, which no path can be: the jobs that wait at the end of the log."""


class _QueueFile(click.Path):
    """A file that lists what waits, or `OF_THE_LOG`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of a file that exists."""
        return Path(OF_THE_LOG) if value == OF_THE_LOG else super().convert(value, param, ctx)


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
@shown("--procs", click.IntRange(min=1), 1, "Processors of the job.")
@click.option("--time", "requested", metavar="TIME", callback=_seconds, help="Requested time, such as 12h.")
@click.option("--queue", metavar="NAME", help="Queue, or partition where the log records no queues.")
@click.option("--user", metavar="NAME", help="User who submits the job.")
@shown("--waiting", click.IntRange(min=0), 0, "Own jobs that wait already.")
@takes("--method", "ID", "Method, as --compare lists.", default="bmbp-own", show_default=True)
@flag("--compare compares", "Compare all methods on the whole log instead.")
@flag("--list lists", "List the bound and the wait of each job of the log instead.")
@takes(
    "--queue-now",
    "[FILE]",
    "Bound the wait of each job that waits at the end of the log or, with a file, in this output of"
    " squeue, 'qstat -f -F json' or 'kubectl get pods -o json'.",
    is_flag=False,
    flag_value=OF_THE_LOG,
    type=_QueueFile(path_type=Path, exists=True, dir_okay=False),
)
@JSON
@options
@to_file
def command(
    trace: Path, requested: float | None, method: str, compares: bool, lists: bool, queue_now: Path | None,
    as_json: bool, **params: Any,
) -> None:  # fmt: skip
    """
    Bound the wait time of a job that is submitted at the end of a log.

    The bound is meant to hold for 95 % of such jobs, with 95 % confidence. It rests on the waits of earlier
    jobs of the same queue, size and requested time, and it is printed with how often such bounds held in this
    log, and for which classes of jobs they held least often. --compare ranks all methods by their loss: how
    tight bounds are, and how often they fail. --list prints the bound of each job of the log as it was known
    at submission, the wait, both in seconds, and whether the bound held: a table, or CSV when piped.
    --queue-now prints by when each job that waits now should have started: a bound meant to hold for 95 of
    100, from the waits of like jobs that waited as long; and how often such bounds held in this log. Without
    a file, these are the jobs that the log has as submitted and not as started. The tasks of an array that
    wait are one line, with their number. A reason is what the scheduler says at the moment of asking.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa wait sample.sacct --procs 4 --time 2h --queue cpu
      gwa wait sample.sacct --compare
      gwa wait sample.sacct --list
      gwa wait sample.sacct --queue-now
      squeue --json > queue.json && gwa wait jobs.sacct --queue-now queue.json
    """
    from gwa.evaluation.prediction import predictors
    from gwa.evaluation.wait_bound import Asked, wait_bound, waiting_jobs

    if compares + lists + (queue_now is not None) > 1:
        raise click.UsageError("expected one of --compare, --list and --queue-now")
    require_known([method], list(predictors()), "method", "--method")
    with opened(trace, params) as opened_trace:
        jobs, system = waiting_jobs(opened_trace.store, str(trace)), opened_trace.store.system
        zone = None if system.relative else system.timezone.key
        queue = _waiting_now(queue_now, opened_trace.store) if queue_now else None
    if compares:
        _print_methods(jobs, as_json=as_json)
        return
    if lists:
        _print_bounds(jobs, predictors()[method].bounds(jobs), zone, as_json=as_json)
        return
    if queue:
        _print_queue(jobs, *queue, zone, as_json=as_json)
        return
    asked = Asked(params["procs"], requested, params["queue"], params["user"], params["waiting"])
    found = wait_bound(jobs, system, asked, method)
    if as_json:
        echo_json(json.dumps(found.plain(), indent=1))
        return
    for sentence in found.sentences(system):
        say(sentence)


def _waiting_now(path: Path, store: "Store") -> "tuple[float, list[WaitingNow]]":
    """Return when a queue was listed, and what waits in it: in a file, or at the end of the log."""
    from gwa.formats.queue_now import read_queue
    from gwa.metrics.presence import end_of_log
    from gwa.metrics.waiting_now import waiting_now

    if str(path) == OF_THE_LOG:
        return waiting_now(store)
    return read_queue(path, store.system.timezone, end_of_log(store))


def _print_queue(
    jobs: "WaitingJobs", now: float, waiting: "list[WaitingNow]", zone: str | None, *, as_json: bool
) -> None:
    """Print until when each of the *waiting* jobs starts, and how often such bounds held in the log."""
    from gwa.evaluation.queue_bounds import queue_bounds
    from gwa.words.formatting import seconds, timestamp

    found = queue_bounds(jobs, waiting, now)
    rows: list[tuple[object, ...]] = []
    for one, bound in zip(waiting, found.bounds.tolist(), strict=True):
        has = bound == bound  # noqa: PLR0124 - nan is not
        by = one.submit + bound if has else None
        waited = max(now - one.submit, 0.0)
        left = round(bound - waited) if has else None
        asked = (one.name, one.tasks, one.queue, one.user, one.procs, one.reason)
        rows.append((*asked, round(waited), left, round(by) if by else None))
    if as_json:
        named = [dict(zip(QUEUED, row, strict=True)) for row in rows]
        record = asdict(found.record)
        echo_json(json.dumps({"now": now, "record": record, "jobs": named}, indent=1, ensure_ascii=False))
        return
    if not rows:
        say("No job waits.", err=True)
    words = {"waited": seconds, "left": seconds, "starts by": lambda moment: timestamp(moment, zone)}
    table(QUEUED, rows, as_json=False, words={"job": str, **words})
    say(_record(found.record), err=True)


def _record(record: "QueueRecord") -> str:
    """Return in words how often bounds of waiting jobs held in the log."""
    from gwa.evaluation.prediction import QUANTILE
    from gwa.words.formatting import fraction

    if record.held is None:
        return "Too few jobs of this log waited to tell how often such bounds hold."
    large = (
        f", and for {fraction(record.held_large)} of those of more than 64 processors"
        if record.held_large is not None
        else ""
    )
    least = min(share for share in (record.held, record.held_large) if share is not None)
    weak = "" if least >= MINIMUM_HELD * QUANTILE else f" {WEAK}"
    return f"In this log, such bounds held for {fraction(record.held)} of {record.jobs:,} jobs{large}.{weak}"


def _print_bounds(jobs: "WaitingJobs", bounds: "Bounds", zone: str | None, *, as_json: bool) -> None:
    """Print the bound of each job at its submission, its wait, and whether the bound held."""
    import numpy as np

    from gwa.words.formatting import WORDS, seconds, timestamp

    known = ~np.isnan(bounds.bound)
    columns: tuple[list[object], ...] = (
        jobs.job.tolist(),
        jobs.submit.tolist(),
        [bound if has else None for bound, has in zip(bounds.bound.tolist(), known, strict=True)],
        jobs.wait.tolist(),
        [bool(held) if has else None for held, has in zip(jobs.wait <= bounds.bound, known, strict=True)],
    )
    words = {"submitted": lambda moment: timestamp(moment, zone), "bound": seconds, "wait": seconds}
    table(
        LISTED,
        list(zip(*columns, strict=True)),
        as_json=as_json,
        words={"job": str, "held": WORDS.__getitem__, **words},
    )


def _print_methods(jobs: "WaitingJobs", *, as_json: bool) -> None:
    """Print how well each method bounds the waits, and the run times, of the log."""
    from gwa.evaluation.bound_scores import BoundScore, run_time_bounds
    from gwa.evaluation.prediction import predictors
    from gwa.words.formatting import fraction, seconds

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
    words = {
        "median s": seconds,
        **dict.fromkeys(("answered", "held", "held, largest", "weak windows"), fraction),
    }
    table(COLUMNS, rows, as_json=as_json, shown=SHOWN, words=words)
