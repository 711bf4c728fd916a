"""
The most that was held at one moment, exactly, without a sort of all moments.

In an interval of some minutes the level is at most what it was before with all that begins in it (*high*),
and at least what it is after without that (*low*). Only intervals of which these leave open what is asked
are searched moment by moment.
"""

from typing import Final

UNLIMITED: Final = 1e300
"""A capacity that nothing exceeds."""

WIDTH: Final = 600.0
"""The seconds of an interval."""

CHANGES: Final = """
select floor(t / {width!r}) as bin, sum(d) as net, sum(case when d > 0 then d else 0.0 end) as rise
from edge group by bin
"""

QUERY: Final = """
with edge as ({edges}), changed as ({changes}), level as (
    select bin, net, rise, sum(net) over (order by bin) as after,
        lead(bin) over (order by bin) - bin as bins
    from changed
), known as (
    select max(after) as most from level
), bound as (
    select bin, after - net as before, after - net + rise as high, after - rise as low, most
    from level cross join known
), searched as (
    select bin, before from bound where high > most or (high > {capacity!r} and low <= {capacity!r})
), inner_edge as (
    select bin, t, d from edge inner join searched on floor(t / {width!r}) = bin
    union all
    select bin, bin * {width!r} as t, before as d from searched
), moment as (
    select sum(d) over (partition by bin order by t) as held,
        coalesce(lead(t) over (partition by bin order by t), (bin + 1) * {width!r}) - t as seconds
    from inner_edge
), stretch as (
    select held, seconds from moment
    union all
    select most as held, 0.0 as seconds from known
    union all
    select low as held, {width!r} as seconds from bound where low > {capacity!r} and high <= most
    union all
    select after as held, (bins - 1) * {width!r} as seconds from level where bins > 1
)
select max(held) as peak,
    cast(sum(cast(case when held > {capacity!r} then seconds end as decimal(38, 6))) as double) as seconds
from stretch
"""
"""Edges at the same moment have the same sum, and all but the last of them no seconds."""


def peak_query(edges: str, changes: str = "", *, capacity: float = UNLIMITED, width: float = WIDTH) -> str:
    """
    Return the SQL of the *peak* of a level and of the *seconds* in which it exceeds *capacity*.

    The query *edges* yields by how much the level changes (``d``, a double) at which moments (``t``, in
    seconds). What that is in each interval of *width* seconds (``bin``), the change (``net``) and the sum of
    all that begins (``rise``), the query *changes* may yield faster than those of the edges are added up.
    """
    changes = changes or CHANGES.format(width=width)
    return QUERY.format(edges=edges, changes=changes, capacity=float(capacity), width=width)
