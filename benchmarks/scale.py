"""
How time and memory grow with the size of a trace: ``python -m benchmarks.scale google 10000000``.

Each stage is a program of its own: logs to store, store to Parquet, facts, fits and report. Printed are
seconds on the clock, CPU seconds and the peak of resident memory of all processes together, pages that
several share counted once (Linux's proportional set size). What was measured before is kept in
``build/big/scale.json`` and printed with it.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.make_big import KINDS

FOLDER: Final = Path(__file__).parent.parent / "build" / "big"
GWA: Final = Path(sys.executable).with_name("gwa")
EVERY: Final = 0.2
"""Seconds between two looks at memory."""

PARTS: Final = {"google": 200_000, "decade": 1_000_000}
"""Rows of a file."""

STAGES: Final = {
    "convert": "convert --quiet {logs} -o {store}",
    "parquet": "convert --quiet {store} -o {parquet}",
    "facts": "facts --quiet {store}",
    "fits": "facts --quiet {store} --only fit",
    "report": "report --quiet {store} --html -o {report}",
}


def _tree(process: int) -> Iterator[int]:
    """Yield a process and all that it started, as far as they still are."""
    yield process
    try:
        threads = list(Path(f"/proc/{process}/task").iterdir())
        children = [child for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return
    for child in children:
        yield from _tree(int(child))


def resident(process: int) -> int:
    """Return the resident memory of a process tree in KB."""
    total = 0
    for one in _tree(process):
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total


def measured(words: list[str]) -> dict[str, float]:
    """Run a program and return what it took; what it prints goes nowhere but errors."""
    before, begin = os.times(), time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(EVERY):
            peak[0] = max(peak[0], resident(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    status = process.wait()
    over.set()
    watcher.join()
    if status:
        sys.exit(f"{' '.join(words)}: status {status}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"seconds": time.perf_counter() - begin, "cpu": cpu, "peak_mb": peak[0] / 1024}


def stage(name: str, kind: str, rows: int, limits: list[str]) -> dict[str, Any]:
    """Measure one stage; what it needs is there, or is made first."""
    home = FOLDER / f"{kind}-{rows}"
    places = {
        "logs": home / "logs",
        "store": home / "trace.duckdb",
        "parquet": home / "trace.parquet",
        "report": home / "report",
    }
    if not places["logs"].is_dir():
        part = home / "logs.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        KINDS[kind](part, rows, max(1, rows // PARTS[kind]))
        part.rename(places["logs"])
    words = [word.format(**places) for word in STAGES[name].split()]
    found: dict[str, Any] = {"kind": kind, "rows": rows, "stage": name, "limits": " ".join(limits)}
    found |= measured([str(GWA), *words, *limits])
    made = {"convert": places["store"], "parquet": places["parquet"]}.get(name)
    return found | ({"made_mb": made.stat().st_size / 1e6} if made else {})


def table(found: list[dict[str, Any]]) -> str:
    """Return what was measured as a table in Markdown."""
    lines = [
        "| rows | of | stage | limits | seconds | CPU seconds | peak MB | made MB |",
        "|--:|---|---|---|--:|--:|--:|--:|",
    ]
    for one in sorted(found, key=lambda one: (one["kind"], one["rows"], list(STAGES).index(one["stage"]))):
        made = f"{one['made_mb']:,.0f}" if "made_mb" in one else ""
        lines.append(
            f"| {one['rows']:,} | {one['kind']} | {one['stage']} | {one['limits']} | {one['seconds']:,.0f}"
            f" | {one['cpu']:,.0f} | {one['peak_mb']:,.0f} | {made} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure what is asked for, keep it, and print all that was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.split("\n")[1])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("rows", type=int)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"of {', '.join(STAGES)}; all without")
    parser.add_argument("--memory", default="4GB")
    asked = parser.parse_args()
    path = FOLDER / "scale.json"
    found = json.loads(path.read_text()) if path.exists() else []
    for name in asked.stages or STAGES:
        one = stage(name, asked.kind, asked.rows, ["--memory", asked.memory])
        print(table([one]).splitlines()[-1], flush=True)
        found = [
            old for old in found if any(old[key] != one[key] for key in ("kind", "rows", "stage", "limits"))
        ]
        found.append(one)
        path.write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))


if __name__ == "__main__":
    main()
