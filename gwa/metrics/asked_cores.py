"""
How many cores a job asked for: fewer than the processors that it held where a core has several threads.

A system that gives out whole cores allocates two processors to a job that asks for one, where a core has two
threads. What a job wastes is judged against what could have been asked for.
"""

from typing import Final

from gwa.store.store import Store

THREADS: Final = (2, 4, 8)

MINIMUM_ROUNDED: Final = 20
MINIMUM_SIZES: Final = 2
"""Threads are certain where as many jobs, of as many requests, were rounded up to whole cores."""

ROUNDED: Final = """
select count(*) as jobs, count(*) filter (where n_procs <> req_n_procs) as rounded,
    count(distinct case when n_procs <> req_n_procs then req_n_procs end) as sizes, {whole}
from jobs where n_procs >= 1 and req_n_procs >= 1
"""


def threads_per_core(store: Store) -> int:
    """Return the threads of a core as the system states them, else as all jobs show them; 1 where unknown."""
    return store.system.threads_per_core or store.once("threads per core", lambda: _shown(store.whole)) or 1


def asked_cores(store: Store) -> str:
    """Return the SQL of the cores that a job asked for, at most those that it held; null where unknown."""
    asked = "least(n_procs, coalesce(nullif(req_n_procs, 0), n_procs))"
    return f"ceil(cast({asked} as double) / {float(threads_per_core(store))!r})"


def _shown(store: Store) -> int | None:
    """Return the threads to multiples of which all requests were rounded up, if one number only fits."""
    if not (store.has("n_procs") and store.has("req_n_procs")):
        return None
    whole = ", ".join(
        f"count(*) filter (where n_procs = {n} * ceil(req_n_procs / {n}.0)) as of_{n}" for n in THREADS
    )
    jobs, rounded, sizes, *counts = store.row(ROUNDED.format(whole=whole))
    fitting = [n for n, count in zip(THREADS, counts, strict=True) if count == jobs]
    is_certain = rounded >= MINIMUM_ROUNDED and sizes >= MINIMUM_SIZES and len(fitting) == 1
    return fitting[0] if is_certain else None
