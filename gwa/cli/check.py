"""Check the quality of a trace."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gwa.cli._common import JSON, TRACE, opened, options, parts
from gwa.cli._terminal import echo

if TYPE_CHECKING:
    from gwa.store.store import Store

CLEAN = "Nothing is wrong, doubtful or missing: {} jobs, all rows of the source accounted for."


@click.command(name="check")
@TRACE
@JSON
@parts
@options
@click.pass_context
def command(ctx: click.Context, /, trace: Path, as_json: bool, **params: Any) -> None:
    """
    Check the quality of a trace.

    Prints what is wrong (error), what makes a conclusion unsafe (warning) and what is worth knowing
    (info), the most severe first: how many jobs or rows, which, and what it affects. The exit status is
    1 when there is an error.

    \b
    Example:
      gwa check sample_traces/swf/tiny.swf
    """
    from gwa.cli._terminal import table
    from gwa.metrics.quality import problems

    with opened(trace, params) as opened_trace:
        found_problems = problems(opened_trace.store, level_facts(opened_trace.store))
        jobs = opened_trace.store.row("select count(*) as jobs from jobs")[0]
    rows = [
        (problem.level, problem.count, problem.meaning, problem.affects, "; ".join(problem.examples))
        for problem in found_problems
    ]
    if rows or as_json:
        table(("kind", "count", "what", "affects", "examples"), rows, as_json=as_json)
    else:
        echo(CLEAN.format(f"{jobs:,}"))
    if any(problem.level == "error" for problem in found_problems):
        ctx.exit(1)


def level_facts(store: "Store") -> dict[str, Any]:
    """Return the facts on which the safety of levels rests: the window of observation and utilization."""
    from gwa.analysis.base import analyses
    from gwa.report.document import Facts, FactTable

    facts: dict[str, Any] = {}
    for analysis in analyses():
        if analysis.id == "overview" or analysis.has_facts("window.") or analysis.has_facts("utilization."):
            for block in analysis.section(store).blocks:
                if isinstance(block, Facts | FactTable):
                    facts.update({fact.id: fact.value for fact in block.facts})
    return facts
