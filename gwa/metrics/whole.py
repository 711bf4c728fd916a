"""
Exact sums: of whole numbers where what is added is whole, else of decimals, which cost three times as much.

A sum of doubles depends on the order of the rows; both of these are the same in any order, on any number of
threads and any engine.
"""

import re
from typing import Final

from gwa.metrics.timeline import exact
from gwa.store.store import SMALL_TRACE, Store

SECONDS: Final = ("wait_time", "run_time", "req_time", "average_cpu_time")
COUNTS: Final = ("n_procs", "req_n_procs", "n_nodes", "n_gpus", "idle_gpus")
"""Fields that are whole in most logs, and what sums are mostly made of."""

LARGEST: Final = 2**26
"""A product of two numbers below is exact as a double: two years of seconds, times as many processors."""

OTHERS: Final = frozenset(
    {"case", "when", "then", "else", "end", "and", "or", "not", "is", "null", "greatest", "least", "coalesce"}
    | {"outcome", "status", "bounds"}
)
"""What else may stand in the SQL of a whole number, besides fields that are whole."""

NAME: Final = re.compile(r"[a-z_]\w*")
TEXT: Final = re.compile(r"'[^']*'")


def whole_fields(store: Store) -> frozenset[str]:
    """Return those of the numbers that sums are made of which are whole in all jobs, and not too large."""
    return store.once("whole fields", lambda: _whole_fields(store))


def _whole_fields(store: Store) -> frozenset[str]:
    recorded = [name for name in (*SECONDS, *COUNTS) if store.has(name)]
    if not recorded or store.database.name != "duckdb":
        return frozenset()
    columns = ", ".join(
        f"bool_and({name} = floor({name}) and abs({name}) < {LARGEST}) as {name}" for name in recorded
    )
    answers = store.row(f"select {columns} from jobs")
    found = {name for name, is_whole in zip(recorded, answers, strict=True) if is_whole}
    return frozenset(found | ({"cpu_seconds"} if {"run_time", "n_procs"} <= found else set()))


def is_whole(store: Store, value: str) -> bool:
    """
    Whether the SQL *value* of a job is surely whole: sums and products of two of whole fields.

    It errs towards no: a log of few jobs is not looked at, nor is a value with a quotient, a number with a
    point, or a function.
    """
    if store.known["job_id"] <= SMALL_TRACE:
        return False
    sql = TEXT.sub("", value)
    has_others = any(mark in sql for mark in "/.%") or sql.count("*") > 1
    return not has_others and set(NAME.findall(sql)) - OTHERS <= whole_fields(store)


def exactly(store: Store, value: str) -> str:
    """Return the SQL of a *value* of a job as a number whose sums are exact: a whole one or a decimal."""
    return f"cast({value} as bigint)" if is_whole(store, value) else exact(value)
