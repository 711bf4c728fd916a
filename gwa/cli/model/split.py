"""Write the two halves of a trace: one to make jobs from, one to score them by."""

from pathlib import Path
from typing import Any, Final

import click

from gwa.cli._options import TRACE, options, output_folder, shown
from gwa.cli._output import FORCE, claimed
from gwa.cli._reading import opened
from gwa.cli._terminal import echo

SUFFIXES: Final = ("gwf", "swf", "parquet", "duckdb")


@click.command(name="split")
@TRACE
@output_folder(required=True)
@shown("--suffix", click.Choice(SUFFIXES), SUFFIXES[0], "Format of both halves.")
@FORCE
@options
def command(trace: Path, folder: Path, suffix: str, force: bool, **params: Any) -> None:
    """
    Write the first and the second half of a trace: make jobs from one, score them by the other.

    Both are those that 'gwa model rank' fits models to and scores them on: the jobs that ran in as many whole
    weeks; of a short trace whole days or hours.

    \b
    Examples:
      gwa sample swf -o sample.swf
      gwa model split sample.swf -o halves
      gwa model fit halves/first.gwf copula -o copula.json
      gwa model generate copula.json --jobs 500 --seed 1 -o copula-1.gwf
      gwa model generate copula.json --jobs 500 --seed 2 -o copula-2.gwf
      gwa model score halves/second.gwf copula-1.gwf copula-2.gwf --trained-on halves/first.gwf
    """
    from gwa.evaluation.holdout import HALVES, training_half
    from gwa.formats.registry import writer

    paths = {half: folder / f"{half}.{suffix}" for half in HALVES}
    with opened(trace, params) as whole, claimed([*paths.values()], force=force):
        for half, path in paths.items():
            with training_half(whole.store, half) as jobs:
                writer(path).save(jobs, path)
                if not params["quiet"]:
                    echo(f"{path}: {jobs.account.jobs:,} jobs", err=True)
