"""
Count the instructions of the core paths, and compare them with those kept.

    python -m benchmarks.instructions [--keep]

Counts, unlike seconds, are nearly the same on a busy machine. Valgrind counts them, of one thread, on small
logs of our own; what it takes to start and to import is counted by itself and taken off. A path that takes
more than 1.3 times what `instructions.json` beside this file says of the same Python fails; ``--keep`` writes
that file anew. The tests compare, too: the commonest paths whenever they run, all with the slow tests.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.data import made

KEPT: Final = Path(__file__).with_suffix(".json")
ROOT: Final = Path(__file__).parent.parent
FORKED: Final = (str(ROOT / "benchmarks" / "programs.py"), "forked_gwa")
FOLDER: Final = ROOT / "build" / "instructions"
ROWS: Final = 10_000
MOST: Final = 1.3

PYTHON: Final = "python {}.{}".format(*sys.version_info)
"""Another Python takes other instructions."""

START: Final = "convert {few} -o few.duckdb"
"""What is run before all others."""

QUICK: Final = {
    "convert SWF": "convert {swf} -o swf.duckdb",
    "convert Google events": "convert {google} -o google.duckdb --format google2011",
    "convert Slurm": "convert {slurm} -o slurm.duckdb",
    **{
        f"convert {kind}": f"convert {{{kind}}} -o {kind}.duckdb"
        for kind in ("gwf", "sge", "pbs", "lsf", "condor", "usagerecord", "slurm_json")
    },
    "convert gwf in place": "convert {plain_gwf} -o plain_gwf.duckdb",
    "facts on utilization": "facts {swf} --only utilization",
}
"""The words of each path that is counted in seconds."""

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
    "plain_gwf": ("gwf", 32_000),
}
"""The logs that paths read: their kind and their jobs. The last is large enough to be read in place."""

COUNT: Final = re.compile(r"==(\d+)== I\s+refs:\s+([\d,]+)")

NOTHING: Final = ""
"""The words of a fork that only ends: what it has counted is what all have in common."""


def counted(runs: Sequence[str], folder: Path) -> list[int]:
    """Return how many instructions each of *runs* but the first takes, which are forked after that one."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [*command, sys.executable, *FORKED],
        cwd=folder,
        env=environment,
        input="".join(f"{words} --quiet --threads 1\n" if words else "\n" for words in runs),
        capture_output=True,
        text=True,
        check=False,
    )
    counts = {process: int(count.replace(",", "")) for process, count in COUNT.findall(done.stderr)}
    forks = [line.split() for line in done.stdout.splitlines()]
    failed = [words for words, (_, status) in zip(runs[1:], forks, strict=False) if status != "0"]
    if done.returncode or failed or len(forks) != len(runs) - 1:
        sys.exit(f"gwa {' '.join(failed[:1])}: {(done.stderr.strip().splitlines() or [''])[-1]}")
    return [counts[process] for process, _ in forks]


def count_all(paths: Mapping[str, str]) -> dict[str, int]:
    """
    Return how many instructions each of *paths* takes beyond those of the start.

    The start, a log of ten rows, is what all have in common: it is run once, and they are forks of it.
    """
    logs = {name: str(made(FOLDER, kind, rows)) for name, (kind, rows) in KINDS.items()}
    with tempfile.TemporaryDirectory() as folder:
        words = [line.format(**logs) for line in (START, NOTHING, *paths.values())]
        start, *found = counted(words, Path(folder))
    return {name: count - start for name, count in zip(paths, found, strict=True)}


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
