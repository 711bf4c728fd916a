"""
Write the Standard Workload Format, version 2.2; ``converters/swf.sql`` reads it.

Names become numbers: ``U12`` is 12 where all names of a column are one letter and a number, else they
are numbered by first appearance. Queues and partitions keep the numbers that the header gives them,
and their names stand there. Of several jobs that had to end before another, the last is kept.
"""

import re
from pathlib import Path
from typing import Final

from gwa.formats.builtin._gwf_text import entry_lines, number_text
from gwa.formats.builtin._write_text import write_lines
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.store.system import Header, from_header
from gwa.util.version import __version__

PLAIN: Final = (
    "wait_time", "run_time", "n_procs", "average_cpu_time", "used_memory", "req_n_procs", "req_time",
    "req_memory", "status",
)  # fmt: skip
"""Columns 3 to 11."""

NUMBERED: Final = ("user_id", "group_id", "executable_id", "queue_id", "partition_id")
"""Columns 12 to 16: names in GWF, numbers in SWF."""

LISTED: Final = {"queue_id": "Queue", "partition_id": "Partition"}
"""Columns whose names are listed in the header, and the key of such a line."""

LINE: Final = re.compile(r"(\d{1,18})\s+(\S+)")
"""A number and its name in the header."""

MADE: Final = "made by gwa"
"""How the note begins that says where a file comes from."""


def write(store: Store, path: Path) -> None:
    """Write the jobs in order of submission; a suffix such as .gz compresses them."""
    start = _start(store)
    lists = {LISTED[field]: _number(store, field, LISTED[field]) for field in LISTED}
    for field in NUMBERED:
        if field not in LISTED:
            _number(store, field, None)
    comments = [f"; {line}" for line in entry_lines(_header(store, start, lists))]
    write_lines(store, path, comments, _lines(start or 0.0))


def _start(store: Store) -> float | None:
    """Return the Unix time that submit times count from, None where that is unknown."""
    stated, earliest = store.system.start, store.row("select min(submit_time) from jobs")[0]
    if earliest is None or (stated is not None and stated <= earliest):
        return stated
    return None if store.system.relative else float(earliest // 1)


def _number(store: Store, field: str, key: str | None) -> list[str]:
    """
    Make the table ``<field>_number`` of the names in a column, and return the lines that list them.

    Numbers come from the header's lines of *key* or from the names themselves; where that does not
    give each name a number of its own, names are numbered by first appearance.
    """
    said = [value for title, value in store.header if title == key]
    known = {int(match[1]): match[2] for match in map(LINE.match, reversed(said)) if match}
    store.connection.execute("create or replace temp table listed (number bigint, name varchar)")
    store.insert("listed", list(known.items()))
    letter = field[0].upper() if key else "[A-Za-z]"
    store.connection.execute(_numbering(field), {"form": f"^{letter}(0|[1-9][0-9]{{0,17}})$"})
    (ranked,) = store.row(f"select count(*) from {field}_number where own is distinct from number")
    if not key or not ranked:
        return said
    numbered = store.rows(f"select number, name from {field}_number order by number")
    return [f"{number} {'_'.join(name.split())}" for number, name in numbered]


def _numbering(field: str) -> str:
    """Return the SQL that gives each name in a column its number."""
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


def _header(store: Store, start: float | None, lists: dict[str, list[str]]) -> Header:
    """Return what the trace came with, with what is known better put in its place."""
    jobs = str(store.row("select count(*) from jobs")[0])
    came = tuple((key, value) for key, value in store.header if not value.startswith(MADE))
    fresh = {"Version": ["2.2"], "MaxJobs": [jobs], "MaxRecords": [jobs], **lists}
    fresh |= {"Times": [], "Processors": []}
    if start != store.system.start:
        fresh["UnixStartTime"] = [] if start is None else [f"{start:.0f}"]
    stated = from_header(tuple(line for line in came if line[0] != "Processors"))
    if store.system.cpus and not store.system.cpus_inferred and store.system.cpus != stated.cpus:
        fresh["MaxProcs"] = [str(store.system.cpus)]
    lines, written = [("Version", "2.2")], {"Version"}
    for key, value in came:
        if key not in fresh:
            lines.append((key, value))
        elif key not in written:
            lines += [(key, one) for one in fresh[key]]
            written.add(key)
    lines += [(key, one) for key, ones in fresh.items() if key not in written for one in ones]
    return (*lines, ("Note", f"{MADE} {__version__}{_origin(store)}"))


def _origin(store: Store) -> str:
    """Return from which files the jobs come."""
    first, files = store.row("select min(file), count(distinct file) from sources")
    if not files:
        return ""
    return f" from {first}" + (f" and {files - 1} more" if files > 1 else "")


def _lines(start: float) -> str:
    """Return the query for the lines of the jobs; every cell is a number."""
    # A start in Unix seconds leaves a double room for six decimals.
    since = f"submit_time - {start!r}"
    submit = f"case when submit_time = trunc(submit_time) then {since} else round({since}, 6) end"
    cells = [number_text("job_id", is_whole=True), number_text(f"({submit})", is_whole=False)]
    cells += [number_text(name, is_whole=BY_NAME[name].is_whole) for name in PLAIN]
    cells += [number_text(f"{name}_number.number", is_whole=True) for name in NUMBERED]
    cells += [number_text("preceding_job", is_whole=True), number_text("think_time", is_whole=False)]
    joins = " ".join(f"left join {name}_number on jobs.{name} = {name}_number.name" for name in NUMBERED)
    return (
        f"with chained as (select job_id, max(preceding_job) as preceding_job,"
        " arg_max(think_time, preceding_job) as think_time from dependencies group by job_id)"
        f" select {' || chr(32) || '.join(cells)} as line from jobs left join chained using (job_id) {joins}"
        " order by submit_time nulls first, job_id"
    )


WRITER: Final = ("swf", write)
