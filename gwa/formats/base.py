"""What a format of traces is: how its files are recognised, read and written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Protocol

from gwa.errors import UnknownFormat
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util import plugins


class Read(Protocol):
    """Reads files of a format into a store."""

    def __call__(self, heads: Sequence[FileHead], reading: ReadOptions) -> Store:
        """Return a store with the jobs of the files behind *heads*."""


@dataclass(frozen=True)
class Format:
    """
    A format of traces.

    *names* are patterns such as ``*.gwf``. *mismatch* returns None for a head that it can read, else
    the reason why it cannot. *write* is None for formats that are only read.
    """

    name: str
    title: str
    names: tuple[str, ...]
    notes: str
    mismatch: Callable[[FileHead], str | None]
    read: Read
    write: Callable[[Store, Path], None] | None = None

    def save(self, store: Store, path: Path) -> None:
        """Write *store* to *path*; raise `UnknownFormat` for a format that is only read."""
        if self.write is None:
            message = f"{path}: {self.title} can only be read"
            raise UnknownFormat(message)
        self.write(store, path)

    def is_named(self, name: str) -> bool:
        """Whether a file *name* is one of this format."""
        return any(fnmatch(name.lower(), pattern) for pattern in self.names)


@cache
def formats() -> tuple[Format, ...]:
    """Return the formats of `gwa.formats.builtin`, by name."""
    members = (vars(module).get("FORMAT") for module in plugins.modules("gwa.formats.builtin"))
    return tuple(sorted((one for one in members if one), key=lambda one: str(one.name)))


@cache
def writers() -> Mapping[str, Callable[[Store, Path], None]]:
    """Return how the formats are written that are read by a definition in ``converters/``, by name."""
    members = (vars(module).get("WRITER") for module in plugins.modules("gwa.formats.builtin"))
    return dict(one for one in members if one)
