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
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from gwa.errors import GwaError, OutputError, TraceError
from gwa.formats.continuing import LogPlace, noted, place_at_end, places_of, rest_of
from gwa.formats.convert import convert_in_place
from gwa.formats.measure import joined
from gwa.formats.registry import writer
from gwa.ingest.checkpoint import owned_rows
from gwa.ingest.inputs import expand
from gwa.ingest.source.compressed import Source
from gwa.store.account import Account
from gwa.store.options import ReadOptions, RebuildNeeded
from gwa.store.privacy import ANONYMIZED_KEY
from gwa.store.store import Store
from gwa.util.atomic import writable
from gwa.util.exclusive import exclusive
from gwa.util.protection import protected
from gwa.util.scratch import ScratchFolder

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
    since_last: bool = False,
) -> tuple[Account, list[Path]]:
    """
    Append the logs in *paths* to the store *out*, and return its account and the logs that were in it before.

    The store is created if it does not exist. A log that is in the store already changes nothing, even under
    another name. The old store stays in place until the new one is complete. Where all rows of its logs have
    to be mapped again, *tell* is called with the reason; raise `TraceError` where that cannot be, since they
    were not kept. Of a log that grows what was read before is not read again *since_last* time. Raise
    `OutputError` if *out* is not a store.
    """
    if writer(out).name != "duckdb":
        raise OutputError(
            f"{out}: only a store can be appended to, expected a name such as trace.duckdb or --partition"
        )
    writable(out)
    options, files = options or ReadOptions(), expand(paths)
    with protected(files), exclusive(out), owned_rows(out) as rows, ScratchFolder() as scratch:
        has_rows = rows.kept.is_dir()
        try:
            stored = _stored(out, options)
            options = replace(options, format_options={**stored.stated, **options.format_options})
            logs = [Log(path, path) for path in files]
            if since_last:
                logs = [_rest(log, stored.places, name, scratch, tell) for log in logs]
            skips = {str(digest): int(str(size)) for _, size, digest, *_ in stored.skipped}
            logs = [log for log in logs if not _is_stored(log, skips)]
            new = [log for log in logs if log.part and not _is_stored(log, stored.logs)]
            account = stored.account
            if new:
                settled = rows.settled(len(stored.logs)) if stored.logs else 0
                options = replace(
                    options,
                    rows_folder=rows.kept,
                    stored_hashes=tuple(stored.logs)[settled:],
                    stored_skips=stored.skipped,
                    settled_logs=settled,
                )
                run = partial(
                    convert_in_place,
                    [log.part for log in new if log.part],
                    out,
                    name,
                    notes={
                        "convert": " && ".join(filter(None, [stored.command, command])),
                        **noted(stored.places, (log.place or place_at_end(log.path) for log in new)),
                    },
                    skip_unknown=any(path.is_dir() for path in paths),
                    measured=stored.measured,
                )
                account = _by_keys_or_whole(lambda how: run(options=how), out, options, tell)
            rows.drop_unfinished()
        except GwaError:
            if not (out.exists() and has_rows):
                rows.drop()
            raise
    return account, [log.path for log in logs if log not in new]


@dataclass(frozen=True)
class Log:
    """The *path* of a log, and what is read of it: the file *part*, if any, up to a *place*."""

    path: Path
    part: Path | None
    place: LogPlace | None = None


def _rest(
    log: Log, places: Sequence[LogPlace], name: str | None, scratch: Path, tell: Callable[[str], object]
) -> Log:
    """Return a log of which what was read before is not read again."""
    folder = scratch / sha256(str(log.path).encode()).hexdigest()
    folder.mkdir()
    rest = rest_of(log.path, places, name, folder, tell)
    return Log(log.path, *rest) if rest else Log(log.path, None)


@dataclass(frozen=True)
class Stored:
    """
    What a store says that is appended to.

    *logs* are the sizes of its logs by their hashes, *command* is what made it, *stated* says which columns
    of tables are what, as an option of their format, *measured* is what was joined to its jobs, and *places*
    are those up to which logs were read.
    """

    logs: Mapping[str, int] = field(default_factory=dict)
    skipped: Sequence[tuple[object, ...]] = ()
    account: Account = field(default_factory=lambda: Account(0, 0, 0, 0, 0))
    command: str = ""
    stated: Mapping[str, str] = field(default_factory=dict)
    measured: "pa.Table | None" = None
    places: Sequence[LogPlace] = ()


def _stored(out: Path, options: ReadOptions) -> Stored:
    """Return what the store *out* says; raise `TraceError` if it was not made of logs."""
    if not out.exists():
        return Stored()
    with Store.open(out, options.engine) as store:
        logs = dict(store.rows("select sha256, bytes from sources where skipped is null order by rowid"))
        if ANONYMIZED_KEY in dict(store.header):
            raise TraceError(
                f"{out}: its names are pseudonyms: append to the store that it was made of, and anonymize"
                " that again, with the same key"
            )
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
            places_of(provenance),
        )


def _by_keys_or_whole(
    run: Callable[[ReadOptions], Account],
    out: Path,
    options: ReadOptions,
    tell: Callable[[str], object],
) -> Account:
    """Append by the jobs that change, or else make the store again of all rows; *run* does either."""
    if options.stored_hashes or options.settled_logs:
        try:
            account = run(replace(options, appends=True))
        except RebuildNeeded as reason:
            if options.settled_logs:
                raise TraceError(
                    f"{out}: cannot be appended to, since {reason}, and the rows of its first logs were not"
                    " kept beside it: convert all logs to a new store, with --append"
                ) from reason
            why = str(reason)
        else:
            return account
        account = run(options)
        tell(f"{out}: rebuilt whole: {why}")
        return account
    return run(options)


def _is_stored(log: Log, stored: Mapping[str, int]) -> bool:
    """Whether a log is one of those *stored*, given as sizes by hash."""
    if log.part is None:
        return False
    source = Source(log.part)
    try:
        return source.size in stored.values() and source.sha256() in stored
    finally:
        source.close()
