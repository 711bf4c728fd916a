"""Write files that appear whole or not at all."""

import gzip
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO, Final, cast

import duckdb

from gwa.errors import OutputError
from gwa.util.filenames import is_text
from gwa.util.protection import is_protected

ENGINE: Final = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)
"""What DuckDB raises when it cannot write, at once or when it commits."""

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
    part = swept(path)
    try:
        yield part
        _flush(part)
        part.replace(path)
    except (OSError, *ENGINE) as error:
        raise unwritable(path, error) from error
    finally:
        remove(part)


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
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def write_folder(path: Path, files: Mapping[str, str | bytes]) -> None:
    """Write *files* by their names into the folder *path*, each whole; others in it are nobody's business."""
    for name, content in files.items():
        try:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(path, error) from error
        write_whole(path / name, content)


def _obstacle(path: Path) -> str:
    """Return why no file can be written to *path*, empty where it can."""
    if not is_text(str(path)):
        return "its name is not UTF-8, expected another one"
    if is_protected(path):
        return "is read, so it cannot be written to: expected another name to write"
    if path.is_dir():
        return "is a directory, expected the name of a file to write"
    if not path.parent.is_dir():
        return f"there is no directory {path.parent}"
    return "" if os.access(path.parent, os.W_OK) else f"no permission to write in {path.parent}"


def swept(path: Path) -> Path:
    """Return the place for this process's part of *path*, after removing what killed processes left there."""
    for stale in path.parent.glob(f".{escape(path.name)}.*.part*"):
        owner = re.match(r"(\d+)\.part", stale.name.removeprefix(f".{path.name}."))
        if owner and (int(owner[1]) == os.getpid() or not is_running(int(owner[1]))):
            with suppress(OSError):
                remove(stale)
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def is_running(process: int) -> bool:
    """Whether there is such a *process*, of whomever."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _flush(part: Path) -> None:
    """Make sure that the content is on disk before its name says so."""
    for path in part.rglob("*") if part.is_dir() else [part]:
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def remove(part: Path) -> None:
    """Remove a part, a file or a folder, and the log that DuckDB keeps beside it."""
    if part.is_dir():
        shutil.rmtree(part, ignore_errors=True)
    else:
        part.unlink(missing_ok=True)
    Path(f"{part}.wal").unlink(missing_ok=True)
