"""Held out: models are fitted to half of the weeks of a trace, and scored on the other half."""
# ruff: noqa: S608 - queries are composed of names in our own schema

import math
from collections.abc import Sequence
from typing import Final

from gwa.errors import TraceError
from gwa.evaluation.job_arrays import PERIODS, JobArrays, halves, period
from gwa.store.account import Account
from gwa.store.store import Store

EVEN, ODD = 0, 1
HALVES: Final = {EVEN: "even", ODD: "odd"}
"""The weeks to fit to; the others are scored on."""


def training(store: Store, parity: int) -> Store:
    """
    Return a new store with the jobs of the even (0) or the odd (1) weeks that ran, put together.

    It has all that a trace records of them; the weeks are those of `gwa.evaluation.job_arrays.halves`. Raise
    `TraceError` for a trace that is too short for it.
    """
    first, last = store.row("select min(submit_time), max(submit_time) from ran")
    length = None if first is None else period(first, last)
    if length is None:
        raise TraceError(f"the trace is too short to hold half of it out, expected 4 times {PERIODS[-1]:g} s")
    begin = math.floor(first / length)
    place = f"floor(submit_time / {float(length)!r})"
    fields = [name for name, known in store.known.items() if known]
    columns = ", ".join(
        f"submit_time - {float(length)!r} * ({place} - floor(({place} - {begin}) / 2)) as submit_time"
        if name == "submit_time"
        else name
        for name in fields
    )
    where = f"submit_time is not null and ({place} - {begin}) % 2 = {parity:d}"
    return copied(store, f"select {columns} from ran where {where}", fields)


def copied(store: Store, query: str, fields: Sequence[str]) -> Store:
    """Return a new store with the jobs that *query* yields of *store*, of which these *fields* are known."""
    jobs = store.arrow(query)
    made = Store.create()
    made.begin(fields)
    made.connection.register("copied", jobs)
    made.connection.execute("insert into recorded by name select * from copied")
    made.connection.unregister("copied")
    made.set_header(store.header)
    made.set_account(Account(jobs.num_rows, jobs.num_rows, 0, 0, 0))
    return made


def held_out(store: Store, parity: int) -> JobArrays:
    """Return the jobs that a model is scored on which was fitted to the weeks of *parity*."""
    pair = halves(JobArrays.of(store))
    if pair is None:
        raise TraceError("the trace is too short to hold half of it out, or one half is empty")
    return pair[1 - parity]
