"""
A trace as a folder of Parquet files, one per month, for object storage and distributed engines.

Jobs are in ``year=2007/month=03/jobs.parquet`` (the layout of Hive) by the month of their submission in UTC,
those without a submit time in ``year=0/month=00``. ``trace.parquet`` there has no jobs, but the metadata of
the whole trace. The file of each month is a trace as well.
"""

import json
import re
from pathlib import Path
from typing import Final

from gwa.formats.builtin._parquet import write_sealed
from gwa.store.engines.duckdb import literal
from gwa.store.metadata import pack
from gwa.store.store import Store
from gwa.util.atomic_swap import replacing

MONTH_SQL: Final = "try(strftime(epoch_ms(cast(submit_time * 1000 as bigint)), '%Y-%m'))"
"""The month of submission in UTC; NULL if there is no submit time, or none in the calendar."""

UNDATED: Final = "0-00"

METADATA_FILE: Final = "trace.parquet"

NAMES: Final = re.compile(r"year=\d+(/month=\d\d(/(jobs|trace)\.parquet)?)?")
"""The names of all folders and files of a trace by months."""


def is_monthly(folder: Path) -> bool:
    """Whether *folder* is a trace by months and holds nothing else, so that it may be replaced."""
    paths = [path.relative_to(folder).as_posix() for path in folder.rglob("*")]
    return f"year=0/month=00/{METADATA_FILE}" in paths and all(map(NAMES.fullmatch, paths))


def write(store: Store, folder: Path) -> None:
    """
    Write the jobs month by month, in order of submission.

    An earlier trace by months is replaced in one step. Raise `OutputError` if *folder* holds anything else.
    """
    months = store.rows(
        f"select coalesce({MONTH_SQL}, '{UNDATED}') as month from jobs group by month order by month"
    )
    header = json.loads(pack(store))["header"]
    note = json.dumps({"header": header, "provenance": {}}, ensure_ascii=False)
    with replacing(folder, is_monthly) as (part, _):
        for (month,) in months:
            path = _month_folder(part, month) / "jobs.parquet"
            where = f"{MONTH_SQL} is null" if month == UNDATED else f"{MONTH_SQL} = {literal(month)}"
            _write_jobs(store, where, path, note)
        _write_jobs(store, "false", _month_folder(part, UNDATED) / METADATA_FILE, pack(store))


def _month_folder(folder: Path, month: str) -> Path:
    """Return the folder of a month, created if necessary."""
    year, number = month.rsplit("-", 1)
    month_folder = folder / f"year={year}" / f"month={number}"
    month_folder.mkdir(parents=True, exist_ok=True)
    return month_folder


def _write_jobs(store: Store, where: str, path: Path, note: str) -> None:
    """Write the jobs that satisfy the condition *where*, with a *note* as metadata."""
    write_sealed(store, f"(select * from jobs where {where})", path, note)
