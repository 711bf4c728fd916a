"""
What users hold: `open` gives a `Trace`, the same that the command line uses.

>>> import gwa
>>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
...     len(trace), trace.system.cpus
(1200, 48)
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self, overload, runtime_checkable

from gwa.analysis.base import analyses
from gwa.analysis.build import build, facts
from gwa.errors import ArgumentError, GwaError, TraceError
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.ingest.source.compressed import plain_name
from gwa.metrics.periods import dated
from gwa.report.document import Report
from gwa.statistics.sample import Sample
from gwa.store.account import Account
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from gwa.store.runs import END, START
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.store.subset import Subset, select
from gwa.store.system import Header, System, checked_system, described_beside, read_system
from gwa.util.progress import SILENT, Progress
from gwa.util.scratch import ScratchFolder
from gwa.words.unit import Value

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from gwa.breakdown.cube import Cube

FilePath = str | PathLike[str]
Names = str | Sequence[str]


@runtime_checkable
class Frame(Protocol):
    """A table of jobs in memory: of pandas, polars, Arrow, or a relation of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return its rows as Arrow exchanges them."""


Openable = FilePath | Sequence[FilePath] | Frame
"""What `open` takes."""

IN_MEMORY: Final = "table"
"""What a trace is called that was read from memory."""

INDEX: Final = {"__index_level_0__"}
"""The column that is the index of a table of pandas, if it has no name."""

MOMENTS: Final = ("submit_time", "start_time", "end_time")
"""The columns of `Trace.jobs` that are moments."""


class Trace:
    """
    The jobs of a cluster, grid or cloud over some time, and what is known of where they come from.

    `gwa.open` makes one. It is closed at the end of a ``with``, or by `close`.

    Attributes
    ----------
    name : str
        What the trace is called: its file without suffixes.
    filters : tuple of Subset
        What the jobs were filtered by, in order; empty for a whole trace.

    """

    def __init__(
        self, store: Store, name: str, filters: Sequence[Subset] = (), scratch: ScratchFolder | None = None
    ) -> None:
        """Hold an open *store* of the jobs that passed the *filters* under a *name*, and its *scratch*."""
        self._store = store
        self._scratch = scratch
        self.name = name
        self.filters = tuple(filters)

    @property
    def store(self) -> Store:
        """What answers the queries of gwa itself; it is internal and may change."""
        if self._store.is_closed:
            raise TraceError(f"{self.name}: the trace is closed")
        return self._store

    def filter(  # noqa: PLR0913 - each is a way to choose jobs
        self,
        condition: Subset | str | None = None,
        *,
        period: str | None = None,
        queue: Names = (),
        group: Names = (),
        user: Names = (),
        site: Names = (),
        where: str | None = None,
        project: Names = (),
    ) -> Self:
        """
        Return a trace of the jobs that meet all conditions; this trace stays as it is.

        A filtered trace can be filtered further. It is a view of this one, without a copy of the jobs,
        and open as long as this one is. Its header, its system and the account of the conversion are those
        of the whole, and its reports name the filters. Of some sites, the system is what is stated of these.

        Parameters
        ----------
        condition
            An SQL condition on the fields of a job, such as ``n_procs > 1``, or a `Subset` made before.
        period
            The time that is looked at: ``2007``, ``2007-03``, ``2007-03-05T14:30`` or
            ``2007-03..2007-05``; ``3..10`` are days where times count from an unknown start. Names such as
            ``last-month``, ``this-week`` or ``last-year`` are relative to the end of what the log knows.
        queue, group, user, site, project
            A name, or several of which the job's must be one; a cluster is a site.
        where
            An SQL condition, as *condition*; jobs must meet both.

        Returns
        -------
        Trace
            The jobs that are left.

        Raises
        ------
        TraceError
            If no job is left, a name is that of no job, or *where* is not valid SQL.
        DefinitionError
            If *period* is not a period of this trace.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     parallel = trace.filter("n_procs > 1")
        ...     long = parallel.filter(where="run_time > 600", user=["U1", "U2"])
        ...     len(trace), len(parallel), len(long)
        (1200, 529, 193)

        """
        given = Subset(
            period, _several(queue), _several(group), _several(user), where, _several(site),
            _several(project),
        )  # fmt: skip
        first = Subset(where=condition) if isinstance(condition, str) else condition
        subsets = [conditions for conditions in (first, given) if conditions]
        store = self.store if subsets else self.store.filtered("true")
        subsets = [_with_dates(conditions, store) for conditions in subsets]
        for conditions in subsets:
            store = select(store, conditions)
        return type(self)(store, self.name, (*self.filters, *subsets))

    @property
    def period(self) -> str | None:
        """The period that the trace was last filtered by, in dates or numbers of days."""
        periods = [conditions.period for conditions in self.filters if conditions.period]
        return periods[-1] if periods else None

    def facts(self, prefix: str = "", *, every: bool = False) -> dict[str, Value]:
        """
        Return the facts whose ids begin with *prefix*, in full precision and SI units.

        They are the numbers of the report: `gwa facts` prints the same. Only the sections that they stand
        in are computed.

        Parameters
        ----------
        prefix
            How the ids begin, such as ``trace`` or ``jobs.runtime``. Where it is empty, there are the core
            facts (`gwa.analysis.core`), those that operators read: some 1,500 values at most.
        every
            Whether there are all, those of fits (``fit``, ``tail``) and models, too.

        Returns
        -------
        dict
            The value of each fact by its id.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     trace.facts("trace.jobs")
        {'trace.jobs': 1200}

        """
        return {fact.id: fact.value for fact in facts(self.store, prefix, every=every)}

    def report(
        self,
        only: Sequence[str] | None = None,
        progress: Progress = SILENT,
        *,
        against: "Trace | None" = None,
        explore: bool | None = None,
    ) -> Report:
        """
        Compute the report.

        Parameters
        ----------
        only
            The ids of the sections wanted, such as ``["overview", "waits"]``. Without, the report has all
            but those that are made on request only.
        progress
            What is told how far the work has come.
        against
            Another part of the same trace, such as the month before: the report begins with what is different
            from it, and whether that is more than chance.
        explore
            Whether its page filters itself, for which it holds the cells of `cube`. Unless it is said, that
            of a whole report does.

        Returns
        -------
        Report
            The report as data. `Report.write` writes it to files, and a notebook shows a short form of it.

        Raises
        ------
        TraceError
            If there is no such section.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     [section.id for section in trace.report(["overview", "waits"]).sections]
        ['overview', 'waits']

        """
        known = [analysis.id for analysis in analyses()]
        if unknown := set(only or ()) - set(known):
            raise TraceError(f"there is no section '{min(unknown)}', expected one of {', '.join(known)}")
        is_explored = only is None if explore is None else explore
        report = build(
            self.store, self.name, filters=self.filters, only=only, explore=is_explored, progress=progress
        )
        if against is None:
            return report
        from gwa.analysis.comparison.period_changes import PeriodPart
        from gwa.analysis.comparison.since import with_differences

        parts = [PeriodPart(trace.period or trace._title(), trace.store) for trace in (self, against)]  # noqa: SLF001
        return with_differences(report, *parts)

    def cube(self) -> "Cube":
        """
        Return the jobs in cells by day, user, project, queue, size, outcome and more, at most 150,000.

        Returns
        -------
        Cube
            The Arrow tables ``jobs`` and ``usage``, and how fine the cells are. Their sums are those of the
            trace for each selection.

        Raises
        ------
        TraceError
            If jobs lie more than a century apart: some of their times are wrong.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     sum(trace.cube().jobs["jobs"].to_pylist())
        1200

        """
        from gwa.breakdown.cube import cube

        return cube(self.store, has_moments=True)

    def breakdown(self, dimension: str, by: str = "cpu") -> "pd.DataFrame":
        """
        Return by whom, of what, how much: the measures of each class of a dimension.

        Parameters
        ----------
        dimension
            What jobs are told apart by, such as ``users``, ``projects``, ``queues`` or ``outcomes``.
        by
            The order of the largest ones: ``cpu``, ``jobs``, ``gpu``, ``nodes``, ``energy``, ``waste`` or
            ``wait``. Dimensions that have an order of their own, such as ``sizes``, keep it.

        Returns
        -------
        pandas.DataFrame
            A row for each class, called ``id``, and a column for each measure that the trace records, in SI
            units: the fact ``<dimension>.by_<by>`` as a table.

        Raises
        ------
        ArgumentError
            If there is no such dimension or order.
        TraceError
            If the trace does not record the dimension.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     trace.breakdown("users").columns[:3].to_list()
        ['id', 'jobs', 'jobs_share']

        """
        import pandas as pd

        from gwa.breakdown.breakdown import RANKINGS, breakdown
        from gwa.breakdown.dimensions import dimensions

        known = {one.name: one for one in dimensions()}
        orders = {name.removeprefix("by_"): name for name in RANKINGS}
        for name, names, what in ((dimension, known, "dimension"), (by, orders, "order")):
            if name not in names:
                raise ArgumentError(f"there is no {what} '{name}', expected one of {', '.join(names)}")
        records = breakdown(self.store, known[dimension], orders[by])
        if records is None:
            raise TraceError(f"{self.name}: the trace does not record {dimension} by {by}")
        return pd.DataFrame(list(records.rows))

    def sql(self, query: str) -> "pd.DataFrame":
        """
        Return what a query yields, in the SQL of DuckDB.

        Parameters
        ----------
        query
            A query on the tables ``jobs``, with all fields, ``ran``, with the jobs that ran and their
            start_time, end_time and cpu_seconds, ``header``, ``sources``, ``rejects``, ``repairs`` and
            ``dependencies``.

        Returns
        -------
        pandas.DataFrame
            A row for each that the query yields.

        Raises
        ------
        TraceError
            If the query fails.
        EngineError
            If Spark, where it is the engine, cannot answer.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     int(trace.sql("select count(*) as jobs from jobs").jobs[0])
        1200

        """
        import duckdb

        store = self.store
        try:
            store.localize()
            return store.frame(query)
        except duckdb.Error as error:
            raise TraceError(f"the query failed: {str(error).strip().splitlines()[0]}") from error

    def sample(self, field: str) -> Sample:
        """
        Return the distinct values of a field, with counts.

        Parameters
        ----------
        field
            The name of a numeric field, such as ``run_time``.

        Returns
        -------
        Sample
            The values in increasing order; jobs that do not record the field are left out.

        Raises
        ------
        TraceError
            If no numeric field has this name.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     trace.sample("run_time").median()
        4858.0

        """
        if field not in BY_NAME or BY_NAME[field].is_text:
            numbers = ", ".join(known.name for known in BY_NAME.values() if not known.is_text)
            raise TraceError(f"there is no number called '{field}', expected one of {numbers}")
        return self.store.sample(field)

    def frame(self) -> "pd.DataFrame":
        """
        Return all jobs as a pandas DataFrame, one column for each field, those of GWF first.

        Returns
        -------
        pandas.DataFrame
            Numbers of processors, of jobs and the status are ``Int64``, times and sizes ``float64``,
            others are text. Times are in seconds; `pandas.to_datetime` with ``unit="s"`` makes dates
            of ``submit_time`` where the trace has dates.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     trace.frame()[["n_procs", "run_time"]].dtypes.astype(str).to_dict()
        {'n_procs': 'Int64', 'run_time': 'float64'}

        """
        whole = {field.name: "Int64" for field in BY_NAME.values() if field.is_whole}
        return self.store.frame(f"select * from jobs{self.store.order}").astype(whole)  # noqa: S608 - our own

    def arrow(self) -> "pa.Table":
        """
        Return all jobs as an Arrow table, one column for each field, those of GWF first.

        Returns
        -------
        pyarrow.Table
            Whole numbers are ``int64`` and ``int32``, times and sizes ``double``, others are ``string``.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     trace.arrow().shape
        (1200, 50)

        """
        return self.store.arrow(f"select * from jobs{self.store.order}")  # noqa: S608 - our own

    @overload
    def jobs(self) -> "pd.DataFrame": ...
    @overload
    def jobs(self, kind: Literal["pandas"]) -> "pd.DataFrame": ...
    @overload
    def jobs(self, kind: Literal["arrow"]) -> "pa.Table": ...
    @overload
    def jobs(self, kind: Literal["polars"]) -> "pl.DataFrame": ...
    def jobs(self, kind: str = "pandas") -> "pd.DataFrame | pa.Table | pl.DataFrame":
        """
        Return all jobs with moments as timestamps, those of its start and its end among them.

        Parameters
        ----------
        kind
            ``pandas``, ``arrow`` or ``polars``, which has to be installed.

        Returns
        -------
        pandas.DataFrame or pyarrow.Table or polars.DataFrame
            The fields that the trace records. ``submit_time``, ``start_time`` and ``end_time`` are timestamps
            in the zone of the trace, to the microsecond; where it counts from an unknown start, they are
            seconds. Durations are seconds.

        Raises
        ------
        ArgumentError
            If there is no such kind, or its library is not installed.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     str(trace.jobs()["submit_time"].dt.date.min())
        '2025-03-10'

        """
        table = self._dated_jobs()
        if kind == "arrow":
            return table
        if kind == "pandas":
            import pandas as pd
            import pyarrow as pa

            return table.to_pandas(types_mapper=dict.fromkeys((pa.int32(), pa.int64()), pd.Int64Dtype()).get)
        if kind != "polars":
            raise ArgumentError(f"there is no kind '{kind}', expected one of pandas, arrow, polars")
        try:
            import polars as pl
        except ImportError as error:
            raise ArgumentError("polars is not installed: `pip install polars` installs it") from error
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)  # noqa: S101 - of a table, never a series
        return frame

    def _dated_jobs(self) -> "pa.Table":
        import pyarrow as pa

        store = self.store
        fields = [name for name in BY_NAME if store.has(name)]
        table = store.arrow(
            f"select {', '.join(fields)}, {_known(START)} as start_time,"  # noqa: S608 - our own names
            f" {_known(END)} as end_time from jobs{store.order}"
        )
        if self.system.relative:
            return table
        import numpy as np

        moment = pa.timestamp("us", self.system.timezone.key)
        for name in MOMENTS:
            micros = pa.array(np.round(table[name].to_numpy() * 1e6), from_pandas=True).cast(pa.int64())
            place = table.column_names.index(name)
            table = table.set_column(place, name, micros.cast(pa.timestamp("us")).cast(moment))
        return table

    def save(self, path: str | PathLike[str]) -> None:
        """
        Write the trace to *path*, whole or not at all, in the format that its suffix names.

        Parameters
        ----------
        path
            The file, such as ``trace.parquet``; ``gwa formats`` lists the suffixes.

        Raises
        ------
        TraceError
            If no format that can be written has this suffix.
        OutputError
            If the file cannot be written.

        Examples
        --------
        >>> import gwa, tempfile
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace, tempfile.TemporaryDirectory() as folder:
        ...     trace.save(f"{folder}/tiny.parquet")

        """
        writer(Path(path)).save(self.store, Path(path))

    @property
    def header(self) -> Header:
        """The keys and values of the log's header, in order; keys may repeat."""
        return self.store.header

    @property
    def system(self) -> System:
        """The system that the trace comes from."""
        return self.store.system

    @property
    def account(self) -> Account:
        """What became of every row of the sources; of the whole, where the trace is filtered."""
        return self.store.account

    def __len__(self) -> int:
        """Return the number of jobs."""
        return int(self.store.row("select count(*) as jobs from jobs")[0])

    def close(self) -> None:
        """Close the trace and remove its scratch files; traces that were filtered from it are closed, too."""
        self._store.close()
        if self._scratch:
            self._scratch.remove()

    def __enter__(self) -> Self:
        """Return the trace itself, to be closed at the end of a ``with``."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Close the trace."""
        self.close()

    def _summary(self) -> list[tuple[str, str]]:
        from gwa.words.formatting import show

        overview = next(analysis for analysis in analyses() if analysis.id == "overview")
        wanted = {"trace.jobs", "trace.users", "trace.span_seconds", "trace.cpus", "trace.cpu_seconds"}
        facts = Report("", "", (overview.section(self.store),)).facts()
        return [(fact.label, show(fact.value, fact.unit)) for fact in facts if fact.id in wanted]

    def _title(self) -> str:
        return "; ".join((self.name, *map(str, self.filters)))

    def __repr__(self) -> str:
        """Return a line that says what the trace is."""
        if self._store.is_closed:
            return f"<Trace {self._title()}: closed>"
        return (
            f"<Trace {self._title()}: "
            + ", ".join(f"{label.lower()} {value}" for label, value in self._summary())
            + ">"
        )

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = "".join(
            f"<tr><th>{escape(label)}</th><td>{escape(value)}</td></tr>" for label, value in self._summary()
        )
        return f"<table><caption>{escape(self._title())}</caption>{rows}</table>"


def open(  # noqa: A001, PLR0913 - gwa.open reads as what it does; all but the paths go by name
    paths: Openable,
    *,
    format: str | None = None,  # noqa: A002 - the word for it
    system: FilePath | dict[str, Any] | None = None,
    strict: bool = False,
    memory: str | None = None,
    threads: int | None = None,
    engine: str = "duckdb",
    progress: Progress = SILENT,
) -> Trace:
    """
    Open a trace.

    Parameters
    ----------
    paths
        A store, a ``.gwf``, or any log that a converter knows; several files are one trace. An address of
        Parquet, such as ``hf://datasets/…`` or ``s3://…``. Or a table of jobs in memory, of pandas, polars,
        Arrow or DuckDB, whose columns are recognised as those of a CSV file.
    format
        The name of the format, where it is not to be recognised.
    system
        What is known of the system: a system file, or a dictionary of what would stand in it. By default
        the file that lies beside a log under its name is taken: ``sample.toml`` beside ``sample.sacct``.
    strict
        Whether a row that cannot be read is an error. Otherwise it is counted as rejected.
    memory
        The limit for the whole process, such as ``2GB``.
    threads
        The number of threads of the engine.
    engine
        What answers queries: ``duckdb``, or for Parquet ``spark`` or ``spark://host:port``.
    progress
        What is told how far the work has come.

    Returns
    -------
    Trace
        The trace, to be closed at the end of a ``with``.

    Raises
    ------
    TraceError
        If the trace cannot be read; `UnknownFormat` if no format claims it, `StrictError` for a row that
        cannot be read where *strict* is set.
    DefinitionError
        If the system is described wrongly.
    EngineError
        If the engine is not there.

    Examples
    --------
    >>> import gwa
    >>> with gwa.open("sample_traces/swf/tiny.swf", system={"cpus": 64}) as trace:
    ...     len(trace), trace.system.cpus
    (1200, 64)

    """
    reading = read_options(system, Engine(memory, threads, engine), strict=strict, progress=progress)
    if isinstance(paths, Frame):
        folder = ScratchFolder()
        file = folder.path / f"{IN_MEMORY}.parquet"
        _write_parquet(paths, file)
        try:
            store = open_trace([file], format, reading)
        except GwaError as error:
            raise type(error)(str(error).replace(str(file), "the table")) from error
        return Trace(store, IN_MEMORY, scratch=folder)
    files = at_paths(paths)
    if system is None and len(files) == 1 and (beside := described_beside(files[0])):
        reading = replace(reading, system=beside[1])
    return Trace(open_trace(files, format, reading), title(files))


def read_options(
    system: FilePath | Mapping[str, Any] | None, engine: Engine, *, strict: bool, progress: Progress
) -> ReadOptions:
    """Return how a log is read; raise `DefinitionError` where *system*, or its file, says nonsense."""
    if system is None or isinstance(system, Mapping):
        return ReadOptions(system and checked_system(system), strict, engine, progress)
    return ReadOptions(read_system(Path(system)), strict, engine, progress)


def at_paths(paths: FilePath | Sequence[FilePath]) -> list[Path]:
    """Return one or several *paths* as a list; raise `TraceError` if there are none."""
    several = [paths] if isinstance(paths, str | PathLike) else list(paths)
    if not several:
        raise TraceError("no file was given, expected a trace")
    return [Path(path) for path in several]


def _known(moment: str) -> str:
    """Return the SQL of a *moment* of a job that is known to have started."""
    return f"case when wait_time is not null or runs is not null then {moment} end"


def _write_parquet(frame: Frame, path: Path) -> None:
    """Write the columns of a table in memory, without the index of one of pandas."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = pa.table(frame)
        parquet.write_table(table.drop_columns([name for name in table.column_names if name in INDEX]), path)
    except pa.ArrowException as error:
        raise TraceError(f"the table cannot be read: {str(error).splitlines()[0]}") from error


def title(files: Sequence[Path]) -> str:
    """
    Return the name of a trace: that of its file without suffixes.

    >>> title([Path("logs/KTH-SP2-1996-2.1-cln.swf.gz")])
    'KTH-SP2-1996-2.1-cln'
    """
    name = plain_name(files[0])
    stem = name.rpartition(".")[0] or name
    return stem if len(files) == 1 else f"{stem} and {len(files) - 1} more"


def _with_dates(conditions: Subset, store: Store) -> Subset:
    """Return *conditions* with the dates of a period that has a name."""
    return replace(conditions, period=dated(conditions.period, store)) if conditions.period else conditions


def _several(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
