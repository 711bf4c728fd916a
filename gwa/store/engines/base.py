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


class Answer(Protocol):
    """What a query yields, in the shape that is wanted."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return it as rows."""

    def fetchnumpy(self) -> "dict[str, NDArray[Any]]":
        """Return its columns; missing values are masked."""

    def df(self) -> "pd.DataFrame":
        """Return it as a pandas DataFrame."""


class Database(Protocol):
    """An engine with the jobs of one trace; `Store` asks it, and analyses ask the store."""

    name: str

    def ask(self, sql: str, parameters: Parameters = None) -> Answer:
        """Return the answer to a query in DuckDB's dialect."""

    def arrow(self, sql: str) -> "pa.Table":
        """Return the answer to a query as an Arrow table."""

    def view(self, name: str, select: str) -> None:
        """Let *name* stand for what *select* yields, in place of what it stood for."""

    def keep(self, name: str, select: str) -> None:
        """Run *select* now, and let *name* stand for what it yielded."""

    def drop(self, name: str) -> None:
        """Give up what `keep` made."""
