"""What is measured, what stands beside it, and what design asks of it: one `Work` for each comparison."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from benchmarks.measure import Measured, typical

MEGABYTE: Final = 1e6


class Kind(Enum):
    """What a target is about; the value is how it is written."""

    SECONDS = "≤ {} s"
    CPU_SECONDS = "≤ {} CPU s"
    PER_MILLION = "≤ {} s per million rows"
    PEAK = "≤ {} MB of memory"
    FASTER = "≥ {} × as fast"
    MEMORY = "≤ {} × its memory"
    CPU = "≤ {} × its CPU time"
    MORE = "≤ {} s more"
    PAGE = "≤ {} MB a page"


@dataclass(frozen=True)
class Target:
    """A *limit* on what its *kind* is about."""

    kind: Kind
    limit: float

    def __str__(self) -> str:
        return self.kind.value.format(self.limit)

    @property
    def is_relative(self) -> bool:
        """Whether it can be judged only beside something else."""
        return self.kind in {Kind.FASTER, Kind.MEMORY, Kind.CPU, Kind.MORE}

    def value(self, measured: Measured, millions: float, page: Path | None = None) -> float:
        """Return what was measured, in the unit of the limit."""
        ours = typical(measured.ours)
        found: dict[Kind, Callable[[], float]] = {
            Kind.SECONDS: lambda: ours.seconds,
            Kind.CPU_SECONDS: lambda: ours.cpu,
            Kind.PER_MILLION: lambda: ours.seconds / millions,
            Kind.PEAK: lambda: ours.peak,
            Kind.FASTER: measured.ratio,
            Kind.MEMORY: lambda: 1 / measured.ratio("peak"),
            Kind.CPU: lambda: 1 / measured.ratio("cpu"),
            Kind.MORE: measured.excess,
            Kind.PAGE: lambda: page.stat().st_size / MEGABYTE if page else 0.0,
        }
        return found[self.kind]()

    def is_reached(self, value: float) -> bool:
        """Whether *value* is within the limit."""
        return value >= self.limit if self.kind is Kind.FASTER else value <= self.limit


@dataclass(frozen=True)
class Beside:
    """What we are compared with; a *peer* runs in an environment of its own."""

    title: str
    command: str
    peer: bool = False


@dataclass(frozen=True)
class Work:
    """
    A comparison: a command of ours, what stands beside it, and the targets.

    A command is a line of words that begins with ``gwa`` or with the name of a function in
    ``programs.py``; ``{swf}`` and the like stand for the files that it *needs*, see `benchmarks.data`.
    What *prepare* has is run before, and not measured. *big* works take minutes. *page* is what ours writes.
    What a user waits for at the first run is measured *cold* too, without byte code and compiled functions.
    A *check* is run after them, and not measured, to tell whether both have made the same.
    """

    name: str
    title: str
    ours: str
    targets: tuple[Target, ...]
    beside: Beside | None = None
    needs: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()
    big: bool = False
    page: str = ""
    cold: bool = False
    check: str = ""


def _fits(values: str, title: str) -> tuple[Work, ...]:
    """Return the comparisons of fits to one kind of values."""
    besides = (
        ("scipy", Beside("scipy's own fits", f"scipy_fit {{{values}}}")),
        ("fixed", Beside("scipy, location fixed", f"scipy_fit {{{values}}} fixed")),
        ("fitter", Beside("fitter", f"fitter_fit {{{values}}}", peer=True)),
        ("distfit", Beside("distfit", f"distfit_fit {{{values}}}", peer=True)),
    )
    return tuple(
        Work(
            name=f"fit-{values}-{name}",
            title=f"six distributions and KS, {title}",
            ours=f"ours_fit {{{values}}}",
            beside=beside,
            targets=(Target(Kind.FASTER, 20),),
            needs=(values,),
        )
        for name, beside in besides
    )


BY_HAND: Final = {"swf": 1, "gwf": 1, "sge": 2, "slurm": 1.5, "pbs": 1.9, "google": 2}
"""
Logs of which the same table of jobs is made by hand, with the SQL in ``limits/``, and how many times the CPU
time of that may be taken.
"""

FLOORS: Final = {
    **{name: Beside("DuckDB's SQL by hand", f"by_hand {{{name}}} {{out}}/hand.duckdb") for name in BY_HAND},
    "lsf": Beside("csv", "csv_read {lsf}"),
    "condor": Beside("re", "re_read {condor}"),
    "usagerecord": Beside("lxml", "lxml_read {usagerecord}"),
    "slurm_json": Beside("orjson", "orjson_read {slurm_json}"),
}
"""What makes the same table of a log by hand, else what reads its bytes without checks, folds or jobs."""

OTHER_LIMITS: Final = {"slurm_json": 1.5}
"""How many times the CPU time of what only reads a log may be taken, where it is not twice."""

OTHER_LOGS: Final = ("gatekeeper", "google2019", "gram_audit", "seg")
"""Logs of which only the memory is measured."""

LOGS: Final = tuple(dict.fromkeys((*OTHER_LOGS, *FLOORS)))
"""Logs that are converted, each made by `benchmarks.data`."""

CONVERT: Final = "gwa convert --quiet {{{0}}} -o {{out}}/{0}.duckdb"


def _floors() -> Iterator[Work]:
    """Yield, of each format, what converting it takes of what reading it takes."""
    for name, floor in FLOORS.items():
        title, limit = f"convert {name} to a store", {**BY_HAND, **OTHER_LIMITS}.get(name, 2)
        check = f"{floor.command} {{out}}/{name}.duckdb" if name in BY_HAND else ""
        yield Work(name, title, CONVERT.format(name), (Target(Kind.CPU, limit),), floor, (name,), check=check)


THREADED: Final = ("swf", "slurm")
"""Logs that are converted by numbers of threads, too: one whose blocks are in flight, one read in place."""


def _threaded() -> Iterator[Work]:
    """Yield what one and two threads take, beside the work by hand on as many; `_floors` have all threads."""
    for name in THREADED:
        for threads in ("1 thread", "2 threads"):
            number = threads[0]
            yield Work(
                name=f"{name}-{threads.replace(' ', '-')}",
                title=f"convert {name} to a store, {threads}",
                ours=f"{CONVERT.format(name)} --threads {number}",
                targets=(Target(Kind.CPU, BY_HAND[name]),),
                beside=Beside(f"by hand, {threads}", f"by_hand_on {number} {{{name}}} {{out}}/hand.duckdb"),
                needs=(name,),
            )


def _flat() -> Iterator[Work]:
    """Yield, of each format, whether ten times the rows take more memory."""
    for name in LOGS:
        yield Work(
            name=f"flat-{name}",
            title=f"convert {name}, ten times the rows",
            ours=CONVERT.format(f"big_{name}"),
            beside=Beside("gwa, a tenth of them", CONVERT.format(name)),
            targets=(Target(Kind.MEMORY, 1.5),),
            needs=(name, f"big_{name}"),
            big=True,
        )


PRESETS: Final = (
    "dacosta", "gwa-kth-sp2", "lublin", "mbc-ls-nasa", "mbc-ls-printed-nasa", "minh2009-nasa",
    "minh2009-printed-nasa", "minh2010-nasa", "minh2010-printed-nasa", "thesis-average",
    "thesis-average-bags", "thesis-average-tasks", "thesis-explicit-lcg",
)  # fmt: skip
"""One of each model whose jobs are told by parameters."""


def _generated() -> Iterator[Work]:
    """Yield, of each model, what so many jobs in a store of their own take."""
    for name in PRESETS:
        ours = f"gwa model generate {name} --quiet --jobs {{rows}} --seed 1 -o {{out}}/{name}.duckdb"
        yield Work(f"generate-{name}", f"jobs of {name}", ours, (Target(Kind.PEAK, 1000),), big=True)


PARQUET: Final = "gwa convert --quiet {slurm} -o {out}/slurm.parquet"
REPORT: Final = "gwa report --quiet {swf} --html -o {out}/html"
SITE: Final = "gwa site build {site} -o {out}/site --publish-names --quiet"
STORES: Final = tuple(f"gwa convert --quiet {{swf}} -o {{out}}/{name}.duckdb" for name in "ab")

WORKS: Final = (
    Work(
        name="help",
        title="gwa --help",
        ours="gwa --help",
        beside=Beside("python -c pass", "nothing"),
        targets=(Target(Kind.SECONDS, 0.3),),
        cold=True,
    ),
    *_floors(),
    *_threaded(),
    *_flat(),
    *_generated(),
    Work(
        name="slurm-parquet",
        title="convert slurm to Parquet",
        ours=PARQUET,
        beside=Beside("polars", "polars_parquet {slurm} {out}/polars.parquet", peer=True),
        targets=(Target(Kind.CPU, 2),),
        needs=("slurm",),
    ),
    Work(
        name="slurm-slurm2sql",
        title="convert slurm to Parquet, a 20th of the rows",
        ours="gwa convert --quiet {small_slurm} -o {out}/small_slurm.parquet",
        beside=Beside("slurm2sql", "slurm2sql_read {small_slurm}", peer=True),
        targets=(Target(Kind.FASTER, 7),),
        needs=("small_slurm",),
    ),
    Work(
        name="swf-pandas",
        title="convert swf to a store",
        ours=CONVERT.format("swf"),
        beside=Beside("pandas' read_csv", "pandas_read {swf}"),
        targets=(Target(Kind.FASTER, 1),),
        needs=("swf",),
    ),
    Work(
        name="load",
        title="load SWF, busy processors, queue",
        ours="ours_load {swf}",
        beside=Beside("evalys", "evalys_load {swf}", peer=True),
        targets=(Target(Kind.FASTER, 2), Target(Kind.MEMORY, 0.33)),
        needs=("swf",),
    ),
    Work(
        name="facts",
        title="all facts of 1,200 jobs",
        ours="gwa facts --quiet {few}",
        targets=(Target(Kind.CPU_SECONDS, 1.5),),
        needs=("few",),
        cold=True,
    ),
    Work(
        name="facts-big",
        title="all facts of ten times the jobs, from a store",
        ours="gwa facts --quiet {out}/big.duckdb",
        targets=(Target(Kind.SECONDS, 15), Target(Kind.PEAK, 1500)),
        needs=("big_swf",),
        prepare=("gwa convert --quiet {big_swf} -o {out}/big.duckdb",),
        big=True,
    ),
    Work(
        name="html",
        title="HTML report of 1,200 jobs",
        ours="gwa report --quiet {few} --html -o {out}/few",
        targets=(Target(Kind.CPU_SECONDS, 3),),
        needs=("few",),
        cold=True,
    ),
    Work(
        name="html-swf",
        title="HTML report from SWF",
        ours=REPORT,
        targets=(Target(Kind.SECONDS, 8), Target(Kind.PAGE, 2)),
        needs=("swf",),
        page="{out}/html/{rows}.html",
    ),
    Work(
        name="pdf",
        title="HTML and PDF report from SWF",
        ours="gwa report --quiet {swf} --html --pdf -o {out}/pdf",
        beside=Beside("gwa, HTML only", REPORT),
        targets=(Target(Kind.MORE, 6),),
        needs=("swf",),
    ),
    Work(
        name="compare",
        title="compare two stores, beside two reports",
        ours="gwa compare --quiet {out}/a.duckdb {out}/b.duckdb -o {out}/compared",
        beside=Beside("gwa, a report of one", "gwa report --quiet {out}/a.duckdb --html -o {out}/one"),
        targets=(Target(Kind.CPU, 2.4),),
        needs=("swf",),
        prepare=STORES,
    ),
    Work(
        name="compare-archive",
        title="compare a store with the archive",
        ours="gwa compare --quiet {out}/a.duckdb --against archive -o {out}/compared",
        beside=Beside("gwa, a report of it", "gwa report --quiet {out}/a.duckdb --html -o {out}/one"),
        targets=(Target(Kind.CPU, 1.5),),
        needs=("swf",),
        prepare=STORES,
    ),
    Work(
        name="site",
        title="a site of 20 traces, built again",
        ours=SITE,
        beside=Beside("the hashes of its files", "hash_files {out}/site"),
        targets=(Target(Kind.SECONDS, 2),),
        needs=("site",),
        prepare=(SITE,),
    ),
    Work(
        name="simulate",
        title="bags of tasks on 20 clusters, csp/S-T/FPLT",
        ours="ours_grid {tasks}",
        beside=Beside("an event loop in Python", "python_grid {tasks}"),
        targets=(Target(Kind.PER_MILLION, 10), Target(Kind.FASTER, 1)),
        needs=("tasks",),
    ),
    Work(
        name="easy",
        title="EASY backfilling, from SWF",
        ours="ours_easy {swf}",
        targets=(Target(Kind.PER_MILLION, 50),),
        needs=("swf",),
    ),
    Work(
        name="easy-accasim",
        title="EASY backfilling, from SWF, a 200th of the jobs",
        ours="ours_easy {small_swf}",
        beside=Beside("AccaSim", "accasim_easy {small_swf}", peer=True),
        targets=(Target(Kind.FASTER, 1),),
        needs=("small_swf",),
    ),
    *_fits("seconds", "whole seconds"),
    *_fits("reals", "no two values equal"),
    Work(
        name="zipf",
        title="a discrete power law and KS, whole seconds",
        ours="ours_zipf {seconds}",
        beside=Beside("powerlaw", "powerlaw_fit {seconds}", peer=True),
        targets=(Target(Kind.FASTER, 1),),
        needs=("seconds",),
    ),
)
