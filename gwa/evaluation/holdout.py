"""
Splits of a trace for holdout validation: models are fitted to half of its weeks and scored on the rest.

The halves are one after the other: of weeks in turns, every backlog would be cut at the end of its week.
"""
# ruff: noqa: S608 - queries are composed of names in our own schema

from collections.abc import Sequence
from typing import Final

import numpy as np

from gwa.errors import TraceError
from gwa.evaluation.job_arrays import PERIODS, JobArrays
from gwa.evaluation.queues.own_weeks import borders
from gwa.store.account import Account
from gwa.store.store import Store

HALVES: Final = ("first", "second")
"""The halves to fit to; the other one is scored on."""


def training_half(store: Store, half: str) -> Store:
    """
    Copy the jobs of a *half* of `HALVES` to a new store: those that ran at a known time.

    All recorded fields are copied. Raise `TraceError` if the trace is too short.
    """
    begin, end = _bounds(store, half)
    fields = [name for name, known in store.known.items() if known]
    where = f"submit_time >= {begin!r} and submit_time < {end!r}"
    return copy_jobs(store, f"select {', '.join(fields)} from ran where {where}", fields)


def held_out_half(store: Store, half: str) -> JobArrays:
    """
    Return the jobs to score models on that were fitted to a *half* of `HALVES`: those of the other one.

    Raise `TraceError` if the trace is too short, or nothing was submitted then.
    """
    begin, end = _bounds(store, HALVES[1 - HALVES.index(half)])
    whole = JobArrays.of(store)
    rows = np.flatnonzero((whole.submit >= begin) & (whole.submit < end))
    if not rows.size:
        raise TraceError("a half of the trace is empty, expected jobs in both to hold one of them out")
    return whole.take(rows, whole.submit[rows])


def _bounds(store: Store, half: str) -> tuple[float, float]:
    """Return where a half begins, and before when it ends: see `gwa.evaluation.queues.own_weeks.borders`."""
    first, last = store.row("select min(submit_time), max(submit_time) from ran")
    found = None if first is None else borders(float(first), float(last))
    if found is None:
        raise TraceError(f"the trace is too short to hold half of it out, expected 4 times {PERIODS[-1]:g} s")
    begin, middle, end = found
    return (begin, middle) if half == HALVES[0] else (middle, end)


def copy_jobs(store: Store, query: str, fields: Sequence[str]) -> Store:
    """Copy the jobs that *query* yields from *store*, with the recorded *fields*, to a new store."""
    jobs = store.arrow(query)
    copy = Store.create()
    copy.begin(fields)
    copy.connection.register("copied", jobs)
    copy.connection.execute("insert into recorded by name select * from copied")
    copy.connection.unregister("copied")
    copy.set_header(store.header)
    copy.set_account(Account(jobs.num_rows, jobs.num_rows, 0, 0, 0))
    return copy
