"""Rank forecasts of one task over several traces."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from gwa.cli._options import DEBUG, JSON, PATH
from gwa.cli._output import to_file
from gwa.cli._terminal import table

COLUMNS: Final = ("rank", "forecast", "relative loss", "low", "high", "logs", "answered", "q95 holds")


@click.command(name="leaderboard")
@click.argument("folders", nargs=-1, required=True, type=PATH, metavar="DIR/TASK...")
@JSON
@DEBUG
@to_file
def command(folders: Sequence[Path], as_json: bool, **_: Any) -> None:
    """
    Rank forecasts of one task over the folders of several traces.

    Ranked are the baselines and each DIR/TASK/predictions/NAME.parquet, by the loss relative to that of the
    train median, as the geometric mean over the folders, with a 95 % interval by a bootstrap of weeks. Rows
    without an answer have the loss of the train median. A forecast ranks behind those only that are better
    by more than chance; the others tie. One that is missing in a folder has no rank. "q95 holds" counts the
    folders in which the upper quantile covers 94 % of all jobs, and 90 % in four of five windows of four
    weeks. Prints a table, or CSV when piped.

    \b
    Examples:
      gwa sample swf -o sample.swf
      gwa tasks make sample.swf -o tasks
      gwa tasks leaderboard tasks/run_time
    """
    from gwa.tasks.score import leaderboard

    rows = [tuple(asdict(place).values()) for place in leaderboard(folders)]
    table(COLUMNS, rows, as_json=as_json, digits=4)
