"""Join measurements to the jobs of a store."""

from pathlib import Path
from typing import Any

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import OUTPUT_PATH, PATH, limits
from gwa.cli._output import tell_joined
from gwa.cli._reading import engine

PURPOSE = Purpose.READ


@click.command(name="measure")
@click.argument("store", type=OUTPUT_PATH)
@click.argument("files", nargs=-1, required=True, type=PATH)
@click.option("--on", metavar="COLUMN", help="Column of the ids of jobs, where it is not the usual one.")
@click.option(
    "--map",
    "stated",
    metavar="FIELD=COLUMN:UNIT,…",
    help="What the columns of another table hold, such as gpu_utilization=util:%.",
)
@limits
def command(store: Path, files: tuple[Path, ...], on: str | None, stated: str | None, **params: Any) -> None:
    """
    Join measurements, such as the use of GPUs, to the jobs of a store.

    FILES are CSV or Parquet of DCGM, CEEMS, CodeCarbon or jobstats, recognised by their columns, what
    Prometheus answers as JSON, or other tables, with --on and --map; 'gwa formats measurements' explains
    them. Jobs are found by the ids that their log has: of Slurm, JobID or JobIDRaw. What the log says itself
    stays. Files may be joined again and again.

    \b
    Examples:
      gwa measure jobs.duckdb dcgm.csv
      gwa measure jobs.duckdb use.parquet --on job --map "gpu_utilization=util:%"
    """
    from gwa.formats.measure import measure
    from gwa.store.options import ReadOptions

    joined = measure(store, files, on=on, stated=stated, options=ReadOptions(engine=engine(params)))
    tell_joined(store, [joined], quiet=params["quiet"])
