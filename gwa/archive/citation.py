"""Citations of a trace of the archive: BibTeX and RIS."""

import re
from typing import Final

from gwa.archive.catalogue import CatalogueEntry, published_on

TEX_SPECIAL: Final = re.compile(r"[\\{}$&#_%~^]")


def bibtex(entry: CatalogueEntry, url: str) -> str:
    """Return an entry of a BibTeX file; characters special to TeX are escaped."""
    fields = {
        "title": f"{{{_tex(_title(entry))}}}",
        "author": f"{{{_tex(entry.provider)}}}",
        "year": _year(entry),
        "howpublished": f"\\url{{{_tex(url)}}}" if url else "",
        "doi": entry.doi,
        "note": _tex(entry.citation),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@misc{{{entry.id},\n" + ",\n".join(lines) + "\n}\n"


def ris(entry: CatalogueEntry, url: str) -> str:
    """Return a record in the RIS format, of one line for each field."""
    fields = (
        ("TY", "DATA"),
        ("TI", _title(entry)),
        ("AU", entry.provider),
        ("PY", _year(entry)),
        ("DO", entry.doi),
        ("UR", url),
        ("N1", entry.citation),
        ("ER", ""),
    )
    return "".join(f"{tag}  - {_one_line(value)}\r\n" for tag, value in fields if value or tag == "ER")


def _year(entry: CatalogueEntry) -> str:
    return str(entry.year) if entry.year else published_on(entry)[:4]


def _title(entry: CatalogueEntry) -> str:
    return (
        f"{entry.title} (synthetic workload trace)" if entry.synthetic else f"{entry.title} (workload trace)"
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _tex(text: str) -> str:
    replacements = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return TEX_SPECIAL.sub(lambda match: replacements.get(match[0], "\\" + match[0]), _one_line(text))
