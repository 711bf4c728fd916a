"""Splits of a trace for holdout validation: models are fitted to half of its weeks and scored on the rest."""
# ruff: noqa: S608 - queries are composed of names in our own schema

import math
from collections.abc import Sequence
from typing import Final

from gwa.errors import TraceError
from gwa.evaluation.job_arrays import PERIODS, JobArrays, choose_period, split_halves
from gwa.store.account import Account
from gwa.store.store import Store

HALVES: Final = {0: "even", 1: "odd"}
"""The weeks to fit to, by parity; the rest is scored on."""


def training_half(store: Store, parity: int) -> Store:
    """
    Copy the jobs that ran in the even (0) or odd (1) weeks to a new store, without the time between.

    All recorded fields are copied; the weeks are those of `gwa.evaluation.job_arrays.split_halves`. Raise
    `TraceError` if the trace is too short.
    """
    first, last = store.row("select min(submit_time), max(submit_time) from ran")
    length = None if first is None else choose_period(first, last)
    if length is None:
        raise TraceError(f"the trace is too short to hold half of it out, expected 4 times {PERIODS[-1]:g} s")
    first_week = math.floor(first / length)
    week = f"floor(submit_time / {float(length)!r})"
    fields = [name for name, known in store.known.items() if known]
    columns = ", ".join(
        f"submit_time - {float(length)!r} * ({week} - floor(({week} - {first_week}) / 2)) as submit_time"
        if name == "submit_time"
        else name
        for name in fields
    )
    where = f"submit_time is not null and ({week} - {first_week}) % 2 = {parity:d}"
    return copy_jobs(store, f"select {columns} from ran where {where}", fields)


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


def held_out_half(store: Store, parity: int) -> JobArrays:
    """Return the jobs to score models on that were fitted to the weeks of *parity*."""
    halves = split_halves(JobArrays.of(store))
    if halves is None:
        raise TraceError("the trace is too short to hold half of it out, or one half is empty")
    return halves[1 - parity]
