"""
On which nodes failing begins more often than chance would have it.

A job that fails frees its node, and the next job of the same broken script gets that node: failures gather
on nodes that are sound. So a failure counts where it begins: a *trial* is a job on one node whose
predecessor, of the same user, application and partition, completed and began at most twelve hours before, and
beside which other jobs began on other nodes, most of which did not fail. A node's day ends with its first
such failure.

Trials are compared within a stratum: the same user, application, partition and time since the predecessor.
Under chance the failures of a node in a stratum are a draw from those of the stratum; the sums over strata
are exact. Jobs that ran out of memory, reached a limit or were cancelled say nothing, nor do jobs on several
nodes.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use

from gwa.metrics.outcomes import outcome
from gwa.statistics.hypergeometric import Draw, upper_tail
from gwa.store.engines.duckdb import literal
from gwa.store.hosts import on_nodes
from gwa.store.schema import SITE
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, MINUTE

LONGEST_GAP: Final = 12.0 * HOUR
"""A predecessor that began earlier says nothing of the job."""

CLASSES: Final = (2.0 * MINUTE, 30.0 * MINUTE)
"""Jobs that follow each other within these times fail, and get nodes, in other ways than later ones."""

NEAR: Final = 30.0 * MINUTE
"""The half hours of, before and after a start are the time beside it."""

MINIMUM_BESIDE: Final = 3
MAXIMUM_FAILED_BESIDE: Final = 0.5
"""As many jobs must begin on other nodes beside a trial, and no larger share of them fail."""

MINIMUM_FAILURES: Final = 5
MINIMUM_RATIO: Final = 2.0
MINIMUM_DAYS: Final = 3
MINIMUM_USERS: Final = 2
MAXIMUM_OF_ONE_USER: Final = 0.8
"""A node is named for five failures at least, twice those expected, on three days, of two users, of which
none has more than four in five."""

ALPHA: Final = 0.01
"""The greatest probability under chance, times the number of nodes."""

MORE: Final = 0.3
"""How much more often than others a node must fail that would have been seen."""

NINE_IN_TEN: Final = 1.2816
"""Standard deviations below the mean that nine in ten values exceed."""

RUNS: Final = f"""
select job_id, user_id as who, coalesce(executable_id, '') as what,
    concat(coalesce({SITE}, ''), ' ', coalesce(partition_id, ''), ' ', coalesce(queue_id, '')) as part,
    host, start_time as since,
    case when outcome = 'failed' then 1 else 0 end as failed
from (
    select *, {{outcome}} as outcome from {{placed}} as placed
    where share > 0.999999 and user_id is not null and submit_time is not null
) as told
where outcome in ('completed', 'failed') and coalesce(upper(state), '') not like 'OUT_OF_ME%'
"""

TRIALS: Final = f"""
with run as ({{runs}}), followed as (
    select *, lag(failed) over w as failed_before, since - lag(since) over w as gap,
        cast(floor(since / {NEAR!r}) as bigint) as half, cast(floor(since / {float(DAY)!r}) as bigint) as day
    from run window w as (partition by who, what, part order by since, job_id)
), begun as (
    select host, part, half, count(*) as jobs, sum(failed) as failures from followed group by host, part, half
), near as (
    select host, part, half + moved as half, sum(jobs) as jobs, sum(failures) as failures
    from begun cross join (select -1 as moved union all select 0 union all select 1) as beside
    group by host, part, half + moved
), everywhere as (
    select part, half, sum(jobs) as jobs, sum(failures) as failures from near group by part, half
), trial as (
    select followed.*,
        case when gap <= {CLASSES[0]!r} then 0 when gap <= {CLASSES[1]!r} then 1 else 2 end as gap_class
    from followed
    inner join near on followed.host = near.host and followed.part = near.part and followed.half = near.half
    inner join everywhere on followed.part = everywhere.part and followed.half = everywhere.half
    where failed_before = 0 and gap <= {LONGEST_GAP!r}
        and everywhere.jobs - near.jobs >= {MINIMUM_BESIDE}
        and everywhere.failures - near.failures
            <= {MAXIMUM_FAILED_BESIDE!r} * (everywhere.jobs - near.jobs)
)
select who, what, part, gap_class, host, day, failed from (
    select *, sum(failed) over (partition by host, day order by since, job_id) - failed as failed_earlier
    from trial
) as days where failed_earlier = 0
"""

STRATA: Final = """
select *, sum(trials) over s as all_trials, sum(failures) over s as all_failures, count(*) over s as hosts
from (
    select who, what, part, gap_class, host, count(*) as trials, sum(failed) as failures
    from {trials} as trial group by who, what, part, gap_class, host
) as cells
window s as (partition by who, what, part, gap_class)
"""
"""The trials and failures of each host in each stratum, beside those of the stratum."""

TOLD: Final = "all_failures > 0 and all_failures < all_trials and hosts > 1"
"""The strata that can tell nodes apart."""

EACH: Final = f"""
select host, sum(trials) as trials, cast(sum(failures) as bigint) as failures,
    sum(trials * all_failures / cast(all_trials as double)) as expected
from {{strata}} as strata where {TOLD} group by host order by host
"""

DAYS: Final = f"""
select host, trials, count(*) as days, sum(case when failures > 0 then 1 else 0 end) as failing
from (
    select host, day, count(*) as trials, sum(failed) as failures
    from {{trials}} as trial
    inner join (select distinct who, what, part, gap_class from {{strata}} as strata where {TOLD}) as told
        using (who, what, part, gap_class)
    group by host, day
) as days group by host, trials order by host, trials
"""
"""How many days each host had with a number of trials, and on how many of these one failed."""

USERS: Final = f"""
select host, count(*) as users, max(trials) as most_trials,
    sum(case when failures > 0 then 1 else 0 end) as failing_users, max(failures) as most_failures
from (
    select host, who, sum(trials) as trials, sum(failures) as failures
    from {{strata}} as strata where {TOLD} group by host, who
) as users group by host
"""


@dataclass(frozen=True)
class Tried:
    """
    What the trials of the node called *name* say: how many failed, and how many would have by chance.

    *users* and *days* are those of its failures. It *is_named* where they are too many for chance; it
    *would_be_seen* where, if three in ten of its trials failed more, nine in ten such logs would name it.
    """

    name: str
    trials: int
    failures: int
    expected: float
    users: int
    days: int
    probability: float | None
    is_named: bool
    would_be_seen: bool


def tried_nodes(store: Store) -> list[Tried]:
    """Return what is told of each node that had trials in strata that can tell nodes apart, by name."""
    trials = store.keep(
        "trials_of_nodes",
        TRIALS.format(runs=RUNS.format(outcome=outcome(store), placed=on_nodes(store, "ran"))),
    )
    strata = store.keep("strata_of_nodes", STRATA.format(trials=trials))
    each = store.rows(EACH.format(strata=strata))
    days = defaultdict[str, list[_Days]](list)
    for host, *of_a_number in store.rows(DAYS.format(trials=trials, strata=strata)):
        days[host].append(_Days(*of_a_number))
    users = {host: _Users(*counts) for host, *counts in store.rows(USERS.format(strata=strata))}
    draws = _draws(
        store, strata, [host for host, _, failed, expected in each if _is_candidate(failed, expected)]
    )
    return [
        _tried(
            _Counts(host, int(tried), failures, expected), days[host], users[host], draws.get(host), len(each)
        )
        for host, tried, failures, expected in each
    ]


class _Counts(NamedTuple):
    """The trials and failures of a host, and the failures expected."""

    name: str
    trials: int
    failures: int
    expected: float


class _Days(NamedTuple):
    """How many *days* a host had with so many *trials*, and how many of these had a failure."""

    trials: int
    days: int
    failing: int


class _Users(NamedTuple):
    """How many users had trials and failures on a host, and the most that one of them had."""

    users: int
    most_trials: int
    failing: int
    most_failures: int


def _tried(
    counts: _Counts, days: Sequence[_Days], users: _Users, draws: list[Draw] | None, hosts: int
) -> Tried:
    """Return what is told of one of several *hosts*, of which *draws* are given if it may be named."""
    failing = int(sum(of.failing for of in days))
    probability = min(upper_tail(draws, counts.failures) * hosts, 1.0) if draws else None
    is_named = (
        probability is not None
        and probability <= ALPHA
        and failing >= MINIMUM_DAYS
        and users.failing >= MINIMUM_USERS
        and users.most_failures < MAXIMUM_OF_ONE_USER * counts.failures
    )
    would_be_seen = (
        _would_be_seen(counts, days, hosts)
        and users.users >= 2 * MINIMUM_USERS
        and users.most_trials < MAXIMUM_OF_ONE_USER * counts.trials
    )
    return Tried(*counts, int(users.failing), failing, probability, is_named, would_be_seen)


def _is_candidate(failures: int, expected: float) -> bool:
    return failures >= MINIMUM_FAILURES and failures >= MINIMUM_RATIO * expected


def _draws(store: Store, strata: str, hosts: list[str]) -> dict[str, list[Draw]]:
    """Return the draws of each of *hosts*: those that may be named, which are few."""
    draws: dict[str, list[Draw]] = defaultdict(list)
    if hosts:
        listed = ", ".join(literal(host) for host in hosts)
        rows = store.rows(
            "select host, cast(trials as bigint), cast(all_failures as bigint), cast(all_trials as bigint)"
            f" from {strata} as strata where {TOLD} and host in ({listed}) order by all"
        )
        for host, *draw in rows:
            draws[host].append(Draw(*draw))
    return draws


def _would_be_seen(counts: _Counts, days: Sequence[_Days], hosts: int) -> bool:
    """
    Whether, if `MORE` of the trials of a host failed, nine in ten such logs would have too many for chance.

    A day ends with its first failure. The number under chance is taken to be Poisson's: a sum of draws
    without replacement scatters less.
    """
    base = counts.expected / counts.trials
    rate = base + MORE * (1 - base)
    seen = [(of.days, 1 - (1 - rate) ** of.trials) for of in days]
    mean = sum(number * share for number, share in seen)
    spread = sum(number * share * (1 - share) for number, share in seen)
    least, expected = int(mean - NINE_IN_TEN * np.sqrt(spread)), base * mean / rate
    if least < 2 * MINIMUM_DAYS or not _is_candidate(least, expected):
        return False
    return bool(float(scipy.special.gammainc(least, expected)) * hosts <= ALPHA)
