"""Build a report: run the analyses, keep going when one fails."""

import platform
from collections.abc import Collection
from dataclasses import replace
from typing import Final

import duckdb

from gwa.analysis.base import Analysis, analyses
from gwa.analysis.finding import findings
from gwa.report.document import Note, Report, Section, Value, Verbatim
from gwa.store.store import Store
from gwa.store.subset import Subset
from gwa.util.progress import SILENT, Progress
from gwa.util.version import __version__

PARTIAL: Final = (
    "This is a report on a part of the trace: {}. Jobs outside of it count nowhere, not even where they ran"
    " beside those of the part; only the size of the system and the account of the rows are of the whole."
)

VAGUE: Final = {"various", "unknown", "none", "n/a", "-"}
"""What headers of logs call a system that they do not name."""


def build(
    store: Store,
    name: str,
    *,
    part: Subset | None = None,
    only: Collection[str] | None = None,
    strict: bool = False,
    progress: Progress = SILENT,
) -> Report:
    """
    Return the report on the trace called *name*, of which *part* is left; *only* names the sections wanted.

    Without, it has all but those that are made on request.

    A section that cannot be made says so in its place, unless *strict*: then the error is raised.
    """
    wanted = [one for one in analyses() if (not one.on_request if only is None else one.id in only)]
    sections = []
    with progress.step("analysing", len(wanted)) as bar:
        for one in wanted:
            sections.append(_section(one, store, strict=strict))
            bar.advance()
    zone = None if store.system.relative else store.system.timezone.key
    said = reproduction(store)
    if part and sections:
        sections[0] = replace(sections[0], blocks=(Note(PARTIAL.format(part)), *sections[0].blocks))
        said["part"] = str(part)
    made = Report(*_titles(store, name, part), tuple(sections), zone, said)
    found = findings({fact.id: fact.value for fact in made.facts()}, whole=not (part and part.chosen))
    return replace(made, findings=found, overline="Workload report")


def _section(one: Analysis, store: Store, *, strict: bool) -> Section:
    try:
        return one.section(store)
    except Exception as error:  # the rest of the report is worth having
        if strict:
            raise
        note = Note(f"This section could not be made: {type(error).__name__}: {error}", "error")
        return Section(one.id, one.title, one.help, (note,), one.chapter.value, failed=True)


def _titles(store: Store, name: str, part: Subset | None) -> tuple[Verbatim, Verbatim]:
    """Return the names of the system and of its place; that of the trace, where a header says nothing."""
    system, site = store.system.name, store.system.site
    title = system if system and system.lower() not in VAGUE else name
    told = [part for part in (site, name) if part and part.lower() != title.lower()]
    if len(told) > 1 and told[1].lower() in told[0].lower():  # the place says it
        told = told[:1]
    told += [str(part)] if part else []
    return Verbatim(title), Verbatim(" · ".join(told))


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
        }
        for file, size, digest, rows, comments, rejected in store.rows(
            "select * from sources order by file, sha256"
        )
    ]
    said = store.provenance
    commands: list[Value] = [said[key] for key in ("convert", "report") if key in said]
    return {
        "sources": sources,
        "account": dict(vars(store.account)),
        **({"commands": commands} if commands else {}),
        "versions": {
            "gwa": __version__,
            "converted by gwa": said.get("gwa", __version__),
            "format": said.get("format"),
            "duckdb": duckdb.__version__,
            "python": platform.python_version(),
        },
    }
