"""
Power of whole nodes that ``ipmitool dcmi power reading`` and FreeIPMI's ``ipmi-dcmi`` print, again and again.

A reading is some lines of text, with whole watts and a time of the controller's clock, which may be another
than the node's; nothing says the node. The power is that of the moment; means over the controller's own
period are not read.

Sources: ipmitool(1), https://github.com/ipmitool/ipmitool/blob/master/lib/ipmi_dcmi.c, and ipmi-dcmi(8),
https://manpages.ubuntu.com/manpages/focal/man8/ipmi-dcmi.8.html (``--get-system-power-statistics``).
"""

from typing import Final

from gwa.ingest.node_samples import Head, SampleReader

EXPORT: Final = "while sleep 30; do ipmitool dcmi power reading; done > $(hostname -s).txt"

POWER: Final = "instantaneous power reading|current power"
MOMENT: Final = "ipmi timestamp|time stamp"
FORMS: Final = ("%a %b %d %H:%M:%S %Y", "%m/%d/%Y - %H:%M:%S", "%m/%d/%y %H:%M:%S", "%m/%d/%Y %H:%M:%S")
"""How tools write a time; DuckDB takes a year of two digits for one of the first century, too."""

SELECT: Final = f"""
with line as (
    select
        row_number() over () as place,
        lower(trim(split_part(line, ':', 1))) as name,
        trim(substr(line, strpos(line, ':') + 1)) as said
    from given
),
numbered as (
    select *, count(*) filter (where regexp_full_match(name, '{POWER}')) over (order by place) as reading
    from line
    where regexp_full_match(name, '{POWER}|{MOMENT}')
)
select
    'node' as device,
    try_strptime(
        any_value(regexp_replace(regexp_replace(said, ' +', ' ', 'g'), ' [A-Z]{{3,4}}$', ''))
            filter (where regexp_full_match(name, '{MOMENT}')),
        [{", ".join(f"'{form}'" for form in FORMS)}]
    ) as clock,
    any_value(try_cast(split_part(said, ' ', 1) as double)) filter (where regexp_full_match(name, '{POWER}'))
        as watts
from numbered
group by reading
"""


def fits(head: Head) -> bool:
    """Whether the head has a reading of power."""
    return any(
        line.strip().lower().startswith(("instantaneous power reading", "current power ", "current power:"))
        for line in head.lines
    )


IPMI: Final = SampleReader(
    "ipmi",
    "power of whole nodes, of ipmitool dcmi power reading or ipmi-dcmi",
    fits,
    lambda _: SELECT,
    EXPORT,
    of_nodes=True,
)
