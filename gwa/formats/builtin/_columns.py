"""What formats share that hold a table of jobs: names of columns, metadata, and cleaning at the door."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gwa.errors import OutputError
from gwa.ingest.counting import RowCounts
from gwa.ingest.source.compressed import SUFFIXES, Source
from gwa.ingest.source.head import FileHead
from gwa.store.schema import FIELDS

NEEDED: Final = ("submit_time", "run_time")
"""A table that has neither of these columns is no table of jobs."""

EXPECTED: Final = "expected the columns of GWF, SubmitTime or RunTime at least"


def _plain(title: str) -> str:
    return "".join(letter for letter in title.casefold() if letter.isalnum())


_KNOWN: Final = {
    _plain(title): field.name for field in FIELDS for title in (field.name, field.title, *field.aliases)
}


def fields_of(columns: Sequence[str]) -> dict[str, int]:
    """
    Return which field stands in which of the *columns*, whatever edition of the archive names them.

    >>> fields_of(["JobID", "Used Memory", "colour", "submit_time"])
    {'job_id': 0, 'used_memory': 1, 'submit_time': 3}

    Raise `ValueError` for a table that is none of jobs, or that has a field twice.
    """
    found: dict[str, int] = {}
    for place, column in enumerate(columns):
        field = _KNOWN.get(_plain(column))
        if field in found:
            raise ValueError(f"its columns {columns[found[field]]} and {column} are the same field")
        if field:
            found[field] = place
    if not any(field in found for field in NEEDED):
        shown = ", ".join(columns)[:100]
        raise ValueError(f"is a table of other things ({shown}); {EXPECTED}")
    return found


def is_packed(head: FileHead) -> bool:
    """Whether the file is compressed: a table has to be unpacked before a database can read it."""
    with head.path.open("rb") as file:
        return file.read(8) != head.data[:8]


def sources(heads: Sequence[FileHead], counts: Sequence[RowCounts]) -> list[tuple[object, ...]]:
    """Return the rows for the store's table of sources."""
    found: list[tuple[object, ...]] = []
    for head, count in zip(heads, counts, strict=True):
        source = Source(head.path)
        try:
            found.append(
                (head.path.name, source.size, source.sha256(), count.rows, count.comments, count.rejected)
            )
        finally:
            source.close()
    return found


def refuse_packed_name(path: Path) -> None:
    """Raise `OutputError` for an output that is to be compressed, although it already is inside."""
    if path.suffix.lower() in SUFFIXES:
        message = f"{path}: this format is not compressed as a whole, expected a name without {path.suffix}"
        raise OutputError(message)
