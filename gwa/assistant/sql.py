"""
SQL that an assistant wrote: one query over the tables of a trace, in bounded time, rows and memory.

The query is parsed before it runs. It reads the tables of the trace and nothing else: no file, no setting,
no function that reads; and it changes nothing.
"""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from threading import Timer
from typing import Any, Final

import duckdb

from gwa.errors import DefinitionError, QueryError
from gwa.store.engines.duckdb import fetched
from gwa.store.engines.restricted import check_query, parser
from gwa.store.store import Store

TABLES: Final = ("jobs", "ran", "header", "sources", "rejects", "repairs", "dependencies", "source_ids")
"""What a query may read."""

MAXIMUM_ROWS: Final = 200
MAXIMUM_TEXT: Final = 2_000
MAXIMUM_SECONDS: Final = 20.0
MAXIMUM_QUERY: Final = 20_000
"""A longer query, in characters, is refused."""

REVEALING: Final = (
    "current_setting", "getvariable", "getenv", "pragma_", "duckdb_", "read_", "write_", "glob",
)  # fmt: skip
"""Prefixes of functions that reveal something about the machine, or write."""


def ask(store: Store, query: str, seconds: float = MAXIMUM_SECONDS) -> Mapping[str, Any]:
    """
    Return the columns and the first rows that a *query* yields, and whether there are more.

    Raise `QueryError` for anything but one query over `TABLES`, for one that fails, and for one that takes
    longer than *seconds*.
    """
    if len(query) > MAXIMUM_QUERY:
        raise QueryError(f"the query has {len(query):,} characters, expected at most {MAXIMUM_QUERY:,}")
    _check(query)
    store.localize()
    timer = Timer(seconds, store.connection.interrupt)
    try:
        timer.start()
        result = store.connection.execute(query)
        columns = result.description or []
        rows = fetched(result, MAXIMUM_ROWS + 1)
    except duckdb.InterruptException as error:
        raise QueryError(f"the query took longer than {seconds:g} s: ask for less") from error
    except duckdb.Error as error:
        raise QueryError(f"the query failed: {str(error).strip().splitlines()[0]}") from error
    finally:
        timer.cancel()
    return {
        "columns": [name for name, *_ in columns],
        "rows": [list(map(_value, row)) for row in rows[:MAXIMUM_ROWS]],
        "has_more_rows": len(rows) > MAXIMUM_ROWS,
    }


def _check(query: str) -> None:
    with parser() as checking:
        try:
            check_query(checking, query, TABLES)
        except DefinitionError as error:
            raise QueryError(str(error)) from error
        ((text,),) = checking.execute("select json_serialize_sql($sql)", {"sql": query}).fetchall()
    for name in _functions(json.loads(text)):
        if name.startswith(REVEALING):
            raise QueryError(f"the SQL uses {name}(), which reveals more than the trace")


def _functions(value: object) -> Sequence[str]:
    """Return the names of all functions in a parsed query."""
    left, found = [value], []
    while left:
        item = left.pop()
        if isinstance(item, dict):
            found += [str(item["function_name"]).lower()] if "function_name" in item else []
            left += item.values()
        elif isinstance(item, list):
            left += item
    return found


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
