"""
Explain: what each section of the facts costs, as the engine counts it.

Rows are those that its queries read, those of tables made on the way included; memory is the most that the
engine held at a time for one of them; seconds are all that the section took, its computations in Python
included. What several sections need is made for the first of them.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, ParamSpec, TypeVar

from gwa.analysis.base import analyses
from gwa.store.store import Store

QUERIES: Final = ("rows", "arrays", "frame", "arrow", "keep")
"""The methods of a store that ask its engine."""

COLUMNS: Final = ("section", "queries", "rows read", "seconds", "memory MB", "engine")

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class Cost:
    """What was asked so far: *queries*, *rows* that they read, and the most *bytes* that one of them held."""

    queries: int = 0
    rows: int = 0
    bytes: int = 0


@contextmanager
def watched(store: Store) -> Iterator[Cost]:
    """Count what is asked of *store* meanwhile."""
    cost, depth = Cost(), [0]

    def counting(ask: Callable[P, T]) -> Callable[P, T]:
        def asked(*words: P.args, **options: P.kwargs) -> T:
            depth[0] += 1
            try:
                answer = ask(*words, **options)
            finally:
                depth[0] -= 1
            # One method asks by another: the innermost has counted.
            if not depth[0]:
                _add(cost, store)
            return answer

        return asked

    store.connection.execute("set enable_profiling = 'no_output'")
    for name in QUERIES:
        setattr(store, name, counting(getattr(store, name)))
    try:
        yield cost
    finally:
        for name in QUERIES:
            delattr(store, name)
        store.connection.execute("pragma disable_profiling")


def _add(cost: Cost, store: Store) -> None:
    """Add what the last query took."""
    said = json.loads(store.connection.get_profiling_information(format="json"))
    cost.queries += 1
    cost.rows += int(said.get("query", {}).get("total_rows_scanned", 0))
    cost.bytes = max(cost.bytes, int(said.get("system", {}).get("peak_buffer_memory", 0)))


def explained(store: Store, prefix: str = "") -> list[tuple[object, ...]]:
    """Return a row of `COLUMNS` for each section with facts whose ids begin with *prefix*."""
    found: list[tuple[object, ...]] = []
    for one in analyses():
        if one.tells(prefix):
            begin = time.perf_counter()
            with watched(store) as cost:
                one.section(store)
            seconds = round(time.perf_counter() - begin, 3)
            # What its workers read and hold, Spark tells nobody here.
            counted = (
                (None, None) if store.database.name == "spark" else (cost.rows, round(cost.bytes / 1e6, 1))
            )
            found.append((one.id, cost.queries, counted[0], seconds, counted[1], store.database.name))
    return found
