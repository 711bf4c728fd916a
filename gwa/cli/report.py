"""Write a report on a trace."""

from pathlib import Path
from typing import Any

import click

from gwa.cli._common import (
    OUTPUT_PATH,
    TRACE,
    engines,
    flags,
    looking,
    looks,
    opened,
    options,
    parts,
    reading,
    statements,
)
from gwa.cli._terminal import echo


@click.command(name="report")
@TRACE
@flags
@click.option(
    "-o",
    "--output",
    "folder",
    type=OUTPUT_PATH,
    metavar="DIR",
    default=".",
    help="Folder to write to.",
)
@click.option("--sections", metavar="ID,ID", help="Only these sections, such as users,waits.")
@click.option("--every", is_flag=True, help="Sections that take long, too: how models describe the trace.")
@click.option(
    "--top",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Lists of the largest name so many.",
)
@looks
@parts
@statements
@engines
@options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    trace: Path,
    folder: Path,
    sections: str | None,
    every: bool,
    top: int,
    **params: Any,
) -> None:
    """
    Write a report on a trace, or on a part of it.

    \b
    Examples:
      gwa report sample_traces/swf/tiny.swf --html
      gwa report sample_traces/swf/tiny.swf --where 'n_procs > 1' --sections users,waits
      gwa report sample_traces/swf/tiny.swf --strings mine/languages/de.toml
      gwa report sample_traces/swf/tiny.swf --theme mine --lang de
    """
    from gwa.analysis.base import analyses
    from gwa.report.output import outputs, write

    kinds = [name for name in outputs() if params[name]] or ["html"]
    only = sections.replace(" ", "").split(",") if sections else None
    if every and not only:
        only = [analysis.id for analysis in analyses()]
    look = looking(params)
    with opened(trace, params) as opened_trace:
        opened_trace.store.top = top
        report = opened_trace.report(only, reading(params).progress)
        for path in write(report, folder, opened_trace.name, kinds, **look):
            echo(path)
    if report.failed:
        echo("gwa: some sections could not be made: they say so in their place", err=True)
        ctx.exit(1)
