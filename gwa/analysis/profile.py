"""
The cost of each section of the facts, as the engine counts it: `gwa facts --explain`.

Rows are those that its queries read, those of temporary tables included; memory is the peak of the engine
during one of its queries; seconds are those of the whole section, its computations in Python included. A
table that several sections need counts for the first of them.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, ParamSpec, TypeVar

from gwa.analysis.base import analyses
from gwa.store.store import Store

QUERY_METHODS: Final = ("rows", "arrays", "frame", "arrow", "keep")
"""The methods of a store that query its engine."""

COLUMNS: Final = ("section", "queries", "rows read", "seconds", "memory MB", "engine")

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class QueryCost:
    """The cost so far: *queries*, the *rows* that they read, the peak memory of one of them in *bytes*."""

    queries: int = 0
    rows: int = 0
    bytes: int = 0


@contextmanager
def counted_queries(store: Store) -> Iterator[QueryCost]:
    """Count the queries to *store* within the context."""
    cost, depth = QueryCost(), [0]

    def counted(method: Callable[P, T]) -> Callable[P, T]:
        def counted_method(*args: P.args, **kwargs: P.kwargs) -> T:
            depth[0] += 1
            try:
                answer = method(*args, **kwargs)
            finally:
                depth[0] -= 1
            # One method calls another: only the outermost counts.
            if not depth[0]:
                _add_last_query(cost, store)
            return answer

        return counted_method

    store.connection.execute("set enable_profiling = 'no_output'")
    for name in QUERY_METHODS:
        setattr(store, name, counted(getattr(store, name)))
    try:
        yield cost
    finally:
        for name in QUERY_METHODS:
            delattr(store, name)
        store.connection.execute("pragma disable_profiling")


def _add_last_query(cost: QueryCost, store: Store) -> None:
    """Add the cost of the last query."""
    profile = json.loads(store.connection.get_profiling_information(format="json"))
    cost.queries += 1
    cost.rows += int(profile.get("query", {}).get("total_rows_scanned", 0))
    cost.bytes = max(cost.bytes, int(profile.get("system", {}).get("peak_buffer_memory", 0)))


def section_costs(store: Store, prefix: str = "", *, every: bool = False) -> list[tuple[object, ...]]:
    """Return a row of `COLUMNS` for each section that `gwa.analysis.build.facts` computes."""
    rows: list[tuple[object, ...]] = []
    for analysis in analyses():
        if analysis.has_facts(prefix, every=every):
            started = time.perf_counter()
            with counted_queries(store) as cost:
                analysis.section(store)
            seconds = round(time.perf_counter() - started, 3)
            engine = store.database.name
            # Spark does not report what its workers read and hold.
            read, memory = (None, None) if engine == "spark" else (cost.rows, round(cost.bytes / 1e6, 1))
            rows.append((analysis.id, cost.queries, read, seconds, memory, engine))
    return rows
