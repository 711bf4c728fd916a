"""
Append: join the logs of another month to a store, which is then the one that all its logs would have made.

What is open at the end of a log is completed by the next one, in whatever order they come. For that the
rows of the logs stay beside the store, in a folder of its name with ``.rows``, and become jobs anew.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gwa.errors import OutputError, TraceError
from gwa.formats.convert import convert_in_place, rows_of
from gwa.formats.registry import writer
from gwa.ingest.checkpoint import locked
from gwa.ingest.inputs import expand
from gwa.ingest.source.compressed import Source
from gwa.store.account import Account
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util.atomic import writable


def append(
    paths: Sequence[Path],
    out: Path,
    *,
    name: str | None = None,
    reading: ReadOptions | None = None,
    command: str = "",
) -> tuple[Account, list[Path]]:
    """
    Append the logs in *paths* to the store *out*, and return its account and the logs that it held already.

    Where there is none yet it is made. A log that is in the store changes nothing, whatever it is called now.
    The old store stays as it is until the new one takes its place. Raise `OutputError` for an output that is
    no store, `TraceError` for a store whose rows were not kept.
    """
    if writer(out).name != "duckdb":
        raise OutputError(f"{out}: only a store can be appended to, expected a name such as trace.duckdb")
    writable(out)
    reading, files, rows = reading or ReadOptions(), expand(paths), rows_of(out)
    said, account, commands = _held(out, reading)
    if said and not rows.is_dir():
        message = f"{out}: its rows were not kept, in {rows.name}: convert all logs anew, with --append"
        raise TraceError(message)
    fresh = [path for path in files if not _is_in(path, said)]
    again = [path for path in files if path not in fresh]
    if not fresh:
        return account, again
    with locked(rows, forever=True, begun=bool(said)):
        wishes = replace(reading, rows=rows, already=tuple(said))
        words = " && ".join([*commands, command] if command else commands)
        account = convert_in_place(
            fresh, out, name, wishes, words, patient=any(path.is_dir() for path in paths)
        )
    return account, again


def _held(out: Path, reading: ReadOptions) -> tuple[dict[str, int], Account, list[str]]:
    """Return the hashes and sizes of the logs that a store holds, its account, and what made it."""
    if not out.exists():
        return {}, Account(0, 0, 0, 0, 0), []
    with Store.open(out, reading.engine) as store:
        held = dict(store.rows("select sha256, bytes from sources"))
        if not held:
            raise TraceError(f"{out}: was not made of logs, which others could follow")
        command = store.provenance.get("convert")
        return held, store.account, [command] if command else []


def _is_in(path: Path, held: dict[str, int]) -> bool:
    """Whether a log is one of those that are *held*."""
    source = Source(path)
    try:
        return source.size in held.values() and source.sha256() in held
    finally:
        source.close()
