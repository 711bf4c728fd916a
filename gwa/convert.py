"""Convert: recognise a format, read the trace, write it in another."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path

from gwa.definition import definition
from gwa.errors import DefinitionError, EngineError, GwaError, OutputError, TraceError, UnknownFormat
from gwa.formats import Format, formats, writers
from gwa.formats._partitioned import write as write_months
from gwa.formats._remote import is_remote
from gwa.formats.parquet import read_remote
from gwa.ingest.checkpoint import keeping
from gwa.ingest.inputs import expand
from gwa.ingest.source.compressed import plain_name
from gwa.ingest.source.head import SIZE, TOGETHER, Head
from gwa.store.account import Account
from gwa.store.anonymize import anonymized
from gwa.store.options import Reading
from gwa.store.store import Store
from gwa.util.assets import asset
from gwa.util.atomic import whole, writable
from gwa.util.version import __version__


@cache
def definitions() -> tuple[tuple[Format, ...], Mapping[str, GwaError]]:
    """Return the formats defined in ``converters/``, and by name what is wrong with the other files."""
    good: list[Format] = []
    bad: dict[str, GwaError] = {}
    for file in sorted(asset("converters").iterdir(), key=lambda one: one.name):
        if file.name.endswith(".sql"):
            try:
                good.append(_definition(file))
            except GwaError as error:
                bad[Path(file.name).stem] = error
    return tuple(good), bad


def converters() -> tuple[Format, ...]:
    """Return the formats defined in ``converters/``, by name."""
    return definitions()[0]


def broken() -> Mapping[str, GwaError]:
    """Return what is wrong with files in ``converters/``, by the names of their formats."""
    return definitions()[1]


def all_formats() -> tuple[Format, ...]:
    """Return every format that can be read or written; one that is both is merged, by name."""
    read = (replace(one, write=writers().get(one.name)) for one in converters())
    return (*formats(), *read)


def format_called(name: str) -> Format:
    """Return the format called *name*; raise `UnknownFormat` where there is none."""
    if name.endswith(".sql"):
        return _definition(Path(name))
    if name in broken():
        raise broken()[name]
    known = {one.name: one for one in all_formats()}
    if name not in known:
        message = f"there is no format '{name}', expected one of {', '.join(known)}"
        raise UnknownFormat(message)
    return known[name]


def _definition(path: Traversable) -> Format:
    """Return the format that is defined in a file."""
    try:
        return definition(path.name, path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnknownFormat(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DefinitionError(f"{path.name}: is no text, expected a definition in SQL") from error


def recognise(head: Head, name: str | None = None) -> Format:
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
    refusals = {one: one.refuses(head) for one in known}
    claims = [one for one in known if refusals[one] is None]
    if len(claims) != 1:
        preferred = [one for one in claims or known if one.is_named(plain_name(head.path))]
        if len(preferred) == 1 and (claims or not head.is_binary):
            return preferred[0]
        raise UnknownFormat(_explain(head, refusals, claims))
    return claims[0]


def _explain(head: Head, refusals: Mapping[Format, str | None], claims: Sequence[Format]) -> str:
    if claims:
        return f"{head.path}: could be {' or '.join(one.name for one in claims)}: choose one with --format"
    reasons: dict[str, object] = {one.name: reason for one, reason in refusals.items()}
    tried = "; ".join(f"{name}: {reason}" for name, reason in (reasons | {**broken()}).items())
    return f"{head.path}: no known format of traces ({tried}); 'gwa formats' lists them, --format chooses one"


def read(paths: Sequence[Path], name: str | None = None, reading: Reading | None = None) -> Store:
    """
    Return a store with the jobs of the trace in *paths*: files, folders, patterns, ``-``, an address.

    All files must be of one format: the one called *name* (or defined in the file of that name), or
    the one that is recognised. In a folder, files of no known format are passed over.
    """
    return read_files(expand(paths), name, reading, patient=any(path.is_dir() for path in paths))


def read_files(
    files: Sequence[Path], name: str | None = None, reading: Reading | None = None, *, patient: bool = False
) -> Store:
    """Return a store with the jobs of *files*; *patient* passes over those of no known format."""
    if len(files) == 1 and is_remote(files[0]):
        return read_remote(files[0], reading or Reading())
    heads = [Head.of(path, min(SIZE, TOGETHER // len(files))) for path in files]
    found = _formats_of(heads, name, patient=patient)
    kinds = {one.name for one in found.values()}
    if len(kinds) > 1:
        mixed = ", ".join(sorted(kinds))
        message = f"{files[0]}: the files are of different formats ({mixed}): convert them one by one"
        raise UnknownFormat(message)
    (one, *_) = found.values()
    reading = reading or Reading()
    if reading.on_spark and one.name != "parquet":
        raise EngineError(
            f"{files[0]}: is {one.title}, Spark reads Parquet: gwa convert it to .parquet first"
        )
    store = one.read([head for head in heads if head in found], reading)
    if "format" not in store.provenance and not store.is_read_only:
        store.note({"format": one.name, "gwa": __version__})
    return store


def _formats_of(heads: Sequence[Head], name: str | None, *, patient: bool) -> dict[Head, Format]:
    """Return the format of each head; *patient* leaves out those of none, as long as there is one."""
    found: dict[Head, Format] = {}
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


def writer(path: Path) -> Format:
    """Return the format that the name of an output asks for; raise `UnknownFormat` if it is none."""
    writable = [one for one in all_formats() if one.write]
    for one in writable:
        if one.is_named(plain_name(path)):
            return one
    known = ", ".join(name.removeprefix("*") for one in writable for name in one.names)
    message = f"{path}: its suffix names no format to write, expected one of {known}"
    raise UnknownFormat(message)


def partitioned(target: Format, out: Path) -> Format:
    """Return the format that writes a folder of files of *target*; raise `OutputError` for others."""
    if target.name != "parquet":
        raise OutputError(f"{out}: only Parquet is written by month, expected a name such as trace.parquet")
    return replace(target, write=write_months)


def convert(
    paths: Sequence[Path],
    out: Path,
    *,
    name: str | None = None,
    reading: Reading | None = None,
    command: str = "",
    key: bytes | None = None,
    by_month: bool = False,
) -> Account:
    """
    Convert the trace in *paths* to *out*, whole or not at all, and return the account of its rows.

    With a *key* names are replaced by pseudonyms before anything is written. *by_month* makes Parquet a
    folder with a file for each month of submissions.
    """
    target, reading, files = writer(out), reading or Reading(), expand(paths)
    if by_month:
        target = partitioned(target, out)
    patient = any(path.is_dir() for path in paths)
    with _resumed(files, out, reading) as reading:
        if key is not None:
            with (
                read_files(files, name, reading, patient=patient) as named,
                anonymized(named, key, reading) as store,
            ):
                target.written(store, out)
                return store.account
        if target.name == "duckdb":
            return convert_in_place(files, out, name, reading, command, patient=patient)
        with read_files(files, name, reading, patient=patient) as store:
            _sign(store, command)
            target.written(store, out)
            return store.account


@contextmanager
def _resumed(files: Sequence[Path], out: Path, reading: Reading) -> Iterator[Reading]:
    """Keep the rows of many files beside *out* meanwhile: what is interrupted goes on behind them."""
    if len(files) == 1:
        yield reading
        return
    writable(out)
    rows = rows_of(out)
    with keeping(rows, forever=False):
        yield replace(reading, rows=rows)


def rows_of(out: Path) -> Path:
    """Return the folder in which the rows of the logs are kept of which *out* is made."""
    return out.with_name(f"{out.name}.rows")


def convert_in_place(
    files: Sequence[Path], out: Path, name: str | None, reading: Reading, command: str, *, patient: bool
) -> Account:
    """Let the store grow where it is wanted, instead of copying it there."""
    with whole(out) as part:
        with read_files(files, name, replace(reading, target=part), patient=patient) as store:
            _refuse_unkept(store, files, reading)
            _sign(store, command)
            account = store.account
            if not part.exists():
                writer(out).written(store, part)
        return account


def _refuse_unkept(store: Store, files: Sequence[Path], reading: Reading) -> None:
    """Raise `TraceError` where logs are to be followed by others, and their rows were not kept for that."""
    if reading.already is None or reading.rows is None:
        return
    held = {digest for (digest,) in store.rows("select sha256 from sources")}
    if not held.issuperset(reading.already) or len(held) != len(list(reading.rows.glob("[0-9]*"))):
        raise TraceError(f"{files[0]}: only logs of text can be appended, and what they are appended to")


def _sign(store: Store, command: str) -> None:
    if command and not store.is_read_only:
        store.note({"convert": command})
