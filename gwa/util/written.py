"""
What gwa wrote in a folder, and from what: such a file may be replaced unasked, any other not.

The folder holds the hidden file `RECORD`, with a line for each output: its name, a salted hash of what it was
made from (its *origin*), and its size, by which a file that somebody edited is told from what gwa wrote. The
size is null of a folder, and while the output is on its way, so that a command that was killed can be
repeated. The record travels with the folder, and says nothing to others: an origin cannot be read from it.
"""

import json
import os
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from gwa.errors import OutputError
from gwa.util.atomic import IS_READ, write_whole
from gwa.util.protection import is_protected

if sys.platform != "win32":
    import fcntl

RECORD: Final = ".gwa-written"


class _Line(NamedTuple):
    """What the record says of an output."""

    name: str
    salt: str
    hash: str
    size: int | None


@contextmanager
def claimed(paths: Iterable[Path], origin: str, *, force: bool = False) -> Iterator[None]:
    """
    Claim the outputs *paths*, all in one folder, which are made from *origin* and written within a ``with``.

    Raise `OutputError`, before anything is written, if one of them exists that gwa did not write from the
    same origin, unless *force* is set.
    """
    outputs = list(dict.fromkeys(paths))
    for path in outputs:
        if is_protected(path):
            raise OutputError(f"{path}: {IS_READ}")
        if not force and os.path.lexists(path) and not _is_own(path, origin):
            raise OutputError(
                f"{path}: exists, and is not what gwa wrote from the same input with the same options:"
                " --force replaces it, -o names another output"
            )
    _note(outputs, origin, on_its_way=True)
    try:
        yield
    finally:
        with suppress(OutputError):
            _note(outputs, origin, on_its_way=False)


def _is_own(path: Path, origin: str) -> bool:
    line = _lines(path.parent).get(path.name)
    return line is not None and _is_of(line, origin) and line.size in {None, _size(path)}


def _is_of(line: _Line, origin: str) -> bool:
    return _hash(line.salt, origin) == line.hash


def _note(outputs: Sequence[Path], origin: str, *, on_its_way: bool) -> None:
    """Note that *outputs* are made from *origin*, and in the end their sizes; forget those that are not."""
    folder = outputs[0].parent if outputs else Path()
    if not outputs or not folder.is_dir():
        return
    with _locked(folder):
        before = _lines(folder)
        lines = dict(before)
        for path in outputs:
            if not on_its_way and not os.path.lexists(path):
                lines.pop(path.name, None)
                continue
            old = before.get(path.name)
            salt = old.salt if old and _is_of(old, origin) else secrets.token_hex(8)
            size = None if on_its_way else _size(path)
            lines[path.name] = _Line(path.name, salt, _hash(salt, origin), size)
        if lines == before:
            return
        if lines:
            write_whole(folder / RECORD, "".join(f"{json.dumps(lines[name])}\n" for name in sorted(lines)))
        else:
            (folder / RECORD).unlink(missing_ok=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let no other process change the record meanwhile, where the file system has locks."""
    if sys.platform == "win32":  # pragma: no cover - the tests run on Linux
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _lines(folder: Path) -> dict[str, _Line]:
    """Return what the record says of each name; a line that is broken says nothing."""
    lines: dict[str, _Line] = {}
    with suppress(OSError):
        for text in (folder / RECORD).read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, TypeError):
                line = _Line(*json.loads(text))
                lines[line.name] = line
    return lines


def _hash(salt: str, origin: str) -> str:
    return sha256(f"{salt}\0{origin}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _size(path: Path) -> int | None:
    """Return the size of a file; None of a folder, and of nothing."""
    with suppress(OSError):
        return path.stat().st_size if path.is_file() else None
    return None
