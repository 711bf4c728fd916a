"""Which files a trace consists of: files, folders, patterns, or standard input."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import Final

from gwa.errors import TraceError

STDIN: Final = Path("-")

_SPOOLED: list[tempfile.TemporaryDirectory[str]] = []
"""Copies of standard input; they go when the program ends."""


def expand(paths: Sequence[Path]) -> list[Path]:
    """
    Return the files that *paths* stand for, in a stable order.

    A folder stands for all files below it but hidden ones, a pattern such as ``part-*.csv.gz`` for
    what it matches, and ``-`` for standard input. Raise `TraceError` where there is nothing.
    """
    return [file for path in paths for file in _files(path)]


def _files(path: Path) -> Iterator[Path]:
    if path == STDIN:
        yield _spooled()
    elif path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if _counts(file, path)]
        yield from _filled(path, files, "is an empty folder")
    elif has_magic(str(path)) and not path.exists():
        matches = sorted(glob(str(path), recursive=True))  # noqa: PTH207 - patterns may be absolute
        yield from _filled(path, [Path(match) for match in matches], "matches no file")
    else:
        yield path


def _counts(file: Path, folder: Path) -> bool:
    """Whether a file in a folder is part of the trace."""
    return file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)


def _filled(path: Path, files: list[Path], otherwise: str) -> list[Path]:
    if not files:
        message = f"{path}: {otherwise}, expected logs"
        raise TraceError(message)
    return files


def _spooled() -> Path:
    """Return a copy of standard input, since a source is looked at before it is read."""
    if sys.stdin.isatty():
        message = "standard input is a terminal, expected a log: gwa convert - < accounting.log"
        raise TraceError(message)
    folder = tempfile.TemporaryDirectory(prefix="gwa-", ignore_cleanup_errors=True)
    _SPOOLED.append(folder)
    copy = Path(folder.name, "stdin")
    with copy.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return copy
