"""
What gwa wrote in a folder, and from what: such a file may be replaced unasked, any other not.

The folder holds the hidden file `RECORD`, with a line for each output: its name, a salted hash of what it was
made from (its `origin`), and its size, by which a file that somebody edited is told from what gwa wrote. The
size is null while the output is on its way, so that a command that was killed can be repeated. The last line
of a name counts. It travels with the folder, and says nothing to others: an origin cannot be read from it.
"""

import json
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from gwa.errors import OutputError
from gwa.util.atomic import IS_READ, write_whole
from gwa.util.protection import is_protected

RECORD: Final = ".gwa-written"

MAXIMUM_BYTES: Final = 1 << 16
"""A larger record is written anew, with the last line of each name."""


class _Line(NamedTuple):
    """What the record says of an output; a folder has no size."""

    name: str
    salt: str
    hash: str
    size: int | None


@contextmanager
def claimed(paths: Iterable[Path], origin: str, *, force: bool = False) -> Iterator[None]:
    """
    Claim the outputs *paths*, which are made from *origin*, and are written within a ``with``.

    Raise `OutputError`, before anything is written, if one of them exists that gwa did not write from the
    same origin, unless *force* is set.
    """
    outputs = list(dict.fromkeys(paths))
    for path in () if force else outputs:
        require_own(path, origin)
    for path in outputs:
        _note(path, origin, None)
    try:
        yield
    finally:
        for path in outputs:
            _settle(path, origin)


def require_own(path: Path, origin: str) -> None:
    """Raise `OutputError` if *path* exists, and is not what gwa wrote from *origin*."""
    if is_protected(path):
        raise OutputError(f"{path}: {IS_READ}")
    if os.path.lexists(path) and not _is_own(path, origin):
        message = (
            f"{path}: exists, and is not what gwa wrote from the same input with the same options:"
            " --force replaces it, -o names another output"
        )
        raise OutputError(message)


def _is_own(path: Path, origin: str) -> bool:
    line = _lines(path.parent).get(path.name)
    if line is None or _hash(line.salt, origin) != line.hash:
        return False
    return line.size in {None, _size(path)}


def _settle(path: Path, origin: str) -> None:
    """Note the size of an output; forget one that was not made."""
    with suppress(OutputError):
        if os.path.lexists(path):
            _note(path, origin, _size(path))
        else:
            _forget(path)


def _forget(path: Path) -> None:
    """Remove the lines of an output from the record, and a record that says nothing."""
    lines = _lines(path.parent)
    if lines.pop(path.name, None) is None:
        return
    if lines:
        write_whole(path.parent / RECORD, "".join(map(_text, lines.values())))
    else:
        (path.parent / RECORD).unlink(missing_ok=True)


def _note(path: Path, origin: str, size: int | None) -> None:
    """Add a line to the record of the folder, if there is that folder and the line says anything new."""
    record, lines = path.parent / RECORD, _lines(path.parent)
    old = lines.get(path.name)
    if not path.parent.is_dir() or (old and old.size == size and _hash(old.salt, origin) == old.hash):
        return
    salt = secrets.token_hex(8)
    line = _Line(path.name, salt, _hash(salt, origin), size)
    if record.exists() and record.stat().st_size > MAXIMUM_BYTES:
        write_whole(record, "".join(map(_text, (lines | {path.name: line}).values())))
        return
    try:
        # One write of a short line: processes that write beside each other do not break it.
        descriptor = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, _text(line).encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error


def _text(line: _Line) -> str:
    return f"{json.dumps(line)}\n"


def _lines(folder: Path) -> dict[str, _Line]:
    """Return the last line of each name; those that are broken off say nothing."""
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
