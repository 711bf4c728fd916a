"""
The self-check of a site by the FAIR principles: findable, accessible, interoperable, reusable.

What is checked is what stands in the folder of the site, the files that a machine would read, not what the
catalogue means to say. Each principle is met or not, with what is missing. Source: Wilkinson et al., The FAIR
Guiding Principles for scientific data management and stewardship, Scientific Data 3:160018 (2016).
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from gwa.archive.editions import TRACE_FILE
from gwa.errors import ArgumentError

Document = Mapping[str, Any]

MAXIMUM_NAMED: Final = 5


@dataclass(frozen=True)
class TraceFiles:
    """What stands in the *folder* of a trace for machines: each document, empty where it cannot be read."""

    folder: Path
    site: Path
    about: Document
    croissant: Document
    datacite: Document
    crate: Document

    @classmethod
    def read(cls, folder: Path) -> "TraceFiles":
        """Read the documents in *folder*."""
        names = (TRACE_FILE, "croissant.json", "datacite.json", "ro-crate-metadata.json")
        return cls(folder, folder.parent.parent, *(_read(folder / name) for name in names))


@dataclass(frozen=True)
class Principle:
    """A principle: its *name* in the paper, what it asks for, and what finds out what is missing of it."""

    name: str
    asks: str
    missing: Callable[[TraceFiles], str]


@dataclass(frozen=True)
class Verdict:
    """Whether a *trace* meets a *principle*: nothing is *missing*."""

    trace: str
    principle: str
    asks: str
    missing: str


def _identifier(trace: TraceFiles) -> str:
    return "" if trace.datacite.get("doi") else "a DOI: gwa site deposit reserves one, the key doi names it"


def _rich(trace: TraceFiles) -> str:
    wanted = ("name", "description", "license", "citeAs", "creator", "datePublished", "version")
    return _named([name for name in wanted if not trace.croissant.get(name)], "in croissant.json")


def _names_data(trace: TraceFiles) -> str:
    files = trace.croissant.get("distribution") or []
    wrong = [one.get("@id", "?") for one in files if not one.get("contentUrl") or not one.get("sha256")]
    return _named(wrong, "without address or SHA-256") if files else "the files in croissant.json"


def _indexed(trace: TraceFiles) -> str:
    page = trace.folder / "index.html"
    inside = page.is_file() and "application/ld+json" in page.read_text(encoding="utf-8")
    parts = {
        "the data set in index.html": inside,
        "a site map (url of archive)": (trace.site / "sitemap.xml").is_file(),
    }
    return _named([what for what, is_there in parts.items() if not is_there])


def _retrievable(trace: TraceFiles) -> str:
    files = trace.croissant.get("distribution") or []
    relative = [one["@id"] for one in files if not urlsplit(one.get("contentUrl", "")).scheme]
    return "whole addresses of the files (url of archive)" if relative or not files else ""


def _open_protocol(trace: TraceFiles) -> str:
    scheme = urlsplit(trace.croissant.get("url", "")).scheme
    return "" if scheme in {"http", "https"} else "an address of http or https (url of archive)"


def _no_barrier(trace: TraceFiles) -> str:
    files = trace.about.get("downloads") or []
    gone = [one["file"] for one in files if not (trace.folder / one["file"]).is_file()]
    return _named(gone, "in the folder") if files else "the downloads"


def _lasting(trace: TraceFiles) -> str:
    return (
        "" if trace.datacite.get("doi") else "a DOI, under which a repository keeps what describes the trace"
    )


def _formal(trace: TraceFiles) -> str:
    parts = {"croissant.json": trace.croissant, "ro-crate-metadata.json": trace.crate}
    return _named([name for name, document in parts.items() if "@context" not in document])


def _vocabulary(trace: TraceFiles) -> str:
    sets = trace.croissant.get("recordSet") or [{}]
    fields = sets[0].get("field") or []
    unsaid = [one["name"] for one in fields if not one.get("description") or not one.get("dataType")]
    return _named(unsaid, "without meaning or type") if fields else "the columns in croissant.json"


def _references(trace: TraceFiles) -> str:
    return "" if trace.croissant.get("citeAs") else "what to cite (citation)"


def _attributes(trace: TraceFiles) -> str:
    wanted = ("facts", "fields", "answers")
    return _named([name for name in wanted if not trace.about.get(name)], "in trace.json")


def _licence(trace: TraceFiles) -> str:
    rights = trace.datacite.get("rightsList") or [{}]
    return (
        ""
        if rights[0].get("rightsUri")
        else "a licence by an identifier of SPDX, such as CC-BY-4.0 (licence)"
    )


def _provenance(trace: TraceFiles) -> str:
    kinds = {one.get("descriptionType") for one in trace.datacite.get("descriptions") or ()}
    parts = {
        "the account of rows in trace.json": trace.about.get("account"),
        "how it was made and cleaned (notes)": "Methods" in kinds,
        "its provider": trace.datacite.get("creators"),
    }
    return _named([what for what, is_there in parts.items() if not is_there])


def _standards(trace: TraceFiles) -> str:
    parts = {
        "Croissant 1.1": str(trace.croissant.get("conformsTo", "")).endswith("/croissant/1.1"),
        "the year of publication for DataCite (changes, or year)": trace.datacite.get("publicationYear"),
        "RO-Crate 1.1": bool(trace.crate.get("@graph")),
        "BibTeX": any(path.stat().st_size for path in trace.folder.glob("*.bib")),
    }
    return _named([what for what, is_there in parts.items() if not is_there])


PRINCIPLES: Final = (
    Principle("F1", "a persistent identifier", _identifier),
    Principle("F2", "rich metadata", _rich),
    Principle("F3", "metadata that name the data", _names_data),
    Principle("F4", "found by search engines", _indexed),
    Principle("A1", "had by its address", _retrievable),
    Principle("A1.1", "an open protocol", _open_protocol),
    Principle("A1.2", "no barrier, or one that is told", _no_barrier),
    Principle("A2", "metadata that outlast the data", _lasting),
    Principle("I1", "a formal language", _formal),
    Principle("I2", "columns with meaning and type", _vocabulary),
    Principle("I3", "references to other works", _references),
    Principle("R1", "many attributes", _attributes),
    Principle("R1.1", "a clear licence", _licence),
    Principle("R1.2", "provenance", _provenance),
    Principle("R1.3", "standards of the field", _standards),
)


def check(site: Path) -> list[Verdict]:
    """
    Check every trace of the *site* that is available.

    Raise `ArgumentError` for a folder that is no site.
    """
    try:
        traces = json.loads((site / "catalog.json").read_text(encoding="utf-8"))["traces"]
        ids = [one["id"] for one in traces if "wrong" not in one]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ArgumentError(f"{site}: is no site, expected the folder that gwa site build made") from error
    return list(_verdicts(site, ids))


def _verdicts(site: Path, ids: Sequence[str]) -> Iterator[Verdict]:
    for name in ids:
        files = TraceFiles.read(site / "traces" / name)
        for one in PRINCIPLES:
            yield Verdict(name, one.name, one.asks, one.missing(files))


def in_a_line(verdicts: Sequence[Verdict]) -> str:
    """Return how many principles all traces meet, and what is missing of the others; empty without traces."""
    traces = {one.trace for one in verdicts}
    if not traces:
        return ""
    short = Counter(one.principle for one in verdicts if one.missing)
    met = len(PRINCIPLES) - len(short)
    lacking = [
        f"{one.name} {one.asks} ({short[one.name]} of {len(traces)} lack it)"
        for one in PRINCIPLES
        if one.name in short
    ]
    rest = f"; not {', '.join(lacking)}" if lacking else ""
    return f"FAIR: all traces meet {met} of {len(PRINCIPLES)} principles{rest}"


def _named(what: Sequence[str], where: str = "") -> str:
    more = f" and {len(what) - MAXIMUM_NAMED} more" if len(what) > MAXIMUM_NAMED else ""
    return f"{', '.join(what[:MAXIMUM_NAMED])}{more} {where}".strip() if what else ""


def _read(path: Path) -> Document:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
