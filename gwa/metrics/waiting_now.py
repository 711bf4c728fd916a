"""What waits when a log ends: the jobs that it has as submitted, and not as started or ended."""

from dataclasses import dataclass
from typing import Final

from gwa.errors import TraceError
from gwa.metrics.presence import end_of_log
from gwa.store.store import Store

WAITING: Final = """
select coalesce(named.source_id, cast(jobs.job_id as varchar)) as name, {since} as since,
    coalesce(nullif(req_n_procs, 0), nullif(n_procs, 0), 1) as procs, req_time, {queue} as queue, user_id,
    pending_reason
from jobs left join (
    select job_id, min(source_id) as source_id from source_ids group by job_id
) as named on jobs.job_id = named.job_id
where state is not null and status is null and wait_time is null and run_time is null and {since} is not null
order by since, jobs.job_id
"""
"""Only the states of its source tell jobs that wait from jobs of which a log knows nothing more."""


@dataclass(frozen=True)
class WaitingNow:
    """
    A job that waits: its name, when it could have started, and what it asks for.

    The *tasks* of an array that wait are listed as one, None where the list of them was cut. *reason* is why
    it waits, as its source says at the moment of asking.
    """

    name: str
    submit: float
    procs: int
    requested: float | None = None
    queue: str | None = None
    user: str | None = None
    tasks: int | None = 1
    reason: str | None = None


def waiting_now(store: Store) -> tuple[float, list[WaitingNow]]:
    """
    Return when a log ends, and the jobs that wait then.

    Jobs that cannot start yet, since they depend on others or are on hold, are left out where the log says
    when jobs could start. Times are in seconds. Raise `TraceError` for a log without states of its source.
    """
    if not store.has("state"):
        raise TraceError(
            "the log does not say which jobs wait: it has no states of its source, expected one such as"
            " sacct's, or a file that lists what waits"
        )
    since = "greatest(submit_time, eligible_time)" if store.has("eligible_time") else "submit_time"
    if store.has("eligible_time"):
        since = f"case when eligible_time is not null then {since} end"
    queue = "queue_id" if store.has("queue_id") else "partition_id"
    rows = store.rows(WAITING.format(since=since, queue=queue))
    return end_of_log(store), [
        WaitingNow(str(name), float(submit), int(procs), requested, own_queue, user, reason=reason)
        for name, submit, procs, requested, own_queue, user, reason in rows
    ]
