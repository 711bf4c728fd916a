"""A cache of scores in a file, so that an interrupted leaderboard can be resumed."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from gwa.errors import OutputError
from gwa.store.store import Store
from gwa.util.atomic import make_folder, write_whole
from gwa.util.exclusive import SHORT_WORK, exclusive

MARK_LINE: Final = '{"gwa": "scores of models, kept to be resumed"}\n'
"""The first line of the file, by which it is known as a file of gwa."""


class ScoreCache:
    """
    Values by the hash of their key, a line of JSON for each.

    *program* is a hash of the program that computes the values, and part of every key. Lines that cannot be
    read are those of an interrupted run; their values are computed again. Without a *path* values are cached
    in memory only.
    """

    def __init__(self, path: Path | None = None, program: str = "") -> None:
        """Read the values in *path*, if the file exists."""
        self._path, self._program = path, program
        self._values = dict(_read(path)) if path and path.exists() else {}
        self._has_written = False

    def get(self, key: tuple[str | int, ...], compute: Callable[[], Any]) -> Any:  # noqa: ANN401 - JSON
        """Return the cached value of *key*, or compute and cache it."""
        digest = sha256(json.dumps([self._program, *key]).encode()).hexdigest()
        if digest not in self._values:
            self._values[digest] = compute()
            self._append(digest)
        return self._values[digest]

    def _append(self, digest: str) -> None:
        if self._path is None:
            return
        if not self._has_written:
            make_folder(self._path.parent)
        with exclusive(self._path, SHORT_WORK):
            self._write(self._path, digest)

    def _write(self, path: Path, digest: str) -> None:
        if not path.exists():
            write_whole(path, MARK_LINE)
        try:
            with path.open("a", encoding="utf-8") as file:
                # An interrupted run may have left an incomplete line, which must not spoil this one.
                start = "" if self._has_written else "\n"
                file.write(start + json.dumps({"question": digest, "answer": self._values[digest]}) + "\n")
                self._has_written = True
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from error


def _read(path: Path) -> "list[tuple[str, Any]]":
    """
    Return the hashes and values in a file, skipping incomplete lines.

    Raise `OutputError` if the file was not made by gwa.
    """
    text, values = path.read_text(encoding="utf-8", errors="replace"), []
    if not text.startswith(MARK_LINE):
        message = (
            f"{path}: was not made by gwa and is left alone; gwa keeps its scores in a file of that name"
        )
        raise OutputError(f"{message}: rename it, or choose another folder")
    for line in text.splitlines():
        try:
            entry = json.loads(line)
            values.append((str(entry["question"]), entry["answer"]))
        except (ValueError, KeyError, TypeError):
            continue
    return values


def hash_jobs(store: Store) -> str:
    """Return a hash of all recorded fields of the jobs that ran, and of the system's processors."""
    fields = ", ".join(name for name, known in store.known.items() if known)
    jobs = store.arrow(f"select {fields} from ran order by submit_time, job_id").combine_chunks()  # noqa: S608
    digest = sha256(f"{store.system.cpus} {jobs.schema}".encode())
    with pa.BufferOutputStream() as sink:
        with pa.ipc.new_stream(sink, jobs.schema) as stream:
            stream.write_table(jobs)
        digest.update(sink.getvalue())
    return digest.hexdigest()
