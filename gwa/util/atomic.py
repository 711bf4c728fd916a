"""Write files that appear whole or not at all."""

import gzip
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, cast

import duckdb

from gwa.errors import GwaError, OutputError
from gwa.util.filenames import is_text
from gwa.util.owned import OwnedFolder, part_name, sweep
from gwa.util.protection import is_protected

ENGINE: Final = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)
"""What DuckDB raises when it cannot write, at once or when it commits."""

IS_READ: Final = "is read, so it cannot be written to: expected another name to write"

FULL: Final = "No space left on device"
"""How the system says that a disk is full; DuckDB wraps it in names of its own files."""


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """
    Yield a path beside *path* to write to; it replaces *path* only when all went well.

    Whatever happens meanwhile, a full disk or a killed process included, an earlier *path* stays
    as it was. Raise `OutputError` where the place cannot be written to.
    """
    writable(path)
    with beside(path) as folder:
        part = folder / "part"
        yield part
        _flush(part)
        part.replace(path)


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """
    Yield a new folder beside *path*, on the same disk, for what is to become *path*; it goes in the end.

    What killed processes left beside *path* is removed. Raise `OutputError` for what the disk refuses.
    """
    sweep(path.parent)
    try:
        folder = OwnedFolder.create(part_name(path))
        try:
            yield folder.path
        finally:
            folder.remove()
    except GwaError:  # what is wrong is said already
        raise
    except (OSError, *ENGINE) as error:
        raise unwritable(path, error) from error


def writable(path: Path) -> None:
    """Raise `OutputError` where a file cannot be written to *path*, before work is done for it."""
    try:
        reason = _obstacle(path)
    except OSError as error:
        raise unwritable(path, error) from error
    if reason:
        raise OutputError(f"{path}: {reason}")


def unwritable(path: Path, error: Exception) -> OutputError:
    """Return the error, in one line, that *path* cannot be written because of another *error*."""
    if isinstance(error, OutputError):
        return error
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
    return OutputError(f"{path}: cannot be written: {FULL if FULL in reason else reason}")


@contextmanager
def compressing(part: Path, name: Path) -> Iterator[IO[bytes]]:
    """Open *part* for writing, compressed as the suffix of *name* says; same content, same bytes."""
    with part.open("wb") as raw:
        if name.suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as out:
                yield cast("IO[bytes]", out)
        elif name.suffix == ".zst":
            from zstandard import ZstdCompressor

            with ZstdCompressor(level=3).stream_writer(raw, closefd=False) as out:
                yield cast("IO[bytes]", out)
        else:
            yield raw


def write_whole(path: Path, content: str | bytes, mode: int | None = None) -> None:
    """Write *content* to *path*, whole or not at all, with the permissions of *mode* from the start."""
    with whole(path) as part:
        part.touch(mode or 0o666)
        part.write_bytes(_encoded(content))


def write_folder(path: Path, files: Mapping[str, str | bytes]) -> None:
    """
    Write *files* by their names into the folder *path*.

    A new folder appears with all of them at once. In one that exists each file appears whole, and
    others stay.
    """
    if path.is_dir():
        for name, content in files.items():
            make_folder((path / name).parent)
            write_whole(path / name, content)
        return
    make_folder(path.parent)
    writable(path)
    with beside(path) as folder:
        for name, content in files.items():
            part = folder / "part" / name
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(_encoded(content))
        _flush(folder / "part")
        (folder / "part").rename(path)


def remove_whole(path: Path) -> None:
    """Remove a file or a folder in one step: at no time is there half of it."""
    with beside(path) as folder:
        path.rename(folder / "part")


def make_folder(path: Path) -> None:
    """Make the folder *path* and those above it; raise `OutputError` where that is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: cannot be made: {error.strerror}") from error


def mark_folder(path: Path) -> None:
    """
    Make the folder *path* for files of gwa, which several processes may use, and remove what is left in it.

    Raise `OutputError` if there is a folder that was not made by gwa.
    """
    sweep(path.parent)
    try:
        if folder := OwnedFolder.claim(path):
            folder.release()
    except OSError as error:
        raise unwritable(path, error) from error
    sweep(path)


def _encoded(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _obstacle(path: Path) -> str:
    """Return why no file can be written to *path*, empty where it can."""
    if not is_text(str(path)):
        return "its name is not UTF-8, expected another one"
    if is_protected(path):
        return IS_READ
    if path.is_dir():
        return "is a directory, expected the name of a file to write"
    if not path.parent.is_dir():
        return f"there is no directory {path.parent}"
    return "" if os.access(path.parent, os.W_OK) else f"no permission to write in {path.parent}"


def _flush(part: Path) -> None:
    """Make sure that the content is on disk before its name says so."""
    for path in part.rglob("*") if part.is_dir() else [part]:
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
