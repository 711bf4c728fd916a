"""
Descriptions of a trace that repositories of research data ask for: RO-Crate 1.1 and DataCite 4.5.

Both are always written. What the catalogue does not say is left out of them, never invented, and `missing`
names it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gwa.archive.catalogue import CatalogueEntry, published_on
from gwa.archive.feeds import MEDIA_TYPES, description
from gwa.archive.published import PublishedTrace

RO_CRATE: Final = "https://w3id.org/ro/crate/1.1"
SPDX: Final = re.compile(r"[A-Za-z][A-Za-z0-9.+-]*-[0-9][A-Za-z0-9.+-]*")
"""What looks like the identifier of a licence, such as CC-BY-4.0."""


def deposits(trace: PublishedTrace, archive: str, url: str) -> dict[str, str]:
    """
    Return the descriptions of an available trace for repositories, the text of each file by its name.

    *archive* is the title of the archive, which is the publisher; *url* is the address of the folder of the
    trace, empty if it is unknown.
    """
    documents = {
        "ro-crate-metadata.json": ro_crate(trace, url),
        "datacite.json": datacite(trace, archive, url),
    }
    return {
        name: json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        for name, document in documents.items()
    }


def ro_crate(trace: PublishedTrace, url: str) -> dict[str, Any]:
    """Return the folder of a trace as an RO-Crate, with its downloads, its licence and who provides it."""
    entry = trace.entry
    files = list(_files(trace))
    licence: dict[str, Any] = {
        "@id": licence_address(entry.licence) or "#licence",
        "@type": "CreativeWork",
        "name": entry.licence,
        "description": entry.terms or entry.licence,
    }
    provider = {"@id": "#provider", "@type": "Organization", "name": entry.provider}
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": trace.about["title"],
        "description": description(entry),
        **({"datePublished": published_on(entry)} if published_on(entry) else {}),
        "version": trace.version,
        **({"releaseNotes": trace.news} if trace.news else {}),
        **({"identifier": f"https://doi.org/{entry.doi}"} if entry.doi else {}),
        "license": _reference(licence),
        "author": _reference(provider),
        "publisher": _reference(provider),
        "creditText": entry.citation,
        "hasPart": [_reference(file) for file in files],
        **({"url": url} if url else {}),
    }
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": RO_CRATE},
        "about": _reference(root),
    }
    graph = [descriptor, root, *files, licence, provider]
    return {"@context": f"{RO_CRATE}/context", "@graph": graph}


def _files(trace: PublishedTrace) -> Iterator[dict[str, Any]]:
    for file in trace.about["downloads"]:
        yield {
            "@id": file["file"],
            "@type": "File",
            "name": file["file"],
            "description": f"All jobs of the trace as {file['format']}",
            "contentSize": str(file["bytes"]),
            "encodingFormat": MEDIA_TYPES[file["format"]],
            "sha256": file["sha256"],
        }


def datacite(trace: PublishedTrace, archive: str, url: str) -> dict[str, Any]:
    """Return what is registered with DataCite for the DOI of a trace."""
    entry = trace.entry
    rights = {"rights": entry.licence, "rightsUri": licence_address(entry.licence)}
    kind = "synthetic workload trace" if entry.synthetic else "workload trace"
    descriptions = (
        ("Abstract", description(entry)),
        ("Methods", entry.notes),
        ("TechnicalInfo", " ".join(trace.news)),
        ("Other", entry.citation),
    )
    return {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": kind},
        "creators": [{"name": entry.provider, "nameType": "Organizational"}],
        "titles": [{"title": trace.about["title"]}],
        "publisher": {"name": archive},
        **({"publicationYear": published_on(entry)[:4]} if published_on(entry) else {}),
        **({"doi": entry.doi} if entry.doi else {}),
        "version": trace.version,
        "dates": [{"date": change.date.isoformat(), "dateType": "Updated"} for change in entry.changes],
        "subjects": [{"subject": "workload trace"}, {"subject": "job scheduling"}],
        "formats": sorted({MEDIA_TYPES[file["format"]] for file in trace.about["downloads"]}),
        "rightsList": [{name: value for name, value in rights.items() if value}],
        "descriptions": [
            {"descriptionType": kind, "description": text} for kind, text in descriptions if text
        ],
        **({"url": url} if url else {}),
    }


def _reference(thing: Mapping[str, Any]) -> dict[str, Any]:
    return {"@id": thing["@id"]}


def missing(entry: CatalogueEntry, url: str) -> list[str]:
    """Return what the descriptions of a trace lack, each with the key of archive.toml that says it."""
    lacking = {
        "the date of publication (changes, or year)": not published_on(entry),
        "a DOI (doi)": not entry.doi,
        "its address (url of archive)": not url,
        "an identifier of the licence by SPDX, such as CC-BY-4.0 (licence)": not licence_address(
            entry.licence
        ),
    }
    return [what for what, lacks in lacking.items() if lacks]


def licence_address(licence: str) -> str:
    """Return the address of a licence that is called by its identifier, empty for one in other words."""
    return f"https://spdx.org/licenses/{licence}" if SPDX.fullmatch(licence) else ""
