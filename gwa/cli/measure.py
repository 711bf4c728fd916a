"""Join measurements to the jobs of a store."""

import re
from pathlib import Path
from typing import Any

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import OUTPUT_PATH, PATH, limits, takes
from gwa.cli._output import tell_joined
from gwa.cli._reading import engine

PURPOSE = Purpose.READ


def _pattern(_context: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return a regular expression; raise a usage error for what is none."""
    try:
        re.compile(value or "")
    except re.error as error:
        raise click.BadParameter(f"'{value}' is no regular expression: {error}") from error
    return value


def _zone(_context: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return the name of a time zone; raise a usage error for what is none."""
    from gwa.store.system import is_zone

    if value is not None and not is_zone(value):
        raise click.BadParameter(f"'{value}' is no time zone, expected one such as 'Europe/Amsterdam'")
    return value


@click.command(name="measure")
@click.argument("store", type=OUTPUT_PATH)
@click.argument("files", nargs=-1, required=True, type=PATH)
@click.option("--on", metavar="COLUMN", help="Column of the ids of jobs, where it is not the usual one.")
@takes(
    "--map stated",
    "FIELD=COLUMN:UNIT,…",
    "What the columns of another table hold, such as gpu_utilization=util:%.",
)
@click.option("--node", metavar="NAME", help="Node of the samples in files that do not say it.")
@takes(
    "--node-from-name pattern",
    "REGEX",
    "What of the name of each file is its node, such as 'gpu[0-9]+'; without, the name that a node has.",
    callback=_pattern,
)
@takes("--zone", "ZONE", "Time zone of samples without one; without, the log's.", callback=_zone)
@takes(
    "--shift",
    "SECONDS",
    "Seconds to add to the times of samples whose clock differs; 0 takes them as they are.",
    type=float,
)
@limits
def command(
    store: Path,
    files: tuple[Path, ...],
    on: str | None,
    stated: str | None,
    **params: Any,
) -> None:
    """
    Join measurements, such as the use of GPUs, to the jobs of a store.

    FILES are CSV or Parquet of DCGM, CEEMS, CodeCarbon or jobstats, recognised by their columns, what
    Prometheus answers as JSON, or other tables, with --on and --map; 'gwa formats measurements' explains
    them. Jobs are found by the ids that their log has: of Slurm, JobID or JobIDRaw. What the log says itself
    stays. Files may be joined again and again.

    Samples of nodes, such as those of nvidia-smi, say no job. They are joined to the job that was alone on
    the node then, if the log names its nodes, or on the GPUs that the log says it held; of any other job they
    say a bound, or nothing. Of other tables --map has host=, time= and device=.

    \b
    Examples:
      gwa measure jobs.duckdb dcgm.csv
      gwa measure jobs.duckdb use.parquet --on job --map "gpu_utilization=util:%"
      gwa measure jobs.duckdb gpu01.csv gpu02.csv
      gwa measure jobs.duckdb all.csv --map "host=node,time=ts,device=gpu,power=watts:W"
    """
    from gwa.formats.measure import measure
    from gwa.formats.measure_nodes import NodeOptions
    from gwa.store.options import ReadOptions

    joined = measure(
        store,
        files,
        on=on,
        stated=stated,
        nodes=NodeOptions(**{name: params[name] for name in ("node", "pattern", "zone", "shift")}),
        options=ReadOptions(engine=engine(params)),
    )
    tell_joined(store, [joined], quiet=params["quiet"])
