"""Who waited longest: jobs that waited longer than 99 % of like jobs, by user."""

from dataclasses import dataclass
from typing import Final

from gwa.breakdown.dimensions import by_name
from gwa.store.store import Store

BEYOND: Final = 0.99
"""A wait is long that is above this quantile of those of like jobs."""

MINIMUM_LIKE: Final = 200
"""Of fewer like jobs it is not said which waited longest: two of them are to be beyond the quantile."""

STARVED: Final = f"""
with like_jobs as (
    select job_id, user_id, wait_time, coalesce(queue_id, '') as queue, {{size}} as size,
        {{request}} as request
    from all_jobs where wait_time >= 0 and n_procs >= 1 and user_id is not null
), ranked as (
    select *, row_number() over (partition by queue, size, request order by wait_time, job_id) as place,
        count(*) over (partition by queue, size, request) as jobs from like_jobs
), bounded as (
    select *, max(case when place <= {BEYOND!r} * jobs then wait_time end)
        over (partition by queue, size, request) as bound
    from ranked where jobs >= {MINIMUM_LIKE}
)
select user_id, count(*) as jobs, count(*) filter (where wait_time > bound) as starved
from bounded where job_id in (select job_id from ({{chosen}}) as chosen)
group by user_id order by starved desc, user_id
"""


@dataclass(frozen=True)
class Starved:
    """How many *jobs* of a user have enough like ones, and how many of these waited longer than 99 %."""

    name: str
    jobs: int
    starved: int


def starvation(store: Store) -> list[Starved]:
    """
    Return the users whose jobs can be compared, those with most long waits first.

    Like jobs are those of one queue, class of processors and class of requested times, in the whole log.
    """
    whole, views = store.whole, dict(store.views())
    size, request = (
        classes.key if (classes := by_name(name).of(whole)) else "0" for name in ("sizes", "requests")
    )
    rows = whole.rows(
        STARVED.format(size=size, request=request, chosen=views.get("jobs", "select job_id from jobs"))
    )
    return [Starved(str(name), jobs, starved) for name, jobs, starved in rows]
