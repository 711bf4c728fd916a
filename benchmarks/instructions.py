"""
Count the instructions of the core paths, and compare them with those kept.

    python -m benchmarks.instructions [--keep]

Counts, unlike seconds, are nearly the same on a busy machine. Valgrind counts them, of one thread, on small
logs of our own; what it takes to start and to import is counted by itself and taken off. A path that takes
more than 1.3 times what `instructions.json` beside this file says of the same Python fails; ``--keep`` writes
that file anew. The tests compare, too: conversions whenever they run; fits, facts and a report with the slow
tests.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from benchmarks.data import made

KEPT: Final = Path(__file__).with_suffix(".json")
FOLDER: Final = Path(__file__).parent.parent / "build" / "instructions"
ROWS: Final = 10_000
MOST: Final = 1.3

PYTHON: Final = "python {}.{}".format(*sys.version_info)
"""Another Python takes other instructions."""

START: Final = "start"

QUICK: Final = {
    "convert SWF": "convert {swf} -o swf.duckdb",
    "convert Google events": "convert {google} -o google.duckdb --format google2011",
    "convert Slurm": "convert {slurm} -o slurm.duckdb",
    **{
        f"convert {kind}": f"convert {{{kind}}} -o {kind}.duckdb"
        for kind in ("gwf", "sge", "pbs", "lsf", "condor", "usagerecord", "slurm_json")
    },
    "facts on utilization": "facts {swf} --only utilization",
}
"""The words of each path that the tests count whenever they run."""

SLOW: Final = {
    "fits": "facts {some} --only fit",
    "all facts": "facts {some}",
    "report": "report {some} --html -o report",
}
"""Those that take minutes: all that is found out about some jobs."""

KINDS: Final = {
    "few": ("swf", 10),
    "some": ("swf", 1_200),
    **{kind: (kind, ROWS) for kind in ("swf", "google", "slurm")},
    **{kind: (kind, ROWS // 4) for kind in ("gwf", "sge", "pbs")},
    **{kind: (kind, ROWS // 20) for kind in ("lsf", "condor", "usagerecord", "slurm_json")},
}
"""The logs that paths read: their kind and their jobs."""

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


def count_all(paths: Mapping[str, str]) -> dict[str, int]:
    """
    Return how many instructions each of *paths* takes beyond those of the start; two are counted at a time.

    The start, a log of ten rows, is what all have in common.
    """
    logs = {name: str(made(FOLDER, kind, rows)) for name, (kind, rows) in KINDS.items()}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as two:
        said = {START: "convert {few} -o few.duckdb", **paths}
        words = [line.format(**logs).split() for line in said.values()]
        found = dict(zip(said, two.map(lambda path: counted(path, Path(folder)), words), strict=True))
    start = found.pop(START)
    return {name: count - start for name, count in found.items()}


def kept() -> dict[str, int] | None:
    """Return what is kept of this Python, None where nothing is."""
    found: dict[str, dict[str, int]] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return found.get(PYTHON)


def slower(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, float]:
    """
    Return the paths that take too many instructions now, and how many times as many.

    >>> slower({"a": 100, "b": 100}, {"a": 129, "b": 200, "c": 1})
    {'b': 2.0}
    """
    ratios = {name: now[name] / before[name] for name in before.keys() & now.keys()}
    return {name: ratio for name, ratio in sorted(ratios.items()) if ratio > MOST}


def main() -> None:
    """Count, and compare or keep."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="write the counts, to be compared with later")
    asked = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed: on Debian, apt-get install valgrind")
    before = kept()
    if not asked.keep and before is None:
        sys.exit(f"{KEPT.name} has no counts of {PYTHON}: --keep writes them")
    found = count_all(QUICK | SLOW)
    for name, count in found.items():
        print(f"{name:24} {count / 1e6:12,.0f} million")
    if asked.keep or before is None:
        KEPT.write_text(json.dumps({PYTHON: found}, indent=1) + "\n")
        return
    late = slower(before, found)
    for name, ratio in late.items():
        print(f"{name}: {ratio:.2f} times the instructions that it took, at most {MOST} times are allowed")
    sys.exit(bool(late))


if __name__ == "__main__":
    main()
