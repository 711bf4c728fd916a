"""
Folders that belong to one process as long as it lives.

Each holds the file `MARK`, which its owner keeps locked. The kernel releases that lock when the owner ends,
however it ends, and on a shared disk it holds for other hosts too. A process that gets the lock therefore
knows that the owner is gone; no process is judged by its number, which another host or container uses too.
Only folders with that file are moved or removed.
"""

import os
import re
import secrets
import shutil
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from gwa.errors import OutputError

if sys.platform != "win32":
    import fcntl

MARK: Final = "gwa.lock"
"""The file by which a folder of gwa is known; its owner keeps it locked."""

TOKEN_BYTES: Final = 8

PART: Final = re.compile(rf"\..+\.[0-9a-f]{{{2 * TOKEN_BYTES}}}\.part")
"""The names of folders in which an output, or the removal of one, is on its way."""

PRIVATE: Final = 0o700


def _is_strange(path: Path) -> bool:
    """Whether something without a mark is at *path*, and was there all the time: others come and go."""
    try:
        before = path.lstat().st_ino
        return not os.path.lexists(path / MARK) and path.lstat().st_ino == before
    except FileNotFoundError:
        return False


class OwnedFolder:
    """A folder that this process owns until it releases or removes it, or ends."""

    def __init__(self, path: Path, lock: int | None) -> None:
        """Wrap the folder *path* whose file `MARK` is open, and locked, as *lock*."""
        self.path = path
        self._lock = lock

    @classmethod
    def create(cls, name: Callable[[str], Path], mode: int = PRIVATE) -> Self:
        """Create a folder and own it; *name* returns its path for a random word."""
        while True:
            path = name(secrets.token_hex(TOKEN_BYTES))
            path.mkdir(mode)
            try:
                lock = _lock(path, os.O_CREAT)
            except FileNotFoundError:  # another process swept it before it was marked
                continue
            except BaseException:
                path.rmdir()
                raise
            if lock is not None:
                folder = cls(path, lock)
                try:
                    folder._name_owner()
                except BaseException:
                    folder.remove()
                    raise
                return folder

    @classmethod
    def acquire(cls, path: Path) -> Self | None:
        """
        Own the folder *path*, or return None if a living process owns it.

        Raise `FileNotFoundError` if there is no folder of gwa at *path*.
        """
        if (lock := _lock(path)) is None:
            return None
        folder = cls(path, lock)
        folder._name_owner()
        return folder

    @classmethod
    def claim(cls, path: Path) -> Self | None:
        """
        Own the folder *path*, which is created if it does not exist; return None if a living process owns it.

        Raise `OutputError` if it was not made by gwa.
        """
        while True:
            try:
                return cls.acquire(path)
            except (FileNotFoundError, NotADirectoryError) as error:
                if _is_strange(path):
                    message = f"{path}: was not made by gwa and is left alone; gwa needs that name: rename it"
                    raise OutputError(message) from error
            folder = cls.create(part_name(path), 0o777)
            try:
                folder.move(path)
            except OSError:  # another process was first
                folder.remove()
                if not os.path.lexists(path):
                    raise
                continue
            return folder

    def _name_owner(self) -> None:
        """Write into the mark who owns the folder, for messages to other processes."""
        if self._lock is not None:
            with suppress(OSError):
                os.ftruncate(self._lock, 0)
                os.pwrite(self._lock, f"{socket.gethostname()}, process {os.getpid()}\n".encode(), 0)

    def move(self, path: Path) -> None:
        """Rename the folder to *path*."""
        self.path.rename(path)
        self.path = path

    def discard(self) -> None:
        """Remove the folder in one step: at no time is there half of it at its path."""
        self.move(part_name(self.path)(secrets.token_hex(TOKEN_BYTES)))
        self.remove()

    def remove(self) -> None:
        """Remove the folder, the mark last: what cannot be removed now goes with a later sweep."""
        try:
            self._remove_content()
        except KeyboardInterrupt:
            self._remove_content()
            raise
        finally:
            self.release()

    def _remove_content(self) -> None:
        with suppress(OSError):
            for path in self.path.iterdir():
                if path.name != MARK:
                    _remove(path)
            if [path.name for path in self.path.iterdir()] == [MARK]:
                (self.path / MARK).unlink()
                self.path.rmdir()
            elif not any(self.path.iterdir()):
                self.path.rmdir()

    def release(self) -> None:
        """Leave the folder to other processes."""
        if self._lock is not None:
            with suppress(OSError):
                os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None


def part_name(path: Path) -> Callable[[str], Path]:
    """Return the names that folders beside *path* have while an output to *path* is on its way."""
    return lambda token: path.with_name(f".{path.name}.{token}.part")


def sweep(folder: Path, names: re.Pattern[str] = PART) -> None:
    """Remove what processes that have ended left in *folder* under *names*, such as those of parts."""
    with suppress(OSError):
        left = [Path(entry) for entry in os.scandir(folder) if names.fullmatch(entry.name)]
        for path in left:
            with suppress(OSError):
                _sweep(path)


def owner(folder: Path) -> str:
    """Return the host and the process that own *folder*, as far as they are known."""
    try:
        return (folder / MARK).read_text(encoding="utf-8", errors="replace").strip() or "unknown"
    except OSError:
        return "unknown"


def _sweep(path: Path) -> None:
    """Remove a folder without an owner; one without a mark only if it is empty."""
    try:
        folder = OwnedFolder.acquire(path)
    except FileNotFoundError:
        path.rmdir()
        return
    if folder:
        folder.remove()


def _lock(path: Path, flags: int = 0) -> int | None:
    """Return the open and locked mark of the folder *path*; None if it has an owner or just lost its name."""
    mark = path / MARK
    lock = os.open(mark, os.O_RDWR | flags, 0o666)
    try:
        if _is_locked(lock, new=bool(flags)) and os.path.samestat(os.fstat(lock), mark.stat()):
            return lock
    except FileNotFoundError:
        pass
    except BaseException:
        os.close(lock)
        raise
    os.close(lock)
    return None


def _is_locked(lock: int, *, new: bool) -> bool:
    """
    Lock an open file for this process, and return whether that succeeded.

    Where the file system has no locks, only the owner of a *new* file has it.
    """
    if sys.platform == "win32":  # pragma: no cover - the tests run on Linux
        return new
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # the file system has no locks
        return new
    return True


def _remove(path: Path) -> None:
    """Remove a file or a folder, as far as that is possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
