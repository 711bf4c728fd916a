"""Requests to language models as a table with commas: how such a file is written."""

from pathlib import Path
from typing import Final

from gwa.formats.builtin._write_text import write_lines
from gwa.ingest.requests import ENCODING
from gwa.store.requests import REQUEST_FIELDS, recorded
from gwa.store.schema import Field
from gwa.store.store import Store
from gwa.util.spreadsheet import FORMULA

ENCODED: Final = {"%": "%25", ",": "%2C", '"': "%22", "\n": "%0A", "\r": "%0D"}
"""How signs of names are written that would part cells or lines."""

ALWAYS: Final = ("submit_time", "tokens_in", "tokens_out")
"""Columns that stand in every file; others only where a request has a value."""


def write(store: Store, path: Path) -> None:
    """Write the requests in their order, with the header in comments."""
    known = recorded(store)
    fields = [field for field in REQUEST_FIELDS[1:] if field.name in ALWAYS or known[field.name]]
    comments = [f"# {key}: {value}" for key, value in (*store.header, (ENCODING, "percent"))]
    cells = ", ".join(f"coalesce({_cell(field)}, '')" for field in fields)
    write_lines(
        store,
        path,
        [*comments, ",".join(field.name for field in fields)],
        f"select concat_ws(',', {cells}) as line from requests order by request_id",
    )


def _cell(field: Field) -> str:
    """Return the SQL for the text of a value."""
    if field.name == "submit_time":
        return "cast(cast(submit_time as decimal(18, 6)) as varchar)"
    if field.name == "blocks":
        return "array_to_string(blocks, ' ')"
    if not field.is_text:
        return f"cast({field.name} as varchar)"
    text = field.name
    for sign, code in ENCODED.items():
        text = f"replace({text}, {_quoted(sign)}, '{code}')"
    return (
        f"case when regexp_matches({field.name}, '{FORMULA}')"
        f" then format('%{{:02X}}', ord({text})) || substr({text}, 2) else {text} end"
    )


def _quoted(sign: str) -> str:
    """Return a sign as SQL."""
    return f"'{sign}'" if sign.isprintable() else f"chr({ord(sign)})"


WRITER = ("requests", write)
