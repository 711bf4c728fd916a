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
from gwa.archive.site_state import read_object
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
        return cls(folder, folder.parent.parent, *(read_object(folder / name) for name in names))

    @property
    def files(self) -> Sequence[Document]:
        """The downloads in croissant.json."""
        return self.croissant.get("distribution") or ()


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


def _lacking(parts: Mapping[str, object], where: str = "") -> str:
    """Return the names of the *parts* that are not there."""
    return _named([what for what, is_there in parts.items() if not is_there], where)


def _unless(is_met: object, what: str) -> str:
    """Return *what* is missing, nothing if a principle *is_met*."""
    return "" if is_met else what


def _scheme(address: object) -> str:
    return urlsplit(str(address or "")).scheme


def _names_data(trace: TraceFiles) -> str:
    wrong = [one.get("@id", "?") for one in trace.files if not one.get("contentUrl") or not one.get("sha256")]
    return _named(wrong, "without address or SHA-256") if trace.files else "the files in croissant.json"


def _indexed(trace: TraceFiles) -> str:
    page = trace.folder / "index.html"
    inside = page.is_file() and "application/ld+json" in page.read_text(encoding="utf-8")
    has_map = (trace.site / "sitemap.xml").is_file()
    return _lacking({"the data set in index.html": inside, "a site map (url of archive)": has_map})


def _no_barrier(trace: TraceFiles) -> str:
    files = trace.about.get("downloads") or []
    gone = [one["file"] for one in files if not (trace.folder / one["file"]).is_file()]
    return _named(gone, "in the folder") if files else "the downloads"


def _vocabulary(trace: TraceFiles) -> str:
    sets = trace.croissant.get("recordSet") or [{}]
    fields = sets[0].get("field") or []
    unsaid = [one["name"] for one in fields if not one.get("description") or not one.get("dataType")]
    return _named(unsaid, "without meaning or type") if fields else "the columns in croissant.json"


def _provenance(trace: TraceFiles) -> str:
    kinds = {one.get("descriptionType") for one in trace.datacite.get("descriptions") or ()}
    return _lacking(
        {
            "the account of rows in trace.json": trace.about.get("account"),
            "how it was made and cleaned (notes)": "Methods" in kinds,
            "its provider": trace.datacite.get("creators"),
        }
    )


def _standards(trace: TraceFiles) -> str:
    return _lacking(
        {
            "Croissant 1.1": str(trace.croissant.get("conformsTo", "")).endswith("/croissant/1.1"),
            "the year of publication for DataCite (changes, or year)": trace.datacite.get("publicationYear"),
            "RO-Crate 1.1": trace.crate.get("@graph"),
            "BibTeX": any(path.stat().st_size for path in trace.folder.glob("*.bib")),
        }
    )


RICH: Final = ("name", "description", "license", "citeAs", "creator", "datePublished", "version")
ATTRIBUTES: Final = ("facts", "fields", "answers")

PRINCIPLES: Final = (
    Principle(
        "F1", "a persistent identifier",
        lambda of: _unless(
            of.datacite.get("doi"), "a DOI: gwa site deposit reserves one, the key doi names it"
        ),
    ),
    Principle(
        "F2", "rich metadata",
        lambda of: _lacking({name: of.croissant.get(name) for name in RICH}, "in croissant.json"),
    ),
    Principle("F3", "metadata that name the data", _names_data),
    Principle("F4", "found by search engines", _indexed),
    Principle(
        "A1", "had by its address",
        lambda of: _unless(
            of.files and all(_scheme(one.get("contentUrl")) for one in of.files),
            "whole addresses of the files (url of archive)",
        ),
    ),
    Principle(
        "A1.1", "an open protocol",
        lambda of: _unless(
            _scheme(of.croissant.get("url")) in {"http", "https"},
            "an address of http or https (url of archive)",
        ),
    ),
    Principle("A1.2", "no barrier, or one that is told", _no_barrier),
    Principle(
        "A2", "metadata that outlast the data",
        lambda of: _unless(
            of.datacite.get("doi"), "a DOI, under which a repository keeps what describes the trace"
        ),
    ),
    Principle(
        "I1", "a formal language",
        lambda of: _lacking(
            {"croissant.json": "@context" in of.croissant, "ro-crate-metadata.json": "@context" in of.crate}
        ),
    ),
    Principle("I2", "columns with meaning and type", _vocabulary),
    Principle(
        "I3", "references to other works",
        lambda of: _unless(of.croissant.get("citeAs"), "what to cite (citation)"),
    ),
    Principle(
        "R1", "many attributes",
        lambda of: _lacking({name: of.about.get(name) for name in ATTRIBUTES}, "in trace.json"),
    ),
    Principle(
        "R1.1", "a clear licence",
        lambda of: _unless(
            (of.datacite.get("rightsList") or [{}])[0].get("rightsUri"),
            "a licence by an identifier of SPDX, such as CC-BY-4.0 (licence)",
        ),
    ),
    Principle("R1.2", "provenance", _provenance),
    Principle("R1.3", "standards of the field", _standards),
)  # fmt: skip


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
