"""
Write the Standard Workload Format, version 2.2; ``converters/swf.sql`` reads it.

Names become numbers: ``U12`` is 12 where all names of a column are one letter and a number, else they
are numbered by first appearance. Queues and partitions keep the numbers that the header gives them,
and their names are listed there. If a job depends on several others, the last of them is kept. Extension
fields, such as GPUs, have no column; a note says which were left out.

A job that lists boxes is a summary line, whose run time is that of all its runs, and a line of a partial
execution for each box. Why a box ended has no place: read again, it is one run that was suspended.
"""

import re
from pathlib import Path
from typing import Final

from gwa.formats.builtin._gwf_text import entry_lines, number_sql
from gwa.formats.builtin._write_text import write_lines
from gwa.store.lost_numbers import lost_numbers
from gwa.store.runs import boxes
from gwa.store.schema import BY_NAME, EXTENSION_NAMES
from gwa.store.store import Store
from gwa.store.system import Header, from_header
from gwa.util.version import __version__

COPIED: Final = (
    "wait_time", "run_time", "n_procs", "average_cpu_time", "used_memory", "req_n_procs", "req_time",
    "req_memory", "status",
)  # fmt: skip
"""Columns 3 to 11."""

NUMBERED: Final = ("user_id", "group_id", "executable_id", "queue_id", "partition_id")
"""Columns 12 to 16, which are names in GWF and numbers in SWF."""

HEADER_KEYS: Final = {"queue_id": "Queue", "partition_id": "Partition"}
"""Columns whose names are listed in the header, and the keys of these lines."""

LINES: Final = """
select {line}, 0 as part, submit_time as submitted from jobs where runs is null
union all
select {line}, 0 as part, submit_time as submitted from (
    select jobs.* replace (case when ran.job_id is null then jobs.run_time else ran.seconds end as run_time)
    from jobs left join (
        select job_id, case when not bool_or(is_open) then sum(seconds) end as seconds from {boxes} as box
        group by job_id
    ) as ran on jobs.job_id = ran.job_id
    where runs is not null
) as summary
union all
select {line}, part, submitted from (
    select * replace (
        case when part = 1 then submit_time end as submit_time,
        case when is_open then null else seconds end as run_time,
        start_time - coalesce(previous_end, submit_time) as wait_time,
        cast(null as double) as average_cpu_time,
        cast(null as double) as used_memory,
        case when part < parts or is_open or status is null then 2 when status = 1 then 3 else 4 end as status
    )
    from (
        select *, submit_time as submitted, row_number() over (partition by job_id order by end_time) as part,
            count(*) over (partition by job_id) as parts
        from {boxes} as box
    ) as counted
) as partial
"""
"""
The lines of a trace of which some jobs list boxes: a summary of each of these, and a line for each box.

The summary has the run time of all, and a status of 0, 1 or 5; others have 2, the last 3 (completed) or 4.
Only the first of these has a submission; the others wait since the end of the one before.
"""

NUMBERED_NAME: Final = re.compile(r"(\d{1,18})\s+(\S+)")
"""A number and its name, as listed in the header."""

WITHOUT: Final = {"runs": "why runs ended"}
"""What is left out of an extension field of which a part is written."""

NOTE_BEGINNING: Final = "made by gwa"
"""The beginning of the note on the origin of a file."""


def write(store: Store, path: Path) -> None:
    """Write the jobs in order of submission, compressed by a suffix such as .gz."""
    start = _start_time(store)
    lists = {HEADER_KEYS[field]: _number_names(store, field, HEADER_KEYS[field]) for field in HEADER_KEYS}
    for field in NUMBERED:
        if field not in HEADER_KEYS:
            _number_names(store, field, None)
    lines = _lines(store)
    comments = [f"; {line}" for line in entry_lines(_header(store, start, lines, lists))]
    write_lines(store, path, comments, _lines_query(lines, start or 0.0))


def _start_time(store: Store) -> float | None:
    """Return the Unix time that submit times count from, None if it is unknown."""
    stated, earliest = store.system.start, store.row("select min(submit_time) from jobs")[0]
    if earliest is None or (stated is not None and stated <= earliest):
        return stated
    return None if store.system.relative else float(earliest // 1)


def _number_names(store: Store, field: str, key: str | None) -> list[str]:
    """
    Create the table ``<field>_number`` of the names in a column, and return the header lines that list them.

    Numbers come from the header lines of *key* or from the names themselves; if that does not
    give each name a distinct number, names are numbered by first appearance.
    """
    listed = [value for title, value in store.header if title == key]
    names_by_number = {
        int(match[1]): match[2] for match in map(NUMBERED_NAME.match, reversed(listed)) if match
    }
    store.connection.execute("create or replace temp table listed (number bigint, name varchar)")
    store.insert("listed", list(names_by_number.items()))
    letter = field[0].upper() if key else "[A-Za-z]"
    store.connection.execute(_numbering_query(field), {"form": f"^{letter}(0|[1-9][0-9]{{0,17}})$"})
    (renumbered,) = store.row(f"select count(*) from {field}_number where own is distinct from number")
    if not key or not renumbered:
        return listed
    numbered = store.rows(f"select number, name from {field}_number order by number")
    return [f"{number} {'_'.join(name.split())}" for number, name in numbered]


def _numbering_query(field: str) -> str:
    """Return the SQL that assigns a number to each name in a column."""
    return f"""
create or replace temp table {field}_number as
with met as (
    select {field} as name, min(row(coalesce(submit_time, -1), job_id)) as first_met
    from jobs where {field} is not null group by {field}
),
formed as (
    select name, try_cast(substr(name, 2) as bigint) as number, left(name, 1) as letter
    from met where regexp_matches(name, $form)
),
owned as (
    select
        met.name, row_number() over (order by met.first_met) as place, any_value(formed.letter) as letter,
        coalesce(min(listed.number), any_value(formed.number)) as own
    from met
    left join listed on met.name = listed.name
    left join formed on met.name = formed.name and formed.number not in (select number from listed)
    group by met.name, met.first_met
),
judged as (
    select count(*) = count(distinct own) and count(distinct letter) <= 1 as sound from owned
)
select name, own, case when sound then own else place end as number from owned cross join judged
"""


def _lines(store: Store) -> str:
    """Return the table of the lines: the jobs, or those of `LINES`."""
    if not store.has("runs"):
        return "(select *, 0 as part, submit_time as submitted from jobs)"
    names = ("job_id", "submit_time", *COPIED, *NUMBERED)
    # How long a box lasted that had not ended is not written.
    held = boxes(names, "jobs", still="1.0")
    return f"({LINES.format(line=', '.join(names), boxes=f'({held})')})"


def _header(store: Store, start: float | None, lines: str, lists: dict[str, list[str]]) -> Header:
    """Return the header of the trace, with entries replaced that the jobs or the system give better."""
    jobs, records = (str(store.row(f"select count(*) from {table}")[0]) for table in ("jobs", lines))
    original = tuple((key, value) for key, value in store.header if not value.startswith(NOTE_BEGINNING))
    replaced = {"Version": ["2.2"], "MaxJobs": [jobs], "MaxRecords": [records], **lists}
    replaced |= {"Times": [], "Processors": []}
    if start != store.system.start:
        replaced["UnixStartTime"] = [] if start is None else [f"{start:.0f}"]
    stated = from_header(tuple(line for line in original if line[0] != "Processors"))
    if store.system.cpus and not store.system.cpus_inferred and store.system.cpus != stated.cpus:
        replaced["MaxProcs"] = [str(store.system.cpus)]
    entries, written_keys = [("Version", "2.2")], {"Version"}
    for key, value in original:
        if key not in replaced:
            entries.append((key, value))
        elif key not in written_keys:
            entries += [(key, value) for value in replaced[key]]
            written_keys.add(key)
    entries += [(key, value) for key, ones in replaced.items() if key not in written_keys for value in ones]
    left_out = ", ".join(WITHOUT.get(name, name) for name in EXTENSION_NAMES if store.has(name))
    note = f"{NOTE_BEGINNING} {__version__}{_origin(store)}" + (f", without {left_out}" if left_out else "")
    return (*entries, *lost_numbers(store), ("Note", note))


def _origin(store: Store) -> str:
    """Describe the files that the jobs come from."""
    first, files = store.row("select min(file), count(distinct file) from sources")
    if not files:
        return ""
    return f" from {first}" + (f" and {files - 1} more" if files > 1 else "")


def _lines_query(lines: str, start: float) -> str:
    """Return the query for the text of the table of *lines*; every cell is a number."""
    # A double has six decimals left after subtracting a start in Unix seconds.
    since = f"submit_time - {start!r}"
    submit = f"case when submit_time = trunc(submit_time) then {since} else round({since}, 6) end"
    cells = [number_sql("job_id", is_whole=True), number_sql(f"({submit})", is_whole=False)]
    cells += [number_sql(name, is_whole=BY_NAME[name].is_whole) for name in COPIED]
    cells += [number_sql(f"{name}_number.number", is_whole=True) for name in NUMBERED]
    cells += [number_sql("preceding_job", is_whole=True), number_sql("think_time", is_whole=False)]
    joins = " ".join(f"left join {name}_number on line.{name} = {name}_number.name" for name in NUMBERED)
    return (
        f"with chained as (select job_id, max(preceding_job) as preceding_job,"
        " arg_max(think_time, (preceding_job, think_time)) as think_time, 0 as part"
        " from dependencies group by job_id)"
        f" select {' || chr(32) || '.join(cells)} as text from {lines} as line"
        f" left join chained using (job_id, part) {joins}"
        " order by submitted nulls first, job_id, part"
    )


WRITER: Final = ("swf", write)
