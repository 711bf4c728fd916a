"""
Load and arrivals that fitted models generate, over those of the log.

``python -m benchmarks.generated_load LOG... --seeds 10 --jobs N``. Each model is fitted to each whole log and
generates, with each seed, as many days as the log has. Of every workload: busy processors (processors times
run time of all jobs, over the seconds from the first submission to the last) and jobs submitted a day, each
over the same number of the log's jobs that ran. A cell is the mean over the seeds and the standard deviation
of one, which covers whatever a seed draws once and for all (users, long waves, heavy tails); ``*`` marks what
'gwa model fit' warns of: a mean outside of 1 ± .05, or a typical distance of one seed from 1 above .1.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

import gwa
from gwa.errors import ModelError
from gwa.models.base import Model, models
from gwa.models.generate import GenerationRequest
from gwa.models.load_check import Ratio
from gwa.models.streams import Extent
from gwa.store.store import Store
from gwa.util.units import DAY

UNKNOWN: Final = Ratio(math.nan, math.nan)
"""Of a model that cannot be fitted."""

ENOUGH: Final = 5
"""A workload ends with this many times the jobs of the log, even if its days are not over."""


@dataclass(frozen=True)
class Amounts:
    """Mean *busy* processors, and jobs submitted *daily*."""

    busy: float
    daily: float

    @classmethod
    def of(cls, work: float, jobs: int, seconds: float) -> "Amounts":
        """Return the amounts of so many *jobs* with this *work* in so many *seconds*."""
        return cls(work / seconds, jobs / seconds * DAY)


@dataclass(frozen=True)
class Row:
    """What a model fitted to a log generates over what the log has: mean and spread over seeds."""

    log: str
    model: str
    busy: Ratio = UNKNOWN
    daily: Ratio = UNKNOWN
    says: str = ""
    seconds: float = 0.0

    def cells(self) -> list[str]:
        """Return the row as cells of a table."""
        ratios = [
            f"{ratio.mean:.3f} ± {ratio.deviation:.3f}{'*' * ratio.is_off}"
            for ratio in (self.busy, self.daily)
        ]
        return [self.log, self.model, *ratios, self.says, f"{self.seconds:.0f}"]


def real_amounts(store: Store) -> tuple[Amounts, int, float]:
    """Return the amounts of the jobs of a log that ran, their number, and the days of their submissions."""
    work, jobs, seconds = store.row(
        "select sum(n_procs * cast(run_time as double)), count(*), max(submit_time) - min(submit_time)"
        " from ran where submit_time is not null"
    )
    return Amounts.of(work, jobs, seconds), jobs, seconds / DAY


def generated_amounts(model: Model, days: float, maximum: int, seed: int) -> Amounts:
    """Return the amounts of a workload of *days*, or of about *maximum* jobs if these come first."""
    work, jobs, last = 0.0, 0, 0.0
    for block in GenerationRequest(model, Extent(days=days), seed).blocks():
        if block["submit_time"].size:
            work += float(block["n_procs"].astype(np.float64) @ block["run_time"])
            jobs, last = jobs + block["submit_time"].size, float(block["submit_time"][-1])
        if jobs >= maximum:
            return Amounts.of(work, jobs, max(last, 1.0))
    return Amounts.of(work, jobs, days * DAY)


def row(path: Path, name: str, seeds: int) -> Row:
    """Return the row of the model called *name* and the log in *path*."""
    log, began = path.name.split(".swf")[0], time.process_time()
    with gwa.open(path) as trace:
        real, jobs, days = real_amounts(trace.store)
        try:
            model = models()[name].fit(trace.store)
        except ModelError as error:
            return Row(log, name, says=f"cannot be fitted: {error}")
    found = [generated_amounts(model, days, ENOUGH * jobs, seed) for seed in range(1, seeds + 1)]
    busy = Ratio.of(np.array([each.busy / real.busy for each in found]))
    daily = Ratio.of(np.array([each.daily / real.daily for each in found]))
    return Row(log, name, busy, daily, seconds=time.process_time() - began)


def rows(logs: list[Path], names: list[str], seeds: int, jobs: int) -> Iterator[Row]:
    """Yield all rows in order, made by so many *jobs* at once."""
    tasks = [(log, name) for log in logs for name in names]
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(row, *zip(*tasks, strict=True), [seeds] * len(tasks))


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generated_load", description=__doc__)
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    parser.add_argument("--models", help="names with commas, else all")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--json", type=Path, metavar="FILE", help="append the rows to a file, one to a line")
    return parser.parse_args(words)


def main() -> None:
    """Print the table, row by row as they are found."""
    options = arguments()
    names = options.models.split(",") if options.models else sorted(models())
    print("| log | model | busy processors | jobs a day | | CPU s |\n|---|---|--:|--:|---|--:|", flush=True)
    for found in rows(options.logs, names, options.seeds, options.jobs):
        print(f"| {' | '.join(found.cells())} |", flush=True)
        if options.json:
            with options.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(found)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
