"""How many rows a log lacks: job numbers between its first and its last that are absent, and its own word."""

import re
from typing import Final

from gwa.metrics.job_numbers import JobNumbers
from gwa.metrics.presence import bounds
from gwa.store.store import Store

GIVEN: Final = """
select count(*) as jobs, cast(max(number) - min(number) + 1 as double) as given from {table} as numbers
"""

RAW: Final = """
select count(*) as jobs, cast(max(number) - min(number) + 1 as double) as given from (
    select distinct try_cast(coalesce(raw_id, source_id) as bigint) as number
    from source_ids left join raw_ids on source_ids.job_id = raw_ids.job_id
) as named where number is not null
"""
"""Each task of an array took a number of its own, beside the one that it shares with the others."""

REMOVED: Final = re.compile(r"\((\d{1,12}) jobs removed\)")
"""What the Parallel Workloads Archive says in the header of a log that it cleaned."""


def absent_share(store: Store) -> float | None:
    """
    Return which share of the jobs of a whole log is absent from it; None where that cannot be told.

    It is that of the job numbers between the first and the last, where numbers rise with time, and what the
    header says was removed, if that is more. A log of which gwa numbered the jobs lacks none that is known.
    """
    if store.has_all_generated:
        return 0.0
    if JobNumbers.are_lost(store):
        return None
    jobs = int(store.row("select count(*) as jobs from all_jobs")[0])
    removed = sum(int(number) for _, value in store.header for number in REMOVED.findall(value))
    of_note = removed / (jobs + removed) if removed else 0.0
    return max(of_note, _of_numbers(store))


def _of_numbers(store: Store) -> float:
    period = bounds(store)
    numbers = JobNumbers.of(store, period) if period else None
    if numbers is None:
        return 0.0
    shares = [store.row(GIVEN.format(table=numbers.table))]
    if store.row("select count(*) as n from raw_ids")[0]:
        shares.append(store.row(RAW))
    return min(1 - present / given if given else 0.0 for present, given in shares)
