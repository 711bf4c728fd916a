"""
Which sessions and bursts the requests of a log are of: arrivals, each of one client.

An arrival is a session, where the log names it, or a burst: requests without a session, of one client, whose
gaps are of the faster of two phases, as a hyper-exponential distribution tells them apart. A client is a user
who asks one model and service; all but the most frequent clients of a kind are taken together.
"""

import math
from dataclasses import dataclass
from typing import Final

from gwa.statistics.hyper import HyperExponential
from gwa.statistics.sample import Sample
from gwa.store.engines.duckdb import literal
from gwa.store.store import Store

MAXIMUM_KINDS: Final = 10
"""Kinds of requests that are told apart; those of rarer models and services are one kind together."""

MAXIMUM_CLIENTS: Final = 20
"""Clients that are told apart; the others of each kind are taken together."""

FASTER: Final = 10.0
"""How many times as fast requests follow each other in a burst, at least."""

CHANCE: Final = 0.05
"""The share of gaps between bursts that may be so short that both are taken for one."""

MINIMUM_GAPS: Final = 20
"""Gaps of a client from which bursts are told."""

SIZES: Final = (1, 2, 10, 100, 1000)
"""The least requests of an arrival of each class of sizes."""

KINDS: Final = """
select model, service, count(*) as requests from requests group by all order by requests desc, model, service
limit {most}
"""

CLIENTS: Final = """
select kind, user_id, count(*) as requests from (select user_id, {kind} as kind from requests)
where user_id is not null group by all order by requests desc, kind, user_id limit {most}
"""

GAPS: Final = """(
    select submit_time - lag(submit_time) over (order by submit_time, request_id) as gap
    from requests where session_id is null and {kind} = {one} and {client} = {other}
) as gaps"""

PLACED: Final = """
with known as (
    select
        request_id, submit_time, tokens_in, tokens_out, session_id,
        {kind} as kind, {client} as client, session_id is not null as is_session
    from requests
),
followed as (
    select
        *,
        lag(submit_time) over one as before,
        lag(tokens_in + coalesce(tokens_out, 0)) over one as context
    from known
    window one as (
        partition by session_id, case when not is_session then kind end,
            case when not is_session then client end
        order by submit_time, request_id
    )
),
begun as (
    select *, before is null or (not is_session and submit_time - before > {longest}) as begins from followed
),
numbered as (
    select
        *,
        max(case when begins then request_id end) over (
            partition by session_id, case when not is_session then kind end,
                case when not is_session then client end
            order by submit_time, request_id rows unbounded preceding
        ) as arrival
    from begun
)
select
    request_id, arrival, submit_time, kind, client, is_session, tokens_in,
    case when not begins then round(1e6 * (submit_time - before)) end as pause,
    case when is_session and not begins then tokens_in - context end as added
from numbered
"""
"""The requests with the number of the first of their arrival; a pause is in microseconds."""

GATHERED: Final = """
with summed as (
    select arrival, min(submit_time) as start, count(*) as requests
    from {placed} group by arrival
)
select
    summed.*, first.kind, first.client, first.is_session,
    case {sizes} end as size
from summed join {placed} as first on first.request_id = summed.arrival
"""
"""The arrivals: when they begin, and of how many requests."""


@dataclass(frozen=True)
class Kind:
    """A *model* and a *service*, None where they are unknown, of a number of *requests*, and their SQL."""

    model: str | None
    service: str | None
    requests: int
    where: str


@dataclass(frozen=True)
class Placed:
    """The *kinds* of a log; the tables of its *requests* and of its *arrivals*, and its *clients*."""

    kinds: tuple[Kind, ...]
    clients: int
    requests: str
    arrivals: str

    @classmethod
    def of(cls, store: Store, longest: float) -> "Placed":
        """
        Return those of a store, whose tables live as long as it is open.

        No gap in a burst is more than *longest* seconds.
        """
        kinds = tuple(_kinds(store))
        kind = _cases([one.where for one in kinds])
        found = store.rows(CLIENTS.format(kind=kind, most=MAXIMUM_CLIENTS))
        client = _cases([f"{kind} = {place} and {_is('user_id', user)}" for place, user, _ in found], first=1)
        requests = store.keep(
            "placed_requests",
            PLACED.format(kind=kind, client=client, longest=_longest(store, kind, client, longest)),
        )
        sizes = " ".join(f"when summed.requests >= {least} then {least}" for least in reversed(SIZES))
        arrivals = store.keep("request_arrivals", GATHERED.format(placed=requests, sizes=sizes))
        return cls(kinds, len(found), requests, arrivals)


def _kinds(store: Store) -> list[Kind]:
    """Return the kinds of requests, the most frequent first, and last the others together."""
    kinds = [
        Kind(model, service, requests, f"({_is('model', model)} and {_is('service', service)})")
        for model, service, requests in store.rows(KINDS.format(most=MAXIMUM_KINDS))
    ]
    others = store.account.jobs - sum(one.requests for one in kinds)
    if others:
        kinds.append(Kind(None, None, others, f"not ({' or '.join(one.where for one in kinds)})"))
    return kinds


def _longest(store: Store, kind: str, client: str, most: float) -> str:
    """Return the SQL of the longest gap in a burst of a request's client, in seconds."""
    found = store.rows(
        f"select {kind} as kind, {client} as client from requests where session_id is null"
        " group by all order by all"
    )
    cases = []
    for one, other in found:
        gaps = store.sample("round(gap, 6)", GAPS.format(kind=kind, client=client, one=one, other=other))
        cases.append(f"when kind = {one} and client = {other} then {min(_longest_gap(gaps), most)!r}")
    return f"(case {' '.join(cases)} end)" if cases else "0"


def _longest_gap(gaps: Sample) -> float:
    """
    Return the gap from which another burst begins, by the two phases of a hyper-exponential distribution.

    Longer gaps are rather of the slow phase, of which few are as short (`CHANCE`). It is 0 where there is one
    phase only: then requests at the same moment are of one burst.
    """
    above = gaps.restrict(above=0.0)
    if above.n < MINIMUM_GAPS or above.min() == above.max():
        return 0.0
    fit = HyperExponential.fit(above)
    fast, slow = fit.weight * fit.rate1, (1 - fit.weight) * fit.rate2
    if fit.rate1 < FASTER * fit.rate2 or not 0 < slow < fast:
        return 0.0
    return max(math.log(fast / slow) / (fit.rate1 - fit.rate2), CHANCE / fit.rate2)


def _is(column: str, name: str | None) -> str:
    """Return the condition for the rows whose *column* is a name, or has none; it is never NULL."""
    return f"{column} is null" if name is None else f"{column} is not distinct from {literal(name)}"


def _cases(conditions: list[str], first: int = 0) -> str:
    """Return the SQL of the number of the condition that holds, counted from *first*; 0 where none does."""
    cases = " ".join(f"when {one} then {number}" for number, one in enumerate(conditions, first))
    return f"(case {cases} else 0 end)" if cases else "0"
