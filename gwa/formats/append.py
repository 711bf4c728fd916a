"""
Append logs, such as those of another month, to a store: the result equals a conversion of all logs.

A job that is incomplete at the end of a log is completed by another one, whatever their order. For this the
rows of all logs are kept in a checkpoint beside the store, a folder ``NAME.rows``, and are mapped again.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gwa.errors import OutputError, TraceError
from gwa.formats.convert import convert_in_place, rows_folder
from gwa.formats.registry import writer
from gwa.ingest.checkpoint import locked
from gwa.ingest.inputs import expand
from gwa.ingest.source.compressed import Source
from gwa.store.account import Account
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util.atomic import writable
from gwa.util.protection import protected


def append(
    paths: Sequence[Path],
    out: Path,
    *,
    name: str | None = None,
    options: ReadOptions | None = None,
    command: str = "",
) -> tuple[Account, list[Path]]:
    """
    Append the logs in *paths* to the store *out*, and return its account and the logs that were in it before.

    The store is created if it does not exist. A log that is in the store already changes nothing, even under
    another name. The old store stays in place until the new one is complete. Raise `OutputError` if *out* is
    not a store, `TraceError` if the rows of a store were not kept.
    """
    if writer(out).name != "duckdb":
        raise OutputError(f"{out}: only a store can be appended to, expected a name such as trace.duckdb")
    writable(out)
    options, files, folder = options or ReadOptions(), expand(paths), rows_folder(out)
    stored, account, commands = _stored_logs(out, options)
    skipped = _skipped_files(out, options)
    if stored and not folder.is_dir():
        message = f"{out}: its rows were not kept, in {folder.name}: convert all logs anew, with --append"
        raise TraceError(message)
    passed_over = {str(digest): int(str(size)) for _, size, digest, *_ in skipped}
    files = [path for path in files if not _is_stored(path, passed_over)]
    new = [path for path in files if not _is_stored(path, stored)]
    already_stored = [path for path in files if path not in new]
    if not new:
        return account, already_stored
    with protected(files), locked(folder, permanent=True, has_store=bool(stored)):
        options = replace(options, rows_folder=folder, stored_hashes=tuple(stored), stored_skips=skipped)
        history = " && ".join([*commands, command] if command else commands)
        skip_unknown = any(path.is_dir() for path in paths)
        account = convert_in_place(new, out, name, options, history, skip_unknown=skip_unknown)
    return account, already_stored


def _stored_logs(out: Path, options: ReadOptions) -> tuple[dict[str, int], Account, list[str]]:
    """Return the hashes and sizes of the logs in a store, its account, and the command that made it."""
    if not out.exists():
        return {}, Account(0, 0, 0, 0, 0), []
    with Store.open(out, options.engine) as store:
        logs = dict(store.rows("select sha256, bytes from sources where skipped is null"))
        if not logs:
            raise TraceError(f"{out}: was not made of logs, which others could follow")
        command = store.provenance.get("convert")
        return logs, store.account, [command] if command else []


def _skipped_files(out: Path, options: ReadOptions) -> list[tuple[object, ...]]:
    """Return the rows of a store's sources on files that were skipped."""
    if not out.exists():
        return []
    with Store.open(out, options.engine) as store:
        return store.rows("from sources where skipped is not null order by all")


def _is_stored(path: Path, stored: dict[str, int]) -> bool:
    """Whether a log is one of those *stored*, given as sizes by hash."""
    source = Source(path)
    try:
        return source.size in stored.values() and source.sha256() in stored
    finally:
        source.close()
