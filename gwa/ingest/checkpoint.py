"""
The rows of the files of a trace as they were read, kept beside what is made of them.

They are Parquet files in a folder, a part of it for each file, and each part is there whole or not at all.
A conversion that was killed goes on behind the last part. A store that logs are appended to keeps its
rows, so all of them become jobs anew: what a later log tells of a job is joined to what was known of
it, and the store is the one that a single conversion of all its logs would have made.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from gwa.errors import GwaError, OutputError, TraceError
from gwa.ingest.source.head import FileHead
from gwa.util.atomic import whole

KEY: Final = "key.json"
PART: Final = "part.json"

Rejects = Sequence[tuple[int, str, str]]


@dataclass(frozen=True)
class SourceFile:
    """
    One file: which it is, the *header* it begins with, the *table* its rows belong to, and their account.

    *rejects* are the first refused rows: line, reason and text.
    """

    file: str
    folder: str
    name: str
    bytes: int
    modified: int
    begins: str
    sha256: str
    header: Sequence[tuple[str, str]]
    table: str
    rows: int
    comments: int
    rejected: int
    rejects: Rejects

    @property
    def head(self) -> FileHead:
        """What stands for the file where its data is not needed any more."""
        return FileHead(Path(self.folder, self.file), self.name, b"")

    def is_of(self, head: FileHead) -> bool:
        """Whether it was read from the file of *head*, as it is now."""
        status = head.path.stat()
        return (self.file, self.bytes, self.modified, self.begins) == (
            head.path.name,
            status.st_size,
            status.st_mtime_ns,
            digest(head),
        )


def digest(head: FileHead) -> str:
    """Return the hash of the data that a file begins with."""
    return sha256(head.data).hexdigest()


class Checkpoint:
    """The parts in *folder*, in the order in which their files were read."""

    def __init__(self, folder: Path, key: Mapping[str, object], already: Sequence[str] | None = None) -> None:
        """
        Find the parts that were read with the same *key*; others are removed.

        *already* are the hashes of the files of the store that is appended to, None where that is none.
        Raise `TraceError` where their rows are not all here, or were read in another way.
        """
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        known = _json(folder / KEY)
        self.parts = list(_parts(folder)) if known == json.loads(json.dumps(key)) else []
        if already:
            self._refuse_lost(set(already), known, key)
        elif not self.parts:
            self._cut(0)
        (folder / KEY).write_text(json.dumps(key))

    def _refuse_lost(self, already: set[str], known: Mapping[str, object], key: Mapping[str, object]) -> None:
        name = self.folder.name
        odd = next((word for word, value in key.items() if known and known.get(word) != value), None)
        if odd:
            message = (
                f"{name}: its rows were read with another {odd} ({known.get(odd)}): convert all logs anew"
            )
            raise TraceError(message)
        if {part.sha256 for part in self.parts[: len(already)]} != already:
            message = f"{name}: does not hold the rows of the logs in the store: convert all logs anew"
            raise TraceError(message)

    def begin(self, heads: Sequence[FileHead], already: int) -> None:
        """Leave *already* parts, and those behind them that were read of the first of *heads*."""
        same = 0
        for part, head in zip(self.parts[already:], heads, strict=False):
            if not part.is_of(head):
                break
            same += 1
        self._cut(already + same)

    def _cut(self, length: int) -> None:
        """Remove all parts behind the first ones."""
        del self.parts[length:]
        for path in self.folder.glob("[0-9]*"):
            if int(path.name) >= length:
                shutil.rmtree(path)

    @contextmanager
    def adding(self) -> Iterator[Path]:
        """Yield the folder of a new part, to be filled; it is there only when all went well."""
        with whole(self.folder / f"{len(self.parts):06}") as part:
            part.mkdir()
            yield part
            self.parts.append(_read(part))

    def pieces(self, table: str, number: int | None = None) -> list[Path]:
        """Return the Parquet files with rows of *table*, or those of one part alone."""
        parts = self.parts if number is None else [self.parts[number]]
        first = number or 0
        return [
            piece
            for place, part in enumerate(parts, first)
            if part.table == table
            for piece in sorted((self.folder / f"{place:06}").glob("*.parquet"))
        ]


def finish(folder: Path, part: SourceFile) -> None:
    """Write the account of a *part* whose rows are in *folder*."""
    (folder / PART).write_text(json.dumps(asdict(part), ensure_ascii=False), encoding="utf-8")


def _parts(folder: Path) -> Iterator[SourceFile]:
    """Yield the parts until one is not there, or is none."""
    number = 0
    while (path := folder / f"{number:06}").is_dir():
        try:
            yield _read(path)
        except (OSError, ValueError, TypeError, KeyError):
            return
        number += 1


def _read(folder: Path) -> SourceFile:
    said = json.loads((folder / PART).read_text(encoding="utf-8"))
    said["header"] = tuple((key, value) for key, value in said["header"])
    return SourceFile(**said)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def locked(folder: Path, *, forever: bool, begun: bool = False) -> Iterator[None]:
    """
    Let this process alone use *folder*, and remove it in the end.

    It stays where the work is interrupted, to be taken up again, and where it is kept *forever*, for a store
    to append to; after an error only if the store had *begun* before.
    """
    import fcntl

    try:
        folder.mkdir(exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise OutputError(f"{folder}: another conversion is at work on it") from error
        try:
            yield
        except GwaError:
            if not begun:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        if not forever:
            shutil.rmtree(folder, ignore_errors=True)
