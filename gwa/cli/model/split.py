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
    Write the even and the odd weeks of a trace: make jobs from one half, score them by the other.

    Both are those that 'gwa model rank' fits models to and scores them on: the jobs that ran, without the
    time between the weeks; of a short trace days or hours in turns.

    \b
    Examples:
      gwa sample swf -o sample.swf
      gwa model split sample.swf -o halves
      gwa model fit halves/even.gwf copula -o copula.json
      gwa model generate copula.json --jobs 500 --seed 1 -o copula-1.gwf
      gwa model generate copula.json --jobs 500 --seed 2 -o copula-2.gwf
      gwa model score halves/odd.gwf copula-1.gwf copula-2.gwf --trained-on halves/even.gwf
    """
    from gwa.evaluation.holdout import HALVES, training_half
    from gwa.formats.registry import writer

    paths = {parity: folder / f"{half}.{suffix}" for parity, half in HALVES.items()}
    with opened(trace, params) as whole, claimed([*paths.values()], force=force):
        for parity, path in paths.items():
            with training_half(whole.store, parity) as half:
                writer(path).save(half, path)
                if not params["quiet"]:
                    echo(f"{path}: {half.account.jobs:,} jobs", err=True)
