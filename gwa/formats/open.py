"""Open a trace: find its files, recognise their format, read them into a store."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from gwa.errors import EngineError, UnknownFormat
from gwa.formats.base import Format
from gwa.formats.builtin.parquet import read_remote
from gwa.formats.registry import all_formats, broken, format_called
from gwa.formats.remote import is_remote
from gwa.ingest.inputs import expand
from gwa.ingest.source.compressed import plain_name
from gwa.ingest.source.head import SIZE, TOGETHER, FileHead
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util.version import __version__


def recognise(head: FileHead, name: str | None = None) -> Format:
    """
    Return the format of *head*, or the one called *name*.

    Content decides, and the file's name where several formats could read it, or where nothing in
    the content speaks for any. Raise `UnknownFormat` with what was tried and why each refused.
    """
    if name:
        return format_called(name)
    if not head.data:
        message = f"{head.path}: is empty, expected a trace or an accounting log"
        raise UnknownFormat(message)
    known = all_formats()
    refusals = {one: one.mismatch(head) for one in known}
    claims = [one for one in known if refusals[one] is None]
    if len(claims) != 1:
        preferred = [one for one in claims or known if one.is_named(plain_name(head.path))]
        if len(preferred) == 1 and (claims or not head.is_binary):
            return preferred[0]
        raise UnknownFormat(_explain(head, refusals, claims))
    return claims[0]


def _explain(head: FileHead, refusals: Mapping[Format, str | None], claims: Sequence[Format]) -> str:
    if claims:
        return f"{head.path}: could be {' or '.join(one.name for one in claims)}: choose one with --format"
    reasons: dict[str, object] = {one.name: reason for one, reason in refusals.items()}
    tried = "; ".join(f"{name}: {reason}" for name, reason in (reasons | {**broken()}).items())
    return f"{head.path}: no known format of traces ({tried}); 'gwa formats' lists them, --format chooses one"


def read(paths: Sequence[Path], name: str | None = None, reading: ReadOptions | None = None) -> Store:
    """
    Return a store with the jobs of the trace in *paths*: files, folders, patterns, ``-``, an address.

    All files must be of one format: the one called *name* (or defined in the file of that name), or
    the one that is recognised. In a folder, files of no known format are passed over.
    """
    return read_files(expand(paths), name, reading, patient=any(path.is_dir() for path in paths))


def read_files(
    files: Sequence[Path],
    name: str | None = None,
    reading: ReadOptions | None = None,
    *,
    patient: bool = False,
) -> Store:
    """Return a store with the jobs of *files*; *patient* passes over those of no known format."""
    if len(files) == 1 and is_remote(files[0]):
        return read_remote(files[0], reading or ReadOptions())
    heads = [FileHead.of(path, min(SIZE, TOGETHER // len(files))) for path in files]
    found = _formats_of(heads, name, patient=patient)
    kinds = {one.name for one in found.values()}
    if len(kinds) > 1:
        mixed = ", ".join(sorted(kinds))
        message = f"{files[0]}: the files are of different formats ({mixed}): convert them one by one"
        raise UnknownFormat(message)
    (one, *_) = found.values()
    reading = reading or ReadOptions()
    if reading.on_spark and one.name != "parquet":
        raise EngineError(
            f"{files[0]}: is {one.title}, Spark reads Parquet: gwa convert it to .parquet first"
        )
    store = one.read([head for head in heads if head in found], reading)
    if "format" not in store.provenance and not store.is_read_only:
        store.note({"format": one.name, "gwa": __version__})
    return store


def _formats_of(heads: Sequence[FileHead], name: str | None, *, patient: bool) -> dict[FileHead, Format]:
    """Return the format of each head; *patient* leaves out those of none, as long as there is one."""
    found: dict[FileHead, Format] = {}
    failure: UnknownFormat | None = None
    for head in heads:
        try:
            found[head] = recognise(head, name)
        except UnknownFormat as error:
            if not patient:
                raise
            failure = failure or error
    if failure and not found:
        raise failure
    return found
