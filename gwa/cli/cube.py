"""Write the cells of a trace that a page filters."""

from pathlib import Path
from typing import Any

import click

from gwa.cli._commands import Purpose
from gwa.cli._common import FORCE, OUTPUT_PATH, TRACE, claimed, engines, opened, options, parts
from gwa.cli._terminal import echo

PURPOSE = Purpose.PUBLISH


@click.command(name="cube")
@TRACE
@click.option(
    "-o", "--output", "folder", type=OUTPUT_PATH, required=True, metavar="DIR", help="Output folder."
)
@FORCE
@parts
@engines
@options
def command(trace: Path, folder: Path, force: bool, **params: Any) -> None:
    """
    Write a trace as a cube: cells of jobs and usage that add up.

    Its dimensions are day, user, project, queue, size, outcome and what else the log records.

    jobs.parquet counts the jobs submitted in each day, usage.parquet adds up what jobs held in each day, and
    grain.json says how fine the cells are: of a large trace they are coarser, so that there are 150,000 at
    most. Sums are exact; '*' stands for all but the largest users, projects and so on. The cells hold names:
    gwa anonymize replaces them in the trace.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa cube sample.sacct -o cube
    """
    from gwa.breakdown.cube import FILES

    with (
        opened(trace, params) as opened_trace,
        claimed([folder / name for name in FILES], force=force),
    ):
        made = opened_trace.cube()
        for path in made.write(folder):
            echo(path)
    if not params["quiet"]:
        grain = made.grain
        echo(
            f"{made.jobs.num_rows:,} cells of jobs, {made.usage.num_rows:,} of usage: by"
            f" {'day' if grain.days == 1 else f'{grain.days} days'}, at most {grain.largest} names of a kind",
            err=True,
        )
