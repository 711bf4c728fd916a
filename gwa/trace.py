"""
What users hold: `open` gives a `Trace`, the same that the command line uses.

>>> import gwa
>>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
...     len(trace), trace.system.cpus
(1200, 48)
"""

from collections.abc import Sequence
from html import escape
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from gwa.analysis.base import analyses
from gwa.analysis.build import build
from gwa.errors import TraceError
from gwa.formats.open import read
from gwa.formats.registry import writer
from gwa.ingest.source.compressed import plain_name
from gwa.report.document import Report, Value
from gwa.statistics.sample import Sample
from gwa.store.account import Account
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.store.subset import Subset, narrow
from gwa.store.system import Header, System, read_system
from gwa.util.progress import SILENT, Progress

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


class Trace:
    """The jobs of a cluster, grid or cloud over some time, and what is known of where they come from."""

    def __init__(self, store: Store, name: str) -> None:
        """Hold an open *store* under a *name*; `open` is the usual way to get a trace."""
        self.store = store
        self.name = name
        self.part = Subset()

    def narrow(self, part: Subset) -> Self:
        """
        Leave only a part of the trace; the files that it was read from stay as they are.

        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     len(trace.narrow(gwa.Part(where="n_procs > 1")))
        529
        """
        narrow(self.store, part)
        self.part = part
        return self

    def facts(self, prefix: str = "") -> dict[str, Value]:
        """
        Return the facts whose ids begin with *prefix*, in full precision and SI units.

        They are the numbers of the report: `gwa facts` prints the same.
        """
        only = [analysis.id for analysis in analyses() if analysis.has_facts(prefix)]
        report = build(self.store, self.name, part=self.part, only=only, strict=True)
        return {fact.id: fact.value for fact in report.facts() if fact.id.startswith(prefix)}

    def report(self, only: Sequence[str] | None = None, progress: Progress = SILENT) -> Report:
        """Return the report as data; *only* names the sections wanted. `gwa.report` prints it."""
        unknown = set(only or ()) - {one.id for one in analyses()}
        if unknown:
            known = ", ".join(one.id for one in analyses())
            raise TraceError(f"there is no section '{min(unknown)}', expected one of {known}")
        return build(self.store, self.name, part=self.part, only=only, progress=progress)

    def sql(self, query: str) -> "pd.DataFrame":
        """
        Return what a query yields; the tables are ``jobs``, ``ran`` and those beside them.

        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     int(trace.sql("select count(*) as jobs from jobs").jobs[0])
        1200
        """
        return self.store.frame(query)

    def sample(self, field: str) -> Sample:
        """Return the distinct values of a *field* such as ``run_time``, with counts."""
        if field not in BY_NAME or BY_NAME[field].is_text:
            numbers = ", ".join(one.name for one in BY_NAME.values() if not one.is_text)
            raise TraceError(f"there is no number called '{field}', expected one of {numbers}")
        return self.store.sample(field)

    def frame(self) -> "pd.DataFrame":
        """Return all jobs as a pandas DataFrame, one column for each of the 29 fields."""
        return self.store.frame()

    def arrow(self) -> "pa.Table":
        """Return all jobs as an Arrow table."""
        return self.store.arrow()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trace to *path*, whole or not at all, in the format that its suffix names."""
        writer(Path(path)).save(self.store, Path(path))

    @property
    def header(self) -> Header:
        """The key and value lines of the log's header."""
        return self.store.header

    @property
    def system(self) -> System:
        """The system that the trace comes from."""
        return self.store.system

    @property
    def account(self) -> Account:
        """What became of every row of the sources."""
        return self.store.account

    def __len__(self) -> int:
        """Return the number of jobs."""
        return int(self.store.row("select count(*) as jobs from jobs")[0])

    def close(self) -> None:
        """Close the trace and remove its scratch files."""
        self.store.close()

    def __enter__(self) -> Self:
        """Return the trace itself, to be closed at the end of a ``with``."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Close the trace."""
        self.close()

    def _summary(self) -> list[tuple[str, str]]:
        overview = next(one for one in analyses() if one.id == "overview").section(self.store)
        from gwa.report.formatting import show

        wanted = {"trace.jobs", "trace.users", "trace.span_seconds", "trace.cpus", "trace.cpu_seconds"}
        facts = Report("", "", (overview,)).facts()
        return [(fact.label, show(fact.value, fact.unit)) for fact in facts if fact.id in wanted]

    def __repr__(self) -> str:
        """Return a line that says what the trace is."""
        return (
            f"<Trace {self.name}: "
            + ", ".join(f"{label.lower()} {value}" for label, value in self._summary())
            + ">"
        )

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = "".join(
            f"<tr><th>{escape(label)}</th><td>{escape(value)}</td></tr>" for label, value in self._summary()
        )
        return f"<table><caption>{escape(self.name)}</caption>{rows}</table>"


def open(  # noqa: A001, PLR0913 - gwa.open reads as what it does; all but the paths go by name
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002 - the word for it
    system: str | PathLike[str] | dict[str, Any] | None = None,
    strict: bool = False,
    memory: str | None = None,
    threads: int | None = None,
    engine: str = "duckdb",
    progress: Progress = SILENT,
) -> Trace:
    """
    Open a trace: a store, a ``.gwf``, or any log that a converter knows; several files are one trace.

    *system* is a system file, or what would stand in it; *memory* (such as ``2GB``) and *threads*
    limit the *engine*: ``duckdb``, or for Parquet ``spark`` or ``spark://host:port``. Raise `TraceError`
    where the trace cannot be read.
    """
    several = [paths] if isinstance(paths, str | PathLike) else list(paths)
    files = [Path(path) for path in several]
    if not files:
        raise TraceError("no file was given, expected a trace")
    said = system if isinstance(system, dict | None) else read_system(Path(system))
    reading = ReadOptions(said, strict, Engine(memory, threads, engine), progress)
    return Trace(read(files, format, reading), title(files))


def title(files: Sequence[Path]) -> str:
    """
    Return the name of a trace: that of its file without suffixes.

    >>> title([Path("logs/KTH-SP2-1996-2.1-cln.swf.gz")])
    'KTH-SP2-1996-2.1-cln'
    """
    name = plain_name(files[0])
    stem = name.rpartition(".")[0] or name
    return stem if len(files) == 1 else f"{stem} and {len(files) - 1} more"
