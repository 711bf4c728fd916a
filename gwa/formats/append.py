"""
Append logs, such as those of another month, to a store: the result equals a conversion of all logs.

A job that is incomplete at the end of a log is completed by another one, whatever their order. For this the
rows of all logs are kept in a checkpoint beside the store, a folder ``NAME.rows``. Of these only those are
mapped again that share the key of a job with new ones, where the format says what that is: see
`gwa.ingest.appending`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gwa.errors import GwaError, OutputError, RebuildNeeded, TraceError
from gwa.formats.convert import convert_in_place
from gwa.formats.measure import joined
from gwa.formats.registry import writer
from gwa.ingest.checkpoint import owned_rows
from gwa.ingest.inputs import expand
from gwa.ingest.source.compressed import Source
from gwa.store.account import Account
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util.atomic import writable
from gwa.util.protection import protected

if TYPE_CHECKING:
    import pyarrow as pa


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
            stored = _stored(out, options)
            options = replace(options, format_options={**stored.stated, **options.format_options})
            if stored.logs and not rows.kept.is_dir():
                message = (
                    f"{out}: its rows were not kept beside it: convert all logs to a new store, with --append"
                )
                raise TraceError(message)
            passed_over = {str(digest): int(str(size)) for _, size, digest, *_ in stored.skipped}
            files = [path for path in files if not _is_stored(path, passed_over)]
            new = [path for path in files if not _is_stored(path, stored.logs)]
            account = stored.account
            if new:
                options = replace(
                    options,
                    rows_folder=rows.kept,
                    stored_hashes=tuple(stored.logs),
                    stored_skips=stored.skipped,
                )
                history = " && ".join(filter(None, [stored.command, command]))
                run = partial(
                    convert_in_place,
                    new,
                    out,
                    name,
                    command=history,
                    skip_unknown=skip_unknown,
                    measured=stored.measured,
                )
                account = _by_keys_or_whole(lambda how: run(options=how), options, tell)
            rows.drop_unfinished()
        except GwaError:
            if not (out.exists() and rows.kept.is_dir()):
                rows.drop()
            raise
    return account, [path for path in files if path not in new]


@dataclass(frozen=True)
class Stored:
    """
    What a store says that is appended to.

    *logs* are the sizes of its logs by their hashes, *command* is what made it, *stated* says which columns
    of tables are what, as an option of their format, and *measured* is what was joined to its jobs.
    """

    logs: Mapping[str, int] = field(default_factory=dict)
    skipped: Sequence[tuple[object, ...]] = ()
    account: Account = field(default_factory=lambda: Account(0, 0, 0, 0, 0))
    command: str = ""
    stated: Mapping[str, str] = field(default_factory=dict)
    measured: "pa.Table | None" = None


def _stored(out: Path, options: ReadOptions) -> Stored:
    """Return what the store *out* says; raise `TraceError` if it was not made of logs."""
    if not out.exists():
        return Stored()
    with Store.open(out, options.engine) as store:
        logs = dict(store.rows("select sha256, bytes from sources where skipped is null"))
        if not logs:
            raise TraceError(f"{out}: was not made of logs, which others could follow")
        provenance = store.provenance
        return Stored(
            logs,
            store.rows("from sources where skipped is not null order by all"),
            store.account,
            provenance.get("convert", ""),
            {"map": provenance["map"]} if "map" in provenance else {},
            joined(store),
        )


def _by_keys_or_whole(
    run: Callable[[ReadOptions], Account], options: ReadOptions, tell: Callable[[str], object]
) -> Account:
    """Append by the jobs that change, or else make the store anew of all rows; *run* does either."""
    if options.stored_hashes:
        try:
            return run(replace(options, appends=True))
        except RebuildNeeded as reason:
            tell(str(reason))
    return run(options)


def _is_stored(path: Path, stored: Mapping[str, int]) -> bool:
    """Whether a log is one of those *stored*, given as sizes by hash."""
    source = Source(path)
    try:
        return source.size in stored.values() and source.sha256() in stored
    finally:
        source.close()
