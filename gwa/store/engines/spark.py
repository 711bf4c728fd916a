"""
Apache Spark: an engine for traces too large for one machine, over Parquet that all of its workers can read.

Only results are returned, as Arrow; the tables beside the jobs stay in DuckDB, which reads no
jobs then. pyspark and sqlglot are optional: ``pip install 'gridworkloads[spark]'``.
"""

import atexit
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import IO, TYPE_CHECKING, Any, Final

import duckdb

from gwa.errors import EngineError
from gwa.store.engines.base import Parameters, QueryResult
from gwa.store.engines.config import DEFAULT_MEMORY_LIMIT, Engine, parse_size
from gwa.store.engines.duckdb import Duck
from gwa.store.schema import FIELDS
from gwa.util.cores import usable_cores
from gwa.util.version import DISTRIBUTION

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

SPARK_TYPES: Final = {"VARCHAR": "STRING"}
"""Spark's names of DuckDB's types, where they differ."""

SETTINGS: Final = {
    "spark.sql.ansi.enabled": "true",  # an overflow is an error, as in DuckDB, not a wrong number
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # errors are reported once, by gwa
}

LOCAL_SETTINGS: Final = {
    # No other machine may connect.
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""Settings of Spark on one machine."""

MINIMUM_MEMORY_MB: Final = 512
"""Spark does not start with less."""


class Spark:
    """The jobs of one trace in Spark; its views are invisible to other traces in the same process."""

    name = "spark"
    keeps_order = False

    def __init__(
        self, session: "SparkSession", connection: duckdb.DuckDBPyConnection, local_tables: Collection[str]
    ) -> None:
        """Query jobs in *session*, and the *local_tables* beside them in DuckDB's *connection*."""
        self._session = session
        self._connection = connection
        # Spark itself ends its jobs at Ctrl-C.
        self._local = Duck(connection)
        self._local_tables = frozenset(local_tables)

    def ask(self, sql: str, parameters: Parameters = None) -> QueryResult:
        """Return the result of a query in DuckDB's dialect; raise `EngineError` if Spark cannot run it."""
        from gwa.store.engines.spark_sql import referenced_tables

        if parameters is not None or referenced_tables(sql) <= self._local_tables:
            return self._local.ask(sql, parameters)
        return self._connection.from_arrow(self.arrow(sql))

    def set_zone(self, name: str) -> None:
        """Let dates that queries make of moments be those of a time zone, not of the machines'."""
        self._local.set_zone(name)
        self._session.conf.set("spark.sql.session.timeZone", name)

    def arrow(self, sql: str) -> "pa.Table":
        """Return the result of a query on jobs as an Arrow table."""
        with _one_line_errors():
            frame = self._frame(sql)
            names = frame.columns
            if len(set(names)) < len(names):
                frame = frame.toDF(*(f"column{position}" for position in range(len(names))))
            return frame.toArrow()

    def view(self, name: str, select: str) -> None:
        """Define or replace a view."""
        with _one_line_errors():
            self._frame(select).createOrReplaceTempView(name)

    def keep(self, name: str, select: str) -> None:
        """Run *select* and store its result on the workers, without its lineage."""
        with _one_line_errors():
            self._frame(select).localCheckpoint().createOrReplaceTempView(name)

    def share(self, name: str) -> None:
        """Let queries read the table *name* of DuckDB, of which all workers get a copy."""
        with _one_line_errors():
            table = self._connection.table(name).to_arrow_table()
            self._session.createDataFrame(table).createOrReplaceTempView(name)

    def drop(self, name: str) -> None:
        """Drop a view, and the result stored for it."""
        self._session.catalog.dropTempView(name)

    def read(self, name: str, files: Sequence[str]) -> None:
        """
        Define the view *name* of the jobs in Parquet *files*, which may lack extension fields.

        The numbers that the source gave to them, a list in each row, are the view ``source_ids``.
        """
        schema = ", ".join(f"{field.name} {SPARK_TYPES.get(field.sql, field.sql)}" for field in FIELDS)
        schema += ", source_ids array<string>"
        paths = [re.sub(r"([][{}*?\\])", r"\\\1", file) for file in files]
        with _one_line_errors():
            self._session.read.schema(schema).parquet(*paths).createOrReplaceTempView(name)
            numbers = self._session.sql(f"select job_id, explode(source_ids) as source_id from {name}")
            numbers.createOrReplaceTempView("source_ids")

    def _frame(self, sql: str) -> "DataFrame":
        from gwa.store.engines.spark_sql import to_spark_sql

        return self._session.sql(to_spark_sql(sql))


def connect(engine: Engine, connection: duckdb.DuckDBPyConnection, local_tables: Collection[str]) -> Spark:
    """Return a Spark with views of its own; raise `EngineError` if there is no pyspark, Java or cluster."""
    if missing := missing_requirement():
        raise EngineError(missing)
    return Spark(_shared_session(engine).newSession(), connection, local_tables)


@cache
def _shared_session(engine: Engine) -> "SparkSession":
    """Return the session that all others derive from, which ends with the program."""
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True  # it repeats the error
    builder = SparkSession.builder.appName("gwa")
    for key, value in _settings(engine).items():
        builder = builder.config(key, value)
    with tempfile.TemporaryFile() as stderr:
        try:
            with _redirect_stderr(stderr), _one_line_errors():
                session = builder.getOrCreate()
        except EngineError as error:
            raise EngineError(f"{engine.name} does not start: {_last_line(stderr) or error}") from error
    master = session.sparkContext.master or ""
    if not master.startswith("local" if engine.name == "spark" else engine.name):
        raise EngineError(f"{engine.name} was asked for, but this program is already at {master}")
    atexit.unregister(_stop_session)
    atexit.register(_stop_session, session)
    return session


def _settings(engine: Engine) -> dict[str, str]:
    """Return the settings for an *engine*; a cluster has settings of its own for everything else."""
    settings = {**SETTINGS, "spark.driver.memory": _memory(engine)}
    if engine.name != "spark":
        return {**settings, "spark.master": engine.name}
    threads = engine.threads or usable_cores()
    # Spark's default of 200 partitions is meant for a cluster.
    parts = {"spark.sql.shuffle.partitions": str(2 * threads)}
    return {**settings, **LOCAL_SETTINGS, **parts, "spark.master": f"local[{threads}]"}


def _stop_session(session: "SparkSession") -> None:
    """Stop the session, and wait until Java has cleaned up."""
    gateway = session.sparkContext._gateway  # noqa: SLF001 - nothing else knows it
    session.stop()
    if not gateway:
        return
    # Java is told of each of its objects that Python gives up; when it is gone, that would be an error.
    gateway.shutdown()
    if process := getattr(gateway, "proc", None):
        process.stdin.close()
        process.wait()


def missing_requirement() -> str | None:
    """Describe the first requirement of Spark that this machine lacks; None if there is none."""
    for module in ("pyspark", "sqlglot"):
        if importlib.util.find_spec(module) is None:
            return f"Spark needs {module}, which is not installed: pip install '{DISTRIBUTION}[spark]'"
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java", path=f"{home}/bin" if home else None):
        return (
            "Spark needs Java 17 or later, which is not found: install it (Debian: openjdk-17-jre-headless)"
        )
    return None


def _memory(engine: Engine) -> str:
    """
    Return the memory limit in the form that Java expects.

    >>> _memory(Engine("2GB"))
    '2000m'
    """
    return f"{max(parse_size(engine.memory or DEFAULT_MEMORY_LIMIT) // 10**6, MINIMUM_MEMORY_MB)}m"


@contextmanager
def _redirect_stderr(file: IO[bytes]) -> Iterator[None]:
    """Redirect standard error, also of programs started here, to *file*: Java writes a lot."""
    before = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def _last_line(file: IO[bytes]) -> str:
    """Return the last line of a file that is not blank."""
    file.seek(0)
    lines = file.read().decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "").strip()


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Reduce Spark's error messages, of hundreds of lines, to one line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise EngineError(f"Spark: {_first_line(error)}") from error


def _first_line(error: Any) -> str:  # noqa: ANN401 - an exception of Java's or Python's
    """Return the first line of an exception's message, or its type."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
