"""Write a report on a trace."""

from pathlib import Path
from typing import Any

import click

from gwa.cli._common import PATH, TRACE, opened, options, reading


@click.command(name="report")
@TRACE
@click.option("--html", "html", is_flag=True, help="One self-contained page (what you get without a flag).")
@click.option("--pdf", "pdf", is_flag=True, help="A document for printing.")
@click.option("--json", "as_json", is_flag=True, help="Everything as data.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=PATH,
    metavar="DIR",
    default=".",
    help="Folder to write to.",
)
@options
@click.pass_context
def command(
    ctx: click.Context, /, trace: Path, html: bool, pdf: bool, as_json: bool, folder: Path, **said: Any
) -> None:
    """
    Write a report on a trace.

    \b
    Example:
      gwa report sample_traces/swf/tiny.swf --html
    """
    from gwa.report.write import write

    wanted = {"html": html or not (pdf or as_json), "pdf": pdf, "json": as_json}
    with opened(trace, said) as found:
        made = found.report(progress=reading(said).progress)
        for path in write(made, folder, found.name, [name for name, wish in wanted.items() if wish]):
            click.echo(path)
    if made.failed:
        click.echo("gwa: some sections could not be made: they say so in their place", err=True)
        ctx.exit(1)
