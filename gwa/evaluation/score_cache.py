"""Scores that are kept in a file, so that a long comparison that was broken off goes on where it was."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from gwa.errors import OutputError
from gwa.store.store import Store


class ScoreCache:
    """
    What was found out before, a line of JSON for each: the hash of what was asked, and the answer.

    *program* is a hash of what answers, for another program may answer otherwise. Lines that cannot be read
    are those of a run that was broken off; they are asked again. Without a *path* nothing is kept.
    """

    def __init__(self, path: Path | None = None, program: str = "") -> None:
        """Read what is kept in *path*, if there is such a file."""
        self._path, self._program = path, program
        self._answers = dict(_read(path)) if path and path.exists() else {}
        self._begun = False

    def answer(self, question: tuple[str | int, ...], find: Callable[[], Any]) -> Any:  # noqa: ANN401 - JSON
        """Return the kept answer to *question*, or the one that is found now, which is kept."""
        name = sha256(json.dumps([self._program, *question]).encode()).hexdigest()
        if name not in self._answers:
            self._answers[name] = find()
            self._keep(name)
        return self._answers[name]

    def _keep(self, name: str) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                # The line before may be half a line, which must not spoil this one.
                start = "" if self._begun else "\n"
                file.write(start + json.dumps({"question": name, "answer": self._answers[name]}) + "\n")
                self._begun = True
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written: {error.strerror}") from error


def _read(path: Path) -> "list[tuple[str, Any]]":
    """Return the answers of a file whose last line may be half a line."""
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            said = json.loads(line)
            found.append((str(said["question"]), said["answer"]))
        except (ValueError, KeyError, TypeError):
            continue
    return found


def content(store: Store) -> str:
    """Return a hash of the jobs that ran, with all that is known of them, and of the system's processors."""
    fields = ", ".join(name for name, known in store.known.items() if known)
    jobs = store.arrow(f"select {fields} from ran order by submit_time, job_id").combine_chunks()  # noqa: S608
    digest = sha256(f"{store.system.cpus} {jobs.schema}".encode())
    with pa.BufferOutputStream() as sink:
        with pa.ipc.new_stream(sink, jobs.schema) as stream:
            stream.write_table(jobs)
        digest.update(sink.getvalue())
    return digest.hexdigest()
