"""
How CPU seconds grow with the rows of a log: the exponent of a power law, for each format and for facts.

    python -m benchmarks.growth [ROWS ...] [--only FORMAT]

Each size is measured once, in a process of its own. What a log of ten rows takes, the least of three times,
is start and taken off; the exponent is that of least squares on the logarithms of what is left. One is
proportional growth.
"""

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import linear_regression
from typing import Final

from benchmarks.measure import run
from benchmarks.session import ROOT
from benchmarks.works import FLOORS

FOLDER: Final = ROOT / "build" / "growth"
SIZES: Final = (100_000, 1_000_000, 10_000_000)
FEW: Final = 10
TIMES: Final = 3
"""How often such few rows are measured: the first time, code may have to be compiled."""

SHARE: Final = {"lsf": 0.1, "condor": 0.1, "usagerecord": 0.1, "slurm_json": 0.1}
"""Of the rows, for logs with a kilobyte or more for each job."""


def exponent(seconds: Mapping[int, float]) -> float:
    """
    Return the exponent b of the power law a * rows**b that is nearest to the *seconds* by rows.

    >>> round(exponent({10: 1.0, 100: 20.0, 1000: 400.0}), 3)
    1.301
    """
    rows, taken = ([math.log(number) for number in numbers] for numbers in (seconds, seconds.values()))
    return linear_regression(rows, taken).slope


def cpu(words: Sequence[str], folder: Path) -> float:
    """Return the CPU seconds that gwa takes for *words*."""
    return run((sys.executable, "-m", "gwa", *words, "--quiet"), folder).cpu


def works(kind: str, log: Path, folder: Path) -> dict[str, float]:
    """Return the CPU seconds of converting *log* to a store and, of one in SWF, those of its facts."""
    store = folder / f"{kind}.duckdb"
    found = {kind: cpu(["convert", str(log), "-o", str(store)], folder)}
    if kind == "swf":
        found["facts"] = cpu(["facts", str(store)], folder)
    store.unlink()
    return found


def measured(kind: str, sizes: Sequence[int], folder: Path) -> dict[str, dict[int, float]]:
    """Return the CPU seconds of converting logs of that *kind*, and of the facts of those in SWF, by rows."""
    found: dict[str, dict[int, float]] = {kind: {}}
    start: dict[str, float] = {}
    for rows in (FEW, *(round(size * SHARE.get(kind, 1)) for size in sizes)):
        # In a process of its own: what measures must stay small.
        run((sys.executable, "-m", "benchmarks.data", folder, kind, str(rows)), ROOT)
        log = folder / f"{rows}.{kind}"
        runs = [works(kind, log, folder) for _ in range(TIMES if rows == FEW else 1)]
        log.unlink()
        for name in runs[0]:
            seconds = min(one[name] for one in runs)
            if rows == FEW:
                start[name] = seconds
            else:
                found.setdefault(name, {})[rows] = max(seconds - start[name], 0.01)
    return found


def main() -> None:
    """Measure, and print a row for each format and for facts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=SIZES, metavar="ROWS")
    parser.add_argument("--only", action="append", choices=sorted(FLOORS), help="only this format")
    asked = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("| what | CPU seconds beyond the start, by rows | exponent |\n|---|---|--:|", flush=True)
    for kind in asked.only or FLOORS:
        for name, seconds in measured(kind, asked.rows, FOLDER).items():
            taken = ", ".join(f"{rows:,}: {number:.2f}" for rows, number in seconds.items())
            print(f"| {name} | {taken} | {exponent(seconds):.2f} |", flush=True)


if __name__ == "__main__":
    main()
