"""Make a dashboard over the facts or the jobs of a trace."""

from pathlib import Path
from typing import Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._output import claimed, output
from gwa.cli._terminal import echo

PURPOSE = Purpose.REPORT

SOURCES: Final = ("prometheus", "duckdb")


@click.command(name="dashboard")
@click.argument("kind", type=click.Choice(["grafana"]), metavar="grafana")
@output
@click.option(
    "--source",
    type=click.Choice(SOURCES),
    default="prometheus",
    show_default=True,
    help="What its queries are of: the facts that gwa facts --prometheus prints, or the jobs in DuckDB.",
)
@click.option("--title", default="Jobs of the cluster", show_default=True, help="Title of the dashboard.")
def command(kind: str, out: Path, *, force: bool, source: str, title: str) -> None:
    """
    Make a dashboard for Grafana over the facts or the jobs of a trace.

    Over Prometheus it shows utilization, waits, run times and sizes by queue and project, and what ended in a
    day; its metrics are those of gwa facts --prometheus. Over DuckDB it asks a store, or the view 'jobs' of
    Parquet, by the data source of MotherDuck, for the time that is looked at. Import the file in Grafana.

    \b
    Examples:
      gwa dashboard grafana -o dashboard.json
      gwa dashboard grafana --source duckdb -o jobs.json
    """
    from gwa.analysis.grafana import dashboard
    from gwa.util.atomic import write_whole

    del kind
    with claimed([out], force=force):
        write_whole(out, dashboard("duckdb" if source == "duckdb" else "prometheus", title))
    echo(out)
