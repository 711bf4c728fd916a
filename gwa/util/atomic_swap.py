"""Put a finished folder in the place of another in one step: readers see the old or the new, whole."""

import ctypes
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gwa.errors import OutputError
from gwa.util.atomic import beside, make_folder
from gwa.util.exclusive import exclusive
from gwa.util.protection import is_protected

HERE: Final = -100
"""AT_FDCWD: paths are as for any other call."""

EXCHANGE: Final = 2
"""RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS are the same number."""

UNABLE: Final = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}


@contextmanager
def replacing(out: Path, is_ours: Callable[[Path], bool]) -> Iterator[tuple[Path, Path | None]]:
    """
    Yield an empty folder that takes the place of *out* when all went well, and the old *out*, if any.

    Only a folder that is empty, or of which *is_ours* holds, is replaced: raise `OutputError` for any other,
    and where another command is at work on it.
    A process that is killed leaves *out* as it was, or as it became; what else it left goes next time.
    """
    out = out.parent.resolve() / out.name if not out.is_symlink() else out.resolve()
    _refuse(out, is_ours)
    make_folder(out.parent)
    with exclusive(out), beside(out) as folder:
        _refuse(out, is_ours)
        part = folder / "part"
        part.mkdir()
        yield part, out if out.is_dir() and any(out.iterdir()) else None
        os.sync()
        exchange(part, out)


def exchange(new: Path, place: Path) -> None:
    """Let *new* and *place* change places; where there is no *place*, or an empty one, *new* moves there."""
    if not place.exists() or not any(place.iterdir()):
        new.rename(place)
    elif not _exchanged(new, place):
        # Without help from the system there is a moment in which neither stands.
        aside = new.with_name(new.name + ".old")
        place.rename(aside)
        new.rename(place)
        aside.rename(new)


def _exchanged(new: Path, place: Path) -> bool:
    """Exchange two folders in one step of the system, and tell whether it can do that."""
    library = ctypes.CDLL(None, use_errno=True)
    one, other = os.fsencode(new), os.fsencode(place)
    if sys.platform == "darwin":  # pragma: no cover - the tests run on Linux
        failed = library.renamex_np(one, other, EXCHANGE)
    elif hasattr(library, "renameat2"):
        failed = library.renameat2(HERE, one, HERE, other, EXCHANGE)
    else:  # pragma: no cover - old or other systems
        return False
    if failed and ctypes.get_errno() not in UNABLE:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return not failed


def _refuse(out: Path, is_ours: Callable[[Path], bool]) -> None:
    """Raise `OutputError` where something stands at *out* that gwa did not make."""
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out}: is a file, expected the name of a folder")
    if out.is_dir() and any(out.iterdir()) and not is_ours(out):
        raise OutputError(
            f"{out}: holds other things than what is to be written there, expected an empty or a new folder"
        )
    if any(map(is_protected, out.rglob("*"))):
        raise OutputError(f"{out}: is read, so it cannot be replaced: expected another name to write")
