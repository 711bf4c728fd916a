"""Shared by formats that hold a table of jobs: names of columns, rows on source files, and checks."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from gwa.errors import OutputError, TraceError
from gwa.ingest.counting import RowCounts
from gwa.ingest.source.compressed import SUFFIXES, Source
from gwa.ingest.source.head import FileHead
from gwa.store.schema import FIELDS
from gwa.store.store import Store
from gwa.util.filenames import as_text, is_text

REQUIRED_FIELDS: Final = ("submit_time", "run_time")
"""A table without all of these fields is not a table of jobs."""

EXPECTED: Final = "expected columns named as in GWF, SubmitTime and RunTime at least"

MAXIMUM_SHOWN: Final = 10
"""The number of columns that are named where more are not read."""


def _normalized(title: str) -> str:
    return "".join(letter for letter in title.casefold() if letter.isalnum())


_FIELD_OF_TITLE: Final = {
    _normalized(title): field.name for field in FIELDS for title in (field.name, field.title, *field.aliases)
}


def fields_of(columns: Sequence[str]) -> dict[str, int]:
    """
    Map fields to positions in *columns*, which may have the names of any edition of the archive.

    >>> fields_of(["JobID", "Used Memory", "colour", "submit_time", "RunTime"])
    {'job_id': 0, 'used_memory': 1, 'submit_time': 3, 'run_time': 4}

    Raise `ValueError` if it is not a table of jobs, or has a field twice.
    """
    positions: dict[str, int] = {}
    for position, column in enumerate(columns):
        field = _FIELD_OF_TITLE.get(_normalized(column))
        if field in positions:
            raise ValueError(f"its columns {columns[positions[field]]} and {column} are the same field")
        if field:
            positions[field] = position
    if not all(field in positions for field in REQUIRED_FIELDS):
        shown = ", ".join(columns)[:100]
        raise ValueError(f"is a table of other things ({shown}); {EXPECTED}")
    return positions


def note_ignored(store: Store, columns: Sequence[str], positions: Mapping[str, int], jobs: int) -> None:
    """Record as a repair the names of *columns* that are not fields, and therefore are not read."""
    ignored = [name for position, name in enumerate(columns) if position not in positions.values()]
    if ignored:
        names = ", ".join(ignored[:MAXIMUM_SHOWN]) + (", …" if len(ignored) > MAXIMUM_SHOWN else "")
        store.repaired("columns not read", f"{names}: no fields of GWF have these names", jobs)


def is_packed(head: FileHead) -> bool:
    """
    Whether the file is compressed: a database cannot read it then.

    Raise `TraceError` if it cannot be opened by its name.
    """
    if not is_text(str(head.path)):
        raise TraceError(f"{head.path}: its name is not UTF-8, which databases cannot open: rename it")
    with head.path.open("rb") as file:
        return file.read(8) != head.data[:8]


def source_rows(heads: Sequence[FileHead], counts: Sequence[RowCounts]) -> list[tuple[object, ...]]:
    """Return the rows of the files behind *heads* for the store's table of sources."""
    rows: list[tuple[object, ...]] = []
    for head, count in zip(heads, counts, strict=True):
        with closing(Source(head.path)) as source:
            file = as_text(head.path.name), source.size, source.sha256()
        rows.append((*file, count.rows, count.comments, count.rejected, None))
    return rows


def refuse_packed_name(path: Path) -> None:
    """Raise `OutputError` if *path* has a compression suffix, since the format compresses its own data."""
    if path.suffix.lower() in SUFFIXES:
        message = f"{path}: this format is not compressed as a whole, expected a name without {path.suffix}"
        raise OutputError(message)
