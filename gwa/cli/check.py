"""Check the quality of a trace."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import JSON, TRACE, flag, options, parts, statements
from gwa.cli._output import to_file
from gwa.cli._reading import opened
from gwa.cli._terminal import echo, say, table
from gwa.errors import DefinitionError

if TYPE_CHECKING:
    from gwa.analysis.conditions import Condition, FactsOnDemand

PURPOSE = Purpose.READ

CLEAN = "Nothing is wrong, doubtful or missing: {} jobs, all rows of the source accounted for."

HELD: Final = 3
"""The exit status where a condition holds."""


def _conditions(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> "list[Condition]":
    """Return the conditions that are stated; what states none is a usage error."""
    from gwa.analysis.conditions import Condition

    with _usage_errors():
        return [Condition.parse(text) for text in texts]


@contextmanager
def _usage_errors() -> Iterator[None]:
    """Make of a condition that is none an error of usage."""
    try:
        yield
    except DefinitionError as error:
        raise click.BadParameter(str(error), param_hint="--fail-on") from error


@click.command(name="check")
@TRACE
@click.option(
    "--fail-on",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    callback=_conditions,
    help="Exit with status 3 if this condition on a fact holds, such as 'utilization.mean<0.5' (repeatable).",
)
@flag("--fail-on-unknown", "Exit with status 3 also if the fact is unknown.")
@JSON
@parts
@statements
@options
@click.pass_context
@to_file
def command(
    ctx: click.Context,
    /,
    trace: Path,
    as_json: bool,
    conditions: "list[Condition]",
    fail_on_unknown: bool,
    **params: Any,
) -> None:
    """
    Check the quality of a trace.

    Lists errors, warnings (conclusions may be unsafe) and notes, the most severe first, each with the number
    of jobs or rows, examples, and what it affects. The exit status is 1 if there is an error.

    With --fail-on the exit status is 3 if a condition holds; the value is printed on standard error. A fact
    that is unknown meets no condition; one that there is not, or that is of a file that is not given, such as
    --quota, is a usage error. The prefix "jobs." of a fact may be left out.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa check sample.sacct
      gwa check sample.sacct --fail-on 'utilization.mean<0.1' --fail-on 'wait.p95>864000'
    """
    from gwa.analysis.conditions import FactsOnDemand
    from gwa.metrics.quality import problems

    with opened(trace, params) as opened_trace:
        facts = FactsOnDemand(opened_trace.store)
        found_problems = problems(opened_trace.store, facts.on_levels())
        held = _held(conditions, facts, fail_on_unknown=fail_on_unknown)
        jobs = opened_trace.store.row("select count(*) as jobs from jobs")[0]
    rows = [
        (problem.level, problem.count, problem.meaning, problem.affects, "; ".join(problem.examples))
        for problem in found_problems
    ]
    if rows or as_json:
        table(("kind", "count", "what", "affects", "examples"), rows, as_json=as_json)
    else:
        say(CLEAN.format(f"{jobs:,}"))
    if held:
        ctx.exit(HELD)
    if any(problem.level == "error" for problem in found_problems):
        ctx.exit(1)


def _held(conditions: "list[Condition]", facts: "FactsOnDemand", *, fail_on_unknown: bool) -> bool:
    """Whether any condition holds, or is on a fact that is unknown, if that counts; each of them is told."""
    held = False
    for condition in conditions:
        with _usage_errors():
            value = facts.value(condition.fact)
            holds = value is not None and condition.holds(value)
        if value is None:
            echo(f"gwa: {condition.text}: {condition.fact} is unknown", err=True)
        elif holds:
            echo(f"gwa: {condition.text} holds: it is {value}", err=True)
        held = held or holds or (value is None and fail_on_unknown)
    return held
