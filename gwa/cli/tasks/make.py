"""Make the tasks of a trace."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import click

from gwa.cli._options import TRACE, options, output_folder, require_known
from gwa.cli._output import FORCE, claimed
from gwa.cli._reading import opened, reading
from gwa.cli._terminal import echo


@click.command(name="make")
@TRACE
@output_folder(required=True)
@click.option("--task", "names", multiple=True, metavar="NAME", help="Make this task only (repeatable).")
@click.option(
    "--folds",
    type=click.IntRange(1, 20),
    default=1,
    metavar="K",
    help="Make K folds with a rolling origin, each in DIR/fold-k.",
)
@FORCE
@options
def command(trace: Path, folder: Path, names: Sequence[str], folds: int, force: bool, **params: Any) -> None:
    """
    Make tasks of a trace: wait, run_time, failure, and max_memory and energy where recorded.

    DIR gets a folder for each task: features.parquet with what was known at submission, labels by split,
    the forecasts of baselines, card.json and README.md. The first 70 % of the jobs are for training, 10 % for
    validation and the last 20 % the test; jobs whose label was not known at a border are in the gap. Two
    checks that no row knows the future run each time. With --folds the jobs are in K + 1 equal parts: fold k
    has part k + 1 as its test and all before it to learn from.

    \b
    Examples:
      gwa sample swf -o sample.swf
      gwa tasks make sample.swf -o tasks
      gwa tasks make sample.swf -o waits --task wait
      gwa tasks make sample.swf -o folds --folds 3
    """
    from gwa.tasks.make import make
    from gwa.tasks.task import BY_NAME

    require_known(names, list(BY_NAME), "task", "--task")
    with claimed([folder], force=force), opened(trace, params) as opened_trace:
        progress = reading(params).progress
        done = make(opened_trace.store, opened_trace.name, folder, names, progress, parts=folds)
    for one in done.made:
        echo(folder / one.name)
    if params["quiet"]:
        return
    for one in done.made:
        counts = ", ".join(f"{split} {count:,}" for split, count in one.jobs.items())
        echo(f"{one.name}: {counts}", err=True)
    for text in dict.fromkeys((*done.left_out, *(text for one in done.made for text in one.missing))):
        echo(f"gwa: {text}", err=True)
    if done.made:
        echo(f"next: gwa tasks leaderboard {quote(str(folder / done.made[0].name))}", err=True)
