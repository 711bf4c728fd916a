"""Check the quality of a trace."""

from pathlib import Path
from typing import Any

import click

from gwa.cli._common import JSON, TRACE, opened, options, parts


@click.command(name="check")
@TRACE
@JSON
@parts
@options
@click.pass_context
def command(ctx: click.Context, /, trace: Path, as_json: bool, **params: Any) -> None:
    """
    Check the quality of a trace.

    Prints what is wrong (error), doubtful (warning) or worth knowing (info). The exit status is 1
    when there is an error.

    \b
    Example:
      gwa check sample_traces/swf/tiny.swf
    """
    from gwa.cli._terminal import table
    from gwa.metrics.quality import problems

    with opened(trace, params) as opened_trace:
        found_problems = problems(opened_trace.store)
    rows = [(problem.level, problem.count, problem.meaning) for problem in found_problems]
    table(("kind", "count", "what"), rows, as_json=as_json)
    if any(problem.level == "error" for problem in found_problems):
        ctx.exit(1)
