"""
Apache Spark: an engine for traces beyond one machine, over Parquet that all of its workers can read.

Only what a query yields comes back, as Arrow; the tables beside the jobs stay in DuckDB, which reads no
job then. pyspark and sqlglot are optional: ``pip install 'gwa[spark]'``.
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
from gwa.store.engines.base import Answer, Parameters
from gwa.store.engines.config import MEMORY, Engine, size_of
from gwa.store.schema import FIELDS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

TYPES: Final = {"VARCHAR": "STRING"}
"""The types of Spark that are called otherwise in DuckDB."""

SETTINGS: Final = {
    "spark.sql.ansi.enabled": "true",  # what overflows is an error, as in DuckDB, and no wrong number
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # what goes wrong is said once, by us
}

LOCAL: Final = {
    # Nobody else is to be heard on one machine.
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""What Spark is told on one machine."""

LEAST: Final = 512
"""Megabytes without which Spark does not start."""


class Spark:
    """The jobs of one trace in Spark; its views are seen by nobody else who shares the program."""

    name = "spark"

    def __init__(
        self, session: "SparkSession", connection: duckdb.DuckDBPyConnection, beside: Collection[str]
    ) -> None:
        """Ask *session* about jobs, and *connection* of DuckDB about the tables *beside* them."""
        self._session = session
        self._connection = connection
        self._beside = frozenset(beside)

    def ask(self, sql: str, parameters: Parameters = None) -> Answer:
        """Return the answer to a query in DuckDB's dialect; raise `EngineError` where Spark has none."""
        from gwa.store.engines.spark_sql import tables

        if parameters is not None or tables(sql) <= self._beside:
            return self._connection.execute(sql, parameters)  # type: ignore[return-value]
        return self._connection.from_arrow(self.arrow(sql))

    def arrow(self, sql: str) -> "pa.Table":
        """Return the answer to a query on jobs as an Arrow table."""
        with _plain_errors():
            found = self._frame(sql)
            names = found.columns
            if len(set(names)) < len(names):
                found = found.toDF(*(f"column{place}" for place in range(len(names))))
            return found.toArrow()

    def view(self, name: str, select: str) -> None:
        """Make or replace a view."""
        with _plain_errors():
            self._frame(select).createOrReplaceTempView(name)

    def keep(self, name: str, select: str) -> None:
        """Run *select* and keep what it yields on the workers, without the memory of how it was made."""
        with _plain_errors():
            self._frame(select).localCheckpoint().createOrReplaceTempView(name)

    def drop(self, name: str) -> None:
        """Drop a view; what it kept goes with it."""
        self._session.catalog.dropTempView(name)

    def read(self, name: str, files: Sequence[str]) -> None:
        """Let *name* stand for the jobs in Parquet *files*, which have all 29 fields."""
        schema = ", ".join(f"{field.name} {TYPES.get(field.sql, field.sql)}" for field in FIELDS)
        paths = [re.sub(r"([][{}*?\\])", r"\\\1", file) for file in files]
        with _plain_errors():
            self._session.read.schema(schema).parquet(*paths).createOrReplaceTempView(name)

    def _frame(self, sql: str) -> "DataFrame":
        from gwa.store.engines.spark_sql import spark

        return self._session.sql(spark(sql))


def connect(engine: Engine, connection: duckdb.DuckDBPyConnection, beside: Collection[str]) -> Spark:
    """Return a Spark of its own views; raise `EngineError` where there is no pyspark, Java or cluster."""
    if lacking := lacks():
        raise EngineError(lacking)
    return Spark(_started(engine).newSession(), connection, beside)


@cache
def _started(engine: Engine) -> "SparkSession":
    """Return the session that all others share, which ends with the program."""
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True  # the error itself says as much
    builder = SparkSession.builder.appName("gwa")
    for key, value in _settings(engine).items():
        builder = builder.config(key, value)
    with tempfile.TemporaryFile() as said:
        try:
            with _aside(said), _plain_errors():
                session = builder.getOrCreate()
        except EngineError as error:
            raise EngineError(f"{engine.name} does not start: {_last(said) or error}") from error
    master = session.sparkContext.master or ""
    if not master.startswith("local" if engine.name == "spark" else engine.name):
        raise EngineError(f"{engine.name} was asked for, but this program is already at {master}")
    atexit.unregister(_end)
    atexit.register(_end, session)
    return session


def _settings(engine: Engine) -> dict[str, str]:
    """Return what Spark is told of an *engine*; a cluster's own settings say the rest."""
    settings = {**SETTINGS, "spark.driver.memory": _memory(engine)}
    if engine.name != "spark":
        return {**settings, "spark.master": engine.name}
    threads = engine.threads or os.cpu_count() or 1
    # The 200 parts that Spark makes of a table are for a cluster.
    parts = {"spark.sql.shuffle.partitions": str(2 * threads)}
    return {**settings, **LOCAL, **parts, "spark.master": f"local[{threads}]"}


def _end(session: "SparkSession") -> None:
    """Take leave of the cluster, and wait until Java has cleaned up."""
    process = getattr(session.sparkContext._gateway, "proc", None)  # noqa: SLF001 - nothing else knows it
    session.stop()
    if process:
        process.stdin.close()
        process.wait()


def lacks() -> str | None:
    """Return what Spark lacks on this machine, in words, or None."""
    for module in ("pyspark", "sqlglot"):
        if importlib.util.find_spec(module) is None:
            return f"Spark needs {module}, which is not installed: pip install 'gwa[spark]'"
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java", path=f"{home}/bin" if home else None):
        return (
            "Spark needs Java 17 or later, which is not found: install it (Debian: openjdk-17-jre-headless)"
        )
    return None


def _memory(engine: Engine) -> str:
    """
    Return a memory limit as Java's.

    >>> _memory(Engine("2GB"))
    '2000m'
    """
    return f"{max(size_of(engine.memory or MEMORY) // 10**6, LEAST)}m"


@contextmanager
def _aside(file: IO[bytes]) -> Iterator[None]:
    """Let what programs started here say on standard error go to *file*: Java is talkative."""
    before = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def _last(file: IO[bytes]) -> str:
    """Return the last line of a file."""
    file.seek(0)
    lines = file.read().decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "").strip()


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Say in one line what Spark says in hundreds."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise EngineError(f"Spark: {_brief(error)}") from error


def _brief(error: Any) -> str:  # noqa: ANN401 - an exception of Java's or Python's
    """Return the first line of what an exception says."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
