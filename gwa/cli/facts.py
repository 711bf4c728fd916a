"""Print the facts of a trace."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import TRACE, engines, flag, options_with, parts, printing, require_known, statements
from gwa.cli._output import to_file
from gwa.cli._reading import opened_whole, part_of, refuse_for_requests
from gwa.cli._terminal import echo, echo_csv, echo_data, echo_json, table

if TYPE_CHECKING:
    from gwa.report.document import Fact
    from gwa.report.prometheus import Watched
    from gwa.trace import Trace

PURPOSE = Purpose.REPORT


def _print_json(facts: "Sequence[Fact]", _: "Trace") -> None:
    values = {fact.id: fact.value for fact in facts}
    echo_json(json.dumps(values, indent=1, ensure_ascii=False))


def _print_csv(facts: "Sequence[Fact]", _: "Trace") -> None:
    cells = (
        (json.dumps(value, ensure_ascii=False) if isinstance(value, list | tuple | dict | bool) else value)
        for value in (fact.value for fact in facts)
    )
    rows = ((fact.id, cell, fact.unit, fact.label) for fact, cell in zip(facts, cells, strict=True))
    echo_csv(("id", "value", "unit", "label"), rows)


def _print_prometheus(facts: "Sequence[Fact]", trace: "Trace", watched: "Watched" = ()) -> None:
    from gwa.report.prometheus import exposition

    echo_data(exposition(facts, trace.name, watched))


PROMETHEUS: Final = "prometheus"

PRINTERS: Final[Mapping[str, Callable[..., None]]] = {
    "json": _print_json,
    "csv": _print_csv,
    PROMETHEUS: _print_prometheus,
}
"""What prints facts, by the name of the format. No format that is read has such a name."""


def _print_schema() -> None:
    from gwa.analysis.base import families
    from gwa.report.json_schema import facts_schema
    from gwa.requests.base import request_families

    echo_json(json.dumps(facts_schema([*families(), *request_families()]), indent=1, ensure_ascii=False))


@click.command(name="facts")
@TRACE
@click.option("--only", default="", metavar="PREFIX", help="Restrict to facts whose id begins with this.")
@flag("--every", "Print every fact: for modellers, of fits and models, and all of each list.")
@flag("--explain", "Print the cost of each section instead: rows read, seconds, memory.")
@printing("--schema", _print_schema, "Print the JSON Schema of the facts and exit.")
@flag("--prometheus for_prometheus", "The same as --format prometheus.")
@parts
@statements
@engines
@options_with(
    click.option(
        "--format",
        "formats",
        multiple=True,
        metavar="NAME",
        help="Output format json, csv or prometheus; any other name is the input format (repeatable).",
    )
)
@to_file
def command(
    trace: Path,
    only: str,
    every: bool,
    explain: bool,
    formats: tuple[str, ...],
    for_prometheus: bool,
    **params: Any,
) -> None:
    """
    Print the facts of a trace as JSON: {"id": value}.

    Values are in full precision and SI units; ids do not change between versions. Printed are the core facts,
    those that operators read, as many however long the log is. Others, such as those of fits, and all that
    lists say are printed where --only chooses them, such as --only fit or --only users; --every prints all.
    CSV adds units and labels; monitoring systems read the prometheus format. Without --only it has histograms
    of waits, run times and processors, too, by the largest queues or projects, and counters that only grow.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa facts sample.sacct --only utilization
      gwa facts sample.sacct --only fit.runtime
      gwa facts sample.sacct --only trace --format prometheus
    """
    formats += (PROMETHEUS,) if for_prometheus and PROMETHEUS not in formats else ()
    printed, sources = ([name for name in formats if (name in PRINTERS) is own] for own in (True, False))
    if len(printed) > 1 or len(sources) > 1:
        raise click.BadParameter("expected one to print, and one to read", param_hint="--format")
    params["name"] = sources[0] if sources else None
    with opened_whole(trace, params, takes_requests=True) as whole:
        if whole.store.holds == "requests":
            _print_of_requests(whole, only, printed[0] if printed else "json", every=every)
            return
        opened_trace = part_of(whole, params)
        if explain:
            from gwa.analysis.profile import COLUMNS, section_costs

            table(COLUMNS, section_costs(opened_trace.store, only, every=every), as_json=False)
            return
        from gwa.analysis.build import facts

        found = facts(opened_trace.store, only, every=every)
        if only and not found:
            _require_fact(only)
        kind = printed[0] if printed else "json"
        if kind == PROMETHEUS and not only:
            from gwa.analysis.watched import of_now, watched

            _print_prometheus(of_now(found), opened_trace, watched(opened_trace.store))
            return
        PRINTERS[kind](found, opened_trace)
        if not only and not every and not params["quiet"]:
            _point_to_others(found)


def _point_to_others(found: "Sequence[Fact]") -> None:
    """Say how many values are printed, and how those are printed that are not."""
    from gwa.analysis.base import analyses
    from gwa.analysis.core import values

    printed = {fact.id.partition(".")[0] for fact in found}
    left = (analysis for analysis in analyses() if not analysis.has_facts(""))
    known = {prefix.partition(".")[0] for analysis in left for prefix in analysis.facts}
    others = ", ".join(sorted(known - printed))
    echo(
        f"gwa: {values(found):,} values; --every prints all, --only users all of users, and --only those of"
        f" {others}, where the log has them",
        err=True,
    )


OF_REQUESTS: Final = ("only", "every", "formats", "for_prometheus", "set_", "force")
"""The options that facts of requests have, too."""


def _print_of_requests(trace: "Trace", only: str, kind: str, *, every: bool) -> None:
    """Print the facts of a trace of requests to language models."""
    from gwa.requests.base import request_families
    from gwa.requests.build import request_facts

    refuse_for_requests(Path(trace.name), OF_REQUESTS)
    found = request_facts(trace.store, only, every=every)
    if only and not found:
        _require_fact(only, request_families())
    PRINTERS[kind](found, trace)


def _require_fact(prefix: str, known: "Sequence[tuple[str, str]]" = ()) -> None:
    """Raise a usage error if no fact of any trace begins with *prefix*; else say that this one has none."""
    from gwa.analysis.base import families

    beginnings = sorted({fact for fact, _ in known or families()})
    if not any(fact.startswith(prefix) or prefix.startswith(f"{fact}.") for fact in beginnings):
        require_known([prefix], beginnings, "fact that begins with", "--only")
    echo(f"gwa: this trace has no fact that begins with '{prefix}'", err=True)
