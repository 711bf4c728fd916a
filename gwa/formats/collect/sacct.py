"""
Ask Slurm's accounting, by ``sacct``, for the jobs of a span of time, in halves where the whole is too much.

Sources: sacct(1) and slurmdbd.conf(5). ``--starttime`` and ``--endtime`` choose the jobs that were in any
state between them, so that a job that runs for a week is in the rows of eight days, and what was running when
one day was taken is complete in those of the day on which it ended. Times are asked for in UTC, and printed
as seconds.
"""

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from gwa.errors import DefinitionError, TraceError
from gwa.formats.collect.days import STAMP, Span
from gwa.formats.registry import format_called
from gwa.util import interrupts
from gwa.util.atomic import whole

ENVIRONMENT: Final[Mapping[str, str]] = {
    "TZ": "UTC",
    "SLURM_TIME_FORMAT": "%s",
    "SLURM_BITSTR_LEN": "0",
}
"""Times without a zone would be ambiguous for an hour each autumn; ranges of array tasks are not cut."""

UNKNOWN_FIELD: Final = re.compile(
    r"""(?ix) (?:invalid|unknown|unrecognized|unsupported|no\ such|bad) \ (?:job\ )? (?:field|column|format)
        (?:\ (?:requested|specification|specified|name))* :? \s* ["'`]? (\w+)
    | (?:\b(?:fatal|error): \s* (?:(?:the\ )? (?:field|column) \s+)?) ["'`]? (\w+) ["'`]? \s+ (?:field\ )?
        (?:is|was|has\ been) \ (?:deprecated|obsolete|removed|replaced|renamed|unknown|invalid
        |(?:no\ longer|not) \ (?:supported|available|recognized|(?:a\ )?(?:valid|known)))\b"""
)
"""
What a sacct says that is too old for a column, or too new.

Slurm says ``Invalid field requested: "X"`` and, since 20.11, ``X is deprecated, please use Y``.
"""

HOPELESS: Final = re.compile(
    r"(?i)refused|unable to connect|denied|permission|not authori[sz]ed|accounting storage is disabled"
    r"|no such (?:file|cluster)|unknown cluster|can't find cluster|no cluster|invalid (?:option|user|account)"
    r"|unrecognized option"
)
"""Of what sacct says: that which asking for less does not mend."""

COMPLAINT: Final = re.compile(r"(?im)^.*\b(?:error|fatal): .*$")


class AskedInVainError(Exception):
    """Why sacct gave no answer, and whether it *may_answer_less*: about a shorter time."""

    def __init__(self, reason: str, *, may_answer_less: bool) -> None:
        """Take the reason, which is what it said."""
        super().__init__(reason)
        self.may_answer_less = may_answer_less


def columns() -> tuple[str, ...]:
    """Return the columns to ask for: those of the command that ``gwa formats slurm`` prints."""
    for word in shlex.split(format_called("slurm").export, comments=True):
        if word.startswith("--format="):
            return tuple(word.removeprefix("--format=").split(","))
    raise DefinitionError("slurm.sql: its export names no --format, expected the columns to ask sacct for")


@dataclass
class Sacct:
    """
    A *program* that answers as sacct does, for a *cluster*, or that of its configuration where there is none.

    It is given *timeout* seconds for each answer. *tell* is called with what a user should know.
    """

    program: str
    cluster: str | None
    timeout: float
    tell: Callable[[str], object]
    columns: tuple[str, ...] = field(default_factory=columns)
    longest: timedelta | None = None
    """The longest time that it may answer about; it did not about a longer one."""

    def command(self, span: Span) -> list[str]:
        """Return the words of the command that asks for a *span*."""
        return [
            self.program,
            "--allusers",
            "--duplicates",
            "--parsable2",
            f"--starttime={span.begin:{STAMP}}",
            f"--endtime={span.end:{STAMP}}",
            *([f"--clusters={self.cluster}"] if self.cluster else []),
            f"--format={','.join(self.columns)}",
        ]

    def take(self, span: Span, folder: Path) -> list[Path]:
        """
        Return the files in *folder* with all rows of a *span*; those that are there are not asked for again.

        Raise `AskedInVainError` where a part of it cannot be had.
        """
        return list(self._pieces(span, folder))

    def _pieces(self, span: Span, folder: Path) -> Iterator[Path]:
        piece = folder / f"{self.cluster or 'own'}-{span}.rows"
        halves = span.halves() or ()
        if piece.exists():
            yield piece
            return
        if not (halves and self.longest and span.length > self.longest):
            try:
                self._ask(span, piece)
            except AskedInVainError as failure:
                if not (failure.may_answer_less and halves):
                    raise
                self.tell(f"sacct: {failure} from {span.begin:{STAMP}}Z: asked for half of it")
                self.longest = max(half.length for half in halves)
            else:
                yield piece
                return
        for half in halves:
            yield from self._pieces(half, folder)

    def _ask(self, span: Span, piece: Path) -> None:
        """Write what sacct prints on a *span* to *piece*, whole or not at all."""
        with whole(piece) as part:
            while (unknown := self._run(span, part)) is not None:
                self.columns = tuple(name for name in self.columns if name.lower() != unknown.lower())
                self.tell(f"sacct: does not know the column {unknown}, which is left out")

    def _run(self, span: Span, part: Path) -> str | None:
        """
        Run sacct, and return a column that it does not know.

        It may fail with status 0, so an answer is one that has a header, and whose last line is complete.
        """
        interrupts.check()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SACCT_")}
        with part.open("wb") as out:
            try:
                done = subprocess.run(  # noqa: S603 - no shell; the program is the user's own
                    self.command(span),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.PIPE,
                    timeout=self.timeout,
                    env={**environment, **ENVIRONMENT},
                    check=False,
                )
            except subprocess.TimeoutExpired as error:
                raise AskedInVainError(
                    f"no answer within {self.timeout:g} s", may_answer_less=True
                ) from error
            except OSError as error:
                raise TraceError(
                    f"{self.program}: {(error.strerror or str(error)).lower()}, expected sacct of Slurm"
                ) from error
        said = done.stderr.decode(errors="replace").strip()
        is_refused = done.returncode or COMPLAINT.search(said)
        if is_refused and (unknown := self._unknown(said)):
            return unknown
        if is_refused:
            reason = said.splitlines()[-1] if said else f"ended with status {done.returncode}"
            raise AskedInVainError(reason, may_answer_less=not HOPELESS.search(said))
        if not _is_complete(part):
            raise AskedInVainError("its answer breaks off", may_answer_less=True)
        return None

    def _unknown(self, said: str) -> str | None:
        """Return the first column of those asked for that is *said* to be none."""
        asked = {name.lower() for name in self.columns}
        named = (first or second for first, second in UNKNOWN_FIELD.findall(said))
        return next((name for name in named if name.lower() in asked), None)


def _is_complete(part: Path) -> bool:
    """Whether an answer has a header, and ends with the end of a line."""
    with part.open("rb") as file:
        if not file.readline().startswith(b"JobID"):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
