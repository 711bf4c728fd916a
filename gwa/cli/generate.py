"""Make a synthetic trace."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._common import ARRIVALS, OUTPUT, engine, limits

if TYPE_CHECKING:
    from gwa.models.base import Model
    from gwa.models.generate import GenerationRequest

ASKED: Final = ("jobs", "days", "arrivals", "cpus", "utilization", "seed")
"""The options that a trace says it was made with."""


@click.command(name="generate")
@click.argument("model", metavar="MODEL_OR_PRESET")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many jobs; or")
@click.option("--days", type=float, metavar="D", help="how many days of submissions.")
@click.option("--seed", type=click.IntRange(min=0), required=True, help="Another seed, another trace.")
@ARRIVALS
@click.option("--cpus", type=click.IntRange(min=1), metavar="N", help="Fit the jobs into so many processors.")
@click.option(
    "--utilization",
    type=float,
    metavar="SHARE",
    help="Use so much of them: arrivals are paced. Needs --cpus.",
)
@OUTPUT
@limits
def command(model: str, out: Path, **said: Any) -> None:
    """
    Make a synthetic trace by a model.

    MODEL_OR_PRESET is a file that 'gwa model fit' wrote, or a preset that 'gwa model list' lists. Other
    --arrivals are fitted to those that the model has by itself, so that they come as often. The suffix
    of OUT says what to write, as for 'gwa convert'. Its header says that it is synthetic, by which model,
    parameters and seed: one seed, one trace. What is text comes out the same byte for byte; a .duckdb holds
    the same jobs, but its bytes may differ.

    \b
    Examples:
      gwa generate lublin --jobs 1000 --seed 1 -o lublin.swf
      gwa generate lublin --days 30 --cpus 256 --utilization 0.7 --seed 1 -o loaded.gwf
      gwa generate thesis-average --jobs 1000 --arrivals poisson --seed 1 -o even.gwf
    """
    from gwa.cli._terminal import progress
    from gwa.models import files
    from gwa.models.generate import generate

    if (said["jobs"] is None) == (said["days"] is None):
        raise click.UsageError("expected either --jobs or --days")
    if said["utilization"] is not None and said["cpus"] is None:
        raise click.UsageError("--utilization needs --cpus: of how many processors?")
    found = files.found(model)
    asked = {f"--{name}": said[name] for name in ASKED}
    words = [word for name, value in asked.items() if value is not None for word in (name, str(value))]
    line = shlex.join(["gwa", "generate", found.name, *words])
    made = generate(_order(found.model, said), out, line, engine(said), progress(quiet=said["quiet"]))
    if not said["quiet"]:
        click.echo(f"{out}: {made:,} synthetic jobs of {found.model.title}, seed {said['seed']}", err=True)


def _order(model: "Model", said: dict[str, Any]) -> "GenerationRequest":
    """Return what is to be made: a model changed as the options say, how long, and its seed."""
    from gwa.models.arrival_process import find_process
    from gwa.models.generate import GenerationRequest, replace_arrivals
    from gwa.models.pacing import reach_utilization
    from gwa.models.streams import Extent

    cpus, utilization = said["cpus"], said["utilization"]
    one = model.limit_processors(cpus) if cpus else model
    one = replace_arrivals(one, find_process(said["arrivals"])) if said["arrivals"] else one
    header = (("Processors", str(cpus)),) if cpus else ()
    order = GenerationRequest(one, Extent(said["jobs"], said["days"]), said["seed"], header)
    return order if utilization is None else reach_utilization(order, cpus, utilization)
