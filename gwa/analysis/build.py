"""Build a report: run the analyses, keep going when one fails."""

import platform
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

import duckdb

from gwa.analysis.answers import answers, evidence
from gwa.analysis.answers.base import Known
from gwa.analysis.base import analyses
from gwa.analysis.brief import brief
from gwa.analysis.core import core
from gwa.analysis.credits import credits_of
from gwa.analysis.finding import findings
from gwa.analysis.lead import lead
from gwa.analysis.stakes import priced
from gwa.analysis.synthetic import OVERLINE, reworded
from gwa.analysis.titles import titles
from gwa.breakdown.charge.charges import stated
from gwa.report.document import Fact, Note, Report
from gwa.report.explorer import Explorer
from gwa.store.gpu_parts import has_parts
from gwa.store.store import Store
from gwa.store.subset import Subset
from gwa.util.progress import SILENT, Progress
from gwa.util.version import __version__
from gwa.words.formatting import date_range
from gwa.words.message import message
from gwa.words.unit import Value

PARTIAL: Final = "This is a report on a part of the trace: {}."

OF_A_PERIOD: Final = message(
    " Numbers of jobs, sizes, run times and waits are of jobs submitted in the period, outcomes of jobs that"
    " ended in it; busy processors, running and waiting jobs are of all that overlap it."
)

OF_SOME: Final = (
    " Other jobs count nowhere, not even where they ran beside those of the part; only the size of the system"
    " and the account of the rows are of the whole."
)


def build(
    store: Store,
    name: str,
    *,
    filters: Sequence[Subset] = (),
    only: Collection[str] | None = None,
    strict: bool = False,
    explore: bool = False,
    progress: Progress = SILENT,
) -> Report:
    """
    Return the report on the trace called *name*; *only* names the sections wanted.

    Without, it has all but those that are made on request. The report names the *filters* that the jobs
    of *store* have passed. A page that is to *explore* has the cells that it filters.

    A section that cannot be made says so in its place, unless *strict*: then the error is raised.
    """
    wanted = [
        analysis
        for analysis in analyses()
        if (analysis.is_wanted(store) if only is None else analysis.id in only)
    ]
    store.settle()
    sections = []
    with progress.step("analysing", len(wanted)) as bar:
        for analysis in wanted:
            sections.append(analysis.section(store) if strict else analysis.attempt(store))
            bar.advance()
    zone = None if store.system.relative else store.system.timezone.key
    inputs, part = reproduction(store), "; ".join(map(str, filters))
    if part and sections:
        sections[0] = replace(sections[0], blocks=(Note(_partial(part, filters)), *sections[0].blocks))
        inputs["part"] = part
    report = Report(*titles(store, name, part), tuple(sections), zone, inputs)
    known = evidence(store, sections, is_selection=any(subset.is_selective for subset in filters))
    shown = {section.id for section in sections if not section.failed}
    first = lead(store, known, has_facts="budget" in shown)
    told = findings(known.facts, shown, whole=not known.is_selection)
    rates = stated(store)
    made = replace(
        report,
        findings=tuple(priced(one, rates, has_parts=has_parts(store)) if rates else one for one in told),
        overline=OVERLINE if store.is_generated else message("Workload report"),
        answers=answers(known, shown),
        answer=first.sentence,
        lead=first,
        period=_period(known, zone),
        explorer=_explorer(store, known) if explore else None,
        credits=credits_of(store.header),
    )
    made = brief(made, store)
    return reworded(made) if store.is_generated else made


def _explorer(store: Store, known: Known) -> Explorer | None:
    """Return what the page filters; who needs it not does without what packs it."""
    from gwa.analysis.explorer import explorer

    return explorer(store, known.facts)


def facts(store: Store, prefix: str = "", *, every: bool = False) -> tuple[Fact, ...]:
    """
    Return the facts whose ids begin with *prefix*; only the sections that they stand in are computed.

    Without a prefix, those are returned that `gwa.analysis.core` defines, unless *every* fact is wanted.
    """
    store.settle()
    wanted = [analysis for analysis in analyses() if analysis.has_facts(prefix, every=every)]
    sections = tuple(analysis.section(store, is_drawn=False) for analysis in wanted)
    found = tuple(fact for fact in Report("", "", sections).facts() if fact.id.startswith(prefix))
    return found if prefix or every else tuple(core(found))


def _partial(part: str, filters: Sequence[Subset]) -> str:
    """Return what a report on a *part* of a trace must say of the jobs that it counts."""
    of_period = OF_A_PERIOD if any(subset.period for subset in filters) else ""
    of_some = OF_SOME if any(subset.is_selective for subset in filters) else ""
    return PARTIAL.format(part) + of_period + of_some


def _period(known: Known, zone: str | None) -> str:
    """Return the time that the log tells of, in the period asked for, as dates where they are known."""
    first, last = known.get("trace.first"), known.get("trace.last")
    return "" if first is None or last is None or last < first else date_range(first, last, zone)


def reproduction(store: Store) -> dict[str, Value]:
    """Return what it takes to make the same report again: inputs with hashes, account, versions."""
    sources: list[Value] = [
        {
            "file": file,
            "bytes": size,
            "sha256": digest,
            "rows": rows,
            "comments": comments,
            "rejected": rejected,
            **({} if skipped is None else {"skipped": skipped}),
        }
        for file, size, digest, rows, comments, rejected, skipped in store.rows(
            "select * from sources order by file, sha256"
        )
    ]
    provenance = store.provenance
    commands: list[Value] = [provenance[key] for key in ("convert", "report") if key in provenance]
    return {
        "sources": sources,
        "account": dict(vars(store.account)),
        **({"commands": commands} if commands else {}),
        "versions": {
            "gwa": __version__,
            "converted by gwa": provenance.get("gwa", __version__),
            "format": provenance.get("format"),
            "duckdb": duckdb.__version__,
            "python": platform.python_version(),
        },
    }
