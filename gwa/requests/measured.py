"""What is measured of requests: numbers in an interval of time, gaps between them, and rank correlations."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, MINUTE

SCALES: Final = {1: "1 s", 10: "10 s", MINUTE: "1 min", 10 * MINUTE: "10 min", HOUR: "1 h", DAY: "1 day"}
"""Lengths of intervals in seconds, and how they are called."""

GAPS: Final = """(
    select
        round(submit_time - lag(submit_time) over (order by submit_time, request_id), 6) as gap,
        request_id
    from requests
)"""
"""The time of each request since the one before, in seconds; NULL for the first."""

SUCCESSIVE: Final = f"""(
    select gap, lag(gap) over (order by request_id) as earlier from {GAPS} as gaps
) as pairs"""  # noqa: S608 - a constant of another constant
"""Each gap with the one before."""

LENGTHS: Final = (
    "(select count(*) as requests from requests where session_id is not null group by session_id) as sessions"
)
"""How many requests sessions have."""

PAUSES: Final = """(
    select round(submit_time - lag(submit_time) over (
        partition by session_id order by submit_time, request_id
    ), 6) as pause
    from requests where session_id is not null
) as pauses"""
"""The times from the submission of a request to that of the next in its session, in seconds."""

LATER: Final = """(
    select
        tokens_in,
        row_number() over (partition by session_id order by submit_time, request_id) as place
    from requests where session_id is not null
    qualify place > 1
) as later"""
"""The requests of sessions behind the first of each."""

PER_INTERVAL: Final = """
select requests, count(*) as intervals from (
    select floor((submit_time - {first!r}) / {length}) as place, count(*) as requests
    from requests group by place
) where place < {complete} group by requests order by requests
"""

PHASES: Final = 10
"""Phases of intervals over which the index of dispersion is averaged, a tenth of an interval apart."""

PHASED: Final = f"""(
    select phase, cast(floor((tenth - phase) / {PHASES}.0) as bigint) as place, sum(requests) as requests
    from (
        select cast(floor((submit_time - {{first!r}}) * {PHASES} / {{length}}) as bigint) as tenth,
            count(*) as requests
        from requests group by tenth
    ) as fine, generate_series(0, {PHASES - 1}) as phases(phase)
    group by phase, place
) as phased"""  # noqa: S608 - a constant of another constant
"""The requests in each interval of a length, counted from a first moment, by phase."""

PER_PHASE: Final = f"""
select phase, sum(requests)::bigint as total, sum(requests * requests)::bigint as squares
from {PHASED} where place >= 0 and (place + 1) * {PHASES} + phase <= {{tenths}} group by phase order by phase
"""  # noqa: S608 - a constant of another constant
"""By phase: the requests in complete intervals, and the sum of the squares of their numbers."""

HELD: Final = """(
    with placed as (
        select request_id, unnest(blocks) as block, generate_subscripts(blocks, 1) as place from requests
    ),
    first as (select block, min(request_id) as request_id from placed group by block),
    fresh as (
        select placed.request_id, min(place) as place from placed join first using (block)
        where first.request_id = placed.request_id group by placed.request_id
    )
    select
        request_id, len(blocks) as blocks, cast(coalesce(fresh.place - 1, len(blocks)) as bigint) as held
    from requests left join fresh using (request_id) where len(blocks) > 0
)"""
"""The blocks of each prompt, and how many from its beginning stood in earlier ones: all before a new one."""

RANKS: Final = """
with pairs as (select {x} as x, {y} as y from {table} where x is not null and y is not null),
ranked as (
    select
        2 * rank() over (order by x) + count(*) over (partition by x) - 1 as a,
        2 * rank() over (order by y) + count(*) over (partition by y) - 1 as b
    from pairs
)
select
    count(*), sum(a::hugeint), sum(b::hugeint), sum(a::hugeint * a), sum(b::hugeint * b), sum(a::hugeint * b)
from ranked
"""
"""Sums of twice the mean ranks, which are whole, so that they do not depend on the order of rows."""


@dataclass(frozen=True)
class SubmissionSpan:
    """When the *first* and the *last* request were submitted, in seconds."""

    first: float
    last: float

    @classmethod
    def of(cls, store: Store) -> "SubmissionSpan":
        """Return that of all requests."""
        return cls(*store.row("select min(submit_time), max(submit_time) from requests"))

    @property
    def seconds(self) -> float:
        """From the first request to the last."""
        return self.last - self.first

    def intervals(self, length: int) -> int:
        """Return how many intervals of a *length* in seconds, from the first request on, are complete."""
        return math.floor(self.seconds / length)


def requests_per(store: Store, extent: SubmissionSpan, length: int) -> Sample:
    """Return the numbers of requests in intervals of a *length* in seconds, empty ones included."""
    complete = extent.intervals(length)
    query = PER_INTERVAL.format(first=extent.first, length=length, complete=complete)
    found = store.arrays(query)
    numbers = np.asarray(found["requests"], np.float64)
    counts = np.asarray(found["intervals"], np.int64)
    empty = complete - int(counts.sum())
    return Sample.weighted(np.append(numbers, 0.0), np.append(counts, empty))


def dispersion(store: Store, extent: SubmissionSpan, length: int) -> float | None:
    """
    Return the index of dispersion in intervals of a *length* in seconds, averaged over their phases.

    It is the variance of the requests in an interval over their mean. Intervals begin with the first request,
    and a tenth of the length later for each of `PHASES`; those of which two are not complete are left out.
    None where no phase has two.
    """
    tenths = math.floor(extent.seconds * PHASES / length)
    found = store.rows(PER_PHASE.format(first=extent.first, length=length, tenths=tenths))
    indices = [
        index_of_dispersion(total, squares, intervals)
        for phase, total, squares in found
        if (intervals := (tenths - phase) // PHASES) > 1
    ]
    return math.fsum(indices) / len(indices) if indices else None


def index_of_dispersion(total: int, squares: int, intervals: int) -> float:
    """Return the variance over the mean of numbers of requests, from their sum and that of their squares."""
    return (squares - total * total / intervals) / (intervals - 1) / (total / intervals)


def gaps(store: Store) -> Sample:
    """Return the times between a request and the next, in seconds, to the microsecond."""
    return store.sample("gap", f"{GAPS} as gaps")


def rank_correlation(store: Store, x: str, y: str, table: str = "requests") -> float | None:
    """
    Return Spearman's correlation of two expressions, ties at their mean rank; None where it is undefined.

    The sums are of whole numbers, so that the result is the same each time.
    """
    n, *sums = store.row(RANKS.format(x=x, y=y, table=table))
    if not n:
        return None
    a, b, aa, bb, ab = (int(one) for one in sums)
    spread = (n * aa - a * a) * (n * bb - b * b)
    return (n * ab - a * b) / math.sqrt(spread) if spread > 0 else None
