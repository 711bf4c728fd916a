"""Fit a model to a trace."""

from pathlib import Path
from shlex import quote
from typing import Any

import click

from gwa.cli._options import ARRIVALS, OUT, TRACE, options
from gwa.cli._output import FORCE, claimed
from gwa.cli._reading import opened, opened_requests
from gwa.cli._terminal import echo, echo_json


@click.command(name="fit")
@TRACE
@click.argument("model")
@ARRIVALS
@click.option(
    "--k",
    type=click.IntRange(min=1),
    metavar="K",
    help="Sessions that a cell of the ledger of the model gwa counts at least; 1 by default.",
)
@click.option(
    "--block-hours",
    type=click.Choice(["6", "12", "24"]),
    help="Hours of a block of that ledger; 6 by default.",
)
@OUT
@FORCE
@options
def command(
    trace: Path, model: str, arrivals: str | None, k: int | None, block_hours: str | None, out: Path | None,
    force: bool, **params: Any,
) -> None:  # fmt: skip
    """
    Fit a model to a trace: its parameters as JSON, with what they mean.

    The fitted model then generates the days of the trace ten times. If its busy processors or its jobs a day
    are off by more than 5 % in the mean, or typically by more than 10 % for one seed, a warning says so, here
    and in 'gwa model generate'. Models are fitted to the jobs that ran and whose submission is known.

    The model 'gwa' holds when sessions of which work started, as counts: its file says how many. With --k no
    cell of it counts fewer than K sessions: those of smaller cells lose their week, then their time of it.

    The model 'requests' is fitted to a trace of requests to language models, and to no other.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa model fit sample.sacct lublin -o lublin.json
      gwa model fit sample.sacct lublin --arrivals spectral -o spectral.json
    """
    from gwa.models.files import text
    from gwa.models.fitted import fitted_to, model_and_arrivals
    from gwa.requests.model import RequestModel

    if model == RequestModel.name:
        _fit_requests(trace, arrivals, out, params, force=force)
        return

    model_and_arrivals(model, arrivals)  # an unknown name is told before a long log is read
    with opened(trace, params) as opened_trace:
        hours = int(block_hours) if block_hours else None
        fitted = fitted_to(opened_trace.store, opened_trace.name, model, arrivals, k, hours)
    for warning in () if params["quiet"] else fitted.warnings:
        echo(f"warning: {warning}", err=True)
    if out is None:
        echo_json(text(fitted.model, fitted.origin), nl=False)
    else:
        with claimed([out], force=force):
            fitted.save(out)
        if not params["quiet"]:
            echo(f"{out}: {fitted.title}, fitted to {fitted.origin['jobs']:,} jobs", err=True)
            if fitted.model.holds:
                echo(f"it holds {fitted.model.holds}", err=True)
            made = quote(str(out.with_suffix(".swf")))
            echo(f"next: gwa model generate {quote(str(out))} --days 30 --seed 1 -o {made}", err=True)


def _fit_requests(
    trace: Path, arrivals: str | None, out: Path | None, params: dict[str, Any], *, force: bool
) -> None:
    """Fit the model of requests to a trace of them."""
    from gwa.requests.generate import request_model_text
    from gwa.requests.model import RequestModel
    from gwa.util.atomic import write_whole

    if arrivals:
        raise click.UsageError("--arrivals is of jobs, and the model requests has arrivals of its own")
    with opened_requests(trace, params) as opened_trace:
        model, requests = RequestModel.fit(opened_trace.store), opened_trace.store.account.jobs
        fitted = request_model_text(model, opened_trace.name, requests)
    if out is None:
        echo_json(fitted, nl=False)
        return
    with claimed([out], force=force):
        write_whole(out, fitted)
    if not params["quiet"]:
        echo(f"{out}: {model.title}, fitted to {requests:,} requests", err=True)
