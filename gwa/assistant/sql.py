"""
SQL that an assistant wrote: a query over the tables of a trace, or a condition on its jobs.

It is parsed before it runs: it reads the tables of the trace and nothing else, by functions that are on a
list, and changes nothing. It runs in a process of its own, which the system limits: see
`gwa.store.confined`.
"""

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import duckdb

from gwa.errors import DefinitionError, QueryError
from gwa.store.confined import Confined
from gwa.store.engines.restricted import check_condition, check_query, parser
from gwa.store.subset import TABLES_OF_CONDITIONS

T = TypeVar("T")

TABLES: Final = ("jobs", "ran", "header", "sources", "rejects", "repairs", "dependencies", "source_ids")
"""What a query may read."""

MAXIMUM_ROWS: Final = 200
MAXIMUM_TEXT: Final = 2_000
MAXIMUM_SECONDS: Final = 20.0
MAXIMUM_QUERY: Final = 20_000
"""A longer query, in characters, is refused."""


def ask(confined: Confined, query: str, seconds: float = MAXIMUM_SECONDS) -> Mapping[str, Any]:
    """
    Return the columns and the first rows that a *query* yields, and whether there are more.

    Raise `QueryError` for anything but one query over `TABLES` by the functions that are allowed, for one
    that fails, and for one that takes longer than *seconds*, or more memory than the trace's engine has.
    """
    if len(query) > MAXIMUM_QUERY:
        raise QueryError(f"the query has {len(query):,} characters, expected at most {MAXIMUM_QUERY:,}")
    if not query.strip():
        raise QueryError("the query is empty, expected one such as select count(*) from jobs")
    _refuse(partial(check_query, sql=query, tables=TABLES))
    found = _first_line(partial(confined.rows, query, MAXIMUM_ROWS + 1, seconds))
    return {
        "columns": found.columns,
        "rows": [list(map(_value, row)) for row in found.rows[:MAXIMUM_ROWS]],
        "has_more_rows": len(found.rows) > MAXIMUM_ROWS,
    }


def chosen(confined: Confined, condition: str, seconds: float = MAXIMUM_SECONDS) -> Path:
    """
    Return a file with the numbers of the jobs that meet a *condition*; raise `QueryError` as `ask` does.

    It runs here once, within the limits; what is computed of these jobs then needs the condition no more.
    """
    if len(condition) > MAXIMUM_QUERY:
        raise QueryError(
            f"the condition has {len(condition):,} characters, expected at most {MAXIMUM_QUERY:,}"
        )
    example = f"'{condition}' is not a condition on jobs such as run_time > 3600: "
    _refuse(partial(check_condition, condition=condition, tables=TABLES_OF_CONDITIONS), example)
    return _first_line(partial(confined.jobs, condition, seconds), example)


def _refuse(check: Callable[[duckdb.DuckDBPyConnection], None], example: str = "") -> None:
    """Raise `QueryError` where a *check* refuses SQL."""
    with parser() as database:
        try:
            check(database)
        except DefinitionError as error:
            raise QueryError(f"{example}{error}") from error


def _first_line(run: Callable[[], T], example: str = "") -> T:
    """Return what *run* does; an error has one line, which is what an assistant needs."""
    try:
        return run()
    except QueryError as error:
        raise QueryError(f"{example}{str(error).splitlines()[0]}") from error


def _value(cell: object) -> object:
    """Return a cell as JSON holds it: moments as ISO texts, no text longer than `MAXIMUM_TEXT`."""
    if cell is None or isinstance(cell, bool | int):
        return cell
    if isinstance(cell, float | Decimal):
        return _number(cell)
    if isinstance(cell, datetime | date):
        return cell.isoformat()
    if isinstance(cell, list | tuple):
        return [_value(one) for one in cell[:MAXIMUM_ROWS]]
    if isinstance(cell, dict):
        return {str(key): _value(one) for key, one in cell.items()}
    return str(cell)[:MAXIMUM_TEXT]


def _number(exact: float | Decimal) -> int | float | str | None:
    """Return a decimal, as sums of whole numbers are, as a number; as text where no number is that exact."""
    if isinstance(exact, float):
        return exact if math.isfinite(exact) else None
    if exact == exact.to_integral_value():
        return int(exact)
    return float(exact) if Decimal(repr(float(exact))) == exact else str(exact)
