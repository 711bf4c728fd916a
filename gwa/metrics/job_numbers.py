"""What job numbers tell of rows that are missing: numbers that were given, and are not in the log."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gwa.store.store import Period, Store
from gwa.store.system import GIVEN_NUMBERS, NUMBERS_KEY

OF_SOURCE: Final = """
select number, min(submit_time) as moment from (
    select try_cast(regexp_extract(source_id, '^[0-9]+') as bigint) as number, submit_time
    from source_ids inner join all_jobs on source_ids.job_id = all_jobs.job_id
) as named where number is not null and submit_time is not null group by number
"""
"""The source's own numbers; the tasks of an array share one."""

OF_ARCHIVE: Final = """
select job_id as number, min(submit_time) as moment from all_jobs
where job_id is not null and submit_time is not null group by job_id
"""

STEPS: Final = """
select count(*) as jobs, count(*) filter (where step > 0) as rising,
    cast(sum(greatest(step, 0)) as double) as climb, min(moment) as first, max(moment) as last
from (
    select moment, number - lag(number) over (order by moment, number) as step from {table} as numbers
    where moment >= {first!r} and moment < {last!r}
) as steps
"""

BESIDE: Final = """
select number from {table} as numbers
where moment {side} {moment!r} and moment >= {first!r} and moment < {last!r}
order by moment {direction}, number {direction} limit 4
"""

MINIMUM_RISING: Final = 0.95
"""The minimum share of jobs whose number is larger than that of the job before."""

MINIMUM_JOBS: Final = 100
"""Fewer numbers show no usual pace."""

MINIMUM_SHARE: Final = 0.3
MINIMUM_PASSED: Final = 20
"""Rows are missing where this share of the usual numbers, and more than this many, were passed over."""


@dataclass(frozen=True)
class Passed:
    """
    How many job numbers were *passed* over in a stretch of time, and how many are *usual* in such a time.

    *are_complete* says whether the numbers are the source's own, so that none passed over means that nothing
    was submitted. An archive may have numbered the rows that it had.
    """

    passed: int
    usual: float
    are_complete: bool

    @property
    def shows_missing_rows(self) -> bool:
        """Whether rows are missing."""
        return self.passed >= MINIMUM_SHARE * self.usual and self.passed > MINIMUM_PASSED

    @property
    def shows_no_missing_rows(self) -> bool:
        """Whether nothing was submitted: usually far more of the source's own numbers would be passed."""
        return self.are_complete and MINIMUM_SHARE * self.usual > max(self.passed, MINIMUM_PASSED)


@dataclass(frozen=True)
class JobNumbers:
    """The *table* of job numbers of a log and when they were given, between two moments (*period*)."""

    store: Store
    table: str
    period: Period
    are_complete: bool
    climb: float
    seconds: float

    @staticmethod
    def are_lost(store: Store) -> bool:
        """Whether the source had numbers that a file in between did not hold: what it gave tells nothing."""
        return (NUMBERS_KEY, GIVEN_NUMBERS) in store.header and not _has_numbers_of_source(store)

    @classmethod
    def of(cls, store: Store, period: Period) -> "JobNumbers | None":
        """
        Return the numbers of the jobs submitted in *period*; None where they do not rise with time.

        They are those of the source, where it has its own (Slurm, PBS, Grid Engine), else the job numbers of
        the log.
        """
        are_complete = _has_numbers_of_source(store)
        table = store.keep("job_numbers", OF_SOURCE if are_complete else OF_ARCHIVE)
        jobs, rising, climb, first, last = store.row(
            STEPS.format(table=table, first=float(period[0]), last=float(period[1]))
        )
        if jobs < MINIMUM_JOBS or rising < MINIMUM_RISING * (jobs - 1):
            return None
        return cls(store, table, period, are_complete, climb, last - first)

    def passed(self, begin: float, end: float) -> Passed:
        """
        Return what was passed over between two submissions.

        Numbers of the third job before and the third one after are compared, as neighbours may stand in
        another order; what is usual is the pace of all the others.
        """
        before = self._beside("<=", begin, "desc")[::-1]
        after = self._beside(">=", end, "asc")
        beside = [*before, *after]
        near = sum(max(later - earlier, 0) for earlier, later in pairwise(beside))
        inner = [*before[-3:], *after[:3]]
        usual = (self.climb - near) * (end - begin) / max(self.seconds - (end - begin), 1.0)
        return Passed(inner[-1] - inner[0] - (len(inner) - 1), usual, self.are_complete)

    def _beside(self, side: str, moment: float, direction: str) -> list[int]:
        first, last = map(float, self.period)
        query = BESIDE.format(
            table=self.table, side=side, moment=float(moment), direction=direction, first=first, last=last
        )
        return [number for (number,) in self.store.rows(query)]


def _has_numbers_of_source(store: Store) -> bool:
    return bool(store.row("select count(*) as n from source_ids")[0])
