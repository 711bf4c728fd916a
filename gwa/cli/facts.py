"""Print the facts of a trace."""

import json
from pathlib import Path
from typing import Any

import click

from gwa.cli._common import TRACE, engines, opened, options, parts, statements
from gwa.cli._terminal import echo_json


@click.command(name="facts")
@TRACE
@click.option("--only", default="", metavar="PREFIX", help="Only facts whose id begins so.")
@click.option(
    "--explain", is_flag=True, help="Print what each section costs instead: rows read, seconds, memory."
)
@parts
@statements
@engines
@options
def command(trace: Path, only: str, explain: bool, **params: Any) -> None:
    """
    Print the facts of a trace as JSON: {"id": value}.

    Values are in full precision and SI units. Ids do not change between versions.

    \b
    Example:
      gwa facts sample_traces/swf/tiny.swf --only utilization
    """
    with opened(trace, params) as opened_trace:
        if explain:
            from gwa.analysis.profile import COLUMNS, section_costs
            from gwa.cli._terminal import table

            table(COLUMNS, section_costs(opened_trace.store, only), as_json=False)
            return
        echo_json(json.dumps(opened_trace.facts(only), indent=1, ensure_ascii=False))
