"""Measure whole programs: wall seconds, CPU seconds and peak memory, in turn with what stands beside them."""

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final, Literal

KILOBYTES: Final = 1024
"""What Linux counts a process's peak memory in; macOS counts bytes."""

Command = Sequence[str | Path]


class Failed(Exception):  # noqa: N818 - it says what a program did
    """A program that did not end well; the message is the last line that it wrote."""


@dataclass(frozen=True)
class Cost:
    """What a run of a program took: *seconds* on the clock, *cpu* seconds of all cores, *peak* MB."""

    seconds: float
    cpu: float
    peak: float


@dataclass(frozen=True)
class Measured:
    """The costs of our runs and, pair by pair, of what stands beside them, if anything does."""

    ours: tuple[Cost, ...]
    beside: tuple[Cost, ...] = ()

    def ratio(self, what: Literal["seconds", "cpu", "peak"] = "seconds") -> float:
        """Return how many times less of *what* we take: the median over the pairs."""
        pairs = zip(self.ours, self.beside, strict=True)
        return float(median(getattr(beside, what) / getattr(ours, what) for ours, beside in pairs))

    def excess(self) -> float:
        """Return how many more seconds we take: the median over the pairs."""
        pairs = zip(self.ours, self.beside, strict=True)
        return median(ours.seconds - beside.seconds for ours, beside in pairs)


def typical(costs: Sequence[Cost]) -> Cost:
    """Return the median of each cost."""
    return Cost(*(median(getattr(cost, name) for cost in costs) for name in ("seconds", "cpu", "peak")))


def run_cold(command: Command, folder: Path) -> Cost:
    """Run a program as after an installation without byte code, and with no function compiled."""
    with tempfile.TemporaryDirectory() as empty:
        return run(command, folder, {"PYTHONPYCACHEPREFIX": empty, "NUMBA_CACHE_DIR": empty})


def run(command: Command, folder: Path, variables: Mapping[str, str] | None = None) -> Cost:
    """
    Run a program in *folder* and return its cost, that of the processes it starts included.

    *variables* are added to its environment. A process begins with the peak memory of the one that starts
    it, so this one must stay small.
    """
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= variables or {}
    with tempfile.TemporaryFile() as said:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode < 0:
            raise Failed(f"killed by signal {-process.returncode}")
        if process.returncode:
            said.seek(0)
            raise Failed(_last_line(said.read().decode(errors="replace")) or f"status {process.returncode}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / KILOBYTES)


def spread(costs: Sequence[Cost], name: Literal["seconds", "cpu", "peak"]) -> tuple[float, float]:
    """Return the least and the greatest cost of a kind."""
    found = [getattr(cost, name) for cost in costs]
    return min(found), max(found)


def in_turn(ours: Command, beside: Command | None, folder: Path, runs: int) -> Measured:
    """
    Run *ours* and *beside* in turn, *runs* times each after one run to warm up.

    A machine that grows slower meanwhile then slows both of a pair.
    """
    pairs = []
    for number in range(runs + 1):
        pair = [run(command, folder) for command in (ours, beside) if command]
        if number or not runs:
            pairs.append(pair)
    columns = [tuple(column) for column in zip(*pairs, strict=True)]
    return Measured(*columns)


def _last_line(text: str) -> str:
    """Return the last line without the paths of this machine."""
    lines = text.strip().splitlines() or [""]
    return " ".join(word for word in lines[-1].split() if "/" not in word)[:100]
