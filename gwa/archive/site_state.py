"""
What a site was built of, and whether it still stands as it was built: then there is nothing to do.

The mark of a build holds a hash of the names, sizes and times of all files in the folder of the catalogue, of
the options and of this program, and the sizes of the files of the site. It names no file of that folder: the
site is public. A build with problems leaves no mark, so that the next one tells them again.
"""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from gwa.util import fingerprint
from gwa.util.progress import SILENT, Progress

CATALOG: Final = "catalog.json"
"""The file by which a site of gwa is known."""

MARK: Final = "build.json"
NEVER_READ: Final = ("deposits.json",)
"""Files of the catalogue's folder that are not for the site."""

SETTLED: Final = 2_000_000_000
"""Nanoseconds: a file that changed so shortly before a build may have changed since without another time."""


@dataclass(frozen=True)
class BuildOptions:
    """How a site is built: *jobs* at a time, the engine's *memory*, whether names may be published."""

    jobs: int = 2
    memory: str | None = None
    publish_names: bool = False
    url: str = ""
    progress: Progress = SILENT


@dataclass(frozen=True)
class BuildOutcome:
    """
    The outcome of a build: traces *built* and *unchanged*, and *problems*, a line each.

    *url* is the address of the site, empty if unknown; *fair* is in a line how its traces meet the FAIR
    principles; *engine* is the version of DuckDB for browsers, None without it.
    """

    built: tuple[str, ...]
    unchanged: tuple[str, ...]
    problems: tuple[str, ...]
    url: str = ""
    fair: str = ""
    engine: str | None = None


@dataclass(frozen=True)
class SiteState:
    """The *inputs* of a build that began at a time, in ns, and the time at which the *newest* changed."""

    inputs: str
    newest: int
    began: int = field(default_factory=time.time_ns)

    @classmethod
    def of(cls, site: Path, out: Path, options: BuildOptions) -> "SiteState":
        """Return the state of the folder *site*, of which a site is built into *out*."""
        digest, newest = sha256(fingerprint.program().encode()), 0
        digest.update(json.dumps([options.publish_names, options.url]).encode())
        for path in sorted(_files(site, out.resolve())):
            found = path.stat()
            name = path.relative_to(site).as_posix()
            digest.update(f"\0{name}\0{found.st_size}\0{found.st_mtime_ns}".encode())
            newest = max(newest, found.st_mtime_ns, found.st_ctime_ns)
        return cls(digest.hexdigest(), newest)

    def outcome(self, out: Path) -> BuildOutcome | None:
        """Return the outcome of the build that made *out*, if it would be the same again, else None."""
        mark = read_object(out / MARK)
        try:
            is_same = mark["inputs"] == self.inputs and self.newest < mark["began"] - SETTLED
            if not is_same or mark["files"] != sizes(out):
                return None
            told = mark["outcome"]
            return BuildOutcome((), tuple(told["unchanged"]), (), told["url"], told["fair"], told["engine"])
        except (KeyError, TypeError):
            return None

    def note(self, folder: Path, outcome: BuildOutcome) -> None:
        """Leave the mark of a build in the *folder* of the new site, unless it had problems."""
        if outcome.problems:
            return
        names = sorted((*outcome.built, *outcome.unchanged))
        told = asdict(outcome) | {"built": [], "unchanged": names}
        content = {"inputs": self.inputs, "began": self.began, "outcome": told, "files": sizes(folder)}
        (folder / MARK).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def sizes(folder: Path) -> dict[str, int]:
    """Return the sizes of all files of a site but its mark, by their paths in it."""
    found = {}
    for home, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(home, name)  # noqa: PTH118 - thousands of files
            found[os.path.relpath(path, folder)] = os.stat(path).st_size  # noqa: PTH116
    found.pop(MARK, None)
    return found


def _files(site: Path, out: Path) -> Iterator[Path]:
    """Yield the files in the folder of a catalogue, without what is hidden and what is built of it."""
    for home, folders, names in os.walk(site):
        here = Path(home)
        folders[:] = [one for one in folders if not one.startswith(".") and (here / one).resolve() != out]
        names += [one for one in folders if (here / one).is_symlink()]
        yield from (here / name for name in names if not name.startswith(".") and name not in NEVER_READ)


def read_object(path: Path) -> dict[str, Any]:
    """Return the object in a file of JSON, empty where there is none that can be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
