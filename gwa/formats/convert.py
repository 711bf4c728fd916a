"""Convert a trace: read it in one format, write it in another, whole or not at all."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gwa.errors import TraceError
from gwa.formats.open import read_files
from gwa.formats.registry import partitioned, writer
from gwa.ingest.checkpoint import locked
from gwa.ingest.inputs import expand
from gwa.store.account import Account
from gwa.store.anonymize import anonymized
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util.atomic import whole, writable


def convert(
    paths: Sequence[Path],
    out: Path,
    *,
    name: str | None = None,
    reading: ReadOptions | None = None,
    command: str = "",
    key: bytes | None = None,
    by_month: bool = False,
) -> Account:
    """
    Convert the trace in *paths* to *out*, whole or not at all, and return the account of its rows.

    With a *key* names are replaced by pseudonyms before anything is written. *by_month* makes Parquet a
    folder with a file for each month of submissions.
    """
    target, reading, files = writer(out), reading or ReadOptions(), expand(paths)
    if by_month:
        target = partitioned(target, out)
    patient = any(path.is_dir() for path in paths)
    with _resumed(files, out, reading) as reading:
        if key is not None:
            with (
                read_files(files, name, reading, patient=patient) as named,
                anonymized(named, key, reading) as store,
            ):
                target.save(store, out)
                return store.account
        if target.name == "duckdb":
            return convert_in_place(files, out, name, reading, command, patient=patient)
        with read_files(files, name, reading, patient=patient) as store:
            _sign(store, command)
            target.save(store, out)
            return store.account


@contextmanager
def _resumed(files: Sequence[Path], out: Path, reading: ReadOptions) -> Iterator[ReadOptions]:
    """Keep the rows of many files beside *out* meanwhile: what is interrupted goes on behind them."""
    if len(files) == 1:
        yield reading
        return
    writable(out)
    rows = rows_of(out)
    with locked(rows, forever=False):
        yield replace(reading, rows=rows)


def rows_of(out: Path) -> Path:
    """Return the folder in which the rows of the logs are kept of which *out* is made."""
    return out.with_name(f"{out.name}.rows")


def convert_in_place(
    files: Sequence[Path], out: Path, name: str | None, reading: ReadOptions, command: str, *, patient: bool
) -> Account:
    """Let the store grow where it is wanted, instead of copying it there."""
    with whole(out) as part:
        with read_files(files, name, replace(reading, target=part), patient=patient) as store:
            _refuse_unkept(store, files, reading)
            _sign(store, command)
            account = store.account
            if not part.exists():
                writer(out).save(store, part)
        return account


def _refuse_unkept(store: Store, files: Sequence[Path], reading: ReadOptions) -> None:
    """Raise `TraceError` where logs are to be followed by others, and their rows were not kept for that."""
    if reading.already is None or reading.rows is None:
        return
    held = {digest for (digest,) in store.rows("select sha256 from sources")}
    if not held.issuperset(reading.already) or len(held) != len(list(reading.rows.glob("[0-9]*"))):
        raise TraceError(f"{files[0]}: only logs of text can be appended, and what they are appended to")


def _sign(store: Store, command: str) -> None:
    if command and not store.is_read_only:
        store.note({"convert": command})
