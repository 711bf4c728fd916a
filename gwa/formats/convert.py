"""Convert a trace: read it in one format and write it in another, completely or not at all."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING

from gwa.errors import GwaError, OutputError, TraceError
from gwa.formats.anonymized import write_apart
from gwa.formats.measure import join_again, take_off
from gwa.formats.open import open_files
from gwa.formats.registry import monthly, vocabulary, writer
from gwa.ingest.checkpoint import owned_rows, rows_path
from gwa.ingest.inputs import expand
from gwa.store.account import Account
from gwa.store.anonymize import anonymize
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.store.uniqueness import Hiding
from gwa.util.atomic import whole, writable
from gwa.util.exclusive import exclusive
from gwa.util.owned import MARK
from gwa.util.protection import protected
from gwa.util.scratch import ScratchFolder

if TYPE_CHECKING:
    import pyarrow as pa


def convert(
    paths: Sequence[Path],
    out: Path,
    *,
    name: str | None = None,
    options: ReadOptions | None = None,
    command: str = "",
    by_month: bool = False,
) -> Account:
    """
    Convert the trace in *paths* to *out*, completely or not at all, and return the account of its rows.

    A trace may be one of requests to language models, too. Raise `OutputError` if *out* is one of the files
    that are read, by whichever of its names.

    With *by_month*, Parquet is written as a folder with a file for each month of submissions.
    """
    target, files = writer(out), expand(paths)
    options = replace(options or ReadOptions(), requests=True)
    if by_month:
        target, options = monthly(target, out), replace(options, requests=False)
    skip_unknown = any(path.is_dir() for path in paths)
    with protected(files), _resumable(files, out, options, is_folder=by_month) as options:
        if target.name == "duckdb":
            return convert_in_place(
                files, out, name, options, {"convert": command}, skip_unknown=skip_unknown
            )
        with open_files(files, name, options, skip_unknown=skip_unknown) as store:
            _note(store, {"convert": command})
            target.save(store, out)
            return store.account


def convert_anonymized(  # noqa: PLR0913 - all but the paths and the key go by name
    paths: Sequence[Path],
    out: Path,
    key: bytes,
    *,
    keep: Collection[str] = (),
    name: str | None = None,
    options: ReadOptions | None = None,
    by_month: bool = False,
    hiding: Hiding | None = None,
    tell: Callable[[Sequence[str]], object] = len,
) -> Account:
    """
    Convert the trace in *paths* to *out* with pseudonyms for names, except those that *keep* lists.

    Where users are *hiding* behind each other, the trace is made coarser. *tell* is called with the names of
    those that are replaced nevertheless, since they hold another name.

    No rows are kept for a conversion that goes on later, or is appended to: they hold the names. Raise
    `OutputError` if an earlier conversion left such rows beside *out*.
    """
    target, options, files = writer(out), options or ReadOptions(), expand(paths)
    if by_month:
        monthly(target, out)
    if (rows_path(out) / MARK).is_file():
        message = (
            f"{out}: {rows_path(out).name} beside it holds rows with their names, expected another output"
        )
        raise OutputError(f"{message}, or that folder removed")
    skip_unknown = any(path.is_dir() for path in paths)
    with protected(files), _alone(out, is_folder=by_month), ScratchFolder() as scratch:
        source = scratch / "trace.parquet"
        with (
            open_files(files, name, options, skip_unknown=skip_unknown) as named,
            anonymize(
                named, key, options, keep=keep, vocabulary=vocabulary(), hiding=hiding, tell=tell
            ) as store,
        ):
            writer(source).save(store, source)
            account = store.account
        write_apart(source, out, options.engine, by_month=by_month)
    return account


@contextmanager
def _resumable(
    files: Sequence[Path], out: Path, options: ReadOptions, *, is_folder: bool
) -> Iterator[ReadOptions]:
    """
    Yield options by which the rows of several files are stored beside *out* during the conversion.

    They remain if it is interrupted, not if it fails. Rows kept for appending to an earlier *out* are removed
    after *out* was replaced, not before.
    """
    with _alone(out, is_folder=is_folder):
        if len(files) == 1 and not (rows_path(out) / MARK).is_file():
            yield options
            return
        with owned_rows(out) as rows:
            try:
                yield options if len(files) == 1 else replace(options, rows_folder=rows.unfinished)
            except GwaError:
                rows.drop_unfinished()
                raise
            rows.drop()


@contextmanager
def _alone(out: Path, *, is_folder: bool) -> Iterator[None]:
    """Let no other command be at work on the file *out*; a folder is looked after where it is replaced."""
    if is_folder:
        yield
        return
    writable(out)
    with exclusive(out):
        yield


def convert_in_place(
    files: Sequence[Path],
    out: Path,
    name: str | None,
    options: ReadOptions,
    notes: Mapping[str, str],
    *,
    skip_unknown: bool,
    measured: "pa.Table | None" = None,
) -> Account:
    """
    Convert *files* to the store *out*, which is filled in place instead of being copied there.

    What was *measured* of jobs of a store that is appended to is joined again. The *notes* are put into its
    provenance.
    """
    with whole(out) as part:
        if options.appends:
            _copy(out, part, options, has_measurements=measured is not None)
        with open_files(files, name, replace(options, target=part), skip_unknown=skip_unknown) as store:
            _require_rows(store, files, options)
            _note(store, notes)
            join_again(store, measured)
            account = store.account
            if part.exists():
                store.flush()
            else:
                writer(out).save(store, part)
        return account


def _copy(out: Path, part: Path, options: ReadOptions, *, has_measurements: bool) -> None:
    """Copy the store *out*, without measurements, to be appended to."""
    copyfile(out, part)
    if has_measurements:
        with Store.adopt(part, options.engine) as store:
            take_off(store)


def _require_rows(store: Store, files: Sequence[Path], options: ReadOptions) -> None:
    """Raise `TraceError` if the store is appended to and the rows of its logs are not in the checkpoint."""
    if options.stored_hashes is None or options.rows_folder is None:
        return
    hashes = [digest for (digest,) in store.rows("select sha256 from sources where skipped is null")]
    folders = list(options.rows_folder.glob("[0-9]*"))
    if not {*hashes}.issuperset(options.stored_hashes) or len(hashes) != len(folders) + options.settled_logs:
        raise TraceError(f"{files[0]}: only logs of text can be appended, and what they are appended to")


def _note(store: Store, notes: Mapping[str, str]) -> None:
    if not store.is_read_only:
        store.note({key: value for key, value in notes.items() if value})
