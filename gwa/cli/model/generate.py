"""Make a synthetic trace."""

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._options import ARRIVALS, limits, shown, takes
from gwa.cli._output import claimed, output
from gwa.cli._reading import engine
from gwa.cli._terminal import echo, progress

if TYPE_CHECKING:
    from gwa.models.base import Model, Preset
    from gwa.models.generate import Generated
    from gwa.requests.model import RequestModel

RECORDED_OPTIONS: Final = ("jobs", "days", "arrivals", "cpus", "utilization", "seed")
"""The options recorded in the header of the trace."""

MINIMUM_JOBS: Final = 100
"""Of fewer jobs, a load or a rate says little."""


@click.command(name="generate")
@click.argument("model", metavar="MODEL_OR_PRESET")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Number of jobs (or --days).")
@takes("--requests", "N", "Number of requests, of a model of these.", type=click.IntRange(min=1))
@click.option("--days", type=float, metavar="D", help="Days of submissions (or --jobs).")
@shown("--seed", click.IntRange(min=0), 1, "Seed of the random numbers.")
@ARRIVALS
@takes("--cpus", "N", "Restrict jobs to at most this many processors.", type=click.IntRange(min=1))
@takes("--utilization", "SHARE", "Target utilization: arrivals are rescaled to it. Needs --cpus.", type=float)
@output
@limits
def command(model: str, out: Path, **params: Any) -> None:
    """
    Generate a synthetic trace from a model.

    MODEL_OR_PRESET is a file written by 'gwa model fit', or a preset listed by 'gwa model list'. Other
    --arrivals are fitted to the model's own arrivals, so that the rate stays the same. The suffix of OUT
    selects the format, as for 'gwa convert'. The header records that the trace is synthetic, with model,
    parameters and seed. The same seed gives the same jobs, and the same bytes in text formats. A warning is
    printed if the model does not keep the load of the log that it was fitted to, or if the mean time between
    its jobs is infinite. How far this seed is from that log is printed, too.

    --cpus limits the sizes of jobs. Only the model lublin scales them to the system: other models generate no
    larger jobs than those that they were fitted to.

    A model of requests to language models makes --requests, or --days of them, in .duckdb, .requests.csv,
    .mooncake.jsonl or .aiperf.jsonl.

    \b
    Examples:
      gwa model generate lublin --jobs 1000 --seed 1 -o lublin.swf
      gwa model generate lublin --days 30 --cpus 256 --utilization 0.7 --seed 1 -o loaded.gwf
      gwa model generate thesis-average --jobs 1000 --arrivals poisson --seed 1 -o even.gwf
    """
    from gwa.models import files
    from gwa.models.generate import generate
    from gwa.models.load_check import endless_gaps
    from gwa.models.request import WantedWorkload
    from gwa.requests.generate import read_request_model
    from gwa.util.protection import protected

    if (of_requests := read_request_model(model)) is not None:
        _generate_requests(model, of_requests, out, params)
        return
    if params["requests"] is not None:
        raise click.UsageError("--requests is of a model of requests, expected --jobs or --days")
    if (params["jobs"] is None) == (params["days"] is None):
        raise click.UsageError("expected either --jobs or --days")
    if params["utilization"] is not None and params["cpus"] is None:
        raise click.UsageError("--utilization needs --cpus: of how many processors?")
    wanted = WantedWorkload(**{name: params[name] for name in RECORDED_OPTIONS})
    source = files.load_model(model)
    for warning in () if params["quiet"] else (*source.warnings, *endless_gaps(source.model)):
        echo(f"warning: {warning}", err=True)
    arguments = {f"--{name}": params[name] for name in RECORDED_OPTIONS}
    words = [word for name, value in arguments.items() if value is not None for word in (name, str(value))]
    command_line = shlex.join(["gwa", "model", "generate", source.name, *words])
    bar = progress(quiet=params["quiet"])
    with protected([Path(model)]), claimed([out], force=params["force"]):
        made = generate(wanted.of(source.model), out, command_line, engine(params), bar)
    if params["quiet"]:
        return
    echo(f"{out}: {made.jobs:,} synthetic jobs of {source.model.title}, seed {params['seed']}", err=True)
    for sentence in (*_of_this_seed(made, source, params), *_largest(made, source.model, params["cpus"])):
        echo(sentence, err=True)


def _generate_requests(name: str, model: "RequestModel", out: Path, params: dict[str, Any]) -> None:
    """Make a synthetic trace of requests to language models."""
    from gwa.requests.generate import generate_requests
    from gwa.util.protection import protected

    for option in ("jobs", "arrivals", "cpus", "utilization"):
        if params[option] is not None:
            raise click.UsageError(f"--{option} is of jobs, and {name} is a model of requests")
    if (params["requests"] is None) == (params["days"] is None):
        raise click.UsageError("expected either --requests or --days")
    if params["days"] is not None and not 0 < params["days"] < math.inf:
        raise click.UsageError(f"--days is {params['days']:g}, expected a number above 0")
    asked = {name: params[name] for name in ("requests", "days", "seed") if params[name] is not None}
    words = [word for option, value in asked.items() for word in (f"--{option}", str(value))]
    with protected([Path(name)]), claimed([out], force=params["force"]):
        made = generate_requests(
            model,
            out,
            **asked,
            command=shlex.join(["gwa", "model", "generate", Path(name).name, *words]),
            engine=engine(params),
            progress=progress(quiet=params["quiet"]),
        )
    if not params["quiet"]:
        echo(f"{out}: {made:,} synthetic requests, seed {params['seed']}", err=True)


def _of_this_seed(made: "Generated", source: "Preset", params: dict[str, Any]) -> list[str]:
    """Return how the workload of this seed compares with the log of the model, where nothing else differs."""
    log, asked = source.log, params["cpus"] or params["utilization"]
    if log is None or asked or made.jobs < MINIMUM_JOBS:
        return []
    load, arrivals = made.amounts.busy / log.busy, made.amounts.per_day / log.per_day
    sentence = (
        f"this seed: {load:.2f} times the busy processors of the log that the model was fitted to,"
        f" {arrivals:.2f} times its jobs a day"
    )
    return [sentence]


def _largest(made: "Generated", model: "Model", cpus: int | None) -> list[str]:
    """Return a sentence on jobs that are much smaller than the system, if the model does not scale them."""
    if not cpus or 2 * made.largest > cpus or model.scales_sizes:
        return []
    return [f"the largest job has {made.largest:,} of {cpus:,} processors: this model does not scale sizes"]
