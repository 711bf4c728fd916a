"""Formats of traces: how their files are recognised, read and written."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Final

from gwa.errors import TraceError, UnknownFormat
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions, RebuildNeeded
from gwa.store.requests import RequestStore
from gwa.store.store import Store
from gwa.util import plugins

WORDS: Final = {Store.holds: "jobs", RequestStore.holds: "requests of language models"}
"""What traces are of, in words."""


def refuse_requests(path: Path, options: ReadOptions) -> None:
    """Raise `UnknownFormat` for a trace of requests unless *options* take those, too."""
    if options.join or not options.requests:
        raise UnknownFormat(
            f"{path}: holds {WORDS[RequestStore.holds]}, not jobs: gwa convert, report, facts, charge, sql"
            " and model take it, nothing else does, see 'gwa formats requests'"
        )


@dataclass(frozen=True)
class Format:
    """
    A format of traces.

    *names* are patterns of file names such as ``*.gwf``. *mismatch* returns None if the format can read the
    file of a head, else the reason why it cannot. *read* makes a store of the files of some heads; *write*
    is None for formats that are only read. *likeness* says from 0 to 1 how near a file comes to a format that
    does not match it. *export* are the commands that get such a file out of the system that has it, each on a
    line of its own; lines that begin with # explain them. *options* maps the options of the format to what
    they accept: see `gwa.formats.format_options`. A *last resort* is recognised only where no other format
    matches. *holds* says what its files may hold: jobs, or requests to language models. *lines_of_header*
    says how many lines of a file name its columns; None where it is not one of lines that can be read from
    any of them on.
    """

    name: str
    title: str
    names: tuple[str, ...]
    notes: str
    mismatch: Callable[[FileHead], str | None]
    read: Callable[[Sequence[FileHead], ReadOptions], Store]
    write: Callable[[Store, Path], None] | None = None
    likeness: Callable[[FileHead], float] = lambda _: 0.0
    export: str = ""
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    is_last_resort: bool = False
    holds: tuple[str, ...] = (Store.holds,)
    lines_of_header: Callable[[FileHead], int | None] = lambda _: None

    def save(self, store: Store, path: Path) -> None:
        """Write *store* to *path*; raise `UnknownFormat` if the format can only be read, or holds others."""
        if self.write is None:
            raise UnknownFormat(f"{path}: {self.title} can only be read")
        if store.holds not in self.holds:
            raise UnknownFormat(
                f"{path}: a file of this name holds no {WORDS[store.holds]}, expected .duckdb"
                f" or {'.requests.csv' if store.holds == RequestStore.holds else 'a format of jobs'}"
            )
        self.write(store, path)

    def is_named(self, name: str) -> bool:
        """Whether the file *name* matches a pattern of this format."""
        return any(fnmatch(name.lower(), pattern) for pattern in self.names)


@contextmanager
def new_store(options: ReadOptions) -> Iterator[Store]:
    """
    Yield a new store to fill, which is closed if an error occurs.

    Raise `RebuildNeeded` for a copy of a store that is appended to: it is not empty.
    """
    if options.appends:
        raise RebuildNeeded("all rows of this format are read together")
    store = Store.create(options.target, options.engine)
    try:
        yield store
    except BaseException:
        store.close()
        raise


def require_match(heads: Sequence[FileHead], mismatch: Callable[[FileHead], str | None]) -> None:
    """Raise `TraceError` for the first of *heads* that *mismatch* gives a reason against."""
    for head in heads:
        if reason := mismatch(head):
            raise TraceError(f"{head.path}: {reason}")


@cache
def formats() -> tuple[Format, ...]:
    """Return the formats of `gwa.formats.builtin`, by name."""
    members = (vars(module).get("FORMAT") for module in plugins.modules("gwa.formats.builtin"))
    return tuple(sorted(filter(None, members), key=lambda member: str(member.name)))


@cache
def writers() -> Mapping[str, Callable[[Store, Path], None]]:
    """Return the writers for formats defined in ``converters/``, by the name of the format."""
    members = (vars(module).get("WRITER") for module in plugins.modules("gwa.formats.builtin"))
    return dict(filter(None, members))
