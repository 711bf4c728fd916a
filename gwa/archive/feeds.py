"""Machine-readable files of an archive: its catalogue, feeds, and descriptions of data sets."""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Any, Final
from xml.sax.saxutils import escape

from gwa.archive.catalogue import Catalogue, CatalogueEntry, published_on
from gwa.archive.publish import SYNTHETIC_LABEL
from gwa.archive.published import PublishedTrace
from gwa.store.schema import EXTENSION_NAMES, FIELDS, Field
from gwa.util.version import __version__

CROISSANT: Final = "http://mlcommons.org/croissant/"
CROISSANT_TERMS: Final = (
    "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject",
    "fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5",
    "parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate",
    "separator", "source", "subField", "transform",
)  # fmt: skip
CONTEXT: Final = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": CROISSANT,
    "rai": f"{CROISSANT}RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in CROISSANT_TERMS},
}
"""The context of Croissant 1.1, of which programs expect all terms."""

MEDIA_TYPES: Final = {
    "GWF": "text/plain",
    "Parquet": "application/vnd.apache.parquet",
    "SQLite": "application/vnd.sqlite3",
    "SWF": "text/plain",
    "DuckDB": "application/octet-stream",
}

CROISSANT_PARQUET: Final = "application/x-parquet"
"""What programs that load Croissant call Parquet; they do not know its registered name."""


def catalog(catalogue: Catalogue, published: Sequence[PublishedTrace]) -> str:
    """Return ``catalog.json``: every trace with its facts and downloads, by paths relative to the file."""
    records = []
    for trace in published:
        entry = trace.entry
        record: dict[str, Any] = {
            "id": entry.id,
            "title": entry.title,
            "synthetic": entry.synthetic,
            "provider": entry.provider,
            "licence": entry.licence,
            "citation": entry.citation,
            "page": f"traces/{entry.id}/index.html",
        }
        if trace.failure:
            records.append(record | {"wrong": trace.failure})
            continue
        files = trace.about["downloads"]
        downloads = [{**file, "file": f"traces/{entry.id}/{file['file']}"} for file in files]
        numbers = {name: value for name, value in trace.facts.items() if isinstance(value, int | float)}
        records.append(record | {"facts": numbers, "fields": trace.shares, "downloads": downloads})
    document = {
        "generator": f"gwa {__version__}",
        "title": catalogue.title,
        "url": catalogue.url,
        "traces": records,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def dataset(catalogue: Catalogue, trace: PublishedTrace) -> dict[str, Any]:
    """Return a trace as a schema.org Dataset in the terms of Croissant 1.1."""
    entry, url = trace.entry, f"{catalogue.url}traces/{trace.entry.id}/" if catalogue.url else ""
    files = [
        {
            "@type": "cr:FileObject",
            "@id": file["file"],
            "name": file["file"],
            "contentUrl": url + file["file"],
            "contentSize": f"{file['bytes']} B",
            "encodingFormat": (MEDIA_TYPES | {"Parquet": CROISSANT_PARQUET})[file["format"]],
            "sha256": file["sha256"],
        }
        for file in trace.about["downloads"]
    ]
    table = next(file["@id"] for file in files if file["@id"].endswith(".parquet"))
    dates = [change.date.isoformat() for change in entry.changes]
    return {
        "@context": CONTEXT,
        "@type": "Dataset",
        "conformsTo": f"{CROISSANT}1.1",
        "name": trace.about["name"],
        "alternateName": trace.about["title"],
        "description": description(entry),
        "license": entry.licence,
        "citeAs": entry.citation,
        "version": trace.version,
        **({"releaseNotes": trace.news} if trace.news else {}),
        "creator": {"@type": "Organization", "name": entry.provider},
        "publisher": {"@type": "Organization", "name": catalogue.title},
        **({"url": url} if url else {}),
        **(dict.fromkeys(("identifier", "sameAs"), f"https://doi.org/{entry.doi}") if entry.doi else {}),
        **({"datePublished": published_on(entry)} if published_on(entry) else {}),
        **({"dateModified": dates[0]} if dates else {}),
        "distribution": files,
        "recordSet": [
            {"@type": "cr:RecordSet", "@id": "jobs", "name": "jobs", "field": _fields(trace, table)}
        ],
    }


def description(entry: CatalogueEntry) -> str:
    """Return what a trace is of; of one that a model made, first that it is."""
    return f"{SYNTHETIC_LABEL}. {entry.system}" if entry.synthetic else entry.system


def _fields(trace: PublishedTrace, table: str) -> list[dict[str, Any]]:
    return [
        {
            "@type": "cr:Field",
            "@id": f"jobs/{field.name}",
            "name": field.name,
            "description": field.meaning + (f" ({field.unit})" if field.unit else ""),
            "dataType": "sc:Text" if field.is_text else "sc:Integer" if field.is_whole else "sc:Float",
            "source": {"fileObject": {"@id": table}, "extract": {"column": field.name}},
        }
        for field in columns_of(trace)
    ]


def columns_of(trace: PublishedTrace) -> list[Field]:
    """Return the fields that are columns of a trace in Parquet."""
    return [field for field in FIELDS if field.name not in EXTENSION_NAMES or trace.shares.get(field.title)]


def as_script(value: object) -> str:
    """Return JSON that cannot end the script element that contains it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def feed(catalogue: Catalogue) -> str:
    """Return the changes of all traces as RSS 2.0, the newest first."""
    changes = [(change, entry) for entry in catalogue.entries for change in entry.changes]
    changes.sort(key=lambda pair: (pair[0].date, pair[1].id), reverse=True)
    items = "".join(
        f"<item><title>{_xml(entry.title + ': ' + change.text)}</title>"
        f"<link>{_xml(catalogue.url)}traces/{entry.id}/</link>"
        f'<guid isPermaLink="false">{entry.id}-{change.date}-{place}</guid>'
        f"<pubDate>{_at_midnight(change.date)}</pubDate></item>\n"
        for place, (change, entry) in enumerate(changes)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>'
        f"<title>{_xml(catalogue.title)}</title><link>{_xml(catalogue.url)}</link>"
        f"<description>{_xml(catalogue.about)}</description>\n{items}</channel></rss>\n"
    )


def sitemap(catalogue: Catalogue, pages: Sequence[str]) -> str:
    """Return the addresses of all pages, for search engines."""
    lines = "".join(f"<url><loc>{_xml(catalogue.url + page)}</loc></url>\n" for page in pages)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{lines}</urlset>\n'
    )


def _at_midnight(day: date) -> str:
    return format_datetime(datetime.combine(day, time(), UTC), usegmt=True)


def _xml(text: str) -> str:
    return escape("".join(character for character in text if character >= " " or character in "\n\t"))
