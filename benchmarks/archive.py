"""
Build the site of many traces, and build it again after one has changed: ``python -m benchmarks.archive 200``.

The traces are synthetic, of 100 to 20 000 jobs, and made by the build itself. A site that is there already
is extended, so that a large one can be built in parts: 50, then 100, then 200.
"""

import argparse
import ctypes
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.__main__ import FOLDER

PRESETS = ("thesis-das2", "thesis-grid5000", "lublin", "thesis-lcg", "thesis-nordugrid")
SIZES = (100, 300, 1000, 3000, 20_000)
HEAD = '[archive]\ntitle = "Many"\nabout = "Traces to measure a build with."\n'
TRACE = """
[[trace]]
id = "trace-{number:03}"
title = "Trace {number:03} of many"
system = "A cluster that nobody built."
provider = "An institute of invented measurements"
licence = "CC0-1.0"
citation = "Nobody, Traces that no system ran (2009)."
preset = "{preset}"
jobs = {jobs}
seed = {seed}
"""
ADOPT_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of Linux: the processes that a build leaves are ours, and so is what they took."""


def catalogue(traces: int, changed: int = 0) -> str:
    """Return the catalogue of so many *traces*; another *changed* makes another first trace."""
    kinds = [(preset, jobs) for jobs in SIZES for preset in PRESETS]
    lines = [
        TRACE.format(number=number, preset=preset, jobs=jobs, seed=number or changed)
        for number in range(traces)
        for preset, jobs in [kinds[number * 7 % len(kinds)]]
    ]
    return HEAD + "".join(lines)


def build(folder: Path) -> str:
    """Build the site in *folder* and return a line on what that took."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "gwa", "site", "build", folder / "site", "-o", folder / "public"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    (said,) = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
    return f"{seconds:7.1f} s  {cpu:7.1f} CPU s  {after.ru_maxrss / 1024:5.0f} MB  {said.rpartition(':')[2]}"


def main() -> None:
    """Build, change a trace, and build again."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.archive", description=__doc__)
    parser.add_argument("traces", type=int, nargs="?", default=200)
    traces = parser.parse_args().traces
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    folder = FOLDER / "archive"
    (folder / "site").mkdir(parents=True, exist_ok=True)
    for changed in (0, 1 + int(time.time())):
        (folder / "site" / "archive.toml").write_text(catalogue(traces, changed), encoding="utf-8")
        print(build(folder), flush=True)
    page = folder / "public" / "index.html"
    print(f"front page: {page.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
