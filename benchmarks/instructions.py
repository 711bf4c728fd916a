"""
Count the instructions of the core paths, and compare them with those kept.

    python -m benchmarks.instructions [--keep]

Counts, unlike seconds, are nearly the same on a busy machine. Valgrind counts them, of one thread, on small
logs of our own; what it takes to start and to import is counted by itself and taken off. A path that takes
more than 1.3 times what `instructions.json` beside this file says fails; ``--keep`` writes that file anew.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.data import made

KEPT: Final = Path(__file__).with_suffix(".json")
FOLDER: Final = Path(__file__).parent.parent / "build" / "instructions"
ROWS: Final = 10_000
MOST: Final = 1.3

START: Final = "convert {few} -o few.duckdb"
"""What all paths have in common: a log of ten rows."""

PATHS: Final = {
    "convert SWF": "convert {swf} -o swf.duckdb",
    "convert Google events": "convert {google} -o google.duckdb --format google2011",
    "convert Slurm": "convert {slurm} -o slurm.duckdb",
    "facts from a store": "facts swf.duckdb --only utilization",
}
"""The words of each path, in an order in which each finds what it needs."""

COUNT: Final = re.compile(r"I\s+refs:\s+([\d,]+)")


def counted(words: list[str], folder: Path) -> int:
    """Return how many instructions gwa takes for *words*."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [*command, sys.executable, "-m", "gwa", *words, "--quiet", "--threads", "1"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    found = COUNT.search(done.stderr)
    if done.returncode or not found:
        sys.exit(f"gwa {' '.join(words)}: {done.stderr.strip().splitlines()[-1]}")
    return int(found[1].replace(",", ""))


def paths() -> dict[str, int]:
    """Return how many instructions each path takes beyond those of the start."""
    logs = {kind: str(made(FOLDER, kind, ROWS)) for kind in ("swf", "google", "slurm")}
    logs["few"] = str(made(FOLDER, "swf", 10))
    with tempfile.TemporaryDirectory() as folder:
        start = counted(START.format(**logs).split(), Path(folder))
        found = {}
        for name, words in PATHS.items():
            found[name] = counted(words.format(**logs).split(), Path(folder)) - start
            print(f"{name:24} {found[name] / 1e6:12,.0f} million", file=sys.stderr, flush=True)
    return found


def slower(kept: dict[str, int], found: dict[str, int]) -> dict[str, float]:
    """
    Return the paths that take too many instructions now, and how many times as many.

    >>> slower({"a": 100, "b": 100}, {"a": 129, "b": 200, "c": 1})
    {'b': 2.0}
    """
    ratios = {name: found[name] / kept[name] for name in kept.keys() & found.keys()}
    return {name: ratio for name, ratio in sorted(ratios.items()) if ratio > MOST}


def main() -> None:
    """Count, and compare or keep."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="write the counts, to be compared with later")
    asked = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed: on Debian, apt-get install valgrind")
    if not asked.keep and not KEPT.exists():
        sys.exit(f"{KEPT.name} is not there: --keep writes it")
    found = paths()
    if asked.keep:
        KEPT.write_text(json.dumps(found, indent=1) + "\n")
        return
    late = slower(json.loads(KEPT.read_text()), found)
    for name, ratio in late.items():
        print(f"{name}: {ratio:.2f} times the instructions that it took, at most {MOST} times are allowed")
    sys.exit(bool(late))


if __name__ == "__main__":
    main()
