"""Open a trace: find its files, recognise their format, and read them into a store."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from gwa.errors import ArgumentError, EngineError, NothingReadError, TraceError, UnknownFormat
from gwa.formats.appearance import appearance
from gwa.formats.base import Format, refuse_requests
from gwa.formats.builtin.duckdb import FORMAT as STORE
from gwa.formats.builtin.parquet import read_remote
from gwa.formats.format_options import check_options
from gwa.formats.registry import all_formats, broken, format_called
from gwa.formats.remote import is_remote
from gwa.formats.tables.mapping import is_of_requests
from gwa.formats.tools import tool_of
from gwa.ingest.inputs import expand
from gwa.ingest.source.compressed import Source, plain_name
from gwa.ingest.source.head import HEAD_SIZE, TOTAL_HEAD_SIZE, FileHead
from gwa.ingest.source.lines import count_lines
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.store.system import CLUSTER_KEY
from gwa.util.filenames import as_text
from gwa.util.version import __version__

NEAREST: Final = 2
"""The number of formats that are named as those that a file of an unknown one is most like."""

MINIMUM_LIKENESS: Final = 0.5
NAMED_LIKENESS: Final = 0.9
"""How like a format a file is whose name is one of the names of the format."""

MAXIMUM_NAMES: Final = 3
"""The number of files that are named where several were not read."""

SKIPPED: Final = "file not read"
"""The name of the repair that names files that were skipped."""

TRIED: Final = "tried as another format"
MEANING_OF_TRIED: Final = "the file has the marks of the format {name}, but none of its rows is a job of it"
"""The name and the meaning of the repair that says what a file was tried as first."""


@dataclass(frozen=True)
class SkippedFile:
    """A file of a folder that was not read: its number of lines, and the *reason*."""

    path: Path
    reason: str

    def source_row(self) -> tuple[object, ...]:
        """Return its row for the store's table of sources."""
        with closing(Source(self.path)) as source:
            lines = count_lines(source)
            return as_text(self.path.name), source.size, source.sha256(), lines, 0, 0, lines


@dataclass
class RecognisedFiles:
    """The *formats* of files and the heads of their files, by name, and the files that are *skipped*."""

    formats: dict[str, Format] = field(default_factory=dict)
    heads: dict[str, list[FileHead]] = field(default_factory=lambda: defaultdict(list))
    skipped: list[SkippedFile] = field(default_factory=list)


def recognise(head: FileHead, name: str | None = None) -> Format:
    """
    Return the format of *head*, or the one called *name*.

    The content decides. The name of the file does if the content matches several formats, or none but comes
    near the one that is named. Raise `UnknownFormat` with what the file seems to be, the formats that are
    most like it, and what to do.
    """
    if not name and not head.data:
        raise UnknownFormat(f"{head.path}: is empty, expected a trace or an accounting log")
    if not name and STORE.mismatch(head) is None:
        return STORE  # no other format is that of such a file, and the definitions of all take longer to read
    if name:
        return format_called(name)
    known = [format_ for format_ in all_formats() if not format_.is_last_resort]
    mismatches = {format_: format_.mismatch(head) for format_ in known}
    matching = [format_ for format_ in known if mismatches[format_] is None]
    if not matching and not head.is_binary and (tool := tool_of(head)):
        raise UnknownFormat(f"{head.path}: {tool.advice(format_called)}")
    if not matching:
        others = [format_ for format_ in all_formats() if format_.is_last_resort]
        mismatches |= {format_: format_.mismatch(head) for format_ in others}
        matching = [format_ for format_ in others if mismatches[format_] is None]
    if len(matching) != 1:
        named = [format_ for format_ in matching or known if format_.is_named(plain_name(head.path))]
        if len(named) == 1 and (matching or named[0].likeness(head) >= MINIMUM_LIKENESS):
            return named[0]
        raise UnknownFormat(_refusal(head, mismatches, matching))
    return matching[0]


def _refusal(head: FileHead, mismatches: Mapping[Format, str | None], matching: Sequence[Format]) -> str:
    """Return the message for a file whose format is ambiguous or unknown."""
    if matching:
        names = " or ".join(format_.name for format_ in matching)
        return f"{head.path}: could be {names}: choose one with --format"
    nearest = [format_ for _, format_ in _most_like(head, mismatches)]
    if nearest and nearest[0].is_last_resort and nearest[0].likeness(head) == 1:
        return f"{head.path}: not a trace: {mismatches[nearest[0]]}"
    reasons = "; ".join(f"{format_.name}: {mismatches[format_]}" for format_ in nearest)
    near = f" Nearest formats: {reasons}." if nearest else ""
    faults = f" Definitions with errors: {', '.join(broken())}." if broken() else ""
    return f"{head.path}: not a trace (looks like {appearance(head)}).{near}{faults} {_advice(head)}"


def _most_like(
    head: FileHead, mismatches: Iterable[Format], minimum: float = MINIMUM_LIKENESS
) -> list[tuple[float, Format]]:
    """Return the formats that a file is most like, and how much, the most first."""
    name = plain_name(head.path)
    likeness = [
        (NAMED_LIKENESS if format_.is_named(name) else format_.likeness(head), format_)
        for format_ in mismatches
    ]
    likely = [pair for pair in likeness if pair[0] >= minimum]
    return sorted(likely, key=lambda pair: (-pair[0], pair[1].name))[:NEAREST]


def _advice(head: FileHead) -> str:
    if head.is_binary:
        return "'gwa formats' lists what can be read"
    looks = appearance(head)
    if looks.endswith("parted by blanks"):
        return (
            "A table with names of columns is read once commas part them: "
            f"tr -s ' ' , < {head.path.name} > {head.path.stem}.csv, see 'gwa formats table'"
        )
    if looks.startswith("JSON"):
        return (
            "JSON is read as a table where it is a flat object for each job, in a list or one after the "
            "other: see 'gwa formats table'"
        )
    return (
        "To read it, choose a format with --format, or map its columns in a file of your own: "
        "gwa convert … --with MY.sql, see 'gwa formats --own'"
    )


def open_trace(paths: Sequence[Path], name: str | None = None, options: ReadOptions | None = None) -> Store:
    """
    Return a store with the jobs of the trace in *paths*: files, folders, patterns, ``-``, or an address.

    All files must be of one format: the one called *name* (or defined in the file of that name), or
    the one that is recognised. In a folder, files of unknown formats are skipped: the store counts their
    lines, and names them among its sources and repairs.
    """
    return open_files(expand(paths), name, options, skip_unknown=any(path.is_dir() for path in paths))


def open_files(
    files: Sequence[Path],
    name: str | None = None,
    options: ReadOptions | None = None,
    *,
    skip_unknown: bool = False,
) -> Store:
    """
    Return a store with the jobs of *files*, and skip files of unknown formats if *skip_unknown*.

    Files whose columns are stated, by the option ``map``, are tables unless another format is named.
    """
    options = options or ReadOptions()
    if options.join and options.on_spark:
        raise EngineError(f"{files[0]}: measurements are joined in DuckDB: gwa convert it with them first")
    store = _read(files, name, options, skip_unknown=skip_unknown)
    try:
        if options.join:
            options.join(store)
        if options.inspect:
            options.inspect(store)
    except BaseException:
        store.close()
        raise
    return store


def _read(files: Sequence[Path], name: str | None, options: ReadOptions, *, skip_unknown: bool) -> Store:
    """Return a store with the jobs of *files*, as the format of these reads them."""
    if "map" in options.format_options:
        name = name or ("request-table" if is_of_requests(str(options.format_options["map"])) else "table")
    if len(files) == 1 and is_remote(files[0]):
        check_options("Parquet", {}, options.format_options)
        if options.cluster:
            raise _no_log(files[0], "Parquet")
        return read_remote(files[0], options)
    recognised = _recognise_all(files, name, options, skip_unknown=skip_unknown)
    if len(recognised.heads) > 1:
        raise UnknownFormat(_mixture(recognised.heads))
    ((found, heads),) = recognised.heads.items()
    format_ = recognised.formats[found]
    options = replace(options, unread=tuple(file.path for file in recognised.skipped))
    if name or options.appends:
        store = _read_as(format_, heads, options)
    else:
        format_, store = _first_that_reads(format_, heads, options)
    if not store.is_read_only:
        _record_skipped(store, recognised.skipped)
        _add_skipped(store, options.stored_skips)
        if "format" not in store.provenance:
            store.note({"format": format_.name, "gwa": __version__})
    return store


def _first_that_reads(
    format_: Format, heads: Sequence[FileHead], options: ReadOptions
) -> tuple[Format, Store]:
    """
    Return a store of files that are recognised as *format_*, and the format that they are of.

    A file may have the marks of a format, and be another's: where no row of it is a job, the other formats
    that its head matches are tried, tables last. The error of the first says why each of them was left.
    """
    try:
        return format_, _read_as(format_, heads, options)
    except NothingReadError as error:
        left = []
        for other in sorted(all_formats(), key=lambda one: one.is_last_resort):
            if other.name == format_.name:
                continue
            if reason := next(filter(None, map(other.mismatch, heads)), None):
                left += [f"{other.name}: {reason}"] if _is_near(other, heads[0]) else []
                continue
            _remove_begun(options)
            try:
                store = _read_as(other, heads, options)
            except TraceError as fault:
                left.append(f"{other.name}: {str(fault).removeprefix(f'{heads[0].path}: ')}")
                continue
            store.repaired(TRIED, MEANING_OF_TRIED.format(name=format_.name), store.account.jobs)
            return other, store
        if not left:
            raise
        raise NothingReadError(f"{error}. Tried as well: {'; '.join(left)}") from error


def _is_near(format_: Format, head: FileHead) -> bool:
    """Whether it is worth saying why *format_*, a table, was left: it lacks what a user can state."""
    return format_.is_last_resort and format_.likeness(head) == 1


def _remove_begun(options: ReadOptions) -> None:
    """Remove the store that a format began that could not read the files."""
    if options.target:
        options.target.unlink(missing_ok=True)


def _read_as(format_: Format, heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Return a store with the jobs of the files behind *heads*, which *format_* reads."""
    if options.on_spark and format_.name != "parquet":
        raise EngineError(
            f"{heads[0].path}: is {format_.title}, Spark reads Parquet: gwa convert it to .parquet first"
        )
    check_options(format_.title, format_.options, options.format_options)
    store = format_.read(heads, options)
    if options.cluster and (CLUSTER_KEY, options.cluster) not in store.header:
        store.close()
        raise _no_log(heads[0].path, format_.title)
    return store


def _no_log(path: Path, title: str) -> ArgumentError:
    """Return the error that a cluster was stated of what is no log."""
    return ArgumentError(f"{path}: is {title}, whose jobs are what they are: a cluster is stated of logs")


def _recognise_all(
    files: Sequence[Path], name: str | None, options: ReadOptions, *, skip_unknown: bool
) -> RecognisedFiles:
    """Recognise the format of each file; *skip_unknown* leaves out unknown ones if there is a known one."""
    recognised, errors = RecognisedFiles(), list[tuple[float, UnknownFormat]]()
    size = min(HEAD_SIZE, TOTAL_HEAD_SIZE // len(files))
    for path in files:
        head = None
        try:
            head = FileHead.of(path, size)
            format_ = recognise(head, name)
            if Store.holds not in format_.holds:
                refuse_requests(path, options)
            recognised.formats[format_.name] = format_
            recognised.heads[format_.name].append(head)
        except UnknownFormat as error:
            if not skip_unknown:
                raise
            reason = str(error).removeprefix(f"{path}: ").partition(". ")[0]
            recognised.skipped.append(SkippedFile(path, as_text(reason)))
            # An archive has no head that is read: it may well hold logs.
            likely = _most_like(head, all_formats(), 0.0) if head else [(1.0, None)]
            errors.append((max((likeness for likeness, _ in likely), default=0.0), error))
    if not recognised.heads:
        raise _none_recognised(files, errors)
    return recognised


def _none_recognised(files: Sequence[Path], errors: Sequence[tuple[float, UnknownFormat]]) -> UnknownFormat:
    """Return the error of the file that is most like a log, and say how many others there are."""
    _, error = max(errors, key=lambda pair: pair[0])
    others = f"none of {len(files)} files is a trace; " if len(files) > 1 else ""
    return UnknownFormat(f"{others}{error}")


def _mixture(heads: Mapping[str, Sequence[FileHead]]) -> str:
    """Return the message for files of several formats: each of them, with one of its files."""
    mixed = ", ".join(f"{name} such as {some[0].path.name}" for name, some in sorted(heads.items()))
    (first, *_), *_ = heads.values()
    return f"{first.path}: the files are of different formats ({mixed}): convert them one by one"


def _record_skipped(store: Store, skipped: Sequence[SkippedFile]) -> None:
    """Name the files that were not read among the sources and repairs, and count their lines."""
    if not skipped:
        return
    rows = [file.source_row() for file in skipped]
    _add_skipped(store, rows)
    by_reason: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for file, row in zip(skipped, rows, strict=True):
        by_reason[file.reason].append((as_text(file.path.name), int(str(row[-1]))))
    for reason, files in by_reason.items():
        names = ", ".join(name for name, _ in files[:MAXIMUM_NAMES])
        more = f" and {len(files) - MAXIMUM_NAMES} more files" if len(files) > MAXIMUM_NAMES else ""
        store.repaired(SKIPPED, f"{names}{more}: {reason}", sum(lines for _, lines in files))


def _add_skipped(store: Store, rows: Sequence[Sequence[object]]) -> None:
    """Add *rows* of skipped files to the sources, and their lines to the account, unless they are there."""
    known = store.rows("from sources where skipped is not null") if rows else []
    rows = [row for row in rows if tuple(row) not in known]
    if not rows:
        return
    store.insert("sources", rows)
    lines = sum(int(str(row[-1])) for row in rows)
    account = store.account
    store.set_account(replace(account, rows=account.rows + lines, skipped=account.skipped + lines))
