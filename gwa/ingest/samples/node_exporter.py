"""
Use of processors, and memory, of whole nodes by Prometheus' node_exporter: Prometheus' answer, or a table.

Each row is one metric of a node at a time. ``node_cpu_seconds_total`` counts the seconds of each processor by
``mode``: between two times, all seconds but those of ``idle``, ``iowait`` (which is idle, too) and ``steal``
are used. Where only idle ones were asked for, the others are used: there are as many seconds as there are
processors. A counter that is less than before has begun again, and says nothing of the time between. Guests
are in ``user`` already, and have metrics of their own. Memory in use is what is not available, of the moment.
The node is ``instance``, without its port.

Sources: https://github.com/prometheus/node_exporter (collector/cpu_linux.go, meminfo.go) and
https://docs.kernel.org/filesystems/proc.html (stat, meminfo).
"""

from typing import Final

from gwa.ingest.node_samples import SERIES_TIME, Head, SampleReader, label

CPU: Final = "node_cpu_seconds_total"
TOTAL: Final = "node_memory_MemTotal_bytes"
AVAILABLE: Final = "node_memory_MemAvailable_bytes"

UNUSED: Final = ("idle", "iowait", "steal")
"""Modes in which a processor does nothing for the node."""

EXPORT: Final = (
    "curl -sG $PROMETHEUS/api/v1/query_range -d step=60"
    " -d start=2025-01-01T00:00:00Z -d end=2025-01-02T00:00:00Z \\\n"
    "  --data-urlencode 'query=sum by (__name__, instance, mode)"
    ' ({__name__=~"node_cpu_seconds_total|node_memory_Mem(Total|Available)_bytes"})\' > nodes.json'
)

SELECT: Final = f"""
with sample as (
    select
        regexp_replace(cast(instance as varchar), ':\\d+$', '') as host,
        {SERIES_TIME} as t,
        metric, {{mode}} as mode, {{cpu}} as cpu, try_cast(value as double) as number
    from given
    where metric in ('{CPU}', '{TOTAL}', '{AVAILABLE}')
),
counted as (
    -- Hundredths are what the kernel counts, and sums of them are exact.
    select host, t, count(distinct cpu) as cpus,
        sum(cast(number as decimal(18, 2))) filter (where mode not in {UNUSED}) as busy,
        sum(cast(number as decimal(18, 2))) filter (where mode = 'idle') as idle
    from sample where metric = '{CPU}' group by host, t
),
passed as (
    select host, t, cpus, t - lag(t) over w as span, busy - lag(busy) over w as busy,
        idle - lag(idle) over w as idle, lag(cpus) over w as cpus_before
    from counted window w as (partition by host order by t)
)
select host, 'node' as device, t, span,
    case
        when busy is not null then busy / span
        when cpus > 0 then greatest(cpus - idle / span, 0.0)
    end as cores,
    cast(null as double) as kb
from passed
where span > 0 and coalesce(busy, idle) >= 0 and cpus = cpus_before
union all
select host, 'node', t, null, null,
    (max(number) filter (where metric = '{TOTAL}') - max(number) filter (where metric = '{AVAILABLE}')) / 1024
from sample where metric <> '{CPU}' group by host, t
"""


def fits(head: Head) -> bool:
    """Whether a table has metrics of nodes, and not of their GPUs."""
    return {"timestamp", "metric", "instance", "value"} <= {*head.columns} and "gpu" not in head.columns


def select(head: Head) -> str:
    """Return the query of samples."""
    return SELECT.format(mode=label(head, "mode"), cpu=label(head, "cpu"))


NODE_EXPORTER: Final = SampleReader(
    "node-exporter",
    "use of processors, and memory, of whole nodes by Prometheus' node_exporter, as JSON or a table",
    fits,
    select,
    EXPORT,
    of_nodes=True,
)
