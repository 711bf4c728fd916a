"""
Waits by core-hour: how long those jobs waited that the machine worked for.

Most jobs are short and narrow; most core-hours are in others. The quantile of a wait by core-hour is the
least wait such that jobs which waited no longer hold that share of all core-hours.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.outcomes import core_seconds
from gwa.metrics.timeline import exact_sum
from gwa.metrics.waits import queued
from gwa.store.store import Store

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

QUANTILES: Final = """
select
    min(case when seconds > 0 and 2 * seconds_upto >= seconds then wait end) as median,
    min(case when seconds > 0 and 20 * seconds_upto >= 19 * seconds then wait end) as p95,
    min(case when 2 * jobs_upto >= jobs then wait end) as jobs_median,
    min(case when 20 * jobs_upto >= 19 * jobs then wait end) as jobs_p95
from (
    select wait, sum(core_seconds) over (order by wait) as seconds_upto, sum(core_seconds) over () as seconds,
        sum(n) over (order by wait) as jobs_upto, sum(n) over () as jobs
    from (
        select wait_time as wait, sum(core_seconds) as core_seconds, count(*) as n
        from {held} where wait_time >= 0 group by wait_time
    ) as counted
) as cumulated
"""
"""Exact: sums of decimals, and comparisons without a quotient."""

AMOUNTS: Final = """
select {total} as total, {known} as known,
    cast(max(case when wait_time >= 0 then core_seconds end) as double) as largest
from {held}
"""

SQUARES: Final = "select {squares} as squares from {held} where wait_time >= 0"

BY_USER: Final = """
select user_id, bin, {total} as seconds, min(wait_time) as low, max(wait_time) as high
from (select user_id, wait_time, core_seconds, cast(floor(ln(wait_time + 1.0) * 16) as bigint) as bin
    from {held}
    where wait_time >= 0 and core_seconds > 0 and user_id is not null) as binned
group by user_id, bin order by user_id, bin
"""
"""The core-hours of each user in classes of waits that are 6 % wide."""

SQUARE_SCALE: Final = 1e18
"""Squares of shares are summed as decimals of six digits, so that the order of rows does not matter."""

DRAWS: Final = 400
"""Draws of the users. The ends of the range vary by a few percent of its width from seed to seed."""

MINIMUM_EFFECTIVE_JOBS: Final = 30
MAXIMUM_JOB_SHARE: Final = 0.05
MAXIMUM_USER_SHARE: Final = 0.5
"""Beyond these, a few jobs or one user decide what the quantile is: they are named in place of a range."""

RANGE: Final = (0.05, 0.95)


@dataclass(frozen=True)
class WeightHolder:
    """What a quantile by core-hour hangs on: one *job* or one *user* with a *share*, or the *few* largest."""

    kind: Literal["job", "user", "few"]
    id: str
    share: float


@dataclass(frozen=True)
class WeightedWaits:
    """
    Waits in seconds by core-hour, and by job, of the jobs that ran and whose wait is known.

    *known_share* is their share of all core-hours. *effective_jobs* is how many equal jobs would vary as much
    in sum: (Σc)²/Σc². *ranges* are the 90 % ranges of median and 95th percentile over a bootstrap of users,
    None where users are not recorded or where a *holder* decides.
    """

    median: float | None
    p95: float | None
    jobs_median: float | None
    jobs_p95: float | None
    known_share: float | None
    effective_jobs: float | None
    largest_job: float | None
    largest_user: tuple[str, float] | None
    holder: WeightHolder | None
    ranges: tuple[tuple[float, float], tuple[float, float]] | None


def weighted_waits(store: Store) -> WeightedWaits:
    """
    Return the waits of the jobs that ran by core-hour, exactly, and by job, from when they could start.

    Of jobs that had not ended when the log did, the core-hours are those until then. The quantile q is the
    least wait x with Σ c[wait <= x] >= q Σ c.
    """
    seconds = core_seconds(store)
    held = (
        f"(select * from (select user_id, {queued(store)} as wait_time, {seconds} as core_seconds from jobs)"
        " as weighed"
        " where core_seconds is not null) as held"
    )
    median, p95, jobs_median, jobs_p95 = store.row(QUANTILES.format(held=held))
    quantiles = (median, p95, jobs_median, jobs_p95)
    amount = exact_sum("case when wait_time >= 0 then core_seconds end")
    total, known, largest = store.row(
        AMOUNTS.format(total=exact_sum("core_seconds"), known=amount, held=held)
    )
    if not known:
        return WeightedWaits(*quantiles, 0.0 if total else None, None, None, None, None, None)
    share = f"cast(core_seconds as double) / {known!r}"
    (squares,) = store.row(
        SQUARES.format(squares=exact_sum(f"{share} * {share} * {SQUARE_SCALE!r}"), held=held)
    )
    effective = SQUARE_SCALE / squares
    users = _Users.of(store, held)
    user = users.largest(known) if users else None
    holder = _holder(effective, largest / known, user)
    ranges = users.ranges() if users and not holder else None
    return WeightedWaits(*quantiles, known / total, effective, largest / known, user, holder, ranges)


def _holder(effective_jobs: float, job: float, user: tuple[str, float] | None) -> WeightHolder | None:
    """Return what the quantiles hang on, None where it is many jobs of several users."""
    if user and user[1] > MAXIMUM_USER_SHARE:
        return WeightHolder("user", *user)
    if job > MAXIMUM_JOB_SHARE:
        return WeightHolder("job", "", job)
    return WeightHolder("few", "", 1 / effective_jobs) if effective_jobs < MINIMUM_EFFECTIVE_JOBS else None


@dataclass(frozen=True)
class _Users:
    """
    The core-*seconds* of each user by class of waits; the waits in a class are from *low* to *high*.

    Each belongs to the *user* at that place of *names*, and to the class at that *place*.
    """

    names: list[str]
    user: Ints
    place: Ints
    seconds: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, store: Store, held: str) -> "_Users | None":
        """Return those of the jobs *held*; None where no user is recorded."""
        columns = store.arrays(BY_USER.format(total=exact_sum("core_seconds"), held=held))
        if not len(columns["bin"]):
            return None
        names, user = np.unique(np.asarray(columns["user_id"], str), return_inverse=True)
        bins, place = np.unique(np.asarray(columns["bin"]), return_inverse=True)
        low, high = np.full(len(bins), np.inf), np.zeros(len(bins))
        np.minimum.at(low, place, np.asarray(columns["low"], float))
        np.maximum.at(high, place, np.asarray(columns["high"], float))
        return cls(names.tolist(), user, place, np.asarray(columns["seconds"], float), low, high)

    def largest(self, total: float) -> tuple[str, float]:
        """Return the user with most of the *total* core-seconds, and the share."""
        sums = np.bincount(self.user, self.seconds)
        first = int(np.argmax(sums))
        return self.names[first], float(sums[first]) / total

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """
        Return the 90 % ranges of the median and the 95th percentile over a bootstrap of the users.

        All jobs of a user are drawn together, for they depend on each other (Efron & Tibshirani 1993, section
        8.6). The ends are those of the classes of waits, the lower one of its class and the upper one.
        """
        many = len(self.names)
        if many < 2:  # noqa: PLR2004 - a single user is drawn always
            return None
        # By what they held and how long they waited, not by name: pseudonyms must change nothing.
        waited = np.bincount(self.user, self.seconds * self.place)
        rank = np.argsort(np.lexsort((waited, np.bincount(self.user, self.seconds))))[self.user]
        rng = np.random.default_rng(38)
        drawn = (np.bincount(rng.integers(many, size=many), minlength=many) for _ in range(DRAWS))
        amounts = [np.bincount(self.place, self.seconds * times[rank]) for times in drawn]
        cumulated = np.cumsum(amounts, axis=1, dtype=np.float64)
        median, p95 = (self._range(cumulated, share) for share in (0.5, 0.95))
        return median, p95

    def _range(self, cumulated: Floats, share: float) -> tuple[float, float]:
        """Return the range of a quantile over the *cumulated* core-seconds of all draws."""
        places = np.sort(np.argmax(cumulated >= share * cumulated[:, -1:], axis=1))
        low, high = (places[round(end * (len(places) - 1))] for end in RANGE)
        return float(self.low[low]), float(self.high[high])
