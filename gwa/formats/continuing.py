"""
Go on reading logs that grow: what stands behind the place up to which they were read before.

A place is known by what stands before it, not by the name of the file or its number on a disk: a log that was
moved is found again, and one that was rotated or cut is read from its start. A store says in its provenance,
under `PLACES`, up to where each log was read; it is written with the jobs, or not at all.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from gwa.errors import TraceError
from gwa.formats.open import recognise
from gwa.ingest.source.compressed import is_compressed, unreadable
from gwa.ingest.source.head import FileHead
from gwa.util.filenames import as_text

PLACES: Final = "read"
"""The entry of the provenance on the places up to which logs were read."""

MAXIMUM_PLACES: Final = 100
"""The maximum number of logs that are known: those that were read last."""

FINGERPRINT: Final = 4096
"""How many bytes before a place, and at the start of a log, it is known by."""

BLOCK: Final = 1 << 20
"""The bytes that are copied at a time."""


@dataclass(frozen=True)
class LogPlace:
    """A place in a log called *name*, after a number of *bytes*: hashes of their *begin* and their *end*."""

    name: str
    bytes: int
    begin: str
    end: str


def places_of(provenance: Mapping[str, str]) -> list[LogPlace]:
    """Return the places that are known by what a store says."""
    try:
        return [LogPlace(**entry) for entry in json.loads(provenance.get(PLACES, "[]"))]
    except (ValueError, TypeError):
        return []


def noted(known: Sequence[LogPlace], new: Iterable[LogPlace | None]) -> dict[str, str]:
    """Return the entry of the provenance for what was *known* and is *new*."""
    kept = list(dict.fromkeys([*known, *filter(None, new)]))[-MAXIMUM_PLACES:]
    return {PLACES: json.dumps([asdict(place) for place in kept], ensure_ascii=False)}


def place_at_end(path: Path) -> LogPlace | None:
    """Return the place at the end of a log; None where its last line may still be written."""
    with _opened(path) as file:
        size = _size(file)
        return _place(file, path, size) if _is_compressed(file) or _end_of_lines(file, size) == size else None


def rest_of(
    path: Path, known: Sequence[LogPlace], name: str | None, folder: Path, tell: Callable[[str], object]
) -> tuple[Path, LogPlace] | None:
    """
    Write what stands in a log behind a *known* place to a file in *folder*, and return it and the new place.

    Return None where there is nothing new. *tell* is called where a log of that name was read, but is another
    one now. Raise `TraceError` where a log is not one of lines, which can be read from any of them on.
    """
    with _opened(path) as file:
        if _is_compressed(file):
            raise TraceError(f"{path}: is compressed, expected a log that grows: append it without --since")
        end = _place(file, path, _end_of_lines(file, _size(file)))
        begin = max((place.bytes for place in known if _is_there(file, place, end.bytes)), default=0)
        if not begin and any(place.name == end.name for place in known):
            tell(f"{path}: was rotated or cut since it was read: read from its start")
        if begin == end.bytes:
            return None
        header = _lines_of_header(path, name)
        part = folder / path.name
        with part.open("wb") as out:
            file.seek(0)
            out.writelines(file.readline() for _ in range(header if begin else 0))
            file.seek(begin)
            _copy(file, out, end.bytes - begin)
        return part, end


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a log; raise `TraceError` where it cannot be read."""
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise unreadable(path, error) from error


def _lines_of_header(path: Path, name: str | None) -> int:
    """Return how many lines name the columns of a log; raise `TraceError` where it is not one of lines."""
    head = FileHead.of(path)
    format_ = recognise(head, name)
    lines = format_.lines_of_header(head)
    if lines is None:
        raise TraceError(
            f"{path}: a log of the format {format_.name} cannot be read from where it was left,"
            " expected one of lines: append it without --since"
        )
    return lines


def _size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def _is_compressed(file: BinaryIO) -> bool:
    file.seek(0)
    return is_compressed(file.read(8))


def _copy(file: BinaryIO, out: BinaryIO, size: int) -> None:
    """Copy *size* bytes from where a file is read to."""
    while size > 0 and (block := file.read(min(size, BLOCK))):
        out.write(block)
        size -= len(block)


def _place(file: BinaryIO, path: Path, size: int) -> LogPlace:
    return LogPlace(
        as_text(path.name), size, _hash(file, 0, min(size, FINGERPRINT)), _hash_before(file, size)
    )


def _is_there(file: BinaryIO, place: LogPlace, size: int) -> bool:
    """Whether a log has the *place*, and the same before it."""
    return (
        0 < place.bytes <= size
        and _hash(file, 0, min(place.bytes, FINGERPRINT)) == place.begin
        and _hash_before(file, place.bytes) == place.end
    )


def _hash_before(file: BinaryIO, size: int) -> str:
    begin = max(0, size - FINGERPRINT)
    return _hash(file, begin, size - begin)


def _hash(file: BinaryIO, begin: int, size: int) -> str:
    file.seek(begin)
    return sha256(file.read(size)).hexdigest()


def _end_of_lines(file: BinaryIO, size: int) -> int:
    """Return how many bytes of a log are whole lines: another program may be writing the last one."""
    end = size
    while end > 0:
        begin = max(0, end - (1 << 16))
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0
