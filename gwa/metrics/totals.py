"""The size and the span of a whole trace, which several sections relate theirs to."""

from typing import Final, NamedTuple

from gwa.store.store import Store

TOTALS: Final = """
select jobs, ran, first, last, cpu_seconds from (
    select count(*) as jobs, min(submit_time) as first from jobs
) as submitted cross join (
    select count(*) as ran, max(end_time) as last, cast(sum(cpu_seconds) as double) as cpu_seconds from ran
) as consumed
"""


class Totals(NamedTuple):
    """
    How many *jobs* there are and how many *ran*, the *first* submission, the *last* end, and CPU seconds.

    Moments are None where none is known, and CPU seconds where no job ran.
    """

    jobs: int
    ran: int
    first: float | None
    last: float | None
    cpu_seconds: float | None


def totals(store: Store) -> Totals:
    """Return the totals of all jobs, which are added up once."""
    return store.once("totals", lambda: Totals(*store.row(TOTALS)))
