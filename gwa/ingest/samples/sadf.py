"""
Use of processors, and memory, of whole nodes that ``sadf -d`` prints from what sar collected.

Lines that begin with ``#`` name the columns of those below; there is one for each activity, and again after a
restart; with ``-h`` all columns stand in one line, those of several processors with ``[...]``. CPU -1 is all
processors of a node together. How many these are is said by rows of each (``-P ALL``) or by that of a
restart; without either, a use is a part of an unknown number. A use is a mean over the ``interval`` before
its time, memory is that of the moment. Waiting for a disk, and what a host took away (steal), is no use.
Times are UTC, or with ``-U`` Unix seconds; with ``-t`` or ``-T`` they are local.

``kbmemused`` has the caches in it where it and ``kbmemfree`` are all memory, as before sysstat 12.

Sources: sadf(1) and sar(1), https://man7.org/linux/man-pages/man1/sadf.1.html; rndr_stats.c and format.c of
https://github.com/sysstat/sysstat.
"""

from typing import Final

from gwa.ingest.node_samples import Head, SampleReader

EXPORT: Final = (
    "# -P ALL, for the number of processors; a file may be of several days and nodes.\n"
    "sadf -d -U /var/log/sa/sa15 -- -u -P ALL -r > $(hostname -s).txt"
)

ROUNDED: Final = 0.001
"""By how much a use, whose parts are rounded, may be beyond none and all; one that is beyond is no use."""

ZONED: Final = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"
"""How a time begins that is none of a local clock, nor a number."""


def _number(title: str) -> str:
    """Return the SQL of the number in the column *title*; null where the line has none."""
    return f"try_cast(replace(f[list_position(titles, '{title}')], ',', '.') as double)"


CACHES: Final = f"(coalesce({_number('kbbuffers')}, 0) + coalesce({_number('kbcached')}, 0))"

SELECT: Final = rf"""
with line as (
    select row_number() over () as place, trim(line) as line from given where trim(line) <> ''
),
titled as (
    select line, string_split(line, ';') as f,
        last_value(
            case when starts_with(line, '#') then string_split(replace(line, '[...]', ''), ';') end
            ignore nulls
        ) over (order by place) as titles
    from line
),
row_of_node as (
    select f[1] as host, try_cast(f[2] as double) as span,
        coalesce(
            try_cast(f[3] as double),
            case when regexp_full_match(f[3], '{ZONED}')
                then epoch(try_strptime(f[3][:19], '%Y-%m-%d %H:%M:%S')) end
        ) as t,
        case when not regexp_full_match(f[3], '{ZONED}')
            then try_strptime(f[3][:19], '%Y-%m-%d %H:%M:%S') end as clock,
        {_number("CPU")} as cpu,
        try_cast(regexp_extract(line, 'LINUX-RESTART\s*\((\d+) CPU', 1) as double) as restarted,
        1 - ({_number("%idle")} + {_number("%iowait")} + coalesce({_number("%steal")}, 0)) / 100 as mean_use,
        {_number("kbmemused")} - case
            when abs({_number("kbmemfree")} * {_number("%memused")}
                - {_number("kbmemused")} * (100 - {_number("%memused")})) <= {_number("kbmemused")}
                then {CACHES}
            else 0
        end as kb
    from titled
    where not starts_with(line, '#') and len(f) > 3
),
counted as (
    select host, coalesce(max(cpu) + 1, max(restarted)) as cpus
    from row_of_node where cpu >= 0 or restarted is not null group by host
)
select host, 'node' as device, t, clock, span, used as mean_use, used * cpus as cores,
    cast(null as double) as kb
from (
    select *,
        case when mean_use between -{ROUNDED} and 1 + {ROUNDED}
            then least(greatest(mean_use, 0.0), 1.0) end as used
    from row_of_node
) left join counted using (host)
where cpu = -1 and span > 0
union all
select host, 'node', t, clock, null, null, null, greatest(kb, 0.0) from row_of_node where kb is not null
"""


def fits(head: Head) -> bool:
    """Whether the head names columns of sadf, of a use of processors or of memory."""
    return any(line.lstrip("# ").startswith("hostname;interval;timestamp;") for line in head.lines)


SADF: Final = SampleReader(
    "sadf",
    "use of processors, and memory, of whole nodes: sadf -d, from what sar collected",
    fits,
    lambda _: SELECT,
    EXPORT,
    of_nodes=True,
)
