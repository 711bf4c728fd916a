"""Find the files of a trace: files, folders, patterns, or standard input."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import IO, Final

from gwa.errors import TraceError
from gwa.util.filenames import PIPE, kind_of
from gwa.util.scratch import ScratchFolder

STDIN: Final = Path("-")

OPEN_FILES: Final = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")
"""Where files stand that a shell has opened for the command, such as the pipe of ``<(zcat log.gz)``."""

_COPIES: list[ScratchFolder] = []
"""Copies of standard input and of pipes, removed when the program ends."""


def expand(paths: Sequence[Path]) -> list[Path]:
    """
    Expand *paths* to files, in a stable order.

    A folder stands for all files below it except hidden ones, a pattern such as ``part-*.csv.gz`` for
    the files that it matches, and ``-`` for standard input. Raise `TraceError` if there are no files.
    """
    return [file for path in paths for file in _files(path)]


def _files(path: Path) -> Iterator[Path]:
    if path == STDIN:
        yield _copy_stdin()
    elif path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if _is_visible(file, path)]
        yield from _require_files(path, files, "is an empty folder")
    elif has_magic(str(path)) and not path.exists():
        matches = sorted(glob(str(path), recursive=True))  # noqa: PTH207 - patterns may be absolute
        yield from _require_files(path, [Path(match) for match in matches], "matches no file")
    else:
        yield _plain(path)


def _plain(path: Path) -> Path:
    """
    Return *path*, or a copy of what comes through the pipe of a shell that it is.

    Raise `TraceError` for a device, a socket, or a pipe with a name, whose writer may never come.
    """
    kind = kind_of(path)
    if kind is None:
        return path
    if kind == PIPE and str(path).startswith(OPEN_FILES):
        with path.open("rb") as pipe:
            return _copy(pipe)
    hint = f": cat {path} | gwa …, with - for its name" if kind == PIPE else ""
    raise TraceError(f"{path}: is {kind}, expected a file{hint}")


def _is_visible(file: Path, folder: Path) -> bool:
    """Whether *file* below *folder* is a file that is not hidden."""
    return file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)


def _require_files(path: Path, files: list[Path], problem: str) -> list[Path]:
    if not files:
        message = f"{path}: {problem}, expected logs"
        raise TraceError(message)
    return files


def _copy_stdin() -> Path:
    """Copy standard input to a file, since a source is opened more than once."""
    if sys.stdin.isatty():
        message = "standard input is a terminal, expected a log: gwa convert - < accounting.log"
        raise TraceError(message)
    return _copy(sys.stdin.buffer)


def _copy(stream: IO[bytes]) -> Path:
    folder = ScratchFolder()
    _COPIES.append(folder)
    copy = folder.path / "stdin"
    with copy.open("wb") as file:
        shutil.copyfileobj(stream, file)
    return copy
