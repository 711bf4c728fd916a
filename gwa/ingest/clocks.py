"""
Local times: what clocks of the trace's zone say, as Unix seconds.

Nothing in a log tells the two hours apart that clocks show when summer time ends: a time in them is taken as
one of the first, and the jobs that have such a time are counted.
"""

from typing import Final

import duckdb

from gwa.store.store import Store

LOCAL: Final = "local_seconds"

HOUR: Final = 3600
"""By how many seconds clocks are put back."""

MACROS: Final = (
    f"""{LOCAL}(clock) as (
        case
            when getvariable('zone') = 'UTC' then epoch(clock)
            when timezone(
                getvariable('zone'), to_timestamp(epoch(timezone(getvariable('zone'), clock)) - {HOUR})
            ) = clock then epoch(timezone(getvariable('zone'), clock)) - {HOUR}
            else epoch(timezone(getvariable('zone'), clock))
        end
    )""",
)
"""What every SELECT may use besides its own functions: the Unix seconds of a local time without a zone."""

REPEATED: Final = "times in the hour that clocks repeat in autumn were taken as the first of the two"


def define_clocks(database: duckdb.DuckDBPyConnection) -> None:
    """Define `MACROS`."""
    for macro in MACROS:
        database.execute(f"create or replace temp macro {macro}")


def note_repeated_hours(store: Store, sql: str) -> None:
    """Count the jobs that have a time in a repeated hour, if the *sql* that made them reads clocks."""
    if f"{LOCAL}(" not in sql or store.row("select getvariable('zone')")[0] == "UTC":
        return
    recorded = store.recorded
    if "submit_time" not in recorded:
        return
    start = "coalesce(submit_time + wait_time, submit_time)" if "wait_time" in recorded else "submit_time"
    times = ["submit_time", start, *([f"{start} + run_time"] if "run_time" in recorded else [])]
    halves = [f"floor(({time}) / {HOUR // 2}) * {HOUR // 2}" for time in times]
    (jobs,) = store.row(
        f"with half as (select unnest(list_distinct([{', '.join(halves)}])) as begin from recorded),"
        " repeated as (select begin from (select distinct begin from half where begin is not null)"
        f" where timezone(getvariable('zone'), to_timestamp(begin))"
        f" = timezone(getvariable('zone'), to_timestamp(begin + {HOUR})))"
        f" select count(*) filter (where {' or '.join(f'{half} in (from repeated)' for half in halves)})"
        " from recorded"
    )
    store.repaired("repeated hour", REPEATED, jobs)
