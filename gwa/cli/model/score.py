"""Score how realistic a synthetic trace is."""

import sys
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._common import JSON, PATH, opened, opened_requests, opened_whole, options, to_file
from gwa.cli._terminal import echo

if TYPE_CHECKING:
    from gwa.evaluation.job_arrays import JobArrays
    from gwa.evaluation.measure import Statistic

SHOWN: Final = {"measure", "verdict", "real", "synthetic", "by", "distance", "halves"}
"""What fits a terminal."""


@click.command(name="score")
@click.argument("real", type=PATH)
@click.argument("synthetic", type=PATH)
@JSON
@options
@to_file
def command(real: Path, synthetic: Path, as_json: bool, **params: Any) -> None:
    """
    Score how realistic a synthetic trace is.

    For each measure it prints the distance from the real trace, with two noise floors: the distance of one
    half of the weeks of the real trace from the other half, and that of resampled jobs. Both traces are also
    scheduled on one system at one load, to compare what a scheduler sees. Prints a table, or CSV when piped.

    Two traces of requests to language models are compared by their rates, gaps, tokens and latencies.

    \b
    Examples:
      gwa sample swf -o sample.swf
      gwa model generate lublin --jobs 1000 --seed 1 -o lublin.swf
      gwa model score sample.swf lublin.swf
    """
    from gwa.cli._terminal import table
    from gwa.evaluation.job_arrays import workload
    from gwa.evaluation.scorecard import COLUMNS, Reference, row
    from gwa.requests.score import statistics_of

    with opened_whole(real, params, takes_requests=True) as trace:
        if trace.store.holds == "requests":
            statistics = statistics_of(trace.store)
        else:
            jobs, statistics = workload(trace.store, str(real)), None
    if statistics is not None:
        _score_requests(statistics, synthetic, params, as_json=as_json)
        return
    scorecard = Reference.of(jobs).score(_read_jobs(synthetic, params))
    rows = [row(line) for line in scorecard.lines]
    if sys.stdout.isatty() and not as_json:
        rows = [tuple(f"{cell:.3g}" if isinstance(cell, float) else cell for cell in item) for item in rows]
    table([item.key for item in COLUMNS], rows, as_json=as_json, shown=SHOWN)
    if not params["quiet"]:
        for sentence in (*scorecard.notes, scorecard.summary()):
            echo(sentence, err=True)


def _score_requests(
    real: "list[Statistic | None]", synthetic: Path, params: dict[str, Any], *, as_json: bool
) -> None:
    """Print the distances of two traces of requests."""
    from gwa.cli._terminal import table
    from gwa.requests.score import Line, score_requests, statistics_of

    with opened_requests(synthetic, params) as other:
        lines = score_requests(real, statistics_of(other.store))
    table([field.name for field in fields(Line)], [astuple(line) for line in lines], as_json=as_json)


def _read_jobs(path: Path, params: dict[str, Any]) -> "JobArrays":
    from gwa.evaluation.job_arrays import workload

    with opened(path, params) as trace:
        return workload(trace.store, str(path))
