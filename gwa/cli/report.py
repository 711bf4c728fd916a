"""Write a report on a trace."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import click
from click.core import ParameterSource

from gwa.cli import _options
from gwa.cli._commands import Purpose
from gwa.cli._lead import say_lead
from gwa.cli._output import FORCE, account_in_words, claimed, page_name, part_in_words, write_texts
from gwa.cli._reading import earlier_part, opened_whole, part_of, reading, refuse_for_requests
from gwa.cli._terminal import echo, echo_json
from gwa.report.output import outputs, paths, write
from gwa.util.filenames import as_text

if TYPE_CHECKING:
    from gwa.report.document import Report
    from gwa.report.language import Language
    from gwa.store.store import Store
    from gwa.trace import Trace

PURPOSE = Purpose.REPORT

HELD: Final = 3
"""The exit status where there is something to tell, as of ``gwa check --fail-on``."""

FEW_JOBS: Final = 50
"""A trace of fewer jobs is a table of jobs: statistics of them say little."""


def _print_schema() -> None:
    from gwa.report.json_schema import report_schema

    echo_json(json.dumps(report_schema(), indent=1, ensure_ascii=False))


@click.command(name="report")
@click.argument("traces", metavar="TRACE...", nargs=-1, required=True, type=_options.PATH)
@_options.flags
@_options.output_folder(default=".")
@FORCE
@_options.says("--sections", "ID,ID", "Restrict to these sections, such as users,waits.")
@_options.shown(
    "--view",
    click.Choice(["operator", "modeller", "all"]),
    "operator",
    "Sections for operators, for modellers (these take longer), or all.",
)
@_options.flag("--every", "Add the sections that take long, such as the comparison of all models.")
@_options.flag(
    "--no-explore", "Leave out what the page filters: days, users, projects, sizes and outcomes, in cells."
)
@_options.shown("--top", click.IntRange(1, 1000), 10, "Number of entries in top lists.")
@_options.reads(
    "--card",
    "OUT.png",
    "Write what became of the hours, its bar and the days alone, as PNG or SVG of 1,200 x 630; no page"
    " unless one is asked for.",
)
@_options.printing("--schema", _print_schema, "Print the JSON Schema of --json and exit.")
@click.option(
    "--by",
    type=click.Choice(["month", "site"]),
    help="Write one page of all months and their changes, and beside it the reports on those that are not"
    " there yet; or one of all clusters, with the reports on all and on each.",
)
@_options.says(
    "--against", "WHEN", "Begin with the differences from another period, such as 2007-03 or previous."
)
@_options.flag(
    "--alert",
    "Exit with status 3 where something differs from that period by more than chance, and say what.",
)
@_options.looks
@_options.parts
@_options.statements
@_options.measurements
@_options.engines
@_options.options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    traces: Sequence[Path],
    folder: Path,
    sections: str | None,
    view: str,
    every: bool,
    no_explore: bool,
    top: int,
    card: Path | None,
    against: str | None,
    alert: bool,
    by: str | None,
    **params: Any,
) -> None:
    """
    Write a report on each trace, or on a part of it.

    The report on a trace of fewer than 50 jobs is a table of its jobs and the data quality, unless --view or
    --sections asks for more.

    The page is called TRACE.html. The name says the period, queue, group, condition, language, view, sections
    and what it is compared with, too, such as TRACE-2026-11-against-2026-10.html. A file of that name is
    replaced if gwa wrote it from the same trace with the same options, any other with --force only.

    A trace of requests to language models has a report of its own, on rates, tokens and latency; options that
    are of jobs are refused.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa report sample.sacct
      gwa report sample.sacct --where 'n_procs > 1' --sections users,waits
      gwa report sample.sacct --period last-month --against previous
      gwa report sample.sacct --by month
      gwa report sample.sacct --lang de
      gwa report sample.sacct --card sample.png
      gwa report sample.sacct --strings mine/languages/fr.po
    """
    from gwa.analysis.base import analyses
    from gwa.requests.base import request_analyses

    kinds = [name for name in outputs() if params[name]] or ([] if card else ["html"])
    known = [analysis.id for analysis in analyses()]
    of_requests = [analysis.id for analysis in request_analyses()]
    only = sections.replace(" ", "").split(",") if sections else known if every else None
    _options.require_known(only or (), [*known, *of_requests], "section", "--sections")
    look = _options.looking(params)
    is_chosen = ctx.get_parameter_source("view") is not ParameterSource.DEFAULT
    failed, alerts = False, 0
    if alert and not against:
        raise click.UsageError("--alert is of differences, expected --against such as previous")
    if by and (against or sections):
        raise click.UsageError(
            "--by shows all months or clusters, expected neither --against nor --sections with it"
        )
    if card and (by or len(traces) > 1):
        raise click.UsageError("--card is of one trace, expected one, without --by")
    if by == "site" and params["sites"]:
        raise click.UsageError("--by site shows all clusters, expected no --site with it")
    for trace in traces:
        with opened_whole(trace, params, takes_requests=True) as whole:
            write_texts(params)
            if whole.store.holds == "requests":
                _options.require_known(only or (), of_requests, "section of requests", "--sections")
                failed = _of_requests(whole, _Output(trace, folder, kinds, look, ctx.params), only) or failed
                continue
            _options.require_known(only or (), known, "section of jobs", "--sections")
            part = part_of(whole, params)
            earlier = _earlier(whole, part, against, params) if against else None
            part.store.top = top
            out = _Output(trace, folder, kinds, look, ctx.params)
            if by:
                page = partial(_by_month, whole) if by == "month" else _by_site
                failed = page(part, out, partial(_wanted, view=view, is_chosen=is_chosen)) or failed
                continue
            report = out.write_part(
                part,
                only or _wanted(part.store, view, is_chosen=is_chosen),
                earlier,
                is_explored=bool(card)
                or (bool({"html", "pdf"} & set(kinds)) and not (no_explore or sections)),
            )
            if card:
                _write_card(report, card, out)
        failed = failed or report.failed
        alerts += _alert(report, look["language"]) if alert and earlier is not None else 0
    if failed:
        echo("gwa: some sections could not be made: they say so in their place", err=True)
    if alerts or failed:
        ctx.exit(HELD if alerts else 1)


OF_REQUESTS: Final = ("name", "sections", "top", "theme", "lang", "folder", "force", "strings", "set_")
"""The options that a report on requests has, too, beside kinds of outputs."""


def _of_requests(trace: "Trace", out: "_Output", only: Sequence[str] | None) -> bool:
    """Write the report on a trace of requests to language models; return whether a section is broken."""
    from gwa.requests.build import build_requests

    refuse_for_requests(out.trace, [*OF_REQUESTS, *outputs()])
    trace.store.top = out.params["top"]
    report = build_requests(trace.store, trace.name, only=only, progress=reading(dict(out.params)).progress)
    out.write(report, out.name(trace, None, out.params))
    return report.failed


def _alert(report: "Report", language: "Language | None") -> int:
    """Say what differs by more than chance, one on a line, and return how much that is."""
    from gwa.analysis.comparison.levels import differing
    from gwa.report.language import Language

    found, words = differing(report.findings), language or Language()
    for finding in found:
        echo(f"gwa: {words(finding.text)}", err=True)
    return len(found)


@dataclass(frozen=True)
class _Output:
    """Where the pages on a *trace* are written to, as which *kinds*, how they *look*, and all *params*."""

    trace: Path
    folder: Path
    kinds: Sequence[str]
    look: Mapping[str, Any]
    params: dict[str, Any]

    def write_part(
        self,
        part: "Trace",
        wanted: Sequence[str] | None,
        earlier: "Trace | None" = None,
        *,
        is_explored: bool,
        is_one_of_many: bool = False,
        **params: Any,
    ) -> "Report":
        """
        Write the report on a *part*, say its answers unless it *is_one_of_many*, and return it.

        *params* replace those given.
        """
        params = {**self.params, **params}
        with self._claimed(self.name(part, earlier, params)) as name:
            report = part.report(wanted, reading(params).progress, against=earlier, explore=is_explored)
            if not (params["quiet"] or is_one_of_many):
                _print_answers(report, part, self.look["language"])
            self._write(report, name)
        return report

    def write_index(self, report: "Report", part: "Trace") -> None:
        """Write the page that leads to others, and say its answer."""
        if report.answer and not self.params["quiet"]:
            words = self.look["language"] or _english()
            echo(f"{as_text(part.name)}: {words(report.answer)}", err=True)
        self.write(report, self.name(part, None, self.params, f"by-{self.params['by']}"))

    def write(self, report: "Report", name: str) -> None:
        """Write a *report* as what is called *name*."""
        with self._claimed(name):
            self._write(report, name)

    def name(self, part: "Trace", earlier: "Trace | None", params: Mapping[str, Any], *more: str) -> str:
        """Return the name of the page on a *part*."""
        return page_name(part.name, *_what(part.period, earlier, params), *more)

    @contextmanager
    def _claimed(self, name: str) -> Iterator[str]:
        if not self.kinds:  # a card alone
            yield name
            return
        with claimed(
            paths(self.folder, name, self.kinds), force=self.params["force"], but=outputs(), of=self.trace
        ):
            yield name

    def _write(self, report: "Report", name: str) -> None:
        for path in write(report, self.folder, name, self.kinds, **self.look):
            echo(path)


Wanted = Callable[["Store"], Sequence[str] | None]
"""Returns the sections of the report on a store."""


def _by_month(whole: "Trace", part: "Trace", out: _Output, wanted: Wanted) -> bool:
    """
    Write a report on each month, and the page of all that leads to them; return whether one is broken.

    One that stands in the folder stays as it is, unless --force asks for it again; that on the last month is
    written again, as that may go on.
    """
    from gwa.analysis.by_month import by_month, months_of
    from gwa.metrics.periods import within

    months = months_of(part.store)
    periods = {month: within(month, part.period, part.system) for month in months}
    failed, kept = False, 0
    for month, period in periods.items():
        there = _page_on(part, period, out)
        is_final = there and (month != months[-1] or "-against-" in there)
        if is_final and not out.params["force"]:
            kept += 1
            continue
        one = part_of(whole, out.params, period)
        one.store.top = part.store.top
        with _asked(out.params, by=None, period=period):
            report = out.write_part(
                one, wanted(one.store), is_explored=not out.params["no_explore"], is_one_of_many=True
            )
        failed = failed or report.failed
    if kept and not out.params["quiet"]:
        echo(f"reports on months that stood already: {kept}; --force writes them again", err=True)
    pages = {month: quote(_page_on(part, period, out)) for month, period in periods.items()}
    out.write_index(by_month(part.store, part.name, pages), part)
    return failed


def _page_on(part: "Trace", period: str, out: _Output) -> str:
    """Return the page on a *period* in the folder, one against another period first; "" for none."""
    name = page_name(part.name, *_what(period, None, out.params))
    found = (path.name for end in ("-against-*", "") for path in out.folder.glob(f"{escape(name)}{end}.html"))
    return min(found, default="")  # a hyphen sorts before a dot


@contextmanager
def _asked(params: dict[str, Any], **others: Any) -> Iterator[None]:
    """Have *others* in place of *params* given: what is written is what the command would, asked for that."""
    given = {name: params[name] for name in others}
    params.update(others)
    try:
        yield
    finally:
        params.update(given)


def _by_site(part: "Trace", out: _Output, wanted: Wanted) -> bool:
    """Write the reports on all clusters and on each, and the page of them; return whether one is broken."""
    from gwa.analysis.by_site import SitePage, by_site, site_names

    pages, failed = [], False
    for site in ["", *site_names(part.store)]:
        one = part.filter(site=site) if site else part
        one.store.top = part.store.top
        chosen: dict[str, Any] = {"sites": (site,)} if site else {}
        report = out.write_part(one, wanted(one.store), is_explored=not out.params["no_explore"], **chosen)
        address = quote(f"{out.name(one, None, {**out.params, **chosen})}.html")
        pages.append(SitePage(site, {fact.id: fact for fact in report.facts()}, address))
        failed = failed or report.failed
    out.write_index(by_site(part.store, part.name, pages), part)
    return failed


def _what(period: str | None, earlier: "Trace | None", params: Mapping[str, Any]) -> list[str]:
    """Return what tells pages on a trace apart: the part, the sections, what it is compared with."""
    return [
        *part_in_words(period, dict(params)),
        params["view"] if params["view"] != "operator" else "",
        (params["sections"] or "").replace(" ", "") or ("every" if params["every"] else ""),
        f"against-{earlier.period}" if earlier else "",
    ]


def _write_card(report: "Report", path: Path, out: _Output) -> None:
    from gwa.report.card import write_card
    from gwa.report.language import translated

    words = out.look["language"] or _english()
    with claimed([path], force=out.params["force"]):
        write_card(translated(report, words), path, words)
    echo(path)


def _print_answers(report: "Report", trace: "Trace", language: "Language | None") -> None:
    """Say on standard error what was read, and the answers of the first screen, one on a line."""
    from gwa.report.lead import ANSWERED_BY_LEAD

    words = language or _english()
    kind = trace.store.provenance.get("format")
    period = words(report.period)
    read = (kind, account_in_words(trace.store.account), period)
    echo(f"{as_text(trace.name)}: {'; '.join(filter(None, read))}", err=True)
    if report.lead:
        say_lead(report.lead, words)
    given = [answer for answer in report.answers if answer.id != ANSWERED_BY_LEAD]
    width = max((len(words(answer.question)) for answer in given), default=0)
    for answer in given:
        echo(f"  {words(answer.question):{width}}  {words(answer.text)}", err=True)


def _english() -> "Language":
    from gwa.report.language import Language

    return Language()


def _wanted(store: "Store", view: str, *, is_chosen: bool) -> list[str] | None:
    """Return the sections of a *view*; None for all. Unless it *is_chosen*, a small trace has few."""
    from gwa.analysis.base import Chapter, analyses

    wanted = [analysis for analysis in analyses() if analysis.is_wanted(store)]
    if not is_chosen and store.account.jobs < FEW_JOBS:
        return [analysis.id for analysis in wanted if analysis.chapter is Chapter.TRACE]
    if view == "all":
        return None
    return [analysis.id for analysis in wanted if analysis.view == view or analysis.id == "overview"]


def _earlier(whole: "Trace", part: "Trace", against: str, params: dict[str, Any]) -> "Trace | None":
    """Return the part to compare with; None, which is said, where the log has none before."""
    from gwa.errors import DefinitionError, TraceError
    from gwa.metrics.periods import PREVIOUS

    try:
        return earlier_part(whole, part, against, params)
    except (DefinitionError, TraceError) as error:
        if against != PREVIOUS:
            raise
        echo(f"gwa: {part.period} is compared with nothing: {error}", err=True)
        return None
