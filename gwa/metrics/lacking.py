"""What keeps a log from knowing the load beside its cuts: work of which no time is recorded, or no row."""

from typing import Final

from gwa.store.runs import UNLISTED_RUNS
from gwa.store.store import Store
from gwa.words.formatting import fraction
from gwa.words.message import Message, message

WORK: Final = f"""
select
    count(*) filter (where begun) as ran,
    count(*) filter (where begun and not placed) as unplaced,
    cast(coalesce(sum({UNLISTED_RUNS}), 0) as bigint) as restarts
from (
    select *,
        run_time > 0 or (run_time is null and status = 1) as begun,
        submit_time is not null and run_time is not null and n_procs is not null as placed
    from all_jobs
) as work
"""
"""
The jobs that *ran*, those of them without a time or a size, and runs before their last that are not listed.
"""

PARTS: Final = "gap in parts"
"""The name of the repair that counts parts of a table that are in no job."""

REPAIRS: Final = f"select coalesce(sum(case when name = '{PARTS}' then jobs end), 0) as parts from repairs"


def lacking(store: Store, noticeable: float) -> Message | str:
    """
    Return why more than a *noticeable* share of the work is in no level; nothing where it is less.

    Of some jobs a log tells that they ran, but not when, or on how many processors; of others, not what they
    held before they were started again. Rows that were refused are no jobs, nor are those of parts that were
    not given. What is missing beyond the borders of a log is the matter of `gwa.metrics.window`.
    """
    ran, unplaced, restarts = store.row(WORK)
    (parts,) = store.row(REPAIRS)
    rejected = store.account.rejected
    unknown = message("of {share} of the jobs that ran it does not say when, or on how many processors")
    repeated = message("{share} of all runs were earlier attempts of jobs, of which it says nothing")
    refused = message("{share} of its rows were refused")
    share, why = max(
        (_share(unplaced, ran), unknown),
        (_share(restarts, ran + restarts), repeated),
        (_share(rejected, ran + rejected), refused),
    )
    if share > noticeable:
        return message(why, share=fraction(share))
    return message("parts of it, amid the others, were not given") if parts else ""


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
