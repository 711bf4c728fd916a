"""DuckDB: the engine in the process itself, whose dialect all queries are written in."""

from typing import TYPE_CHECKING

import duckdb

from gwa.engines import Answer, Parameters

if TYPE_CHECKING:
    import pyarrow as pa


class Duck:
    """The database behind a connection of DuckDB."""

    name = "duckdb"

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Wrap an open *connection*, which stays its owner's to close."""
        self._connection = connection

    def ask(self, sql: str, parameters: Parameters = None) -> Answer:
        """Return the answer to a query."""
        return self._connection.execute(sql, parameters)  # type: ignore[return-value]

    def arrow(self, sql: str) -> "pa.Table":
        """Return the answer to a query as an Arrow table."""
        return self._connection.sql(sql).to_arrow_table()

    def view(self, name: str, select: str) -> None:
        """Make or replace a view."""
        self._connection.execute(f"create or replace temp view {name} as {select}")

    def keep(self, name: str, select: str) -> None:
        """Make a table."""
        self._connection.execute(f"create temp table {name} as {select}")

    def drop(self, name: str) -> None:
        """Drop a table."""
        self._connection.execute(f"drop table {name}")
