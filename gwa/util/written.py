"""
What gwa wrote in a folder, and from what: such a file may be replaced unasked, any other not.

The folder holds the hidden file `RECORD`, with a line for each output: its name, a salted hash of what it was
made from (its *origin*), and its size, by which a file that somebody edited is told from what gwa wrote. The
size is null of a folder. While the output is on its way the name of a folder stands there, which the command
owns meanwhile: so no other writes it, and a command that was killed can be repeated. The record travels with
the folder, and says nothing to others: an origin cannot be read from it.
"""

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from gwa.errors import OutputError
from gwa.util.atomic import IS_READ, unwritable, write_whole
from gwa.util.exclusive import SHORT_WORK, exclusive
from gwa.util.owned import OwnedFolder, owner, part_name
from gwa.util.protection import is_protected

RECORD: Final = ".gwa-written"


class _Line(NamedTuple):
    """What the record says of an output."""

    name: str
    salt: str
    hash: str
    size: int | str | None


@contextmanager
def claimed(paths: Iterable[Path], origin: str, *, force: bool = False) -> Iterator[None]:
    """
    Claim the outputs *paths*, all in one folder, which are made from *origin* and written within a ``with``.

    Raise `OutputError`, before anything is written, if one of them exists that gwa did not write from the
    same origin, unless *force* is set, or if another command writes one of them now.
    """
    outputs = list(dict.fromkeys(paths))
    for path in outputs:
        if is_protected(path):
            raise OutputError(f"{path}: {IS_READ}")
    if not outputs or not outputs[0].parent.is_dir():
        _refuse_others(outputs, origin, force=force)
        yield
        return
    claim = _claim(outputs, origin, force=force)
    try:
        yield
    finally:
        with suppress(OutputError):
            _note(outputs, origin, None)
        claim.remove()


def _claim(outputs: Sequence[Path], origin: str, *, force: bool) -> OwnedFolder:
    """Note that this process writes *outputs* now; return the folder that it owns as long as it does."""
    folder = outputs[0].parent
    with exclusive(folder / RECORD, SHORT_WORK):
        _refuse_others(outputs, origin, force=force)
        try:
            claim = OwnedFolder.create(part_name(folder / RECORD))
        except OSError as error:
            raise unwritable(outputs[0], error) from error
        try:
            _write_lines(outputs, origin, claim.path.name)
        except BaseException:
            claim.remove()
            raise
    return claim


def _refuse_others(outputs: Sequence[Path], origin: str, *, force: bool) -> None:
    """Raise `OutputError` for an output of another origin, and for one that another command writes now."""
    for path in outputs:
        line = _lines(path.parent).get(path.name)
        if line and (who := _writer(path.parent, line)):
            raise OutputError(f"{path}: another gwa command is writing it ({who})")
        if not force and os.path.lexists(path) and not _is_own(path, line, origin):
            raise OutputError(
                f"{path}: exists, and is not what gwa wrote from the same input with the same options:"
                " --force replaces it, -o names another output"
            )


def _writer(folder: Path, line: _Line) -> str:
    """Return who writes the output of a *line* now, empty if no one does."""
    if not isinstance(line.size, str) or Path(line.size).name != line.size:
        return ""
    claim = folder / line.size
    try:
        gone = OwnedFolder.acquire(claim)
    except OSError:
        return ""
    if gone is None:
        return owner(claim)
    gone.remove()
    return ""


def _is_own(path: Path, line: _Line | None, origin: str) -> bool:
    is_finished = line is not None and not isinstance(line.size, str) and line.size is not None
    return line is not None and _is_of(line, origin) and (not is_finished or line.size == _size(path))


def _is_of(line: _Line, origin: str) -> bool:
    return _hash(line.salt, origin) == line.hash


def _note(outputs: Sequence[Path], origin: str, claim: str | None) -> None:
    """Write the lines of *outputs* while no other process does so: see `_write_lines`."""
    with exclusive(outputs[0].parent / RECORD, SHORT_WORK):
        _write_lines(outputs, origin, claim)


def _write_lines(outputs: Sequence[Path], origin: str, claim: str | None) -> None:
    """
    Note that *outputs* are made from *origin*, and their sizes; forget those that are not there.

    While they are written, the name of their *claim* stands for their size.
    """
    folder = outputs[0].parent
    before = _lines(folder)
    lines = dict(before)
    for path in outputs:
        if claim is None and not os.path.lexists(path):
            lines.pop(path.name, None)
            continue
        old = before.get(path.name)
        salt = old.salt if old and _is_of(old, origin) else secrets.token_hex(8)
        lines[path.name] = _Line(path.name, salt, _hash(salt, origin), claim or _size(path))
    if lines == before:
        return
    if lines:
        write_whole(folder / RECORD, "".join(f"{json.dumps(lines[name])}\n" for name in sorted(lines)))
    else:
        (folder / RECORD).unlink(missing_ok=True)


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
