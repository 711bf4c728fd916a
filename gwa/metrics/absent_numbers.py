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
    Return which share of the job numbers between the first and the last of a whole log is absent from it.

    None where the log has not the numbers of its source. Where numbers do not rise with time, as where gwa
    numbered the jobs of several files, none that is known is absent.
    """
    if store.has_all_generated:
        return 0.0
    if JobNumbers.are_lost(store):
        return None
    period = bounds(store)
    numbers = JobNumbers.of(store, period) if period else None
    if numbers is None:
        return 0.0
    shares = [store.row(GIVEN.format(table=numbers.table))]
    if store.row("select count(*) as n from raw_ids")[0]:
        shares.append(store.row(RAW))
    return min(1 - present / given if given else 0.0 for present, given in shares)


def removed_share(store: Store) -> float:
    """Return which share of the jobs of a whole log was removed from it, as its header says."""
    removed = sum(int(number) for _, value in store.header for number in REMOVED.findall(value))
    (jobs,) = store.row("select count(*) as jobs from all_jobs")
    return removed / (jobs + removed) if removed else 0.0
