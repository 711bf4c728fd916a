"""Put a finished folder in the place of another in one step: readers see the old or the new, whole."""

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gwa.errors import OutputError
from gwa.util.atomic import remove, swept, unwritable

HERE: Final = -100
"""AT_FDCWD: paths are as for any other call."""

EXCHANGE: Final = 2
"""RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS are the same number."""

UNABLE: Final = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}


@contextmanager
def replacing(out: Path, mark: str) -> Iterator[tuple[Path, Path | None]]:
    """
    Yield an empty folder that takes the place of *out* when all went well, and the old *out*, if any.

    Only a folder that is empty or holds the file *mark* is replaced: raise `OutputError` for any other.
    A process that is killed leaves *out* as it was, or as it became; what else it left goes next time.
    """
    out = out.parent.resolve() / out.name if not out.is_symlink() else out.resolve()
    part = swept(out)
    try:
        _refuse(out, mark)
        part.mkdir(parents=True)
        yield part, out if (out / mark).is_file() else None
        os.sync()
        exchange(part, out)
    except OSError as error:
        raise unwritable(out, error) from error
    finally:
        remove(part)


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


def _refuse(out: Path, mark: str) -> None:
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out}: is a file, expected a folder for the site")
    if out.is_dir() and any(out.iterdir()) and not (out / mark).is_file():
        raise OutputError(f"{out}: holds other things than a site, expected an empty or a new folder")
