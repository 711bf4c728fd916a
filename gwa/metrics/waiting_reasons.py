"""
The reasons of waiting that schedulers note, and which of them name a limit of an owner.

A reason is that of the moment at which the scheduler noted it, not of the whole wait. Slurm's accounting
keeps the last one that was neither Priority nor Resources, also of a job that has started since (sacct(1)).
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gwa.store.store import Store

LIMIT: Final = re.compile(
    r"(QOS|Assoc)(Grp|Max)\w+|QOS(Job|Resource|Time)Limit|Association(Job|Resource|Time)Limit"
    r"|Max\w+Per(Account|Job|User)\w*"
)
"""
Slurm's reasons that name a limit of a user, account, QoS or association (slurm.h).

Those of the job itself, such as JobArrayTaskLimit or PartitionTimeLimit, are of no owner.
"""

REASONS: Final = """
select pending_reason as reason, count(*) as jobs from ({waiters}) as waiter
where job_id in (select job_id from jobs) group by pending_reason order by jobs desc, reason
"""


@dataclass(frozen=True)
class Reason:
    """The last *reason* that was noted of a number of *jobs* that waited, their *share* of all that did."""

    reason: str
    jobs: int
    share: float
    is_limit: bool


def names_limit(reason: str) -> bool:
    """
    Whether a *reason* names a limit of an owner.

    >>> [names_limit(one) for one in ("QOSMaxJobsPerUserLimit", "AssocGrpCPULimit", "Dependency")]
    [True, True, False]
    """
    return LIMIT.fullmatch(reason) is not None


def reasons(store: Store, waiters: str) -> list[Reason]:
    """Return the reasons of the chosen jobs among the *waiters*, a query, the most frequent first."""
    if not store.has("pending_reason"):
        return []
    rows = store.rows(REASONS.format(waiters=waiters))
    total = sum(jobs for _, jobs in rows)
    return [Reason(name, jobs, jobs / total, names_limit(name)) for name, jobs in rows if name]


def limits(found: Iterable[str]) -> tuple[int, str]:
    """
    Return how many of the reasons *found* name a limit, and the most frequent of these.

    >>> limits(["AssocGrpCPULimit", "Dependency", "", "AssocGrpCPULimit", "QOSMaxJobsPerUserLimit"])
    (3, 'AssocGrpCPULimit')
    """
    named = {reason: number for reason, number in Counter(found).items() if names_limit(reason)}
    return sum(named.values()), max(sorted(named), key=lambda reason: named[reason], default="")
