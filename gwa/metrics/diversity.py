"""The diversity of a trace: effective numbers of users, run times and sizes."""

import math
from collections.abc import Mapping
from typing import Final

from gwa.store.store import Store

KINDS: Final = {
    "users": ("user_id", "user_id"),
    "run times": ("run_time", "case when run_time > 0 then floor(log2(run_time)) else -1 end"),
    "sizes": ("n_procs", "n_procs"),
}
"""By name: a field, and the expression that is equal for jobs of one kind (run times by powers of 2)."""


def diversity(store: Store) -> Mapping[str, float]:
    """
    Return the effective number of kinds of jobs by each of `KINDS`: exp of the entropy of their shares.

    It is the number of equally frequent kinds that would be as diverse: M. O. Hill, Diversity and evenness,
    Ecology 54 (1973), of order 1.
    """
    numbers = {}
    for name, (field, kind) in KINDS.items():
        if store.has(field):
            query = (
                f"select count(*) as jobs from jobs where {field} is not null group by {kind} order by jobs"
            )
            counts = [int(count) for (count,) in store.rows(query)]
            numbers[name] = effective_number(counts)
    return numbers


def effective_number(counts: list[int]) -> float:
    """
    Return the number of equal shares that are as diverse as those of *counts*.

    >>> effective_number([5, 5, 5]), effective_number([7])
    (3.0, 1.0)
    """
    total = sum(counts)
    if not total:
        return 0.0
    return round(math.exp(-sum(count / total * math.log(count / total) for count in counts if count)), 9)
