"""Descriptions of a trace that repositories of research data ask for: RO-Crate 1.1 and DataCite 4.5."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gwa.archive.catalogue import CatalogueEntry
from gwa.archive.feeds import MEDIA_TYPES
from gwa.archive.publish import SYNTHETIC_LABEL
from gwa.archive.published import PublishedTrace

RO_CRATE: Final = "https://w3id.org/ro/crate/1.1"
SPDX: Final = re.compile(r"[A-Za-z][A-Za-z0-9.+-]*-[0-9][A-Za-z0-9.+-]*")
"""What looks like the identifier of a licence, such as CC-BY-4.0."""


def deposits(trace: PublishedTrace, archive: str, url: str) -> dict[str, str]:
    """
    Describe a trace for repositories of research data.

    Parameters
    ----------
    trace
        A trace that is available.
    archive
        The title of the archive, which is the publisher.
    url
        The address of the folder of the trace, empty if it is unknown.

    Returns
    -------
    dict
        The text of each file by its name; empty if the catalogue has neither a year nor a change, since
        both standards require the date of publication.

    """
    if not _published(trace.entry):
        return {}
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
        "@id": _licence_address(entry) or "#licence",
        "@type": "CreativeWork",
        "name": entry.licence,
        "description": entry.terms or entry.licence,
    }
    provider = {"@id": "#provider", "@type": "Organization", "name": entry.provider}
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": trace.about["title"],
        "description": _description(entry),
        "datePublished": _published(entry),
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
    """Return what is registered with DataCite when a trace gets a DOI, which it does not have here."""
    entry = trace.entry
    rights = {"rights": entry.licence, "rightsUri": _licence_address(entry)}
    kind = "synthetic workload trace" if entry.synthetic else "workload trace"
    descriptions = (("Abstract", _description(entry)), ("Methods", entry.notes), ("Other", entry.citation))
    return {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": kind},
        "creators": [{"name": entry.provider, "nameType": "Organizational"}],
        "titles": [{"title": trace.about["title"]}],
        "publisher": {"name": archive},
        "publicationYear": _published(entry)[:4],
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


def _description(entry: CatalogueEntry) -> str:
    return f"{SYNTHETIC_LABEL}. {entry.system}" if entry.synthetic else entry.system


def _published(entry: CatalogueEntry) -> str:
    """Return the date of the first change, else the year of the trace, empty if both are unknown."""
    if entry.changes:
        return entry.changes[-1].date.isoformat()
    return f"{entry.year:04}" if entry.year else ""


def _licence_address(entry: CatalogueEntry) -> str:
    return f"https://spdx.org/licenses/{entry.licence}" if SPDX.fullmatch(entry.licence) else ""
