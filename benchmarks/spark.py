"""
Compare the two engines: ``python -m benchmarks.spark [TRACE...] [--jobs N] [--memory 4GB]``.

Each trace is written as Parquet, and one report on it made with DuckDB, one with Spark on this machine.
All that differs is printed: whole numbers and words must be the same, others within a billionth; beside it
stands what either took. Without a trace they are logs that stand beside the checkout.
"""

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.data import made
from benchmarks.measure import Cost, run

LOGS: Final = Path(__file__).parent.parent.parent / "shared" / "traces" / "swf"
NAMED: Final = (
    "KTH-SP2-1996-2.1-cln.swf.gz",
    "LCG.swf.gz",
    "HPC2N-2002-2.1-cln.swf.gz",
    "LLNL-Thunder-2007-1.1-cln.swf.gz",
)
FOLDER: Final = Path(__file__).parent.parent / "build" / "spark"
CLOSE: Final = 1e-9
GWA: Final = (sys.executable, "-m", "gwa")
HEAD: Final = (
    f"{'trace':32} {'facts':>6} {'differ':>7} {'DuckDB s':>9} {'cpu s':>7} {'Spark s':>9} {'cpu s':>7}"
)


Json = Mapping[str, "Json"] | list["Json"] | str | float | bool | None


def differences(one: Json, other: Json, where: str = "") -> Iterator[str]:
    """
    Yield where two JSON values differ, and how.

    >>> list(differences({"a": [1, 2.0]}, {"a": [1, 2.0 + 1e-12]}))
    []
    >>> list(differences({"a": [1, 2.0]}, {"a": [2, 2.1]}))
    ['.a[0]: 1, 2', '.a[1]: 2.0, 2.1']
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{where}[{place}]")
    elif isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=CLOSE):
            yield f"{where}: {one}, {other}"
    elif type(one) is not type(other) or one != other:
        yield f"{where}: {one}, {other}"


def compared(trace: Path, folder: Path, memory: Sequence[str] = ()) -> tuple[int, list[str], Cost, Cost]:
    """Return how many facts a trace has, where its two reports differ, and what each engine took."""
    reports, costs = [], []
    for engine in ("duckdb", "spark"):
        out = folder / engine
        costs.append(run([*GWA, "report", trace, "--json", "--engine", engine, *memory, "-o", out], folder))
        (path,) = out.glob("*.json")
        reports.append(json.loads(path.read_text()))
        path.unlink()
    facts = json.dumps(reports[0]).count('"id": ')
    return facts, list(differences(reports[0], reports[1])), costs[0], costs[1]


def main() -> int:
    """Print a line for each trace; return 1 where the engines differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("traces", nargs="*", type=Path, metavar="TRACE")
    parser.add_argument("--jobs", type=int, action="append", default=[], help="a made trace of so many jobs")
    parser.add_argument("--memory", metavar="SIZE", help="what either program may take, as gwa has it")
    asked = parser.parse_args()
    memory = ("--memory", asked.memory) if asked.memory else ()
    FOLDER.mkdir(parents=True, exist_ok=True)
    traces = [*asked.traces, *(made(FOLDER, "swf", jobs) for jobs in asked.jobs)]
    traces = traces or [path for name in NAMED if (path := LOGS / name).exists()]
    print(HEAD)
    differ = 0
    for trace in traces:
        parquet = FOLDER / f"{trace.name.partition('.swf')[0]}.parquet"
        if not parquet.exists():
            run([*GWA, "convert", trace.absolute(), "-o", parquet, "--partition", "month"], FOLDER)
        facts, found, duck, spark = compared(parquet, FOLDER, memory)
        figures = f"{duck.seconds:9.1f} {duck.cpu:7.1f} {spark.seconds:9.1f} {spark.cpu:7.1f}"
        print(f"{parquet.stem:32} {facts:6} {len(found):7} {figures}", *found[:20], sep="\n    ", flush=True)
        differ += len(found)
    return min(differ, 1)


if __name__ == "__main__":
    sys.exit(main())
