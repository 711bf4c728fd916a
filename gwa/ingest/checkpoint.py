"""
Rows of the files of a trace, stored as they were read beside the output.

A checkpoint is a folder with one subfolder of Parquet files for each source file, which appears only when it
is complete. A conversion that was killed resumes after the last complete one. A store that logs are appended
to keeps its checkpoint, so all rows are mapped again: what a later log records of a job is joined to
the earlier rows of that job, and the store equals the one that a single conversion of all logs would make.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from gwa.errors import OutputError, TraceError
from gwa.ingest.source.head import FileHead
from gwa.store.system import CLUSTER_KEY
from gwa.util.atomic import make_folder, remove_whole, unwritable, whole, write_whole
from gwa.util.owned import OwnedFolder, owner, sweep

KEY_FILE: Final = "key.json"
ACCOUNT_FILE: Final = "part.json"
SETTLED_FILE: Final = "settled"
"""What this file says is of how many logs the rows were not kept, which were in the store before."""


@dataclass(frozen=True)
class SourceFile:
    """
    A file that was read: its identity, its *header*, the *table* of its rows, and their counts.

    *rejects* are the first refused rows: line, reason and text. *witnesses* are kinds and keys of jobs whose
    rows tell of the whole log, for each of the facts of the format.
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
    rejects: Sequence[tuple[int, str, str]]
    witnesses: Sequence[Sequence[tuple[str, int]]] = ()

    @property
    def cluster(self) -> str | None:
        """The cluster that the file was stated to be of."""
        return dict(self.header).get(CLUSTER_KEY)

    @property
    def head(self) -> FileHead:
        """A head without data, for where only the names of the file are needed."""
        return FileHead(Path(self.folder, self.file), self.name, b"")

    def matches(self, head: FileHead) -> bool:
        """Whether this was read from the file of *head* as it is now."""
        status = head.path.stat()
        return (self.file, self.bytes, self.modified, self.begins) == (
            head.path.name,
            status.st_size,
            status.st_mtime_ns,
            head_digest(head),
        )


def head_digest(head: FileHead) -> str:
    """Return the hash of the data at the beginning of a file."""
    return sha256(head.data).hexdigest()


class Checkpoint:
    """The source files whose rows are in *folder*, in the order in which they were read."""

    def __init__(
        self, folder: Path, key: Mapping[str, object], stored_hashes: Sequence[str] | None = None
    ) -> None:
        """
        Open the checkpoint in *folder*; rows that were read with another *key* are removed.

        *stored_hashes* are those of the files in the store that is appended to, None if there is none.
        Raise `TraceError` if rows of these files are missing or were read with another key.
        """
        self.folder = folder
        make_folder(folder)
        sweep(folder)
        old_key = _read_key(folder / KEY_FILE)
        self.files = list(_read_accounts(folder)) if old_key == json.loads(json.dumps(key)) else []
        if stored_hashes:
            self._refuse_incomplete(set(stored_hashes), old_key, key)
        elif not self.files:
            self._truncate(0)
        write_whole(folder / KEY_FILE, json.dumps(key))

    def _refuse_incomplete(
        self, stored_hashes: set[str], old_key: Mapping[str, object], key: Mapping[str, object]
    ) -> None:
        name = f"{self.folder.parent.name}/{self.folder.name}"
        changed = next((word for word, value in key.items() if old_key and old_key.get(word) != value), None)
        if changed:
            message = (
                f"{name}: its rows were read with another {changed} ({old_key.get(changed)}):"
                " convert all logs again"
            )
            raise TraceError(message)
        if {file.sha256 for file in self.files[: len(stored_hashes)]} != stored_hashes:
            message = f"{name}: does not hold the rows of the logs in the store: convert all logs again"
            raise TraceError(message)

    def resume(self, heads: Sequence[FileHead], stored: int, cluster: str | None = None) -> None:
        """Retain the first *stored* files, and those behind of a *cluster* that match the first *heads*."""
        matching = 0
        for file, head in zip(self.files[stored:], heads, strict=False):
            if not file.matches(head) or file.cluster != cluster:
                break
            matching += 1
        self._truncate(stored + matching)

    def _truncate(self, length: int) -> None:
        """Remove all files after the first *length*."""
        del self.files[length:]
        for path in self.folder.glob("[0-9]*"):
            if int(path.name) >= length:
                remove_whole(path)

    @contextmanager
    def adding_file(self, number: int) -> Iterator[Path]:
        """
        Yield a new folder for the rows of the file of that *number*, which is there if no error occurs.

        Several may be added at once. A file is part of the checkpoint when all before it are, see `add_next`.
        """
        with whole(self.folder / f"{number:06}") as folder:
            folder.mkdir()
            yield folder

    def add_next(self) -> None:
        """Make the next file, which is there, part of the checkpoint."""
        self.files.append(_read_account(self.folder / f"{len(self.files):06}"))

    def parquet_files(self, table: str, number: int | None = None) -> list[Path]:
        """Return the Parquet files with rows of *table*, of all source files or only that of *number*."""
        numbers = range(len(self.files)) if number is None else [number]
        return [
            path
            for file_number in numbers
            if self.files[file_number].table == table
            for path in sorted((self.folder / f"{file_number:06}").glob("*.parquet"))
        ]


def write_account(folder: Path, file: SourceFile) -> None:
    """Write the description of the source file whose rows are in *folder*."""
    (folder / ACCOUNT_FILE).write_text(json.dumps(asdict(file), ensure_ascii=False), encoding="utf-8")


def _read_accounts(folder: Path) -> Iterator[SourceFile]:
    """Yield the source files up to the first that is missing or damaged."""
    number = 0
    while (path := folder / f"{number:06}").is_dir():
        try:
            yield _read_account(path)
        except (OSError, ValueError, TypeError, KeyError):
            return
        number += 1


def _read_account(folder: Path) -> SourceFile:
    content = json.loads((folder / ACCOUNT_FILE).read_text(encoding="utf-8"))
    content["header"] = tuple((key, value) for key, value in content["header"])
    return SourceFile(**content)


def _read_key(path: Path) -> dict[str, Any]:
    """Return the key in a file, an empty one if it is missing or damaged."""
    try:
        key = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return key if isinstance(key, dict) else {}


class RowsFolder:
    """
    The folder ``OUT.rows`` beside an output, with the rows of its logs, owned by this process.

    It holds up to two checkpoints: the rows *kept* for the next ``--append``, and those of an *unfinished*
    conversion without it, so that such a conversion does not touch what the next ``--append`` needs. Beside a
    folder by months it holds a *store* of the same trace, which logs are appended to.
    """

    def __init__(self, folder: OwnedFolder) -> None:
        """Wrap the folder that this process owns."""
        self._folder = folder
        self.store = folder.path / "store.duckdb"
        self.kept = folder.path / "kept"
        self.unfinished = folder.path / "unfinished"

    def settled(self, logs: int) -> int:
        """Return of how many of the *logs* in the store the rows were not kept; rows are kept from now on."""
        mark = self.kept / SETTLED_FILE
        if not self.kept.is_dir():
            with whole(self.kept) as part:
                part.mkdir()
                (part / SETTLED_FILE).write_text(str(logs), encoding="utf-8")
        return int(mark.read_text(encoding="utf-8")) if mark.is_file() else 0

    def drop_unfinished(self) -> None:
        """Remove the rows of an unfinished conversion, and the folder unless it keeps others."""
        if not self.kept.is_dir() and not self.store.exists():
            self.drop()
        elif self.unfinished.is_dir():
            remove_whole(self.unfinished)

    def drop(self) -> None:
        """Remove the folder in one step."""
        self._folder.discard()

    def release(self) -> None:
        """Leave the folder to other processes."""
        self._folder.release()


def rows_path(out: Path) -> Path:
    """Return the path of the folder for the rows of the logs that *out* is made from."""
    return out.with_name(f"{out.name}.rows").resolve()


@contextmanager
def owned_rows(out: Path) -> Iterator[RowsFolder]:
    """
    Own the folder for the rows of *out*, which is created if there is none, during the ``with`` block.

    Raise `OutputError` if another process owns it, or if it was not made by gwa.
    """
    path = rows_path(out)
    sweep(path.parent)
    try:
        folder = OwnedFolder.claim(path)
    except OSError as error:
        raise unwritable(path, error) from error
    if folder is None:
        raise OutputError(f"{path}: another conversion is at work on it ({owner(path)})")
    rows = RowsFolder(folder)
    for place in (path, rows.kept, rows.unfinished):
        sweep(place)
    try:
        yield rows
    finally:
        rows.release()
