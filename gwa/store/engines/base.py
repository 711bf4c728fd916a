"""
The engines that answer queries on the jobs of a trace: DuckDB, and Spark for what one machine cannot hold.

Queries are written once, in DuckDB's dialect; an engine that speaks another one translates them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

Parameters = Sequence[object] | Mapping[str, object] | None


class QueryResult(Protocol):
    """The result of a query."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return the result as rows."""

    def fetchnumpy(self) -> "dict[str, NDArray[Any]]":
        """Return the result as NumPy arrays by column; missing values are masked."""

    def df(self) -> "pd.DataFrame":
        """Return the result as a pandas DataFrame."""


class Database(Protocol):
    """An engine with the jobs of one trace; analyses query the store, which queries the engine."""

    name: str
    keeps_order: bool
    """Whether rows stay in the order in which a subquery sorts them, also for windows that state none."""

    def ask(self, sql: str, parameters: Parameters = None) -> QueryResult:
        """Return the result of a query in DuckDB's dialect."""

    def set_zone(self, name: str) -> None:
        """Let dates that queries make of moments be those of a time zone, not of the machine's."""

    def arrow(self, sql: str) -> "pa.Table":
        """Return the result of a query as an Arrow table."""

    def view(self, name: str, select: str) -> None:
        """Define or replace the view *name*."""

    def keep(self, name: str, select: str) -> None:
        """Run *select* and store its result as the table *name*."""

    def share(self, name: str) -> None:
        """Let queries read the table *name* that stands beside the jobs, in DuckDB."""

    def drop(self, name: str) -> None:
        """Drop a table that `keep` made."""
