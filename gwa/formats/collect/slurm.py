"""Collect the days of a Slurm cluster that a store lacks, and append them to it."""

import getpass
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from gwa.errors import ArgumentError
from gwa.formats.append import append
from gwa.formats.collect.days import Span, days_in, missing_days, source_name
from gwa.formats.collect.sacct import ENVIRONMENT, AskedInVainError, Sacct
from gwa.formats.collect.work import stored_sources, working_folder
from gwa.store.account import Account
from gwa.store.options import ReadOptions
from gwa.util.atomic import whole

FAILURES: Final = 2
"""The number of consecutive days that cannot be had after which no other is asked for."""

ARRAY_RANGE: Final = b"_["
WAITING: Final = b"PENDING"


@dataclass
class Collected:
    """
    What was collected: the *account* of the store, None where nothing new was; the *days* taken.

    *missing* are the days that could not be had, and why. *waiting* rows are of array tasks that wait.
    """

    account: Account | None = None
    days: list[date] = field(default_factory=list)
    missing: dict[date, str] = field(default_factory=dict)
    waiting: int = 0


@dataclass(frozen=True)
class CollectedDays:
    """The days to collect of one cluster, *since* and *until* when, in which *zone*, for the store *out*."""

    out: Path
    since: date | None
    until: date
    zone: ZoneInfo
    again: int = 1

    def days(self, kind: str) -> list[date]:
        """
        Return the days that the store lacks of a *kind* of source, and the last of those that it has.

        Raise `ArgumentError` where the store has none yet, and it is not said since when.
        """
        known = days_in([name for name, _, _ in stored_sources(self.out)], kind)
        since = self.since or min(known, default=None)
        if since is None:
            raise ArgumentError(f"{self.out}: has no collected day yet, expected --since such as 2025-01-01")
        return missing_days(known, since, self.until, self.again)


def kind_of(cluster: str | None) -> str:
    """Return what the names of sources of a *cluster* begin with."""
    return "-".join(filter(None, ("sacct", cluster)))


def commands(wanted: CollectedDays, sacct: Sacct) -> Iterator[str]:
    """Yield the commands, for a shell, that collect does the work of: a line for each."""
    kind = kind_of(sacct.cluster)
    stated = " ".join(f"{key}={shlex.quote(value)}" for key, value in ENVIRONMENT.items())
    names = []
    for day in wanted.days(kind):
        names.append(source_name(kind, day, day))
        asked = shlex.join(sacct.command(Span.of_day(day, wanted.zone)))
        yield f"{stated} {asked} > {shlex.quote(names[-1])}"
    if names:
        yield f"gwa convert --append --format slurm {shlex.join(names)} -o {shlex.quote(str(wanted.out))}"


def collect(
    wanted: CollectedDays,
    sacct: Sacct,
    *,
    options: ReadOptions,
    command: str = "",
    tell: Callable[[str], object],
) -> Collected:
    """
    Take the days that are missing, each by itself, and append their rows to the store.

    What was taken by a collection that was broken off is not asked for again. Raise `OutputError` while
    another one is at work on the store.
    """
    with working_folder(wanted.out) as work:
        kind, collected = kind_of(sacct.cluster), Collected()
        pieces = _taken(wanted.days(kind), wanted.zone, sacct, work.path, collected)
        sources = [
            source for group in _groups(pieces) if (source := _joined(kind, group, work.path, collected))
        ]
        if _has_one_user(sources):
            tell(
                f"sacct: showed jobs of {getpass.getuser()} only: where PrivateData hides those of others,"
                " collect as an operator of Slurm"
            )
        if sources:
            collected.account, _ = append(sources, wanted.out, name="slurm", options=options, command=command)
        work.discard()
    return collected


Pieces = list[tuple[date, list[Path]]]
"""The files with the rows of each day."""


def _taken(days: Sequence[date], zone: ZoneInfo, sacct: Sacct, folder: Path, collected: Collected) -> Pieces:
    """Take *days*, and return the files of those that could be had."""
    pieces: Pieces = []
    in_a_row = 0
    for day in days:
        if in_a_row == FAILURES:
            collected.missing[day] = "not asked for"
            continue
        try:
            pieces.append((day, sacct.take(Span.of_day(day, zone), folder)))
            in_a_row = 0
        except AskedInVainError as failure:
            collected.missing[day] = str(failure)
            in_a_row = in_a_row + 1 if failure.may_answer_less else FAILURES
    collected.days = [day for day, _ in pieces]
    return pieces


def _groups(pieces: Pieces) -> Iterator[Pieces]:
    """
    Yield the days that become one source: those that follow each other in a month, with the same columns.

    Months in which nothing ran belong to the next, since a source has jobs.
    """
    group: Pieces = []
    for day, files in pieces:
        if group:
            before = group[-1][0]
            is_new_month = before.month != day.month and any(
                path.stat().st_size > len(_header(path)) for _, of in group for path in of
            )
            if (
                day - before > timedelta(days=1)
                or is_new_month
                or _header(files[0]) != _header(group[0][1][0])
            ):
                yield group
                group = []
        group.append((day, files))
    if group:
        yield group


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.readline()


def _joined(kind: str, group: Pieces, folder: Path, collected: Collected) -> Path | None:
    """
    Write the rows of a *group* of days to one source in *folder*, and return it; None where there are none.

    The tasks of an array that wait are one row, which no later one completes: they come when they have begun.
    """
    files = [path for _, paths in group for path in paths]
    source = folder / source_name(kind, group[0][0], group[-1][0])
    header = _header(files[0])
    state = header.rstrip(b"\n").split(b"|").index(b"State") if b"|State" in header else None
    is_empty = True
    with whole(source) as part, part.open("wb") as out:
        out.write(header)
        for path in files:
            with path.open("rb") as rows:
                next(rows)
                for row in rows:
                    if state is not None and _waits(row, state):
                        collected.waiting += 1
                        continue
                    out.write(row)
                    is_empty = False
    return None if is_empty else source


def _waits(row: bytes, state: int) -> bool:
    """Whether a *row* is of tasks of an array that have not begun; *state* is the place of that cell."""
    job = row.partition(b"|")[0]
    return ARRAY_RANGE in job and WAITING in row.split(b"|")[state : state + 1]


def _has_one_user(sources: Sequence[Path]) -> bool:
    """Whether all jobs are of the user who asked, who is not root."""
    if not sources or os.geteuid() == 0:
        return False
    own = getpass.getuser().encode()
    for source in sources:
        with source.open("rb") as rows:
            names = next(rows).rstrip(b"\n").split(b"|")
            if b"User" not in names:
                return False
            place = names.index(b"User")
            cells = (row.split(b"|") for row in rows)
            if any(len(row) > place and row[place] not in {b"", own} for row in cells):
                return False
    return True
