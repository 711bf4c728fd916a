"""Files that are read, and therefore must not be written to."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

_Identity = tuple[int, int]

_PROTECTED: ContextVar[frozenset[_Identity]] = ContextVar("protected", default=frozenset())


@contextmanager
def protected(paths: Iterable[Path]) -> Iterator[None]:
    """
    Protect the files in *paths* within a ``with``: `gwa.util.atomic` refuses to write to them.

    A file is known by its place on the disk, so it is protected under all its names: relative or absolute,
    symbolic links and hard links.
    """
    identities = {identity for path in paths if (identity := _identity(path))}
    token = _PROTECTED.set(_PROTECTED.get() | identities)
    try:
        yield
    finally:
        with suppress(ValueError):  # what was left unfinished ends where it is collected, in another context
            _PROTECTED.reset(token)


def is_protected(path: Path) -> bool:
    """Whether *path* is one of the files that are protected, by whichever of its names."""
    return _identity(path) in _PROTECTED.get()


def _identity(path: Path) -> _Identity | None:
    """Return the device and the number of a file; None if there is no such file."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
