"""
A trace as a folder of Parquet files, one for each month: for storage and engines of many machines.

The jobs stand in ``year=2007/month=03/jobs.parquet``, as Hive and what came after it expect: by the month
of their submission in UTC, those without one in ``year=0/month=00``. There ``trace.parquet`` has no job,
but the note on the whole. Each month by itself is a trace as well.
"""

import json
from pathlib import Path
from typing import Final

from gwa.errors import OutputError
from gwa.formats.builtin._parquet import columns, relation
from gwa.store.engines.duckdb import literal
from gwa.store.metadata import KEY, pack
from gwa.store.store import Store
from gwa.util.atomic import whole

MONTH: Final = "try(strftime(epoch_ms(cast(submit_time * 1000 as bigint)), '%Y-%m'))"
"""The month of a submission, in UTC; NULL where there is none, or none that a calendar has."""

UNDATED: Final = "0-00"


def write(store: Store, folder: Path) -> None:
    """Write the jobs month by month, in order of submission; raise `OutputError` where there is a folder."""
    if folder.exists():
        raise OutputError(f"{folder}: is there already, expected the name of a new folder")
    months = store.rows(
        f"select coalesce({MONTH}, '{UNDATED}') as month from jobs group by month order by month"
    )
    note = json.loads(pack(store))
    said = json.dumps({"header": note["header"], "provenance": {}}, ensure_ascii=False)
    with whole(folder) as part:
        part.mkdir()
        for (month,) in months:
            place = _place(part, month)
            where = f"{MONTH} is null" if month == UNDATED else f"{MONTH} = {literal(month)}"
            _copy(store, where, place / "jobs.parquet", said)
        _copy(store, "false", _place(part, UNDATED) / "trace.parquet", pack(store))


def _place(folder: Path, month: str) -> Path:
    """Return the folder of a month, which is made if need be."""
    year, number = month.rsplit("-", 1)
    place = folder / f"year={year}" / f"month={number}"
    place.mkdir(parents=True, exist_ok=True)
    return place


def _copy(store: Store, where: str, path: Path, note: str) -> None:
    """Write the jobs of which *where* is true, with a *note*."""
    jobs = f"(select * from jobs where {where})"
    store.connection.execute(
        f"copy ({relation(jobs, columns(store))}) to $path"
        f" (format parquet, compression zstd, kv_metadata {{{KEY}: $note}})",
        {"path": str(path), "note": note},
    )
