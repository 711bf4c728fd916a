"""Mutated logs: one file, folders of several, headers of one with rows of another, compressed, cut."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

from zstandard import ZstdCompressor

from tests.conftest import HOME, LOGS
from tests.mutation import NAMES, PIECES, VALUES, mutated

LINES: Final = 130
"""Lines to which a small log is repeated, and of a real one that are taken."""

NO_LOGS: Final = {
    "README.md": b"# Logs\n\nSee the wiki.\n",
    "empty": b"",
    "page.html": b"<html><body>moved</body></html>\n",
    "core": bytes(range(256)) * 16,
    "users.csv": b"name,mail\nann,ann@example.org\n",
}
"""Files that stand beside logs."""

COMPRESSIONS: Final[dict[str, Callable[[bytes], bytes]]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: ZstdCompressor().compress(data),
}


@dataclass(frozen=True)
class Log:
    """
    A good file: of which format, its name, and its content.

    *is_lines* says that each of its lines is a row, whatever becomes of it.
    """

    format: str
    name: str
    data: bytes
    is_lines: bool


LINE_BY_LINE: Final = {
    "alibaba-gpu2020", "alibaba-gpu2023", "alibaba-gpu2025", "alibaba-spot2026", "alibaba2017", "alibaba2018",
    "azure-vm", "gatekeeper", "google2011", "gwf", "swf",
}  # fmt: skip
"""Formats of which each line is a row; others have documents, or records that a line break may split."""

DOCUMENTS: Final = {
    "apel", "aws-batch", "batsim", "clustercockpit", "condor", "flux", "kubernetes", "oar", "ray", "seg",
    "slurm-dump", "slurm-jobcomp", "slurm-json", "usagerecord", "wfcommons", "yarn", "globus", "today",
}  # fmt: skip
"""Formats that cannot be repeated, or cut, line by line."""


@cache
def logs() -> tuple[Log, ...]:
    """Return all samples, grown if they are small, and the beginnings of real logs, where there are any."""
    kept = {"expected.gwf", "system.toml", "README.md"}
    samples = (path for path in sorted((HOME / "sample_traces").rglob("*")) if path.is_file())
    found = [
        Log(path.parent.name, path.name, grown(path.read_bytes(), path), path.parent.name in LINE_BY_LINE)
        for path in samples
        if path.name not in kept
    ]
    real = sorted(path for path in LOGS.rglob("*") if path.is_file() and path.suffix != ".md")
    return (*found, *(real_log(path) for path in real))


def any_log(chance: Random) -> Log:
    """Return a log; each format is as likely as another."""
    name = chance.choice(sorted({log.format for log in logs()}))
    return chance.choice([log for log in logs() if log.format == name])


def grown(data: bytes, path: Path) -> bytes:
    """Return a log whose lines are repeated until there are enough of them; documents stay as they are."""
    lines = data.splitlines(keepends=True)
    if path.parent.name in DOCUMENTS or path.suffix == ".json":
        return data
    return data * max(1, LINES // len(lines))


def real_log(path: Path) -> Log:
    """Return the first lines of a real log, or all of a document."""
    kind = path.relative_to(LOGS).parts[0]
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        data = b"".join(islice(file, None if kind in DOCUMENTS else LINES))
    return Log(kind, path.name.removesuffix(".gz"), data[: 1 << 17], kind in LINE_BY_LINE)


@dataclass
class Case:
    """What is *given* to gwa: a file or a folder of *files*, and how many lines each has at least."""

    kind: str
    given: Path
    files: dict[Path, bytes]
    lines: Mapping[str, int]

    def write(self) -> None:
        """Write the files."""
        for path, data in self.files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def case(number: int, seed: int, folder: Path) -> Case:
    """Return the case of this *number*, the same for each *seed*, whose files stand in *folder*."""
    chance = Random(f"{seed} {number}")
    kind = KINDS[number % len(KINDS)]
    return kind(chance, folder)


def one_file(chance: Random, folder: Path) -> Case:
    """Return a mutated log, half of the time of a name that says nothing."""
    log = any_log(chance)
    path = folder / chance.choice([log.name, "log"])
    return counted("a file", path, {path: changed(log.data, chance)}, {path.name: log.is_lines})


def several(chance: Random, folder: Path) -> Case:
    """Return a folder of mutated logs of one format, and of what is none."""
    log = any_log(chance)
    alike = [other for other in logs() if other.format == log.format]
    chosen = [log, *chance.choices(alike, k=chance.randint(1, 3))]
    files = {
        folder / "logs" / f"{number}-{one.name}": changed(one.data, chance) if number else one.data
        for number, one in enumerate(chosen)
    }
    is_lines = {path.name: log.is_lines for path in files}
    for name in chance.sample(sorted(NO_LOGS), chance.randint(0, 2)):
        files[folder / "logs" / name] = NO_LOGS[name]
    if not chance.randrange(4):
        other = any_log(chance)
        files[folder / "logs" / f"other-{other.name}"] = changed(other.data, chance)
    return counted("a folder", folder / "logs", files, is_lines)


def mixed(chance: Random, folder: Path) -> Case:
    """Return the beginning of a log with the rows of another, under the name of either."""
    first, second = any_log(chance), any_log(chance)
    head = b"".join(first.data.splitlines(keepends=True)[: chance.randint(1, 12)])
    path = folder / chance.choice([first.name, second.name])
    data = changed(head + second.data, chance) if chance.randrange(2) else head + second.data
    return counted("mixed headers", path, {path: data}, {path.name: first.is_lines and second.is_lines})


def compressed(chance: Random, folder: Path) -> Case:
    """Return a compressed log, of several members, mutated before or after, or cut."""
    log = any_log(chance)
    suffix = chance.choice(sorted(COMPRESSIONS))
    pack = COMPRESSIONS[suffix]
    data = pack(changed(log.data, chance) if chance.randrange(2) else log.data)
    if not chance.randrange(3):
        data += pack(log.data)
    what = chance.randrange(3)
    data = data[: chance.randrange(len(data) + 1)] if what == 0 else data
    data = changed(data, chance) if what == 1 else data
    path = folder / f"{log.name}{suffix}"
    return counted("compressed", path, {path: data}, {})


def cut(chance: Random, folder: Path) -> Case:
    """Return a part of a log."""
    log = any_log(chance)
    begin, end = sorted(chance.choices(range(len(log.data) + 1), k=2))
    path = folder / chance.choice([log.name, "log"])
    data = log.data[begin if chance.randrange(2) else 0 : end]
    return counted("cut", path, {path: data}, {path.name: log.is_lines})


KINDS: Final = (one_file, several, mixed, compressed, cut)


def counted(kind: str, given: Path, files: dict[Path, bytes], is_lines: Mapping[str, bool]) -> Case:
    """Return a case with the number of lines of those files of which each line is a row."""
    return Case(
        kind,
        given,
        files,
        {path.name: lines_of(data) for path, data in files.items() if is_lines.get(path.name)},
    )


def lines_of(data: bytes) -> int:
    """Return the number of lines, counted in the simplest way."""
    return data.count(b"\n") + (not data.endswith(b"\n")) if data else 0


def changed(data: bytes, chance: Random) -> bytes:
    """Return *data* after a few changes, such as `tests.mutation` makes."""
    changes = [change(chance) for _ in range(chance.randint(1, 6))]
    result: bytes = mutated(data, changes)
    return result


def change(chance: Random) -> tuple[str, float, object]:
    """Return a change: what is done, where, and with what."""
    ways: Sequence[tuple[str, object]] = (
        ("flip", chance.randint(1, 255)),
        ("cut", chance.randint(1, 60)),
        ("insert", chance.choice((*PIECES, chance.randbytes(6)))),
        ("replace", chance.choice((*VALUES, *NAMES))),
        (chance.choice(("drop", "double", "break off")), None),
        ("swap", chance.random()),
    )
    what, how = chance.choice(ways)
    return what, chance.random(), how
