"""A session of measurements: makes the data, fills in the commands, keeps what came out."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.measure import Cost, Failed, Measured, in_turn, run, run_cold
from benchmarks.peers import Unavailable, environment
from benchmarks.works import LOGS, Work

PROGRAMS: Final = Path(__file__).with_name("programs.py")
ROOT: Final = Path(__file__).parent.parent
MILLION: Final = 1_000_000

FILES: Final[dict[str, tuple[str, float]]] = {
    "few": ("swf", 0.0012),
    "site": ("site", 0.02),
    "small_swf": ("swf", 0.005),
    "small_slurm": ("slurm", 0.05),
    "seconds": ("seconds.npy", 1),
    "reals": ("reals.npy", 1),
    "tasks": ("tasks.npy", 1),
    **{name: (name, 1) for name in LOGS},
    **{f"big_{name}": (name, 10) for name in LOGS},
    **{name: (name, 0.05) for name in ("lsf", "condor", "usagerecord", "slurm_json")},
}
"""
The files that a work may need: their kind, and how many times the rows of the session.

Logs with a kilobyte or more for each job have a twentieth of them.
"""


@dataclass(frozen=True)
class Outcome:
    """What came of a work; *trouble* says why something was not measured."""

    work: Work
    measured: Measured | None
    values: tuple[float | None, ...]
    trouble: str = ""
    cold: Cost | None = None


class Session:
    """Measurements with data of *rows* rows in *folder*, *runs* times each."""

    def __init__(self, folder: Path, rows: int, runs: int) -> None:
        self.folder = folder
        self.rows = rows
        self.runs = runs
        self.out = folder / "out"

    def outcome(self, work: Work) -> Outcome:
        """Measure *work*; what fails is said, not raised."""
        nothing = (None,) * len(work.targets)
        try:
            measured, trouble = self._measured(work)
        except Failed as failure:
            return Outcome(work, None, nothing, f"failed: {failure}")
        page = Path(self._filled(work.page)) if work.page else None
        values = tuple(
            None
            if target.is_relative and not measured.beside
            else target.value(measured, self.rows / MILLION, page)
            for target in work.targets
        )
        cold = run_cold(self._command(work.ours), self.folder) if work.cold else None
        return Outcome(work, measured, values, trouble, cold)

    def _measured(self, work: Work) -> tuple[Measured, str]:
        self.out.mkdir(parents=True, exist_ok=True)
        for need in work.needs:
            kind, times = FILES[need]
            # In a process of its own: ours must stay small, see `measure.run`.
            command = (sys.executable, "-m", "benchmarks.data", self.folder, kind, str(self._rows(times)))
            run(command, ROOT)
        for line in work.prepare:
            run(self._command(line), self.folder)
        ours, trouble, beside = self._command(work.ours), "", None
        if work.beside:
            try:
                python = environment(self.folder) if work.beside.peer else Path(sys.executable)
                beside = self._command(work.beside.command, python)
            except Unavailable as reason:
                trouble = f"no {work.beside.title}: {reason}"
        measured = in_turn(ours, beside, self.folder, self.runs)
        if work.check:
            run(self._command(work.check), self.folder)
        return measured, trouble

    def _rows(self, times: float) -> int:
        return max(round(self.rows * times), 1)

    def _filled(self, text: str) -> str:
        files = {name: self.folder / f"{self._rows(times)}.{kind}" for name, (kind, times) in FILES.items()}
        return text.format(**files, out=self.out, rows=self.rows)

    def _command(self, line: str, python: Path = Path(sys.executable)) -> list[str]:
        """Return the words of *line* with its files filled in, as a program that *python* runs."""
        first, *others = shlex.split(line)
        program = {"gwa": ["-m", "gwa"], "nothing": ["-c", "pass"]}.get(first, [str(PROGRAMS), first])
        return [str(python), *program, *map(self._filled, others)]
