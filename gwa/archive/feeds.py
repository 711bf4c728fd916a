"""What machines read of an archive: its catalogue, feeds, and descriptions of data sets."""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Any, Final
from xml.sax.saxutils import escape

from gwa.archive.catalogue import Catalogue
from gwa.archive.publish import LABEL
from gwa.archive.published import PublishedTrace
from gwa.store.schema import FIELDS
from gwa.util.version import __version__

CONTEXT: Final = {
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "sc": "https://schema.org/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "column": "cr:column",
    "source": "cr:source",
    "recordSet": "cr:recordSet",
    "citeAs": "cr:citeAs",
}
KINDS: Final = {
    "GWF": "text/plain",
    "Parquet": "application/vnd.apache.parquet",
    "SQLite": "application/vnd.sqlite3",
    "SWF": "text/plain",
    "DuckDB": "application/octet-stream",
}


def catalog(catalogue: Catalogue, holdings: Sequence[PublishedTrace]) -> str:
    """Return ``catalog.json``: every trace with its facts and downloads, by paths relative to the file."""
    traces = []
    for one in holdings:
        entry = one.entry
        said: dict[str, Any] = {
            "id": entry.id,
            "title": entry.title,
            "synthetic": entry.synthetic,
            "provider": entry.provider,
            "licence": entry.licence,
            "citation": entry.citation,
            "page": f"traces/{entry.id}/index.html",
        }
        if one.wrong:
            traces.append(said | {"wrong": one.wrong})
            continue
        downloads = [{**file, "file": f"traces/{entry.id}/{file['file']}"} for file in one.about["downloads"]]
        numbers = {name: value for name, value in one.facts.items() if isinstance(value, int | float)}
        traces.append(said | {"facts": numbers, "fields": one.shares, "downloads": downloads})
    whole = {
        "generator": f"gwa {__version__}",
        "title": catalogue.title,
        "url": catalogue.url,
        "traces": traces,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def dataset(catalogue: Catalogue, one: PublishedTrace) -> dict[str, Any]:
    """Return a trace as a schema.org Dataset in the terms of Croissant 1.0."""
    entry, base = one.entry, f"{catalogue.url}traces/{one.entry.id}/" if catalogue.url else ""
    files = [
        {
            "@type": "cr:FileObject",
            "@id": file["file"],
            "name": file["file"],
            "contentUrl": base + file["file"],
            "contentSize": f"{file['bytes']} B",
            "encodingFormat": KINDS[file["format"]],
            "sha256": file["sha256"],
        }
        for file in one.about["downloads"]
    ]
    table = next(file["@id"] for file in files if file["@id"].endswith(".parquet"))
    about = f"{LABEL}. {entry.system}" if entry.synthetic else entry.system
    dates = [change.date.isoformat() for change in entry.changes]
    return {
        "@context": CONTEXT,
        "@type": "Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": one.about["name"],
        "alternateName": one.about["title"],
        "description": about,
        "license": entry.licence,
        "citeAs": entry.citation,
        "creator": {"@type": "Organization", "name": entry.provider},
        **({"url": base} if base else {}),
        **({"datePublished": dates[-1], "dateModified": dates[0]} if dates else {}),
        "distribution": files,
        "recordSet": [{"@type": "cr:RecordSet", "@id": "jobs", "name": "jobs", "field": _fields(table)}],
    }


def _fields(table: str) -> list[dict[str, Any]]:
    return [
        {
            "@type": "cr:Field",
            "@id": f"jobs/{one.name}",
            "name": one.name,
            "description": one.meaning + (f" ({one.unit})" if one.unit else ""),
            "dataType": "sc:Text" if one.is_text else "sc:Integer" if one.is_whole else "sc:Float",
            "source": {"fileObject": {"@id": table}, "extract": {"column": one.name}},
        }
        for one in FIELDS
    ]


def as_script(said: object) -> str:
    """Return JSON that may stand in a script element: it cannot end it."""
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


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
    return escape("".join(sign for sign in text if sign >= " " or sign in "\n\t"))
