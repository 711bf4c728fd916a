"""Score a forecast of the test of a task."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from gwa.cli._options import DEBUG, JSON, PATH
from gwa.cli._output import to_file
from gwa.cli._terminal import echo_json, table

COLUMNS: Final = ("of", "measure", "value", "low", "high")


@click.command(name="score")
@click.argument("task", type=PATH, metavar="DIR/TASK")
@click.argument("predictions", type=PATH)
@JSON
@DEBUG
@to_file
def command(task: Path, predictions: Path, as_json: bool, **_: Any) -> None:
    """
    Score a forecast of the test of a task.

    The forecast is a Parquet file with each row of the test once: row, and the quantiles q05, q50 and q95 in
    the unit of the label, or the probability p of a failure. A row of nulls is not answered. The loss is the
    mean pinball loss of the three quantiles of the logarithm, or the Brier score. Differences to the
    baselines are of the loss, with 95 % intervals by a bootstrap of weeks: below 0 the forecast is better.
    Prints a table, or CSV when piped.

    \b
    Examples:
      gwa sample swf -o sample.swf
      gwa tasks make sample.swf -o tasks
      gwa tasks score tasks/run_time tasks/run_time/baselines/last.parquet
    """
    from gwa.tasks.folder import TaskFolder
    from gwa.tasks.score import score

    folder = TaskFolder.read(task)
    found = score(folder, folder.forecast(predictions))
    if as_json:
        echo_json(json.dumps(found, indent=1))
        return
    table(COLUMNS, list(_rows(found)), as_json=False, digits=4)


def _rows(found: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield the measures of all jobs, those of each class, and the differences to the baselines."""
    for name, value in found.items():
        if not isinstance(value, dict):
            yield "all", name, value, None, None
    for of, measures in found["classes"].items():
        for name, value in measures.items():
            yield of, name, value, None, None
    for name, one in found["against"].items():
        yield f"against {name}", "difference of loss", one["difference"], one["low"], one["high"]
