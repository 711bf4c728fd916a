"""Fit a model to a trace."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gwa.cli._common import ARRIVALS, FORCE, OUTPUT_PATH, TRACE, claimed, opened, options
from gwa.cli._terminal import echo, echo_json


@click.command(name="fit")
@TRACE
@click.argument("model")
@ARRIVALS
@click.option(
    "-o", "--output", "out", type=OUTPUT_PATH, metavar="OUT", help="Output file instead of standard output."
)
@FORCE
@options
def command(
    trace: Path, model: str, arrivals: str | None, out: Path | None, force: bool, **params: Any
) -> None:
    """
    Fit a model to a trace: its parameters as JSON, with what they mean.

    The fitted model then generates the days of the trace ten times. If its busy processors or its jobs a day
    are off by more than 5 % in the mean, or typically by more than 10 % for one seed, a warning says so, here
    and in 'gwa model generate'. Models are fitted to the jobs that ran and whose submission is known.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa model fit sample.sacct lublin -o lublin.json
      gwa model fit sample.sacct lublin --arrivals spectral -o spectral.json
    """
    from gwa.models.arrival_process import find_process
    from gwa.models.base import models
    from gwa.models.files import LOG, WARNINGS, text, write
    from gwa.models.load_check import LoadCheck
    from gwa.models.work import Submitted

    arrival_process = find_process(arrivals) if arrivals else None
    if model not in models():
        message = f"there is no model '{model}', expected one of {', '.join(models())}"
        raise click.BadParameter(message, param_hint="MODEL")
    with opened(trace, params) as opened_trace:
        fitted = models()[model].fit(opened_trace.store)
        if arrival_process:
            fitted = fitted.with_arrivals(arrival_process, opened_trace.store)
        log = Submitted.of(opened_trace.store)
        warnings = LoadCheck.of(fitted, log).warnings()
        origin = {"fitted to": opened_trace.name, "jobs": log.jobs, LOG: asdict(log)}
        origin |= {WARNINGS: warnings} if warnings else {}
    for warning in () if params["quiet"] else warnings:
        echo(f"warning: {warning}", err=True)
    if out is None:
        echo_json(text(fitted, origin), nl=False)
    else:
        with claimed([out], force=force):
            write(fitted, out, origin)
        if not params["quiet"]:
            echo(f"{out}: {fitted.title}, fitted to {log.jobs:,} jobs", err=True)
