"""
What many jobs of each model cost: ``python -m benchmarks.generation JOBS [PRESET...]``.

A store with so many jobs is made by ``gwa model generate``, each in a process of its own: seconds on the
clock, CPU seconds of all cores, and peak memory. Without presets there is one of each model, the first by
name.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Failed, run

GWA = Path(sys.executable).parent / "gwa"

FIRST = """
from gwa.models import presets
firsts = {}
for name, preset in sorted(presets().items()):
    firsts.setdefault(preset.model.name, name)
print(*firsts.values())
"""
"""Run by another process: what this one has loaded would count as memory of those that it starts."""


def main() -> None:
    """Print a row for each preset."""
    jobs, names = int(sys.argv[1]), sys.argv[2:]
    if not names:
        names = subprocess.run(
            [sys.executable, "-c", FIRST], capture_output=True, text=True, check=True
        ).stdout.split()
    print(f"| {jobs:,} jobs of | seconds | CPU seconds | MB |\n|---|--:|--:|--:|", flush=True)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "made.duckdb")
            try:
                cost = run(
                    [GWA, "model", "generate", name, "--jobs", str(jobs), "--seed", "1", "-o", out],
                    Path(folder),
                )
            except Failed as failure:
                print(f"| {name} | {failure} | | |", flush=True)
                continue
        print(f"| {name} | {cost.seconds:.0f} | {cost.cpu:.0f} | {cost.peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
