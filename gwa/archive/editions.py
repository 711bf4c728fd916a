"""
The editions of a published trace: what differs between the jobs of one and of the next.

Jobs are the same where they have the same number. What differs is counted in the files that were published,
so that an edition says what changed even where its keeper wrote nothing. A change of the catalogue, such as
another citation, makes no edition.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import duckdb

from gwa.archive.catalogue import CatalogueEntry
from gwa.store.engines.duckdb import literal
from gwa.store.schema import FIELDS

FIELD_NAMES: Final = {field.name for field in FIELDS}

TRACE_FILE: Final = "trace.json"
"""The file with the facts of a trace for its pages; it is written last."""


@dataclass(frozen=True)
class EditionDifference:
    """
    How the jobs of an edition differ from those before.

    *changed* are jobs of both whose values differ, by the column; *new_columns* are recorded by jobs of the
    later edition only, *lost_columns* by those of the earlier one.
    """

    added: int = 0
    removed: int = 0
    repaired: int = 0
    changed: Mapping[str, int] | None = None
    new_columns: Sequence[str] = ()
    lost_columns: Sequence[str] = ()

    def __bool__(self) -> bool:
        return any((self.added, self.removed, self.repaired, self.new_columns, self.lost_columns))


def editions(entry: CatalogueEntry, table: Path, previous: Path | None) -> list[dict[str, Any]]:
    """
    Return the editions of a trace, the newest first, whose jobs are in *table*, a file of Parquet.

    *previous* is the folder in which it was published before. The version of an edition is the number of
    changes that the catalogue lists, then that of editions since that differ without such a change.
    """
    before, earlier = _published(previous)
    found = _difference(earlier, table) if earlier else EditionDifference()
    major, minor = max(len(entry.changes), 1), 0
    if before:
        last_major, last_minor, _ = map(int, before[0]["version"].split("."))
        if last_major == major:
            if not found:
                return before
            minor = last_minor + 1
    date = entry.changes[0].date.isoformat() if entry.changes else ""
    edition = {"version": f"{major}.{minor}.0", "date": date, "jobs": _count(table)}
    return [edition | ({"difference": asdict(found)} if earlier else {}), *before]


def described(difference: Mapping[str, Any]) -> str:
    """
    Return in words how an edition differs from the one before.

    >>> described({"added": 3, "repaired": 1, "changed": {"run_time": 1}, "new_columns": ["qos"]})
    '3 jobs added, 1 repaired (run_time: 1), now recorded: qos'
    >>> described({})
    'the same jobs'
    """
    changed = ", ".join(f"{name}: {count:,}" for name, count in (difference.get("changed") or {}).items())
    parts = [
        _jobs(difference.get("added", 0), "added"),
        _jobs(difference.get("removed", 0), "removed"),
        f"{difference['repaired']:,} repaired ({changed})" if difference.get("repaired") else "",
        f"now recorded: {', '.join(difference['new_columns'])}" if difference.get("new_columns") else "",
        f"no longer recorded: {', '.join(difference['lost_columns'])}"
        if difference.get("lost_columns")
        else "",
    ]
    return ", ".join(filter(None, parts)) or "the same jobs"


def _jobs(count: int, what: str) -> str:
    return f"{count:,} job{'s' if count > 1 else ''} {what}" if count else ""


def _published(folder: Path | None) -> tuple[list[dict[str, Any]], Path | None]:
    """Return the editions of what is published in *folder*, and the file of the newest; none if unknown."""
    if folder is None:
        return [], None
    try:
        about = json.loads((folder / TRACE_FILE).read_text(encoding="utf-8"))
        name = next(file["file"] for file in about["downloads"] if file["file"].endswith(".parquet"))
    except (OSError, ValueError, LookupError, TypeError, StopIteration):
        return [], None
    return list(about.get("editions", ())), folder / name if (folder / name).is_file() else None


def _count(table: Path) -> int:
    with duckdb.connect() as engine:
        ((jobs,),) = engine.execute(f"select count(*) from {_read(table)}").fetchall()
    return int(jobs)


def _read(table: Path) -> str:
    return f"read_parquet({literal(str(table))})"


def _difference(earlier: Path, later: Path) -> EditionDifference:
    """Return how the jobs of two files of Parquet differ."""
    with duckdb.connect() as engine:
        recorded = [_recorded(engine, path) for path in (earlier, later)]
        both = sorted(recorded[0] & recorded[1] - {"job_id"})
        differs = [f"(old.{name} is distinct from new.{name})" for name in both]
        counts = ["count(*) filter (old.job_id is null)", "count(*) filter (new.job_id is null)"]
        counts += [
            f"count(*) filter (shared and {one})"
            for one in (f"({' or '.join(differs) or 'false'})", *differs)
        ]
        ((added, removed, repaired, *changed),) = engine.execute(
            f"select {', '.join(counts)} from (select old, new,"
            " old.job_id is not null and new.job_id is not null as shared"
            f" from {_read(earlier)} as old full join {_read(later)} as new using (job_id))"
        ).fetchall()
    return EditionDifference(
        added,
        removed,
        repaired,
        {name: count for name, count in zip(both, changed, strict=True) if count},
        sorted(recorded[1] - recorded[0]),
        sorted(recorded[0] - recorded[1]),
    )


def _recorded(engine: duckdb.DuckDBPyConnection, table: Path) -> set[str]:
    """Return the columns of a file in which some job has a value."""
    described = engine.execute(f"describe from {_read(table)}").fetchall()
    names = [name for name, *_ in described if name in FIELD_NAMES]
    counts = engine.execute(f"select {', '.join(map('count({})'.format, names))} from {_read(table)}")
    return {name for name, count in zip(names, counts.fetchall()[0], strict=True) if count}
