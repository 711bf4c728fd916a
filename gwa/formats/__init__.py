"""
The formats that gwa itself writes, one module each, found by looking.

A module defines ``FORMAT``, a `Format`: how files of it are recognised, read and written. Other
formats are only read; each is a definition in ``converters/`` (see `gwa.convert`).
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from gwa.progress import SILENT, Progress
from gwa.readers.head import Head
from gwa.store import Engine, Store


@dataclass(frozen=True)
class Reading:
    """How a trace is to be read: what a system file says, strictness, engine and progress."""

    system: Mapping[str, object] | None = None
    strict: bool = False
    engine: Engine | None = None
    progress: Progress = SILENT
    target: Path | None = None
    """Where the store is made; None for scratch space."""


class Read(Protocol):
    """Reads files of a format into a store."""

    def __call__(self, heads: Sequence[Head], reading: Reading) -> Store:
        """Return a store with the jobs of the files behind *heads*."""


@dataclass(frozen=True)
class Format:
    """
    A format of traces.

    *refuses* returns None for a head that it can read, else the reason why it cannot.
    *write* is None for formats that are only read.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    notes: str
    refuses: Callable[[Head], str | None]
    read: Read
    write: Callable[[Store, Path], None] | None = None

    def is_named(self, name: str) -> bool:
        """Whether a file *name* is one of this format."""
        return name.lower().endswith(self.suffixes)


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats of this package, by name."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    return tuple(sorted((module.FORMAT for module in modules), key=lambda one: one.name))
