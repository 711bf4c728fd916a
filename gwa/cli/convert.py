"""Convert logs to a trace in a standard format."""

import shlex
from pathlib import Path
from typing import Any

import click

from gwa.cli._common import PATH, SOURCES, options, reading


@click.command(name="convert")
@SOURCES
@click.option(
    "-o",
    "--output",
    "out",
    required=True,
    type=PATH,
    metavar="OUT",
    help="File to write.",
)
@click.option("--strict", is_flag=True, help="Stop at the first bad row.")
@options
def command(sources: tuple[Path, ...], out: Path, strict: bool, **said: Any) -> None:
    """
    Convert logs to a trace in a standard format.

    Several SOURCES are one trace. The suffix of OUT says what to write: .gwf, .gwf.gz, .gwf.zst,
    .duckdb, .parquet, .sqlite or .swf. Bad rows are counted and reported, not fatal.

    \b
    Example:
      gwa convert sample_traces/swf/tiny.swf -o tiny.gwf
    """
    from gwa.convert import convert as run

    words = ["gwa", "convert", *(source.name for source in sources), "-o", out.name]
    account = run(
        sources, out, name=said["name"], reading=reading(said, strict=strict), command=shlex.join(words)
    )
    if not said["quiet"]:
        losses = f"{account.comments:,} comments, {account.folded:,} folded, {account.rejected:,} rejected"
        click.echo(f"{out}: {account.jobs:,} jobs from {account.rows:,} rows ({losses})", err=True)
