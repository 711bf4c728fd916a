"""
Processes of their own for SQL of others, with limits of time and memory that the system keeps.

An engine heeds a limit between two pieces of work: one function, such as ``repeat('x', 3000000000)``, is
one piece, which takes what time and memory it likes. A process can be killed at any time, and gets no more
address space than it was allowed. It opens the trace read-only, and its connection is locked: no file but
the trace's, no setting changed. What fails, hangs or crashes there harms no other query, and the next one
has a new process.

Who runs a query here: `gwa mcp`, for queries and conditions of an assistant, within seconds; `gwa sql`, and
any command for a condition of its user (``--where``), without a limit of time, since users ask for
themselves, may wait on purpose, and end it by Ctrl-C at once. A condition runs here once, and the jobs that
meet it are what is analysed; only one that is bounded, see `gwa.store.engines.restricted.is_bounded`, and one
that Spark answers, in processes of its own, is a part of each query of the analysis.

What does not run here is the SQL of a definition that a user names (``--with``): it is a part of the
statements that fill the store, in the process that writes it. Its functions are those of the same list, but
one of them may take the memory of the machine.

The limit of memory is that of the engine, above what the process takes when it has started. Only Linux keeps
it; elsewhere the engine alone limits itself.
"""

import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from secrets import token_hex
from threading import BoundedSemaphore, Thread
from typing import TYPE_CHECKING, Any, Final, Self

import duckdb
import numpy as np

from gwa.errors import QueryError
from gwa.store.engines.answers import Rows, answered
from gwa.store.engines.duckdb import literal
from gwa.store.engines.restricted import lock
from gwa.store.store import Store
from gwa.store.system import from_header
from gwa.util.processes import Worker, WorkerError, WorkerTimeout

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAXIMUM_AT_ONCE: Final = 4
"""The number of queries of a trace that run at once, each in a process; others wait for one to end."""

ENGINE_SHARE: Final = 0.75
"""The share of the memory that the engine may use for what it can spill; functions use what they like."""

SIZES: Final = Path("/proc/self/statm")
"""Where Linux says how many pages of addresses a process has."""


@dataclass(frozen=True)
class View:
    """What a process needs to see the tables of a store: a DuckDB *file*, and what stands beside it."""

    file: str
    spill: str
    memory: int
    threads: int | None
    zone: str
    views: tuple[tuple[str, str], ...]
    tables: tuple[tuple[str, str, tuple[tuple[Any, ...], ...]], ...]
    files: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """A query of a *view*, of which *maximum* rows are wanted; *as_numbers*, all of its only column."""

    view: View
    sql: str
    maximum: int | None = None
    as_numbers: bool = False


@dataclass(frozen=True)
class Failure:
    """What the engine says of a query that fails."""

    text: str


def answer(request: Request) -> "Rows | NDArray[np.int64] | Failure":
    """Answer a request, in the process that is limited."""
    try:
        database = _opened(request.view)
        if request.as_numbers:
            (column,) = database.execute(request.sql).fetchnumpy().values()
            return np.asarray(column, np.int64)
        return answered(database, request.sql, request.maximum)
    except MemoryError:
        return Failure("Out of Memory Error: the process has used up its memory")
    except (duckdb.Error, ValueError, RuntimeError) as error:  # DuckDB's own, and what Python says of a value
        # What DuckDB advises are settings, which are locked.
        return Failure(str(error).partition("\n\nPossible solutions")[0].strip() or type(error).__name__)


@lru_cache(1)
def _opened(view: View) -> duckdb.DuckDBPyConnection:
    """Open a store for reading, lock the connection, and limit the process to what it may use."""
    database = duckdb.connect(
        view.file,
        read_only=True,
        config={
            "memory_limit": f"{int(view.memory * ENGINE_SHARE)}B",
            "temp_directory": view.spill,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            **({"threads": view.threads} if view.threads else {}),
        },
    )
    for name, columns, rows in view.tables:
        database.execute(f"create temp table {name} ({columns})")
        if rows:
            database.executemany(f"insert into {name} values ({', '.join('?' * len(rows[0]))})", list(rows))
    for name, select in view.views:
        database.execute(f"create temp view {name} as {select}")
    database.execute(f"set timezone = {literal(view.zone)}")
    lock(database, view.files)
    # Threads and their heaps are there before the addresses are counted.
    database.execute("select count(*) from range(1000000) group by range % 1000").fetchall()
    _limit_addresses(view.memory)
    return database


def _limit_addresses(more: int) -> None:
    """Let the process have *more* bytes of addresses than it has; nothing where no system keeps it."""
    if sys.platform == "win32" or not SIZES.exists():
        return
    import resource

    most = int(SIZES.read_text().split()[0]) * resource.getpagesize() + more
    with suppress(ValueError, OSError):  # it is limited to less already
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def view_of(store: Store) -> View:
    """Return what a process needs to see the tables of *store*; one that is written to is copied."""
    beside = tuple(
        (name, columns, tuple(store.rows(f"from {name}")))
        for name, columns in store.tables.items()
        if name in _temporary(store)
    )
    return View(
        file=str(store.readable_file()),
        spill=str(store.scratch / "spill-beside"),
        memory=store.engine.limit_bytes,
        threads=store.engine.threads,
        zone=from_header(store.header).timezone.key,
        views=store.views(),
        tables=beside,
        files=tuple(store.files),
    )


def _temporary(store: Store) -> set[str]:
    """Return the tables of a store that stand in for those of its file."""
    return {name for (name,) in store.rows("select table_name from duckdb_tables() where temporary")}


class Confined:
    """Processes that answer queries of a *store*, as many as are asked at once; they end with `close`."""

    def __init__(self, store: Store) -> None:
        """Take an open *store*, which stays open as long; nothing is started yet."""
        self._store = store
        self._turns = BoundedSemaphore(MAXIMUM_AT_ONCE)
        self._idle: list[Worker[Request, Rows | NDArray[np.int64] | Failure]] = []
        self._all: list[Worker[Request, Rows | NDArray[np.int64] | Failure]] = []

    @cached_property
    def view(self) -> View:
        """What the processes open."""
        return view_of(self._store)

    def rows(self, sql: str, maximum: int | None = None, seconds: float | None = None) -> Rows:
        """
        Return what *sql*, which was checked, yields: at most *maximum* rows, within *seconds*.

        Raise `QueryError` where it fails, takes longer, or needs more memory.
        """
        found: Rows = self._ask(Request(self.view, sql, maximum), seconds)
        return found

    def numbers(self, sql: str, seconds: float | None = None) -> "NDArray[np.int64]":
        """Return the whole numbers in the only column that *sql* yields, as `rows` does."""
        found: NDArray[np.int64] = self._ask(Request(self.view, sql, as_numbers=True), seconds)
        return found

    def jobs(self, condition: str, seconds: float | None = None, table: str = "jobs") -> Path:
        """
        Return a file of Parquet with the numbers of the jobs that meet a *condition*, which was checked.

        They are those of a *table*, which is what the condition calls jobs.
        The file goes with the store. Raise `QueryError` as `rows` does.
        """
        import pyarrow as pa
        from pyarrow.parquet import write_table

        named = "" if table == "jobs" else f"with jobs as (from {table}) "
        query = f"{named}select job_id from jobs where ({condition}\n)"
        path = self._store.scratch / f"jobs-{token_hex(8)}.parquet"
        write_table(pa.table({"job_id": self.numbers(query, seconds)}), path)
        return path

    def start(self) -> None:
        """Start a process, so that the first query finds one; others may ask the store meanwhile."""
        _ = self.view
        Thread(target=self._warm, daemon=True).start()

    def _warm(self) -> None:
        with suppress(QueryError):
            self.rows("select 1")

    def _ask(self, request: Request, seconds: float | None) -> Any:  # noqa: ANN401 - it depends on the request
        with self._turns:
            try:
                worker = self._idle.pop()
            except IndexError:
                worker = Worker(answer)
                self._all.append(worker)
            try:
                found = worker.ask(request, seconds)
            except WorkerTimeout as error:
                raise QueryError(f"the query took longer than {seconds:g} s: ask for less") from error
            except WorkerError as error:
                raise QueryError(
                    f"the query ended its process: it needed more memory than"
                    f" {request.view.memory / 1e9:.2g} GB, or met a fault of the engine: ask for less"
                ) from error
            finally:
                self._idle.append(worker)
        if isinstance(found, Failure):
            raise QueryError(f"the query failed: {found.text}")
        return found

    def interrupt(self) -> None:
        """End all queries at once, whatever they do; the next one has a new process."""
        for worker in self._all:
            if worker.process:
                worker.process.kill()

    def close(self) -> None:
        """End all processes at once, whatever they do."""
        for worker in self._all:
            worker.kill()
            worker.close()

    def __enter__(self) -> Self:
        """Return itself, to be closed at the end of a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes."""
        self.close()
