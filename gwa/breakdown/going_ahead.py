"""
Whose jobs go ahead of earlier ones of others that ask for no more: starts against the order of arrival.

It is the social justice of Sabin and Sadayappan (2005), who measure how far jobs deviate from the order in
which they came. A small job that is started early on processors that stand idle (backfilling) is no
preference: a start counts only where an earlier like job could have been started in its place, and waited on.
Like jobs are of one partition, and of processors within a power of two and requested times within a factor of
two, so that who asks for much meets others in both directions; the earlier one asked for no more.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.breakdown.fairness import ALPHA, WEEK
from gwa.metrics.timeline import Floats, Ints
from gwa.metrics.waiting import PARTITION, waiters
from gwa.metrics.waiting_ceilings import CYCLE
from gwa.metrics.window import window
from gwa.statistics.fair_split import holm, mean_above
from gwa.store.store import Store

STARTS: Final = 10_000
"""As many starts are looked at, evenly spaced."""

MINIMUM_SHARE: Final = 2 / 3
"""The least share of being ahead, of being ahead and being passed, of who is said to go ahead."""

SAMPLED: Final = """
select * from (
    select *, row_number() over (order by started, job_id) as number
    from ({starters}) as starter where started >= {first} and started < {last} and user_id is not null
) as numbered where number % {stride} = 0
"""

LIKE: Final = "cast(floor(log2(asked)) as bigint)"
"""The SQL of the power of two of the processors asked for."""

PASSED: Final = f"""
select number, started, ahead, behind from (
    select starter.number, starter.started, starter.user_id as ahead, waiter.user_id as behind
    from (
        select *, {PARTITION} as part, {LIKE} as power from {{starts}} as chosen where asked > 0
    ) as starter join (
        select *, {PARTITION} as part, {LIKE} as power from ({{waiters}}) as every where asked > 0
    ) as waiter on waiter.part = starter.part and waiter.power = starter.power
        and waiter.eligible < starter.eligible and waiter.started > starter.started + {CYCLE!r}
    where waiter.asked <= starter.asked and waiter.gpus <= starter.gpus
        and waiter.req_time <= starter.req_time and 2 * waiter.req_time > starter.req_time
        and waiter.user_id <> starter.user_id
) as pairs group by number, started, ahead, behind order by number, behind
"""


@dataclass(frozen=True)
class Order:
    """
    How a user's jobs started against the order of arrival.

    Of the *starts* looked at, *ahead* went ahead of others; *passed* starts of others went ahead of the
    user, each divided among those whom it went ahead of. *chance* is how likely as much is in the weeks by
    chance, among all users.
    """

    name: str
    starts: int
    ahead: float
    passed: float
    chance: float

    @property
    def goes_ahead(self) -> bool:
        """Whether its jobs went ahead more than they were passed, by more than chance."""
        return self.chance <= ALPHA and self.ahead >= MINIMUM_SHARE * (self.ahead + self.passed)


def orders(store: Store) -> dict[str, Order] | None:
    """Return how the jobs of each user started; None where the log records no requested times or users."""
    whole, period = store.whole, window(store).period
    if period is None or not (whole.has("req_time") and whole.has("user_id")):
        return None
    starters = waiters(whole, ">=")
    (count,) = whole.row(
        f"select count(*) as n from ({starters}) as starter"
        f" where started >= {period[0]!r} and started < {period[1]!r} and user_id is not null"
    )
    sampled = SAMPLED.format(
        starters=starters, first=repr(period[0]), last=repr(period[1]), stride=max(1, -(-count // STARTS))
    )
    starts = whole.keep_once("starts", sampled)
    pairs = whole.arrays(PASSED.format(starts=starts, waiters=waiters(whole)))
    looked_at = dict(
        whole.rows(f"select user_id, count(*) as starts from {starts} as starter group by 1 order by 1")
    )
    return _orders(looked_at, pairs, period[0])


def _orders(looked_at: dict[str, int], pairs: dict[str, Any], first: float) -> dict[str, Order]:
    """Return the order of each user: *pairs* are starts, and users whom they went ahead of."""
    names = {name: place for place, name in enumerate(looked_at)}
    numbers, began, count = np.unique(pairs["number"], return_index=True, return_counts=True)
    weeks = ((np.asarray(pairs["started"], np.float64) - first) // WEEK).astype(np.int64)
    ahead, behind = (_places(names, pairs[name]) for name in ("ahead", "behind"))
    shape = (len(names) + 1, int(weeks.max(initial=0)) + 1)
    went, passed = np.zeros(shape), np.zeros(shape)
    np.add.at(went, (ahead[began], weeks[began]), 1.0)
    share = np.repeat(1.0 / count, count) if len(numbers) else np.zeros(0)
    np.add.at(passed, (behind, weeks), share)
    chances = holm([_chance(went[place], passed[place]) for place in names.values()])
    return {
        name: Order(name, starts, float(went[place].sum()), float(passed[place].sum()), chances[place])
        for place, (name, starts) in enumerate(looked_at.items())
    }


def _places(names: dict[str, int], values: NDArray[Any]) -> Ints:
    """Return the places of *values* in *names*; users of whom no start was looked at have the last."""
    return np.array([names.get(value, len(names)) for value in values.tolist()], np.int64)


def _chance(went: Floats, passed: Floats) -> float:
    """Return how likely a user goes ahead so much more often by chance, by the weeks with either."""
    used = (went > 0) | (passed > 0)
    return mean_above((went - passed)[used])
