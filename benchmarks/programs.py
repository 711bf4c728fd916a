"""
The programs that are measured beside gwa, and those of ours that are no command of gwa: a function each.

    python programs.py NAME ARGUMENT...

Each imports what it needs when it runs, since the peers' environment has no gwa, and ours has no peers.
"""

import csv
import json
import os
import re
import sys
from pathlib import Path

DISTRIBUTIONS = ["norm", "lognorm", "expon", "pareto", "weibull_min", "gamma"]
"""Pareto stands for the hyper-exponential, which the others do not have."""

DIFFERENCE = (
    "select count(*) from ("
    "((select * exclude (node_list) from jobs) except all (select * exclude (node_list) from ours.jobs))"
    " union all ((select * exclude (node_list) from ours.jobs) except all"
    " (select * exclude (node_list) from jobs)))"
)
"""What is made by hand has no nodes: their notation is gwa's own."""

# What only reads a log, a yardstick for the machine: it checks and stores nothing.


def csv_read(log: str) -> None:
    """Part the cells of a log of LSF with Python's csv module."""
    with Path(log).open(encoding="utf-8", newline="") as file:
        print(sum(1 for _ in csv.reader(file, delimiter=" ", skipinitialspace=True)))


def re_read(log: str) -> None:
    """Find the attributes of ClassAds with a regular expression."""
    print(len(re.findall(r"^(\w+) = (.*)$", Path(log).read_text(encoding="utf-8"), re.MULTILINE)))


def lxml_read(log: str) -> None:
    """Parse a document of Usage Records with lxml."""
    from lxml import etree

    records = 0
    for _, element in etree.iterparse(log, tag="{*}JobUsageRecord"):
        records += 1
        element.clear()
    print(records)


def orjson_read(log: str) -> None:
    """Make objects of a whole document with orjson."""
    import orjson

    print(len(orjson.loads(Path(log).read_bytes())["jobs"]))


def pandas_read(log: str) -> None:
    """Read a log of numbers in SWF with pandas' C parser."""
    import pandas as pd

    print(len(pd.read_csv(log, header=None, sep=r"\s+", comment=";")))


def hash_files(folder: str) -> None:
    """Hash all files in a folder."""
    from hashlib import file_digest

    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                print(file_digest(file, "sha256").hexdigest())


# What makes a table of a log.


def by_hand(log: str, store: str, *ours: str, threads: int | None = None) -> None:
    """
    Make the jobs of a log of `benchmarks.data` by DuckDB's SQL, written by hand: the same table as gwa's.

    The SQL stands in ``benchmarks/limits/``: it checks nothing, and knows what these logs hold. With *ours*,
    the store that gwa made of the log, it is told how many rows of the two differ, if any do. Without a
    number of *threads*, it takes all cores.
    """
    import duckdb

    from gwa.ingest.source.lines import squeeze
    from gwa.store.schema import FIELDS

    kind, text = Path(log).suffix[1:], log
    if kind == "swf":
        # DuckDB takes each blank for a border.
        text = f"{store}.squeezed"
        Path(text).write_bytes(squeeze(Path(log).read_bytes()))
    Path(store).unlink(missing_ok=True)
    with duckdb.connect(store, config={"storage_compatibility_version": "v1.0.0"}) as database:
        if threads:
            database.execute(f"set threads = {threads}")
        database.execute(f"create table jobs ({', '.join(f'{field.name} {field.sql}' for field in FIELDS)})")
        made = Path(__file__).parent / "limits" / f"{kind}.sql"
        database.execute(made.read_text().replace("$log", f"'{text}'"))
        for other in ours:
            database.execute(f"attach '{other}' as ours (read_only)")
            ((different,),) = database.execute(DIFFERENCE).fetchall()
            if different:
                sys.exit(f"{different} rows differ")


def by_hand_on(threads: str, log: str, store: str) -> None:
    """Do the same on a number of *threads*."""
    by_hand(log, store, threads=int(threads))


def polars_parquet(log: str, out: str) -> None:
    """Read what sacct prints, give times and numbers their types, and write Parquet, with polars."""
    import polars as pl  # type: ignore[import-not-found]

    def seconds(name: str) -> object:
        """Return days-hours:minutes:seconds as seconds."""
        span = pl.col(name).str.extract_groups(r"^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$").struct
        days, hours, minutes, rest = (
            span.field(str(place)).cast(pl.Float64).fill_null(0.0) for place in range(1, 5)
        )
        return (((days * 24 + hours) * 60 + minutes) * 60 + rest).alias(name)

    times, numbers = ("Submit", "Eligible", "Start", "End"), ("NNodes", "NTasks", "AllocCPUS", "ReqCPUS")
    pl.scan_csv(log, separator="|", quote_char=None, infer_schema=False).with_columns(
        *(pl.col(name).str.to_datetime("%Y-%m-%dT%H:%M:%S", strict=False) for name in times),
        *(pl.col(name).cast(pl.Int64, strict=False) for name in numbers),
        *map(seconds, ("Elapsed", "TotalCPU", "Timelimit")),
    ).sink_parquet(out)


def slurm2sql_read(log: str) -> None:
    """Read what sacct prints into a store with slurm2sql, which knows the processors as NCPUS."""
    import sqlite3

    from slurm2sql import slurm2sql  # type: ignore[import-not-found]

    with Path(log).open(encoding="utf-8") as file, sqlite3.connect(":memory:") as database:
        rows = csv.DictReader(file, delimiter="|")
        rows.fieldnames = ["NCPUS" if name == "AllocCPUS" else name for name in rows.fieldnames or ()]
        slurm2sql(database, csv_input=rows)
        print(database.execute("select count(*) from slurm").fetchone())


# Load a log, then the busy and the queued processors over time.


def ours_load(log: str) -> None:
    """Load with gwa, in bins of ten minutes."""
    import gwa
    from gwa.metrics.timeline import level

    with gwa.open(log) as trace:
        period = trace.store.row("select min(submit_time), max(end_time) from ran")
        levels = [
            level(trace.store, "n_procs", span, "ran", width=600.0, period=period)
            for span in (("start_time", "end_time"), ("submit_time", "start_time"))
        ]
        print(len(trace), *(one.values.max() for one in levels))


def evalys_load(log: str) -> None:
    """Load with evalys."""
    from evalys.workload import Workload  # type: ignore[import-not-found]

    workload = Workload.from_csv(log)
    print(len(workload.df), workload.utilisation["load"].max(), workload.queue["load"].max())


# Fit distributions to the values in a file, with KS distances where there are some.


def ours_fit(values: str) -> None:
    """Fit the six distributions of the thesis."""
    import numpy as np

    from gwa.statistics.fit import fit_all
    from gwa.statistics.sample import Sample

    for fit in fit_all(Sample.of(np.load(values))):
        print(fit.name, fit.ks)


def scipy_fit(values: str, *fixed: str) -> None:
    """Fit with scipy; at the *fixed* location 0, which is right here and spares most of its search."""
    import numpy as np
    from scipy import stats

    found = np.load(values)
    for kind in (getattr(stats, name) for name in DISTRIBUTIONS):
        fitted = kind.fit(found, floc=0) if fixed and kind is not stats.norm else kind.fit(found)
        print(kind.name, stats.kstest(found, kind(*fitted).cdf).statistic)


def fitter_fit(values: str) -> None:
    """Fit with fitter."""
    import numpy as np
    from fitter import Fitter  # type: ignore[import-not-found]

    fitted = Fitter(np.load(values), distributions=DISTRIBUTIONS, timeout=600)
    fitted.fit()
    print(fitted.df_errors["ks_statistic"])


def distfit_fit(values: str) -> None:
    """Fit with distfit, ranked by squared errors."""
    import numpy as np
    from distfit import distfit  # type: ignore[import-not-found]

    found = distfit(distr=DISTRIBUTIONS, verbose="silent")
    found.fit_transform(np.load(values))
    print(found.summary[["name", "score"]])


def ours_zipf(values: str) -> None:
    """Fit a discrete power law from 1 on, the Zipf distribution of unbounded ranks."""
    import numpy as np

    from gwa.statistics.goodness import ks
    from gwa.statistics.sample import Sample
    from gwa.statistics.zipf import Zipf

    sample = Sample.of(np.load(values))
    found = Zipf.fit(sample, ranks=np.inf)
    print(found.exponent, ks(sample, found))


def powerlaw_fit(values: str) -> None:
    """Fit a discrete power law from 1 on to whole seconds with powerlaw."""
    import numpy as np
    import powerlaw  # type: ignore[import-not-found]

    found = powerlaw.Fit(np.load(values), discrete=True, xmin=1, verbose=False)
    print(found.power_law.alpha, found.power_law.D)


# Schedule a log with EASY backfilling.


def ours_easy(log: str) -> None:
    """Schedule with gwa."""
    import gwa
    from gwa.simulation.backfilling import schedule
    from gwa.simulation.jobs import Jobs

    with gwa.open(log) as trace:
        jobs = trace.sql("select submit_time, run_time, n_procs, req_time from jobs")
        cpus = trace.system.cpus
        start = schedule(Jobs.of(jobs.submit_time, jobs.run_time, jobs.n_procs, jobs.req_time), cpus, "easy")
    print(len(start), start.mean())


def accasim_easy(log: str) -> None:
    """Schedule with AccaSim, on one node with all processors."""
    import collections.abc
    import tempfile
    from importlib import import_module

    # AccaSim 1.1.3 still looks for these where Python had them before 3.10.
    for name in ("Iterable", "Mapping", "MutableMapping", "Sequence"):
        setattr(collections, name, getattr(collections.abc, name))
    base = {
        name: import_module(f"accasim.base.{name}_class") for name in ("allocator", "scheduler", "simulator")
    }

    source = Path(log).read_text().splitlines()
    cpus = next(int(line.split(":")[1]) for line in source if line.startswith("; MaxProcs"))
    folder = Path(tempfile.mkdtemp())
    # It divides by the requested memory, which the log does not know: one unit for each job.
    rows = [line.split() for line in source if not line.startswith(";")]
    (folder / "log.swf").write_text("".join(" ".join([*row[:9], "1", *row[10:]]) + "\n" for row in rows))
    config = {
        "system_name": "cluster",
        "start_time": 0,
        "equivalence": {"processor": {"core": 1}},
        "groups": {"node": {"core": 1, "mem": 1}},
        "resources": {"node": cpus},
    }
    (folder / "system.json").write_text(json.dumps(config))
    base["simulator"].Simulator(
        str(folder / "log.swf"),
        str(folder / "system.json"),
        base["scheduler"].EASYBackfilling(base["allocator"].FirstFit()),
        scheduling_output=False,
        statistics_output=False,
        show_statistics=False,
        RESULTS_FOLDER_PATH=str(folder),
    ).start_simulation()


# Schedule tasks on 20 clusters: one queue, the largest task to the fastest processor.


def ours_grid(tasks: str) -> None:
    """Schedule with gwa."""
    import numpy as np

    from gwa.simulation.engine import simulate
    from gwa.simulation.grid import Grid
    from gwa.simulation.tasks import Tasks

    submitted = Tasks.of(*np.load(tasks))
    run = simulate(submitted, Grid.of([180] * 20, np.linspace(1, 1.75, 20)), "csp", "S-T", "FPLT")
    print(len(submitted), (run.end - submitted.submit).mean())


def python_grid(tasks: str) -> None:
    """Schedule in an event loop in plain Python that knows this policy only."""
    from heapq import heappop, heappush

    import numpy as np

    submit, run = np.load(tasks).tolist()
    speeds = np.linspace(1, 1.75, 20).tolist()
    free = [180] * 20
    fastest_first = sorted(range(20), key=lambda cluster: -speeds[cluster])
    queue: list[tuple[float, int]] = []
    events = [(time, -1, task) for task, time in enumerate(submit)]
    total = 0.0
    while events:
        now = events[0][0]
        while events and events[0][0] == now:
            _, cluster, task = heappop(events)
            if cluster < 0:
                heappush(queue, (-run[task], task))
            else:
                free[cluster] += 1
                total += now - submit[task]
        for cluster in fastest_first:
            while queue and free[cluster]:
                task = heappop(queue)[1]
                free[cluster] -= 1
                heappush(events, (now + run[task] / speeds[cluster], cluster, task))
    print(len(submit), total / len(submit))


# What the instructions are counted of.


def forked_gwa() -> None:
    """
    Run gwa in forks of a process that has run it: what a start takes is counted, and translated, once.

    Standard input has the words of each run, a line each; the first is that of the process itself, and a line
    without words is a fork that only ends. Printed are the process id and the exit status of each fork.
    """
    from gwa.__main__ import main

    def run(words: list[str]) -> int:
        sys.argv = ["gwa", *words]
        try:
            if words:
                main()
        except SystemExit as stopped:
            return int(stopped.code or 0)
        return 0

    first, *others = (line.split() for line in sys.stdin.read().splitlines())
    printed = os.dup(sys.stdout.fileno())
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    run(first)
    for words in others:
        process = os.fork()
        if not process:
            os._exit(run(words))
        _, status = os.waitpid(process, 0)
        os.write(printed, f"{process} {os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
