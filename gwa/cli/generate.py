"""Make a synthetic trace."""

import shlex
from pathlib import Path
from typing import Any

import click

from gwa.cli._common import OUTPUT, engine, limits


@click.command(name="generate")
@click.argument("model", metavar="MODEL_OR_PRESET")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many jobs; or")
@click.option("--days", type=float, metavar="D", help="how many days of submissions.")
@click.option("--seed", type=click.IntRange(min=0), required=True, help="Another seed, another trace.")
@click.option("--cpus", type=click.IntRange(min=1), metavar="N", help="Fit the jobs into so many processors.")
@click.option(
    "--utilization",
    type=float,
    metavar="SHARE",
    help="Use so much of them: arrivals are paced. Needs --cpus.",
)
@OUTPUT
@limits
def command(
    model: str,
    jobs: int | None,
    days: float | None,
    seed: int,
    cpus: int | None,
    utilization: float | None,
    out: Path,
    **said: Any,
) -> None:
    """
    Make a synthetic trace by a model.

    MODEL_OR_PRESET is a file that 'gwa model fit' wrote, or a preset that 'gwa model list' lists. The suffix
    of OUT says what to write, as for 'gwa convert'. Its header says that it is synthetic, by which model,
    parameters and seed: one seed, one trace. What is text comes out the same byte for byte; a .duckdb holds
    the same jobs, but its bytes may differ.

    \b
    Examples:
      gwa generate lublin --jobs 1000 --seed 1 -o lublin.swf
      gwa generate lublin --days 30 --cpus 256 --utilization 0.7 --seed 1 -o loaded.gwf
    """
    from gwa.models import document
    from gwa.models._streams import Extent
    from gwa.models.load import at_utilization
    from gwa.models.workload import Order, generate
    from gwa.terminal import progress

    if (jobs is None) == (days is None):
        raise click.UsageError("expected either --jobs or --days")
    if utilization is not None and cpus is None:
        raise click.UsageError("--utilization needs --cpus: of how many processors?")
    found = document.found(model)
    one = found.model.within(cpus) if cpus else found.model
    header = (("Processors", str(cpus)),) if cpus else ()
    order = Order(one, Extent(jobs, days), seed, header)
    if cpus and utilization is not None:
        order = at_utilization(order, cpus, utilization)
    asked = {"--jobs": jobs, "--days": days, "--cpus": cpus, "--utilization": utilization, "--seed": seed}
    words = [word for name, value in asked.items() if value is not None for word in (name, str(value))]
    command = shlex.join(["gwa", "generate", found.name, *words])
    made = generate(order, out, command, engine(said), progress(quiet=said["quiet"]))
    if not said["quiet"]:
        click.echo(f"{out}: {made:,} synthetic jobs of {found.model.title}, seed {seed}", err=True)
