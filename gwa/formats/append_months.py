"""
Append logs to a trace that is a folder of Parquet files, one per month.

A store of the same trace stays beside the folder, in ``NAME.rows``: logs are appended to it as to any other,
and the folder is written again from it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gwa.errors import OutputError
from gwa.formats.append import append
from gwa.formats.convert import convert
from gwa.formats.monthly import is_monthly
from gwa.formats.open import open_trace
from gwa.formats.registry import monthly, writer
from gwa.ingest.checkpoint import owned_rows
from gwa.ingest.inputs import expand
from gwa.store.account import Account
from gwa.store.options import ReadOptions
from gwa.util.exclusive import exclusive
from gwa.util.protection import protected


def append_by_month(
    paths: Sequence[Path],
    out: Path,
    *,
    name: str | None = None,
    options: ReadOptions | None = None,
    command: str = "",
    tell: Callable[[str], object] = len,
    since_last: bool = False,
) -> tuple[Account, list[Path]]:
    """
    Append the logs in *paths* to the folder *out* as `append` does to a store.

    The folder is created if it does not exist. Raise `OutputError` for a folder that is no trace by months.
    """
    target, options = monthly(writer(out), out), options or ReadOptions()
    if out.exists() and not is_monthly(out):
        raise OutputError(f"{out}: is no trace by months, expected one of gwa convert --partition month")
    with protected(expand(paths)), exclusive(out), owned_rows(out) as rows:
        store = rows.store
        is_new = not store.exists()
        try:
            if is_new and out.exists():
                convert([out], store, options=ReadOptions(engine=options.engine))
            account, repeated = append(
                paths, store, name=name, options=options, command=command, tell=tell, since_last=since_last
            )
        except BaseException:
            if is_new:
                rows.drop()
            raise
        if not out.exists() or _sources([store], options) != _sources([out], options):
            with open_trace([store], options=ReadOptions(engine=options.engine)) as trace:
                target.save(trace, out)
    return account, repeated


def _sources(paths: Sequence[Path], options: ReadOptions) -> set[tuple[Any, ...]]:
    """Return what the trace in *paths* says of the logs that it was made of."""
    with open_trace(paths, options=ReadOptions(engine=options.engine)) as store:
        return set(store.rows("select sha256, rows, rejected from sources"))
