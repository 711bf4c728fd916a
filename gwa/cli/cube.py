"""Write the cells of a trace that a page filters."""

from pathlib import Path
from typing import Any

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import TRACE, engines, options, output_folder, parts, takes
from gwa.cli._output import FORCE, claimed
from gwa.cli._reading import opened
from gwa.cli._terminal import echo

PURPOSE = Purpose.PUBLISH


@click.command(name="cube")
@TRACE
@output_folder(required=True)
@takes("--minimum", "N", "Withhold cells of fewer jobs; 3 at least.", type=click.IntRange(min=3))
@FORCE
@parts
@engines
@options
def command(trace: Path, folder: Path, minimum: int | None, force: bool, **params: Any) -> None:
    """
    Write a trace as a cube: cells of jobs and usage that add up.

    Its dimensions are day, user, project, queue, size, outcome and what else the log records.

    jobs.parquet counts the jobs submitted in each day, usage.parquet adds up what jobs held in each day,
    days.parquet says how long the days are, moments.parquet what was true while jobs waited, where that is
    known, and grain.json how fine the cells are: of a large trace they are coarser, so that there are 150,000
    of jobs and usage at most. Sums are exact; '*' stands for all but the largest users, projects and so on.
    The cells hold names: gwa anonymize replaces them in the trace.

    With --minimum cells of fewer jobs are withheld, and the number of all jobs is given as bounds: from it
    what is withheld could be computed. Never is one cell withheld alone, and moments are left out.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa cube sample.sacct -o cube
      gwa cube sample.sacct -o public --minimum 5
    """
    from gwa.breakdown.cube import FILES, cube

    with (
        opened(trace, params) as opened_trace,
        claimed([folder / name for name in FILES], force=force),
    ):
        made = cube(opened_trace.store, minimum, has_moments=True)
        for path in made.write(folder):
            echo(path)
    if not params["quiet"]:
        grain = made.grain
        echo(
            f"{made.jobs.num_rows:,} cells of jobs, {made.usage.num_rows:,} of usage: by"
            f" {'day' if grain.days == 1 else f'{grain.days} days'}, at most {grain.largest} names of a kind",
            err=True,
        )
        if out := made.withheld:
            echo(
                f"withheld, as they have fewer than {out.minimum} jobs: {out.jobs:,} cells of jobs and"
                f" {out.usage:,} of usage; the log has {out.at_least:,} to {out.at_most:,} jobs",
                err=True,
            )
