"""Open a trace: find its files, recognise their format, and read them into a store."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from gwa.errors import EngineError, UnknownFormat
from gwa.formats.base import Format
from gwa.formats.builtin.parquet import read_remote
from gwa.formats.format_options import check_options
from gwa.formats.registry import all_formats, broken, format_called
from gwa.formats.remote import is_remote
from gwa.ingest.inputs import expand
from gwa.ingest.source.compressed import plain_name
from gwa.ingest.source.head import HEAD_SIZE, TOTAL_HEAD_SIZE, FileHead
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util.version import __version__


def recognise(head: FileHead, name: str | None = None) -> Format:
    """
    Return the format of *head*, or the one called *name*.

    The content decides, or the name of the file if the content matches several formats or none.
    Raise `UnknownFormat` with the formats tried and the reason against each.
    """
    if name:
        return format_called(name)
    if not head.data:
        message = f"{head.path}: is empty, expected a trace or an accounting log"
        raise UnknownFormat(message)
    known = all_formats()
    mismatches = {format_: format_.mismatch(head) for format_ in known}
    matching = [format_ for format_ in known if mismatches[format_] is None]
    if len(matching) != 1:
        named = [format_ for format_ in matching or known if format_.is_named(plain_name(head.path))]
        if len(named) == 1 and (matching or not head.is_binary):
            return named[0]
        raise UnknownFormat(_refusal(head, mismatches, matching))
    return matching[0]


def _refusal(head: FileHead, mismatches: Mapping[Format, str | None], matching: Sequence[Format]) -> str:
    """Return the message for a file whose format is ambiguous or unknown."""
    if matching:
        names = " or ".join(format_.name for format_ in matching)
        return f"{head.path}: could be {names}: choose one with --format"
    reasons: dict[str, object] = {format_.name: reason for format_, reason in mismatches.items()}
    tried = "; ".join(f"{name}: {reason}" for name, reason in (reasons | {**broken()}).items())
    return f"{head.path}: no known format of traces ({tried}); 'gwa formats' lists them, --format chooses one"


def open_trace(paths: Sequence[Path], name: str | None = None, options: ReadOptions | None = None) -> Store:
    """
    Return a store with the jobs of the trace in *paths*: files, folders, patterns, ``-``, or an address.

    All files must be of one format: the one called *name* (or defined in the file of that name), or
    the one that is recognised. In a folder, files of unknown formats are skipped.
    """
    return open_files(expand(paths), name, options, skip_unknown=any(path.is_dir() for path in paths))


def open_files(
    files: Sequence[Path],
    name: str | None = None,
    options: ReadOptions | None = None,
    *,
    skip_unknown: bool = False,
) -> Store:
    """Return a store with the jobs of *files*, and skip files of unknown formats if *skip_unknown*."""
    options = options or ReadOptions()
    if len(files) == 1 and is_remote(files[0]):
        check_options("Parquet", {}, options.format_options)
        return read_remote(files[0], options)
    heads = [FileHead.of(path, min(HEAD_SIZE, TOTAL_HEAD_SIZE // len(files))) for path in files]
    recognised = _recognise_all(heads, name, skip_unknown=skip_unknown)
    names = {format_.name for format_ in recognised.values()}
    if len(names) > 1:
        mixed = ", ".join(sorted(names))
        message = f"{files[0]}: the files are of different formats ({mixed}): convert them one by one"
        raise UnknownFormat(message)
    (format_, *_) = recognised.values()
    if options.on_spark and format_.name != "parquet":
        raise EngineError(
            f"{files[0]}: is {format_.title}, Spark reads Parquet: gwa convert it to .parquet first"
        )
    check_options(format_.title, format_.options, options.format_options)
    store = format_.read([head for head in heads if head in recognised], options)
    if "format" not in store.provenance and not store.is_read_only:
        store.note({"format": format_.name, "gwa": __version__})
    return store


def _recognise_all(
    heads: Sequence[FileHead], name: str | None, *, skip_unknown: bool
) -> dict[FileHead, Format]:
    """Return the format of each head; *skip_unknown* leaves out unknown ones if there is a known one."""
    recognised: dict[FileHead, Format] = {}
    first_error: UnknownFormat | None = None
    for head in heads:
        try:
            recognised[head] = recognise(head, name)
        except UnknownFormat as error:
            if not skip_unknown:
                raise
            first_error = first_error or error
    if first_error and not recognised:
        raise first_error
    return recognised
