"""The days of each user: how many jobs they submit on a day, and when."""

from typing import Final

from gwa.store.store import Store
from gwa.util.units import DAY

USER_DAYS: Final = f"""
select user_id, floor(submit_time / {float(DAY)!r}) as day, count(*) as jobs,
    min(submit_time) as first, max(submit_time) as last
from jobs where submit_time is not null and user_id is not null
group by user_id, floor(submit_time / {float(DAY)!r})
"""


def user_days(store: Store) -> str:
    """
    Return the name of a table with a row for each user and day (UTC) with jobs: their number, first and last.

    It is made once for all sections that need it.
    """
    return store.keep("user_days", USER_DAYS)
