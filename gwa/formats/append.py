"""
Append logs, such as those of another month, to a store: the result equals a conversion of all logs.

A job that is incomplete at the end of a log is completed by another one, whatever their order. For this the
rows of all logs are kept in a checkpoint beside the store, a folder ``NAME.rows``. Of these only those are
mapped again that share the key of a job with new ones, where the format says what that is: see
`gwa.ingest.appending`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gwa.errors import GwaError, OutputError, RebuildNeeded, TraceError
from gwa.formats.convert import convert_in_place
from gwa.formats.registry import writer
from gwa.ingest.checkpoint import owned_rows
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
    tell: Callable[[str], object] = len,
) -> tuple[Account, list[Path]]:
    """
    Append the logs in *paths* to the store *out*, and return its account and the logs that were in it before.

    The store is created if it does not exist. A log that is in the store already changes nothing, even under
    another name. The old store stays in place until the new one is complete. Where all rows of its logs have
    to be mapped again, *tell* is called with the reason. Raise `OutputError` if *out* is
    not a store, `TraceError` if the rows of a store were not kept.
    """
    if writer(out).name != "duckdb":
        raise OutputError(f"{out}: only a store can be appended to, expected a name such as trace.duckdb")
    writable(out)
    options, files = options or ReadOptions(), expand(paths)
    skip_unknown = any(path.is_dir() for path in paths)
    with protected(files), owned_rows(out) as rows:
        try:
            stored, account, commands, stated = _stored_logs(out, options)
            options = replace(options, format_options={**stated, **options.format_options})
            if stored and not rows.kept.is_dir():
                message = (
                    f"{out}: its rows were not kept beside it: convert all logs to a new store, with --append"
                )
                raise TraceError(message)
            skipped = _skipped_files(out, options)
            passed_over = {str(digest): int(str(size)) for _, size, digest, *_ in skipped}
            files = [path for path in files if not _is_stored(path, passed_over)]
            new = [path for path in files if not _is_stored(path, stored)]
            if new:
                options = replace(
                    options, rows_folder=rows.kept, stored_hashes=tuple(stored), stored_skips=skipped
                )
                history = " && ".join([*commands, command] if command else commands)
                account = _convert(new, out, name, options, history, tell, skip_unknown=skip_unknown)
            rows.drop_unfinished()
        except GwaError:
            if not (out.exists() and rows.kept.is_dir()):
                rows.drop()
            raise
    return account, [path for path in files if path not in new]


def _convert(
    files: Sequence[Path],
    out: Path,
    name: str | None,
    options: ReadOptions,
    command: str,
    tell: Callable[[str], object],
    *,
    skip_unknown: bool,
) -> Account:
    """Append *files* to the store *out* by the jobs that they change, or else make it anew of all rows."""
    if options.stored_hashes:
        try:
            by_keys = replace(options, appends=True)
            return convert_in_place(files, out, name, by_keys, command, skip_unknown=skip_unknown)
        except RebuildNeeded as reason:
            tell(str(reason))
    return convert_in_place(files, out, name, options, command, skip_unknown=skip_unknown)


def _stored_logs(
    out: Path, options: ReadOptions
) -> tuple[dict[str, int], Account, list[str], dict[str, str]]:
    """
    Return the hashes and sizes of the logs in a store, its account, the command that made it, and its map.

    The map says which columns of tables are what, as an option of their format.
    """
    if not out.exists():
        return {}, Account(0, 0, 0, 0, 0), [], {}
    with Store.open(out, options.engine) as store:
        logs = dict(store.rows("select sha256, bytes from sources where skipped is null"))
        if not logs:
            raise TraceError(f"{out}: was not made of logs, which others could follow")
        command = store.provenance.get("convert")
        stated = {"map": store.provenance["map"]} if "map" in store.provenance else {}
        return logs, store.account, [command] if command else [], stated


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
