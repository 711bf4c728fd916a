"""
Publish one trace of the archive: downloads, report, facts, and the data of its pages.

All goes into one folder, with ``trace.json`` last: a folder that has it is complete. Its *key* is a hash
of all that decides what stands in the folder, so that an unchanged trace is taken over as it is.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from gwa.analysis.build import build
from gwa.archive.catalogue import Catalogue, CatalogueEntry
from gwa.archive.editions import TRACE_FILE, editions
from gwa.archive.link_check import PageLinks
from gwa.archive.report_excerpts import picture, save_figures, section_texts
from gwa.archive.scheduled import Scheduling, not_modelled, scheduled
from gwa.archive.strips import strip
from gwa.breakdown.cube import cube, lies_within_a_century
from gwa.errors import TraceError
from gwa.formats.open import open_trace
from gwa.formats.registry import vocabulary, writer
from gwa.metrics.diversity import diversity
from gwa.metrics.quality import completeness, problems
from gwa.report.as_json import plain
from gwa.report.document import Report
from gwa.report.html import html, summary
from gwa.report.lead import ANSWERED_BY_LEAD
from gwa.store.anonymize import anonymous_sources, public_format
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from gwa.store.privacy import find_leaks
from gwa.store.store import Store
from gwa.store.uniqueness import exposure
from gwa.store.versions import fields_known
from gwa.util import fingerprint
from gwa.util.scratch import ScratchFolder
from gwa.util.version import __version__

REPORT: Final = "report.html"
CUBE: Final = "cube"
"""The folder of a trace that has its cells, as Parquet."""

SYNTHETIC_LABEL: Final = "SYNTHETIC: made by a model, no system ran these jobs"

PARQUET: Final = "Parquet"
"""The format that every trace is published in; reports and comparisons are made of that file."""

SUFFIXES: Final = {
    PARQUET: ".parquet",
    "GWF": ".gwf.gz",
    "SWF": ".swf.gz",
    "SQLite": ".sqlite",
    "DuckDB": ".duckdb",
}
"""The formats of downloads, Parquet first; those besides Parquet are made where the catalogue names them."""

REMEDY: Final = "gwa anonymize it, list these under names in archive.toml, or build with --publish-names"

MAXIMUM_NAMED: Final = 100
"""The maximum number of names that are listed of each kind: all queues of a system, not all its users."""

MAXIMUM_KINDS: Final = 3
"""The kinds of names that a message shows."""

ONE_THREAD: Final = 1
"""The bytes of a store depend on which of several threads is first."""


class WithheldTrace(TraceError):  # noqa: N818 - the trace is
    """A trace that contains names; the message is for the maintainer, not for publication."""


def key(catalogue: Catalogue, entry: CatalogueEntry, *, publish_names: bool) -> str:
    """Return a hash of the trace's sources, of what the catalogue says of it, and of this program."""
    digest = hashlib.sha256(fingerprint.program().encode())
    inputs = asdict(entry) | {"archive": catalogue.title, "source": None, "names": publish_names}
    digest.update(json.dumps(inputs, default=str, sort_keys=True).encode())
    if source := entry.source:
        for path in sorted(source.rglob("*")) if source.is_dir() else (source,):
            if path.is_file():
                name = path.relative_to(source).as_posix()
                digest.update(f"\0{name}\0{fingerprint.of_file(path)}".encode())
    return digest.hexdigest()


def publish(
    catalogue: Catalogue,
    entry: CatalogueEntry,
    folder: Path,
    previous: Path | None = None,
    *,
    publish_names: bool,
    memory: str | None,
) -> None:
    """
    Fill the empty *folder* with all of a trace, of which another edition may stand in *previous*.

    Raise `WithheldTrace` for one that holds names, unless *publish_names*, and other errors of gwa for what
    cannot be read.
    """
    engine = Engine(memory, ONE_THREAD)
    name = entry.id + ("-synthetic" if entry.synthetic else "")
    paths = {
        title: folder / (name + suffix)
        for title, suffix in SUFFIXES.items()
        if title == PARQUET or title.lower() in entry.formats
    }
    table = paths[PARQUET]
    with ScratchFolder() as scratch:
        with made(entry, scratch / "trace", engine) as store:
            if not publish_names:
                _refuse_names(store, entry)
            _refuse_unique_users(store, entry)
            store.set_header((*_labels(catalogue, entry), *store.header))
            writer(table).save(store, table)
        # A report asks hundreds of questions: of a store, which is faster than a file of Parquet.
        options = ReadOptions(engine=engine, target=scratch / "published")
        with open_trace([table], options=options) as store:
            for title, path in paths.items():
                if title != PARQUET:
                    writer(path).save(store, path)
            report = build(store, entry.id, explore=True)
            about = _about(entry, store, report) | _cells(store, folder)
    above = ((catalogue.title, "../../index.html"), (entry.title, "index.html"))
    page = html(report, above=above)
    (folder / REPORT).write_text(page, encoding="utf-8")
    content = about | {
        "figures": save_figures(report, folder),
        "sections": section_texts(report),
        "report": vars(PageLinks.of(page)),
        "key": key(catalogue, entry, publish_names=publish_names),
        "name": name,
        "downloads": list(_downloads(paths)),
        "editions": editions(entry, table, previous),
    }
    (folder / TRACE_FILE).write_text(
        json.dumps(plain(content), indent=1, ensure_ascii=False), encoding="utf-8"
    )


def _refuse_names(store: Store, entry: CatalogueEntry) -> None:
    """Leave out what gwa noted of files and commands; raise `WithheldTrace` for other names."""
    kept = public_format(store, vocabulary()) | {"gwa": store.provenance.get("gwa", __version__)}
    kept |= fields_known(store.provenance)
    account, sources = store.account, anonymous_sources(store)
    store.connection.execute("delete from sources")
    store.connection.execute("delete from provenance")
    store.insert("sources", sources)
    store.note(kept)
    store.set_account(account)
    if entry.synthetic:
        return
    found = find_leaks(store, vocabulary(), entry.names, examples=MAXIMUM_NAMED)
    if found:
        shown = "; ".join(map(str, found[:MAXIMUM_KINDS]))
        others = f"; {len(found) - MAXIMUM_KINDS} more" if len(found) > MAXIMUM_KINDS else ""
        raise WithheldTrace(f"{shown}{others}: {REMEDY}")


def _refuse_unique_users(store: Store, entry: CatalogueEntry) -> None:
    """Raise `WithheldTrace` where the catalogue states a k that the trace does not have."""
    if entry.k is None or entry.synthetic or not store.has("user_id"):
        return
    found = exposure(store, entry.k)
    if found.smallest < entry.k:
        raise WithheldTrace(
            f"{found.unique:,} of {found.users:,} users are unique by {found}, k is {found.smallest},"
            f" expected {entry.k}: gwa anonymize it with --k {entry.k}"
        )


def made(entry: CatalogueEntry, target: Path | None = None, engine: Engine | None = None) -> Store:
    """Return a store in *target* with the trace as its source has it, or as it is generated."""
    if entry.preset:
        return _generated(entry, entry.preset, target, engine)
    if entry.source is None:  # pragma: no cover - the catalogue sees to it
        raise TraceError(f"{entry.id}: has no source")
    store = open_trace([entry.source], options=ReadOptions(engine=engine, target=target))
    if not store.row("select count(*) from jobs")[0]:
        store.close()
        raise TraceError(f"{entry.source.name}: holds no job")
    return store


def _generated(entry: CatalogueEntry, preset: str, target: Path | None, engine: Engine | None) -> Store:
    from gwa.models.files import load_model
    from gwa.models.generate import GenerationRequest, generate_store
    from gwa.models.streams import Extent

    model = load_model(preset).model
    header = (("Processors", str(entry.cpus)),) if entry.cpus else ()
    order = GenerationRequest(
        model.limit_processors(entry.cpus) if entry.cpus else model,
        Extent(entry.jobs, entry.days),
        entry.seed,
        header,
    )
    if entry.policy:
        how = Scheduling(entry.policy, entry.load, entry.failures)
        order = scheduled(order, how, entry.cpus)
    return generate_store(order, target, engine)


def _labels(catalogue: Catalogue, entry: CatalogueEntry) -> tuple[tuple[str, str], ...]:
    """Return the lines of a header that go with every download."""
    title = f"{entry.title} (synthetic)" if entry.synthetic else entry.title
    lines = (
        ("Note", SYNTHETIC_LABEL if entry.synthetic else ""),
        ("Computer", title),
        ("Installation", f"{SYNTHETIC_LABEL} · {catalogue.title}" if entry.synthetic else entry.provider),
        ("Archive", catalogue.title),
        ("Licence", entry.licence),
        ("Citation", entry.citation),
        ("Terms", entry.terms),
    )
    return tuple((name, " ".join(text.split())) for name, text in lines if text)


def _about(entry: CatalogueEntry, store: Store, report: Report) -> dict[str, Any]:
    """Return what pages tell of a trace."""
    return {
        "id": entry.id,
        "title": report.title,
        "zone": report.zone,
        "header": list(store.header),
        "facts": {fact.id: fact.value for fact in report.facts()},
        "labels": {fact.id: (fact.label, fact.unit) for fact in report.facts()},
        "summary": [(fact.label, fact.value, fact.unit) for fact in summary(report)],
        "lead": plain(report.lead) if report.lead else None,
        "answers": [
            {
                "question": answer.question,
                "number": answer.number,
                "caption": answer.caption,
                "text": answer.text,
                "section": answer.section,
                "picture": picture(answer.picture) if answer.picture else "",
                "alt": answer.picture.alt if answer.picture else "",
            }
            for answer in report.answers
            if answer.id != ANSWERED_BY_LEAD or report.lead is None
        ],
        "findings": [(finding.text, finding.advice, finding.section) for finding in report.findings],
        "fields": [(title, meaning, share) for title, meaning, _, share in completeness(store)],
        "not modelled": not_modelled(store) if entry.synthetic else {},
        "problems": [(problem.level, problem.meaning, problem.count) for problem in problems(store)],
        "diversity": diversity(store),
        "account": dict(vars(store.account)),
        "failed": [section.title for section in report.sections if section.failed],
    }


def _cells(store: Store, folder: Path) -> dict[str, Any]:
    """Write the cells of a trace into *folder*, unless times are wrong; return its strip and their grain."""
    if not lies_within_a_century(store):
        return {}
    made_cube = cube(store)
    (folder / CUBE).mkdir()
    files = made_cube.write(folder / CUBE)
    return {
        "strip": strip(made_cube, None if store.system.sizes else store.system.cpus),
        "cube": {"days": made_cube.grain.days, "files": [f"{CUBE}/{file.name}" for file in files]},
    }


def _downloads(paths: Mapping[str, Path]) -> Iterator[Mapping[str, object]]:
    for title, path in paths.items():
        yield {
            "format": title,
            "file": path.name,
            "bytes": path.stat().st_size,
            "sha256": fingerprint.of_file(path),
        }


def is_complete(folder: Path, wanted: str) -> bool:
    """Whether *folder* contains the complete trace with the key *wanted*."""
    try:
        about = json.loads((folder / TRACE_FILE).read_text(encoding="utf-8"))
        sizes = {file["file"]: file["bytes"] for file in about["downloads"]}
        complete = all((folder / file).stat().st_size == size for file, size in sizes.items())
        whole = complete and all((folder / file).is_file() for file in files_of(folder))
        return bool(about["key"] == wanted and whole)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def files_of(folder: Path) -> list[str]:
    """Return the names of all files that `publish` made in *folder*, the last one last."""
    about = json.loads((folder / TRACE_FILE).read_text(encoding="utf-8"))
    files = [file["file"] for file in (*about["downloads"], *about["figures"])]
    return [*files, *about.get("cube", {}).get("files", ()), REPORT, TRACE_FILE]
