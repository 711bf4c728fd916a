"""
The store: the jobs of a trace in DuckDB, and what is known of where they come from.

One file holds ``jobs`` (all fields), ``header``, ``sources``, ``rejects``, ``repairs``,
``source_ids``, ``raw_ids`` (further numbers of jobs, of which measurements may be), ``measured`` and
``provenance``. What is asked of the jobs passes through `Queries`; where they stand in
Parquet, another engine than DuckDB may answer.
"""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final, Self

import duckdb

from gwa.errors import TraceError
from gwa.store.account import Account
from gwa.store.engines.config import Engine
from gwa.store.engines.duckdb import Duck, connect, literal
from gwa.store.queries import Queries
from gwa.store.repairs import remark_on
from gwa.store.schema import FIELDS, NAMES, PEAK, PEAK_OF_RUNS, SITE, ran
from gwa.store.system import (
    GENERATED_JOBS,
    SITES_KEY,
    SYNTHETIC,
    Header,
    System,
    from_header,
    of_sites,
    with_inferred,
)
from gwa.store.versions import fields_lacking, fields_of_now, refuse_newer
from gwa.util.scratch import ScratchFolder

TABLES: Final = {
    "header": "position integer, key varchar, value varchar",
    "sources": "file varchar, bytes bigint, sha256 varchar, rows bigint, comments bigint, rejected bigint,"
    " skipped bigint",
    "rejects": "file varchar, line bigint, reason varchar, text varchar",
    "repairs": "name varchar, meaning varchar, jobs bigint",
    "source_ids": "job_id bigint, source_id varchar",
    "raw_ids": "job_id bigint, raw_id varchar",
    "measured": "source_id varchar, site varchar, source varchar, field varchar, value double",
    "dependencies": "job_id bigint, preceding_job bigint, think_time double",
    "provenance": "key varchar, value varchar",
}
"""The tables beside ``jobs``."""

ADDED_COLUMNS: Final = {("sources", "skipped bigint")}
"""Columns that stores of earlier versions lack; there they are missing in all rows."""

ADDED_TABLES: Final = {"raw_ids", "measured"}
"""Tables that stores of earlier versions lack; there they are empty."""

SQL: Final = {field.name: field.sql for field in FIELDS}
"""The type of each field."""

Period = tuple[float, float]
"""A first second, and the first one after it."""

COUNT: Final = re.compile(r"[0-9]{1,18}")
"""A number of rows in the account."""

SMALL_TRACE: Final = 10_000
"""A trace of no more jobs is kept in tables while it is analysed, in a few megabytes."""

COPY: Final = "copy"
"""What the copy of a store is called that other processes read."""

ORDER: Final = "submit_time nulls first, job_id"
"""The order in which jobs are written."""

MAGIC: Final = b"DUCK"
"""What stands at byte 8 of a DuckDB file."""


class HoldsRequestsError(TraceError):
    """A store is of requests to language models, where jobs are expected."""


class Store(Queries):
    """The jobs of one trace, with header, rejects, repairs and provenance, and the queries on them."""

    holds: ClassVar[str] = "jobs"
    """What the trace is of."""

    tables: ClassVar[Mapping[str, str]] = TABLES
    """The tables that a new store has, with their columns."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        folder: ScratchFolder,
        whole: "Store | None" = None,
    ) -> None:
        """
        Wrap an open *connection*; *folder* is scratch space that goes when the store is closed.

        A store of some of the jobs of another one, the *whole*, shares the scratch space of that.
        """
        super().__init__(Duck(connection))
        self.connection = connection
        self.engine: Engine = whole.engine if whole else Engine()
        """The limits of memory and threads that the store was opened with."""
        self.is_read_only = False
        self.files: Sequence[str] = ()
        """The files that the engine reads jobs from at each query; none where they are copied."""
        self.is_in_order = True
        """Whether jobs come in the order of their source; those that are looked up by number may not."""
        self.top = 10
        """The number of entries in lists of the largest users, groups and queues."""
        self.stated: dict[str, object] = {}
        """What the user states beside the trace, such as the carbon intensity of its power, by name."""
        self._folder = folder
        self._whole = whole
        self.sites: tuple[str, ...] = ()
        """The sites that the trace is filtered by."""
        self.is_selection = False
        """Whether jobs of the same time and the same sites may be left out."""
        self._is_closed = False
        self._is_twin = False
        self.period: Period | None = None
        """The first second of the period that the trace is filtered by, and the first one after it."""
        self._parquet: tuple[Sequence[str], Engine] | None = None
        self._is_settled = False
        self._file: Path | None = None
        self.resolve: Callable[[str], Path] | None = None
        """Makes a file with the numbers of the jobs that meet a condition, where another decides how."""

    @classmethod
    def create(cls, path: Path | None = None, engine: Engine | None = None) -> Self:
        """
        Make an empty store, in *path* or in scratch space that goes when it is closed.

        The file is of storage version 1.0.0, so that older DuckDBs and browsers read it too.
        """
        folder = ScratchFolder()
        where = path or folder.path / "trace.duckdb"
        store = cls(connect(where, engine, str(folder.path)), folder)
        store.engine = engine or store.engine
        if path is None:  # what goes when it is closed is not written a last time
            store.connection.execute("pragma disable_checkpoint_on_shutdown")
        for name, columns in cls.tables.items():
            store.connection.execute(f"create table {name} ({columns})")
        return store

    @classmethod
    def adopt(cls, path: Path, engine: Engine | None = None) -> Self:
        """Open a store to change it, such as a copy of one; it is one that `open` has opened before."""
        folder = ScratchFolder()
        try:
            store = cls(connect(path, engine, str(folder.path)), folder)
        except BaseException:
            folder.remove()
            raise
        store.engine = engine or store.engine
        # What is deleted leaves gaps, which would grow with each change.
        store.connection.execute("set max_vacuum_tasks = 100")
        for name in ADDED_TABLES:
            store.connection.execute(f"create table if not exists {name} ({TABLES[name]})")
        for table, column in ADDED_COLUMNS:
            store.connection.execute(f"alter table {table} add column if not exists {column}")
        store.show_all()
        return store

    @classmethod
    def open(cls, path: Path, engine: Engine | None = None) -> Self:
        """Open a store for reading; raise `TraceError` for a file that is none."""
        folder = ScratchFolder()
        try:
            store = cls(connect(path, engine, str(folder.path), read_only=True), folder)
            store.engine = engine or store.engine
            store.is_read_only, store._file = True, path
            store._trust_nothing(path)
        except (duckdb.Error, TraceError) as error:
            folder.remove()
            if isinstance(error, TraceError):
                raise
            raise TraceError(f"{path}: is not a readable store: {str(error).splitlines()[0]}") from error
        return store

    def _trust_nothing(self, path: Path) -> None:
        """
        Refuse a file that is not a store, and replace its view of jobs by our own.

        Only plain tables are believed: a view or a macro in a stranger's file could read other files.
        """
        columns = self._columns()
        recorded = {name: kind for table, name, kind in columns if table == "recorded"}
        actual = {(table, f"{name} {kind.lower()}") for table, name, kind in columns}
        expected = columns_of(self.tables)
        missing = ADDED_TABLES - {table for table, _ in actual}
        added = ADDED_COLUMNS | {(table, column) for table, column in expected if table in missing}
        if not recorded and "requests" in {table for table, _ in actual}:
            self.connection.close()  # the file may be opened as what it is, with other settings
            raise HoldsRequestsError(f"{path}: holds requests of language models, not jobs")
        odd = [f"it lacks {table}.{column}" for table, column in sorted(expected - actual - added)]
        odd += [f"its {name} is {kind}" for name, kind in recorded.items() if SQL.get(name, kind) != kind]
        odd += self._defined()
        self._refuse(path, odd + ([] if recorded else ["it has no jobs"]))
        more = {f"{table}.{column.split()[0]}" for table, column in actual - expected if table in self.tables}
        refuse_newer(path, more | {*recorded} - SQL.keys(), self.provenance)
        for table in missing:
            self.connection.execute(f"create temp table {table} ({TABLES[table]})")
        for table, column in (expected - actual) & ADDED_COLUMNS:
            # This table takes precedence over the one in the file, which stays unchanged.
            name, kind = column.split()
            self.connection.execute(
                f"create temp table {table} as select *, cast(null as {kind}) as {name} from main.{table}"
            )
        self.show(f"select {_all_fields(list(recorded), self._constants())} from recorded")

    def _columns(self) -> list[tuple[str, str, str]]:
        """Return the columns of plain tables: table, name and type."""
        return self.rows(
            "select table_name, column_name, data_type from duckdb_tables() join duckdb_columns()"
            " using (database_name, schema_name, table_name) where schema_name = 'main' and not temporary"
        )

    def _defined(self) -> list[str]:
        """Return what a file defines beside plain tables: computed columns and macros."""
        computed = self.rows(
            "select table_name, column_name from duckdb_columns()"
            " where column_default is not null and not internal and schema_name = 'main'"
        )
        macros = self.rows("select function_name from duckdb_functions() where not internal")
        return [
            *(f"its {table}.{column} is computed" for table, column in computed),
            *(f"it defines {name}" for (name,) in macros),
        ]

    @staticmethod
    def _refuse(path: Path, odd: Sequence[str]) -> None:
        """Raise `TraceError` for a file with something *odd* about it."""
        if odd:
            raise TraceError(f"{path}: is a DuckDB file but no store of gwa: {odd[0]}")

    @property
    def whole(self) -> "Store":
        """The trace that this one is filtered from, or itself."""
        return self._whole.whole if self._whole is not None else self

    def filtered(
        self,
        condition: str,
        period: Period | None = None,
        sites: Sequence[str] = (),
        *,
        of_all: str | None = None,
        files: Sequence[str] = (),
    ) -> "Store":
        """
        Return a store of the jobs for which the SQL *condition* holds: a view, valid while this one is open.

        Its ``jobs`` are those submitted in *period*, its ``all_jobs`` those of any time, for which
        *of_all* holds if it is given. The conditions may read *files*, in which numbers of jobs stand.
        Its cursor has views and temporary tables of its own, so that both stores may be asked in any order.
        Header, system, sources and account are those of the whole. If the jobs are those of *sites*, the size
        of the system is what the header says of these.
        """
        part = Store(self.connection.cursor(), self._folder, self)
        part.is_read_only, part.top, part.files = self.is_read_only, self.top, (*self.files, *files)
        part.stated, part.sites = self.stated, tuple(sites)
        part.is_selection = self.is_selection or (not sites and (of_all or condition) != "true")
        part.is_in_order = self.is_in_order and not files
        # The header may stand in a temporary table, which no other cursor sees.
        part.connection.execute(f"create temp table header ({TABLES['header']})")
        part.set_header(self.header)
        if self._parquet:
            part.over(*self._parquet)
        part.period = overlap(self.period, period)
        within = submitted_in(period)
        # Under the name of the table, a condition may read other jobs and qualify its fields. Spark takes
        # "jobs where (true)" for an alias with a column.
        part.show(
            f"with jobs as ({self._jobs}) select * from jobs where true and ({condition}\n){within}",
            f"with jobs as ({self._all_jobs}) select * from jobs where true and ({of_all or condition}\n)",
        )
        part.localize()
        return part

    def twin(self) -> "Store":
        """
        Return a store of the same jobs with a connection of its own, which another thread may ask.

        It is closed before this one.
        """
        twin = self.filtered("true")
        twin.engine = self.engine
        twin._whole, twin._is_twin = None, True  # noqa: SLF001 - it is a store of this class
        return twin

    def beside(self) -> "Store":
        """
        Return a store of the same tables with a connection of its own, by which another thread may fill them.

        It has no views of jobs, and is closed before this one.
        """
        return Store(self.connection.cursor(), self._folder, self)

    def readable_file(self) -> Path:
        """
        Return a DuckDB file with the tables of the store, which other processes may open to read it.

        It is that of the store, or a copy of a store that is written to, which goes with its scratch space.
        """
        if self._whole is not None:
            return self._whole.readable_file()
        if self._file:
            return self._file
        copy = self.scratch / f"{COPY}.duckdb"
        if not copy.exists():
            self.connection.execute("checkpoint")
            (whole,) = self.row("select path from duckdb_databases() where not internal and path is not null")
            shutil.copyfile(whole, copy)
        return copy

    def views(self) -> tuple[tuple[str, str], ...]:
        """Return the views of jobs, each with its SELECT: ``jobs``, ``ran`` and ``all_jobs``, if others."""
        views = (("jobs", self._jobs), ("ran", ran("jobs"))) if self._jobs else ()
        return views if self.has_all_times else (*views, ("all_jobs", self._all_jobs))

    @property
    def has_all_times(self) -> bool:
        """Whether no period limits the jobs, so that ``all_jobs`` are the same."""
        return self._jobs == self._all_jobs

    @property
    def order(self) -> str:
        """What a query of jobs ends with whose rows are to have an order; nothing where they have one."""
        return "" if self.is_in_order else f" order by {ORDER}"

    def localize(self) -> None:
        """Let dates that a query makes of moments be those of the trace's zone, not of the machine's."""
        self.database.set_zone(from_header(self.header).timezone.key)

    def settle(self) -> None:
        """
        Keep the jobs of a small trace as tables until the store is closed, and use the zone of the trace.

        A query of few jobs takes a third of the time then: views of 41 columns take longer to expand. Unless
        the user states threads, one answers: with several, a query of few jobs takes a quarter longer.
        """
        self.localize()
        if (
            self._is_settled
            or self._parquet
            or self.row("select count(*) as n from all_jobs")[0] > SMALL_TRACE
        ):
            return
        self.connection.begin()
        try:
            for name in ("all_jobs", "jobs", "all_ran", "ran"):
                self.connection.execute(f"create temp table settled as from {name}")
                self.connection.execute(f"drop view if exists temp.{name}")
                self.connection.execute(f"alter table settled rename to {name}")
        except BaseException:  # the views are there again, also after Ctrl-C
            self.connection.rollback()
            raise
        self.connection.commit()
        if self._whole is None and not self.engine.threads:
            self.connection.execute("set threads = 1")
        self._is_settled = True

    @property
    def is_closed(self) -> bool:
        """Whether the store, or the whole that it is a part of, was closed."""
        return self._is_closed or (self._whole is not None and self._whole.is_closed)

    def close(self) -> None:
        """Close the store, and with it its parts; the scratch space goes with the whole."""
        self._is_closed = True
        self.connection.close()
        if self._whole is None and not self._is_twin:
            self._folder.remove()

    def flush(self) -> None:
        """Write all to the file; `close` does so, too, but is silent of a disk that refuses it."""
        self.connection.execute("checkpoint")

    def __enter__(self) -> Self:
        """Return the store itself, to be closed at the end of a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    @property
    def scratch(self) -> Path:
        """A folder for temporary files."""
        return self._folder.path

    # What is known of the trace.

    @cached_property
    def header(self) -> Header:
        """The key and value lines of the log's header."""
        return tuple(self.rows("select key, value from header order by position"))

    @cached_property
    def system(self) -> System:
        """The system of the trace; its processors are inferred from all jobs if they are not stated."""
        if self._whole is not None and not self.sites:
            return self._whole.system.within(self.period) if self.period else self._whole.system
        system = self._whole.system if self._whole is not None else from_header(self.header)
        if self.sites or (system.cpus is None and SITES_KEY in dict(self.header)):
            names = self.sites or [name for (name,) in self.rows(f"select distinct {SITE} from jobs")]
            system = of_sites(system, self.header, names)
        if system.cpus is None:
            peak = self.row(PEAK_OF_RUNS if self.has("runs") else PEAK)[0]
            return with_inferred(system, int(peak)) if peak else system
        return system

    @property
    def is_generated(self) -> bool:
        """Whether a model of gwa made the jobs, as the header says: no system ran them."""
        return ("Synthetic", SYNTHETIC) in self.header

    @cached_property
    def has_all_generated(self) -> bool:
        """Whether these are all the jobs that a model made, as many as the header says: none is missing."""
        if self._whole is not None:
            return self._whole.has_all_generated
        jobs = dict(self.header).get(GENERATED_JOBS, "")
        return self.is_generated and jobs == str(self.row("select count(*) as n from all_jobs")[0])

    @property
    def account(self) -> Account:
        """What became of every row; raise `TraceError` where another program wrote no numbers."""
        recorded = self.provenance
        texts = {name: recorded.get(f"account.{name}", "0") for name in Account.__annotations__}
        for name, text in texts.items():
            if not COUNT.fullmatch(text):
                raise TraceError(f"the account of the trace says {text[:40]!r} {name}, expected a number")
        return Account(**{name: int(text) for name, text in texts.items()})

    @property
    def provenance(self) -> dict[str, str]:
        """Where the trace comes from: format, version, command."""
        return dict(self.rows("select key, value from provenance order by key"))

    # Filling a store.

    def set_header(self, header: Header) -> None:
        """Replace the header."""
        self.connection.execute("delete from header")
        self.insert("header", [(position, *line) for position, line in enumerate(header)])
        for known in ("header", "system", "has_all_generated"):
            self.__dict__.pop(known, None)

    def set_account(self, account: Account) -> None:
        """Record what became of every row."""
        account.check()
        self.note({f"account.{name}": str(count) for name, count in asdict(account).items()})

    def note(self, provenance: Mapping[str, str]) -> None:
        """Record facts of provenance, replacing earlier ones of the same key."""
        self.connection.execute("delete from provenance where list_contains(?, key)", [list(provenance)])
        self.insert("provenance", list(provenance.items()))

    def repaired(self, name: str, meaning: str, jobs: int) -> None:
        """Count *jobs* to which a repair was applied; a file that is only read stays as it is."""
        if not jobs:
            return
        if self.is_read_only:
            # This table takes precedence over the one in the file.
            self.connection.execute("create temp table if not exists repairs as from main.repairs")
        self.insert("repairs", [(name, meaning, jobs)])

    def remark(self, name: str, meaning: str) -> None:
        """Say something of all jobs, as of a repair, once."""
        if self.rows("select 1 from repairs where name = ?", [name]):
            return
        self.repaired(name, meaning, int(self.row("select count(*) from jobs")[0]))

    def remark_lacking(self) -> None:
        """Say which fields an earlier gwa, which made the store, did not keep."""
        if lacking := fields_lacking(self.provenance):
            self.remark(*remark_on(lacking))

    def insert(self, table: str, rows: Sequence[Sequence[object]]) -> None:
        """Append *rows* to one of the tables beside ``jobs``."""
        if not rows:
            return
        columns = [list(column) for column in zip(*rows, strict=True)]
        lists = ", ".join("unnest(?)" for _ in columns)
        self.connection.execute(f"insert into {table} select {lists}", columns)

    def begin(self, recorded: Sequence[str], constants: Mapping[str, str] | None = None) -> None:
        """
        Make the table of jobs, with the *recorded* fields; the others are *constants* or missing.

        Only what a source records is stored: ``jobs`` is a view with all fields over ``recorded``.
        """
        columns = ", ".join(f"{field.name} {field.sql}" for field in FIELDS if field.name in recorded)
        self.connection.execute(f"create table recorded ({columns})")
        self.view(f"select {_all_fields(recorded, constants or {})} from recorded")
        self.note({f"constant.{name}": value for name, value in (constants or {}).items()} | fields_of_now())

    @property
    def recorded(self) -> list[str]:
        """The names of the fields that are recorded of jobs, in their order."""
        return [name for name, *_ in self.rows("describe recorded")]

    def show_all(self) -> None:
        """Define the view of jobs again, after fields were added to the table."""
        self.connection.execute("drop view if exists jobs")
        self.view(f"select {_all_fields(self.recorded, self._constants())} from recorded")

    def _constants(self) -> dict[str, str]:
        """Return the fields that have one value in all jobs."""
        begin = "constant."
        return {
            key.removeprefix(begin): value for key, value in self.provenance.items() if key.startswith(begin)
        }

    def over(self, files: Sequence[str], engine: Engine) -> None:
        """Let *engine*, which is not DuckDB, answer on the jobs in Parquet *files* that have all fields."""
        from gwa.store.engines.spark import connect as connect_spark

        spark = connect_spark(engine, self.connection, TABLES.keys() - {"source_ids"})
        spark.read("file", files)
        self.database = spark
        self._parquet = (files, engine)
        self.show(f"select {', '.join(NAMES)} from file")

    def view(self, jobs: str) -> None:
        """Make ``jobs`` the view of all fields that the query *jobs* yields, wherever they are kept."""
        self._jobs = self._all_jobs = jobs
        self.connection.execute(f"create view jobs as {jobs}")
        self.connection.execute("create or replace temp view all_jobs as from jobs")
        self.connection.execute(f"create or replace temp view ran as {ran('jobs')}")
        self.connection.execute("create or replace temp view all_ran as from ran")


def columns_of(tables: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return the columns of *tables*, each with its type, by table."""
    return {(table, column) for table, text in tables.items() for column in text.split(", ")}


def submitted_in(period: Period | None) -> str:
    """Return what a condition in SQL ends with, so that jobs were submitted in *period*."""
    return f" and submit_time >= {period[0]!r} and submit_time < {period[1]!r}" if period else ""


def overlap(one: Period | None, other: Period | None) -> Period | None:
    """
    Return the time that two periods share, where None is all time.

    >>> overlap((0, 10), (5, 20)), overlap(None, (5, 20))
    ((5, 10), (5, 20))
    """
    if one is None or other is None:
        return one or other
    return max(one[0], other[0]), min(one[1], other[1])


def _all_fields(recorded: Sequence[str], constants: Mapping[str, str]) -> str:
    """Return the columns of the view; constants are quoted as SQL text."""
    columns = []
    for field in FIELDS:
        if field.name in recorded:
            columns.append(field.name)
        else:
            constant = constants.get(field.name) if field.is_text else None
            value = "null" if constant is None else literal(constant)
            columns.append(f"cast({value} as {field.sql}) as {field.name}")
    return ", ".join(columns)
