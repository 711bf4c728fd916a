"""
Collect what is new in logs that a batch system writes, day by day or at the end of one, and append it.

Whether a part of a log is in the store is told by its content, so that logs may be rotated, renamed and
compressed: a log that begins with what was collected is read from where that ends.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from gwa.errors import TraceError
from gwa.formats.append import append
from gwa.formats.collect.work import stored_sources, working_folder
from gwa.ingest.source.compressed import SUFFIXES, Source, plain_name
from gwa.store.account import Account
from gwa.store.options import ReadOptions
from gwa.util.atomic import whole

PATTERNS: Final[Mapping[str, str]] = {"pbs": "[0-9]" * 8, "lsf": "lsb.acct*", "sge": "accounting*"}
"""The names of the logs in the folder of each batch system, without the suffix of compressed ones."""

EXAMPLES: Final = {"pbs": "20251003", "lsf": "lsb.acct", "sge": "accounting"}

BLOCK: Final = 1 << 20

Known = Mapping[int, frozenset[str]]
"""The hashes of the sources of a store, by their bytes."""


@dataclass(frozen=True)
class New:
    """The *account* of the store, None where nothing is new; of how many *logs* how many have *new* lines."""

    account: Account | None
    logs: int
    new: int


def logs_of(system: str, place: Path) -> list[Path]:
    """Return the logs of a batch *system* in the folder *place*, or the one that it is, in their order."""
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise TraceError(f"{place}: there is no such folder, expected that of the logs of {system}")
    pattern = PATTERNS[system]
    found = [path for path in place.iterdir() if path.is_file() and Path(plain_name(path)).match(pattern)]
    if not found:
        raise TraceError(f"{place}: has no logs of {system}, expected files called {EXAMPLES[system]}")
    return sorted(found)


def collect_logs(system: str, place: Path, out: Path, *, options: ReadOptions, command: str = "") -> New:
    """Append to the store *out* the lines of the logs of a batch *system* that it does not have."""
    logs = logs_of(system, place)
    with working_folder(out) as work:
        for path in work.path.glob("*.log"):  # of a collection that was broken off; logs may have grown
            path.unlink()
        known: dict[int, set[str]] = defaultdict(set)
        for _, size, digest in stored_sources(out):
            known[size].add(digest)
        hashes = {size: frozenset(digests) for size, digests in known.items()}
        parts = [part for log in logs if (part := _new_part(log, hashes, work.path))]
        account = None
        if parts:
            account, _ = append(parts, out, name=system, options=options, command=command)
        work.discard()
    return New(account, len(logs), len(parts))


def _new_part(log: Path, known: Known, folder: Path) -> Path | None:
    """Write the whole lines of a *log* that are not *known* into *folder*; None where there are none."""
    plain = log if log.suffix.lower() not in SUFFIXES else _decompressed(log, folder)
    with plain.open("rb") as file:
        begin = _known_end(file, known)
        end = _last_line_end(file, begin)
        if end <= begin:
            return None
        part = folder / f"{log.name}.from-{begin}.log"
        with whole(part) as written, written.open("wb") as out:
            file.seek(begin)
            for block in _blocks(file, end - begin):
                out.write(block)
    return part


def _decompressed(log: Path, folder: Path) -> Path:
    plain = folder / f"{log.name}.plain"
    source = Source(log)
    try:
        with whole(plain) as part, part.open("wb") as out:
            while block := source.read(BLOCK):
                out.write(block)
        if source.broken:
            raise TraceError(f"{log}: {source.broken}")
    finally:
        source.close()
    return plain


def _known_end(file: BinaryIO, known: Known) -> int:
    """Return how many bytes at the beginning of a log are parts that are *known*, one behind the other."""
    end = 0
    while size := _known_piece(file, end, known):
        end += size
    return end


def _known_piece(file: BinaryIO, begin: int, known: Known) -> int:
    """Return the bytes of the known piece that begins there, 0 where none does."""
    file.seek(begin)
    digest, read = sha256(), 0
    for size in sorted(known):
        for block in _blocks(file, size - read):
            digest.update(block)
            read += len(block)
        if read < size:
            break
        if digest.hexdigest() in known[size]:
            return size
    return 0


def _blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the bytes of a *file* in pieces of one size; the last may be shorter."""
    while size > 0 and (block := file.read(min(BLOCK, size))):
        size -= len(block)
        yield block


def _last_line_end(file: BinaryIO, begin: int) -> int:
    """Return where the last whole line of a log ends; its system may be writing the one behind it."""
    end = file.seek(0, 2)
    while end > begin:
        start = max(begin, end - BLOCK)
        file.seek(start)
        place = file.read(end - start).rfind(b"\n")
        if place >= 0:
            return start + place + 1
        end = start
    return begin


def commands(system: str, place: Path, out: Path) -> Sequence[str]:
    """Return the command, for a shell, that reads the same logs."""
    words = [
        "gwa",
        "convert",
        "--append",
        "--format",
        system,
        *map(str, logs_of(system, place)),
        "-o",
        str(out),
    ]
    return [shlex.join(words)]
