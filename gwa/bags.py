"""
Bags of tasks: jobs that a user submits together, found by window functions in the engine.

Three definitions, because papers and their numbers differ; each gives a table of the jobs with the
number of the first job of their bag.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.store import Store


@dataclass(frozen=True)
class Definition:
    """
    When jobs belong to one bag.

    They agree in all of *key*, and each comes at most *gap* seconds after the one before it
    (*below*: strictly less). A bag lasts at most *span* seconds from its first submission. Where
    *contiguous*, no other job of the whole trace, of those that *where* selects, comes between.
    """

    name: str
    title: str
    source: str
    key: tuple[str, ...]
    gap: float
    below: bool = False
    span: float | None = None
    contiguous: bool = False
    where: str = "true"


TEXT: Final = Definition(
    name="text",
    title="same user, gaps below 120 s",
    source="S. D. Anoep, thesis, section 3.2, as its text says",
    key=("user_id",),
    gap=120.0,
    below=True,
)
THESIS: Final = Definition(
    name="thesis",
    title="same user and group, gaps of at most 120 s, a whole of at most 1200 s",
    source="S. D. Anoep, thesis, tables 4.9-4.18: what reproduces their numbers for LCG",
    key=("user_id", "group_id"),
    gap=120.0,
    span=1200.0,
)
MINH: Final = Definition(
    name="minh",
    title="alike in six attributes, next to each other in the trace, gaps of at most 100 s",
    source="T. N. Minh and L. Wolters 2010, section IV; completed jobs only",
    key=("user_id", "group_id", "queue_id", "executable_id", "req_time", "req_n_procs"),
    gap=100.0,
    contiguous=True,
    where="status = 1 and run_time >= 0 and n_procs > 0",
)
DEFINITIONS: Final = {one.name: one for one in (TEXT, THESIS, MINH)}


def bagged(store: Store, definition: Definition) -> str:
    """
    Return the name of a table of jobs with ``bag``, the number of the first job of their bag.

    Jobs without a submit time are in no bag. The table is made once and lives as long as the store is open.
    """
    table = f"bagged_{definition.name}_{definition.gap:.0f}"
    if not store.rows(f"select 1 from duckdb_tables() where table_name = '{table}'"):
        store.connection.execute(f"create temp table {table} as {_select(definition)}")
        if definition.span is not None:
            _cut(store, table, definition.span)
    return table


def _select(definition: Definition) -> str:
    """Return the query that gives every job its bag."""
    keys = ", ".join(definition.key)
    within = "" if definition.contiguous else f"partition by {keys} "
    close = "<" if definition.below else "<="
    alike = " and ".join(f"{name} is not distinct from lag({name}) over w" for name in definition.key)
    same = f"submit_time - lag(submit_time) over w {close} {definition.gap!r}"
    same += f" and {alike}" if definition.contiguous else ""
    return f"""
    with marked as (
        select job_id, submit_time, wait_time, run_time, n_procs, {keys},
        case when {same} then null else job_id end as begins
        from jobs where submit_time is not null and {definition.where}
        window w as ({within}order by submit_time, job_id)
    )
    select job_id, submit_time, wait_time, run_time, n_procs, {keys},
    last_value(begins ignore nulls) over (
        {within}order by submit_time, job_id rows between unbounded preceding and current row
    ) as bag
    from marked
    """


def _cut(store: Store, table: str, span: float) -> None:
    """
    Cut the bags of *table* that last longer than *span* seconds, from their first submission on.

    Each piece begins with the first submission that comes too late for the piece before it, which no
    window can express; the engine hands over the distinct times of the long bags only, in order.
    """
    starts = _starts(store, table, span)
    if not starts:
        return
    store.connection.execute("create temp table piece (bag bigint, submit_time double)")
    store.insert("piece", starts)
    store.connection.execute(
        f"""
        create temp table recut as
        with first as (
            select bag, submit_time, min(job_id) as job_id from {table} group by bag, submit_time
        ), begun as (
            select first.job_id from piece inner join first
            on piece.bag = first.bag and piece.submit_time = first.submit_time
        ), marked as (
            select t.job_id, t.bag, t.submit_time, begun.job_id as begins
            from {table} as t inner join (select distinct bag from piece) as long on t.bag = long.bag
            left join begun on t.job_id = begun.job_id
        )
        select job_id, last_value(begins ignore nulls) over (
            partition by bag order by submit_time, job_id rows between unbounded preceding and current row
        ) as piece from marked
        """
    )
    store.connection.execute(
        f"update {table} set bag = recut.piece from recut"
        f" where {table}.job_id = recut.job_id and recut.piece is not null"
    )
    store.connection.execute("drop table recut")
    store.connection.execute("drop table piece")


def _starts(store: Store, table: str, span: float) -> list[tuple[int, float]]:
    """Return where the second and later pieces of long bags begin."""
    found = store.arrays(
        f"""
        select distinct t.bag, t.submit_time from {table} as t inner join (
            select bag from {table} group by bag having max(submit_time) - min(submit_time) > {span!r}
        ) as long on t.bag = long.bag
        order by t.bag, t.submit_time
        """
    )
    bags, times = np.asarray(found["bag"], np.int64), np.asarray(found["submit_time"], np.float64)
    firsts = np.flatnonzero(np.diff(bags, prepend=-1)) if len(bags) else np.empty(0, np.int64)
    parts = np.split(times, firsts[1:])
    return [
        (int(bags[first]), start)
        for first, part in zip(firsts, parts, strict=False)
        for start in _pieces(part, span)
    ]


def _pieces(times: NDArray[np.float64], span: float) -> Iterator[float]:
    """Yield the first times of all pieces but the first: each the first beyond *span* of the last."""
    place = int(np.searchsorted(times, times[0] + span, side="right"))
    while place < len(times):
        yield float(times[place])
        place = int(np.searchsorted(times, times[place] + span, side="right"))
