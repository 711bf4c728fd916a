"""What a file seems to be, in words, for messages on files of unknown formats."""

import json
import re
from collections.abc import Sequence
from typing import Final

from gwa.ingest.source.head import FileHead

SIGNATURES: Final = {
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "a SQLite database",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x7fELF": "a program",
    b"\x89HDF": "an HDF5 file",
    b"ARROW1": "an Arrow file",
    b"Obj\x01": "an Avro file",
}
"""The first bytes of other kinds of files."""

DELIMITERS: Final = {",": "commas", "\t": "tabs", "|": "bars", ";": "semicolons", ":": "colons"}

MINIMUM_ROWS: Final = 3
"""The number of rows without a delimiter below which blank-separated cells may be chance: that is text."""

MAXIMUM_NAMES: Final = 6
"""The number of names of columns that are shown."""

YAML_OF_SACCT: Final = re.compile(r'^"?jobs"?:\s*$', re.MULTILINE)
NAME: Final = re.compile(r'"?[A-Za-z_][\w .()/%-]{0,40}"?')
ELEMENT: Final = re.compile(r"<(?!\?|!)(?:[\w.-]+:)?([\w.-]{1,40})")


def appearance(head: FileHead) -> str:
    """Return what a file seems to be, such as ``CSV with columns name, age``."""
    for signature, kind in SIGNATURES.items():
        if head.data.startswith(signature):
            return kind
    if head.is_binary:
        return "binary data"
    rows = head.rows()
    if not rows:
        return "blank lines"
    return _as_json(rows) or _as_yaml(rows) or _as_xml(rows) or _as_table(rows) or _as_lines(head, rows)


def _as_json(rows: Sequence[str]) -> str | None:
    if rows[0].lstrip()[:1] not in {"{", "["}:
        return None
    try:
        value = json.loads(rows[0])
    except (ValueError, RecursionError):
        return "JSON" if rows[0].strip() in {"{", "[", "[{"} else None
    return f"JSON lines with keys {_names(list(value))}" if isinstance(value, dict) and value else "JSON"


def _as_yaml(rows: Sequence[str]) -> str | None:
    if rows[0].strip() != "---" and not YAML_OF_SACCT.match(rows[0]):
        return None
    text = "\n".join(rows)
    is_of_sacct = YAML_OF_SACCT.search(text) and "job_id" in text
    return "YAML of sacct, which is read as JSON only: use sacct --json" if is_of_sacct else "YAML"


def _as_xml(rows: Sequence[str]) -> str | None:
    if not rows[0].lstrip().startswith("<"):
        return None
    element = ELEMENT.search("\n".join(rows[:20]))
    return f"XML of elements such as {element[1]}" if element else "XML"


def _as_table(rows: Sequence[str]) -> str | None:
    """Return what a table with one delimiter is: its columns by name, or their number."""
    for delimiter, word in DELIMITERS.items():
        widths = [row.count(delimiter) + 1 for row in rows]
        width = widths[0]
        if width > 1 and 2 * widths.count(width) > len(widths):
            cells = [cell.strip() for cell in rows[0].split(delimiter)]
            if sum(bool(NAME.fullmatch(cell)) for cell in cells) * 2 > len(cells) and len(rows) > 1:
                kind = "CSV" if delimiter in ",;" else f"a table parted by {word}"
                return f"{kind} with columns {_names(cells)}"
            return f"a table of {width} columns parted by {word}, without names"
    return None


def _as_lines(head: FileHead, rows: Sequence[str]) -> str:
    widths = [len(row.split()) for row in rows]
    width = widths[0]
    if width > 1 and len(rows) >= MINIMUM_ROWS and 10 * widths.count(width) >= 9 * len(widths):
        return f"a table of {width} columns parted by blanks"
    return "Markdown" if head.name.lower().endswith(".md") else "text"


def _names(names: Sequence[str]) -> str:
    shown = [" ".join(name.strip('"').split())[:40] for name in names[:MAXIMUM_NAMES]]
    return ", ".join(shown) + (", …" if len(names) > MAXIMUM_NAMES else "")
