"""
Minh and Wolters' models beside their papers' numbers: ``python -m benchmarks.minh [SEEDS [LOG...]]``.

For each log of the papers that stands beside the checkout (LOG: how the names of those wanted begin): how far
a workload of as many jobs is off in correlation, squashed area and spatial entropy, and the
Kolmogorov-Smirnov distances of run times and processors; means over seeds, with standard deviations. Once in
sample, once fitted to odd weeks and compared with even ones.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.stats import ks_2samp

import gwa
from gwa.metrics.papers.minh2010 import YEAR_2009, YEAR_2010, JobSelection
from gwa.models.base import Model, models
from gwa.models.generate import GenerationRequest
from gwa.models.streams import Extent
from gwa.statistics.dependence import pearson, spatial_entropy
from gwa.statistics.sample import Floats
from gwa.store.store import Store

LOGS = Path(__file__).parent.parent.parent / "shared" / "traces" / "swf"

COLUMNS = ("|corr|", "|d_SA| %", "|entropy|", "d_SA %", "KS run", "KS procs")

PUBLISHED: dict[str, tuple[JobSelection, tuple[float | None, float | None, float | None]]] = {
    "KTH-SP2-1996-2.1-cln": (YEAR_2009, (0.004, 0.39, None)),
    "SDSC-Par-1996-3.1-cln": (YEAR_2009, (0.039, 3.12, None)),
    "HPC2N-2002-2.1-cln": (YEAR_2010, (0.011, None, 0.018)),
    "LLNL-Thunder-2007-1.1-cln": (YEAR_2010, (0.005, None, 0.008)),
}
"""Per log the jobs that count, and how far the papers' model is off: correlation, area in %, entropy."""

YEARS = {YEAR_2009.name: ("mbc-ls", "minh2009"), YEAR_2010.name: ("minh2010",)}

FIELDS = "job_id, submit_time, run_time, user_id, group_id, queue_id, executable_id, req_time, req_n_procs"


def part(store: Store, selection: JobSelection, where: str = "true") -> Store:
    """Return the jobs that count in a store of their own, with the processors that count."""
    jobs = store.arrow(
        f"select {FIELDS}, status, {selection.procs} as n_procs from jobs"  # noqa: S608
        f" where submit_time is not null and {selection.where} and {where}"
    )
    found = Store.create()
    found.begin(jobs.column_names)
    found.connection.register("part", jobs)
    found.connection.execute("insert into recorded by name select * from part")
    found.connection.unregister("part")
    return found


def columns(store: Store) -> tuple[Floats, Floats]:
    """Return run times and processors."""
    found = store.arrays("select run_time, n_procs from jobs")
    return np.asarray(found["run_time"], np.float64), np.asarray(found["n_procs"], np.float64)


def off(real: tuple[Floats, Floats], made: tuple[Floats, Floats]) -> list[float]:
    """Return how far a workload is off, one number for each of `COLUMNS`; areas are those of a mean job."""
    areas = [float((run * procs).mean()) for run, procs in (real, made)]
    more = 100 * (areas[1] / areas[0] - 1)
    return [
        abs(pearson(*made) - pearson(*real)),
        abs(more),
        abs(spatial_entropy(made[1], made[0]) - spatial_entropy(real[1], real[0])),
        more,
        *(float(ks_2samp(one, other).statistic) for one, other in zip(real, made, strict=True)),
    ]


def made(model: Model, jobs: int, seed: int) -> tuple[Floats, Floats]:
    """Return run times and processors of a workload."""
    blocks = list(GenerationRequest(model, Extent(jobs=jobs), seed).blocks())
    run, procs = (np.concatenate([block[name] for block in blocks]) for name in ("run_time", "n_procs"))
    return run.astype(np.float64), procs.astype(np.float64)


def rows(train: Store, test: Store, names: tuple[str, ...], seeds: int) -> Iterator[tuple[str, Floats]]:
    """
    Yield each model, as printed and improved, and how far it is off, a row for each seed.

    First come the jobs that are fitted to, where others are compared: no model knows more than they do.
    """
    real = columns(test)
    if train is not test:
        yield "the weeks themselves", np.array([off(real, columns(train))])
    for name in names:
        for kind in (f"{name}-printed", name):
            if kind != "mbc-ls-printed":  # all its jobs are on one processor
                model = models()[kind].fit(train)
                yield kind, np.array([off(real, made(model, real[0].size, seed)) for seed in range(seeds)])


def main() -> None:
    """Print the tables, and which published numbers the improved models meet."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    logs = tuple(sys.argv[2:]) or ("",)
    for log, (selection, published) in PUBLISHED.items():
        if not log.startswith(logs):
            continue
        with gwa.open(LOGS / f"{log}.swf.gz") as trace:
            whole = part(trace.store, selection)
            halves = [
                part(trace.store, selection, f"floor(submit_time / 604800) % 2 = {odd}") for odd in (1, 0)
            ]
        print(f"{log}: mean ± sd of {seeds} seeds{'':14}", *(f"{name:>16}" for name in COLUMNS))
        said = [f"{'' if number is None else f'{number:.3f}':>16}" for number in published]
        print(f"  {'published (one run each)':44}", *said)
        for how, train, test in (("in sample", whole, whole), ("held out", *halves)):
            for name, found in rows(train, test, YEARS[selection.name], seeds):
                mean, sd = found.mean(axis=0), found.std(axis=0)
                cells = [f"{m:>8.4f} ±{s:6.4f}" for m, s in zip(mean, sd, strict=True)]
                met = verdict(mean, published) if how == "in sample" and "-printed" not in name else ""
                print(f"  {how:10} {name:33}", *cells, met)


def verdict(mean: Floats, published: tuple[float | None, ...]) -> str:
    """Return how many of the published numbers are met."""
    known = [ours <= one for ours, one in zip(mean, published, strict=False) if one is not None]
    return f"{sum(known)} of {len(known)} published met"


if __name__ == "__main__":
    main()
