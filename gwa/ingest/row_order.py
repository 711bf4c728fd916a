"""
The order of the rows that a SELECT yields, which the number of threads must not change.

With several threads DuckDB keeps the order of insertion through scans, filters and projections, but not
through a join, a group or a window that sorts. One thread answers a SELECT that has one of those on the way
of its rows; what is looked up beside them, as names in a map, does no harm.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import duckdb

SCANS: Final = frozenset({
    "SEQ_SCAN", "READ_CSV", "READ_PARQUET", "PYTHON_ARROW_SCAN", "POSITIONAL_SCAN", "DUMMY_SCAN",
    "EMPTY_RESULT",
})  # fmt: skip
"""The operators of a plan that rows come from."""

KEEPING: Final = frozenset({
    "PROJECTION", "FILTER", "LIMIT", "STREAMING_LIMIT", "UNNEST", "STREAMING_WINDOW", "UNION",
})  # fmt: skip
"""The operators that yield rows in the order in which they get them."""

SETTLING: Final = frozenset({"ORDER_BY", "UNGROUPED_AGGREGATE"})
"""The operators whose rows, or single row, come in one order whatever they get."""


def keeps_order(database: duckdb.DuckDBPyConnection, select: str) -> bool:
    """Whether the rows of *select* come in one order whatever the number of threads, as its plan says."""
    ((_, plan),) = database.execute(f"explain (format json) {select}").fetchall()
    return all(map(_keeps_order, json.loads(plan)))


def _keeps_order(operator: Mapping[str, Any]) -> bool:
    name, children = operator["name"].strip(), operator["children"]
    if name == "CROSS_PRODUCT":
        several = [child for child in children if not _is_single_row(child)]
        return len(several) <= 1 and all(map(_keeps_order, several))
    return name in SCANS | SETTLING or (name in KEEPING and all(map(_keeps_order, children)))


def _is_single_row(operator: Mapping[str, Any]) -> bool:
    name, children = operator["name"].strip(), operator["children"]
    return name == "UNGROUPED_AGGREGATE" or (
        name in {"PROJECTION", "FILTER", "CROSS_PRODUCT"} and all(map(_is_single_row, children))
    )


@contextmanager
def in_order(database: duckdb.DuckDBPyConnection, select: str) -> Iterator[None]:
    """Use a single thread in the meantime if *select* does not keep the order of its rows."""
    ((threads,),) = database.execute("select current_setting('threads')").fetchall()
    if threads == 1 or keeps_order(database, select):
        yield
        return
    database.execute("set threads = 1")
    try:
        yield
    finally:
        database.execute(f"set threads = {threads}")


def total_order(first: Sequence[str], columns: Sequence[str]) -> str:
    """
    Return what to sort jobs by that have *columns*: *first*, then all others, so that what ties is alike.

    Expressions in *first* begin with the name of a column.
    """
    named = {expression.split()[0] for expression in first}
    return ", ".join((*first, *(name for name in columns if name not in named)))
