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

    A command is a line of words that begins with ``gwa`` or with the name of a file in
    ``programs/``; ``{swf}`` and the like stand for the files that it *needs*, see `benchmarks.data`.
    *prepare* is run before, and not measured. *big* works take minutes. *page* is what ours writes.
    """

    name: str
    title: str
    ours: str
    targets: tuple[Target, ...]
    beside: Beside | None = None
    needs: tuple[str, ...] = ()
    prepare: str = ""
    big: bool = False
    page: str = ""

    @property
    def is_comparison(self) -> bool:
        """Whether another program stands beside ours, not ours at other work."""
        return self.beside is not None and not self.beside.command.startswith("gwa ")


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


LOGS: Final = {
    "condor": None,
    "gatekeeper": None,
    "google": 0.4,
    "google2019": None,
    "gram_audit": None,
    "lsf": None,
    "pbs": None,
    "seg": None,
    "sge": 1.6,
    "slurm": None,
    "usagerecord": 15.0,
}
"""Accounting logs, each made by the file of its name in ``logs/``, and the seconds for a million rows."""


def _logs() -> Iterator[Work]:
    """Yield, of each log, how fast it is converted, and whether ten times the rows take more memory."""
    convert = "gwa convert --quiet {{{0}}} -o {{out}}/{0}.duckdb"
    for name, limit in LOGS.items():
        if limit:
            yield Work(
                name=f"log-{name}",
                title=f"convert {name} to a store",
                ours=convert.format(name),
                targets=(Target(Kind.PER_MILLION, limit),),
                needs=(name,),
            )
        yield Work(
            name=f"flat-{name}",
            title=f"convert {name}, ten times the rows",
            ours=convert.format(f"big_{name}"),
            beside=Beside("gwa, a tenth of them", convert.format(name)),
            targets=(Target(Kind.MEMORY, 1.5),),
            needs=(name, f"big_{name}"),
            big=True,
        )


PANDAS: Final = Beside("pandas reads it", "pandas_read {swf}")

WORKS: Final = (
    Work(
        name="help",
        title="gwa --help",
        ours="gwa --help",
        beside=Beside("python -c pass", "nothing"),
        targets=(Target(Kind.SECONDS, 0.3),),
    ),
    Work(
        name="swf-duckdb",
        title="convert SWF to a store",
        ours="gwa convert --quiet {swf} -o {out}/swf.duckdb",
        beside=PANDAS,
        targets=(Target(Kind.PER_MILLION, 1.0),),
        needs=("swf",),
    ),
    Work(
        name="swf-gwf",
        title="convert SWF to GWF",
        ours="gwa convert --quiet {swf} -o {out}/swf.gwf",
        beside=PANDAS,
        targets=(Target(Kind.PER_MILLION, 1.0),),
        needs=("swf",),
    ),
    Work(
        name="gwf-duckdb",
        title="convert GWF to a store",
        ours="gwa convert --quiet {gwf} -o {out}/gwf.duckdb",
        beside=Beside("pandas reads it", "pandas_read {gwf}"),
        targets=(Target(Kind.PER_MILLION, 1.5),),
        needs=("gwf",),
    ),
    Work(
        name="flat",
        title="convert SWF, ten times the rows",
        ours="gwa convert --quiet {big_swf} -o {out}/big.duckdb",
        beside=Beside("gwa, a tenth of them", "gwa convert --quiet {swf} -o {out}/swf.duckdb"),
        targets=(Target(Kind.MEMORY, 1.5),),
        needs=("swf", "big_swf"),
        big=True,
    ),
    Work(
        name="slurm-duckdb",
        title="convert what sacct prints to a store",
        ours="gwa convert --quiet {slurm} -o {out}/slurm.duckdb",
        beside=Beside("DuckDB reads it", "duckdb_read {slurm} {out}/read.duckdb"),
        targets=(Target(Kind.CPU, 1.5),),
        needs=("slurm",),
    ),
    Work(
        name="slurm-json",
        title="convert sacct --json to a store, a 20th of the rows",
        ours="gwa convert --quiet {slurm_json} -o {out}/slurm_json.duckdb",
        beside=Beside("orjson reads it", "orjson_read {slurm_json}"),
        targets=(Target(Kind.CPU, 2),),
        needs=("slurm_json",),
    ),
    Work(
        name="load",
        title="load SWF, busy processors, queue",
        ours="ours_load {swf}",
        beside=Beside("evalys 4.0.7", "evalys_load {swf}", peer=True),
        targets=(Target(Kind.FASTER, 2), Target(Kind.MEMORY, 0.33)),
        needs=("swf",),
    ),
    Work(
        name="facts",
        title="all facts of ten times the jobs, from a store",
        ours="gwa facts --quiet {out}/big.duckdb",
        targets=(Target(Kind.SECONDS, 30), Target(Kind.PEAK, 2000)),
        needs=("big_swf",),
        prepare="gwa convert --quiet {big_swf} -o {out}/big.duckdb",
        big=True,
    ),
    Work(
        name="html",
        title="HTML report from SWF",
        ours="gwa report --quiet {swf} --html -o {out}/html",
        targets=(Target(Kind.SECONDS, 15), Target(Kind.PAGE, 5)),
        needs=("swf",),
        page="{out}/html/{rows}.html",
    ),
    Work(
        name="pdf",
        title="HTML and PDF report from SWF",
        ours="gwa report --quiet {swf} --html --pdf -o {out}/pdf",
        beside=Beside("gwa, HTML only", "gwa report --quiet {swf} --html -o {out}/html"),
        targets=(Target(Kind.MORE, 15),),
        needs=("swf",),
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
    *_logs(),
    Work(
        name="zipf",
        title="a discrete power law and KS, whole seconds",
        ours="ours_zipf {seconds}",
        beside=Beside("powerlaw", "powerlaw_fit {seconds}", peer=True),
        targets=(Target(Kind.FASTER, 1),),
        needs=("seconds",),
    ),
)
