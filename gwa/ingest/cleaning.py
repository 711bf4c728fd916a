"""
Clean values at the door, and count every repair.

What a field cannot hold (a number out of its range, a fraction of a processor, not a number at all)
becomes missing; a duration that is negative by less than the clocks' slack becomes 0. The thresholds
are those of the Parallel Workloads Archive's own conversion module.
"""

from collections.abc import Sequence
from typing import Final

from gwa.ingest.spec import RepairStep
from gwa.store.schema import BY_NAME, FIELDS, STATUS, Field
from gwa.store.store import Store

SLACK: Final = 3900
"""Seconds by which a wait or a run may be negative: one hour of daylight saving and five minutes."""

NUMBERED_BY: Final = ("source_id", "file_no", "line")
"""What jobs of the same submission are numbered by, where the source has no numbers for them."""

DURATIONS: Final = ("wait_time", "run_time")
LARGEST: Final = 9_223_372_036_854_774_784.0
"""The largest double that a BIGINT holds; 2^63 - 1 itself stands for missing in some logs."""

RAW: Final = {"status": (-(2.0**31), 2.0**31 - 1)}
"""What is let through to `finish`, since a converter's steps may still need the raw values."""

STATUS_KNOWN: Final = f"status in ({', '.join(map(str, STATUS))})"


def insert(store: Store, mapped: str, yielded: Sequence[str]) -> None:
    """
    Append the jobs of the relation *mapped*, cleaned; count what was repaired.

    *yielded* are its columns: fields, and what goes to the tables beside ``jobs``. Jobs without
    numbers of their own that have another identity are numbered here, by submission.
    """
    fields = [BY_NAME[name] for name in yielded if name in BY_NAME]
    faulty = _count_faults(store, mapped, fields)
    columns = ", ".join(f"{_clean(field, faulty)} as {field.name}" for field in fields)
    if needs_numbers(yielded):
        store.connection.execute(f"create temp table identified as {by_submission(mapped, yielded)}")
        jobs = numbered("identified")
        store.connection.execute(f"insert into recorded by name select job_id, {columns} from {jobs}")
        _insert_side(store, jobs, [*yielded, "job_id"])
        store.connection.execute("drop table identified")
    else:
        store.connection.execute(f"insert into recorded by name select {columns} from {mapped} as mapped")
        _insert_side(store, mapped, yielded)


def needs_numbers(yielded: Sequence[str]) -> bool:
    """Whether jobs have an identity in the source, but no number."""
    return "source_id" in yielded and "job_id" not in yielded


def by_submission(mapped: str, yielded: Sequence[str]) -> str:
    """Return the query that yields the jobs of the relation *mapped* by submission, refused ones last."""
    order = ("reject is not null", "submit_time nulls first", *NUMBERED_BY)
    by = ", ".join(name for name in order if name.split()[0] in yielded)
    return f"select * from {mapped} as mapped order by {by}"


def numbered(table: str) -> str:
    """
    Return the relation of the jobs of a fresh *table* with their places in it as numbers.

    Sorting a table takes half the time and memory of a window over it, and its rows have numbers already.
    """
    return f"(select rowid + 1 as job_id, * from {table})"


def _valid(field: Field) -> str:
    """Return the condition under which a number is a value of *field*; it is false for NaN."""
    low, high = RAW.get(field.name, (field.low, field.high or LARGEST))
    condition = f"{field.name} between {low!r} and {high!r}"
    return f"{condition} and {field.name} = trunc({field.name})" if field.is_whole else condition


def _skewed(field: Field) -> str:
    return f"{field.name} >= {-SLACK} and {field.name} < 0"


def _checked(fields: Sequence[Field]) -> list[Field]:
    return [field for field in fields if not field.is_text]


def _count_faults(store: Store, mapped: str, fields: Sequence[Field]) -> set[str]:
    """Count values that need repair, record them and return the names of their fields."""
    counts, repairs = [], []
    for field in _checked(fields):
        if field.name in DURATIONS:
            counts.append(f"count(*) filter (where {_skewed(field)})")
            repairs.append((field, "clock skew", f"a slightly negative {field.name} was set to 0"))
        counts.append(f"count(*) filter (where not ({_valid(field)}))")
        repairs.append((field, "invalid value", f"a {field.name} that is no valid value was set to missing"))
    if not counts:
        return set()
    found = store.row(f"select {', '.join(counts)} from {mapped} as mapped")
    faulty, skews = set(), 0
    for (field, name, meaning), count in zip(repairs, found, strict=True):
        skews = count if name == "clock skew" else skews
        store.repaired(name, meaning, count if name == "clock skew" else count - skews)
        skews = 0 if name != "clock skew" else skews
        if count:
            faulty.add(field.name)
    return faulty


def is_clean(store: Store) -> bool:
    """Whether all of ``jobs`` is as `insert` and `finish` would have made it."""
    valid = [f"coalesce(bool_and({_valid(field)}), true)" for field in _checked(FIELDS)]
    valid.append(f"coalesce(bool_and({STATUS_KNOWN}), true)")
    valid.append("count(*) = count(distinct job_id)")
    return bool(store.row(f"select {' and '.join(valid)} as clean from jobs")[0])


def _clean(field: Field, faulty: set[str]) -> str:
    """Return the expression for a field; the costly form only where something is wrong."""
    plain = f"cast({field.name} as {field.sql})"
    if field.name not in faulty:
        return plain
    skew = f"when {_skewed(field)} then 0 " if field.name in DURATIONS else ""
    return f"case {skew}when {_valid(field)} then {plain} end"


def _insert_side(store: Store, mapped: str, yielded: Sequence[str]) -> None:
    """Keep what a source says beyond the 29 fields: its own job ids, dependencies, and what was decided."""
    if "preceding_job" in yielded:
        store.connection.execute(
            "insert into dependencies"
            " select try_cast(job_id as bigint), try_cast(preceding_job as bigint), think_time"
            f" from {mapped} as mapped where preceding_job >= 0 and job_id is not null"
        )
    if "source_id" in yielded:
        store.connection.execute(f"insert into source_ids select job_id, source_id from {mapped} as mapped")
    if "remarks" in yielded:
        store.connection.execute(
            "insert into repairs"
            " select split_part(remark, ': ', 1), remark[instr(remark, ': ') + 2 :], count(*)"
            f" from (select unnest(remarks) as remark from {mapped} as mapped) as remarks"
            " where remark is not null group by remark"
        )


def finish(store: Store, steps: Sequence[RepairStep]) -> int:
    """Run a converter's *steps*, settle statuses and job numbers, and return how many rows were folded."""
    folded = 0
    for step in steps:
        if store.row(step.when)[0]:
            changed = int(store.row(step.sql)[0])
            store.repaired(step.name, step.meaning, changed)
            folded += changed if step.folds else 0
    _settle_status(store)
    _number(store)
    _merge_repairs(store)
    return folded


def _settle_status(store: Store) -> None:
    if _is_recorded(store, "status"):
        changed = store.row(f"update recorded set status = null where not ({STATUS_KNOWN})")[0]
        store.repaired("unknown status", "a status other than 1, 0 and 5 was set to missing", changed)


def _number(store: Store) -> None:
    """Keep the source's job numbers where they are unique, else count from 1 by submission."""
    jobs, numbered, rising = store.row(
        "select count(*), count(job_id), bool_and(job_id > earlier)"
        " from (select job_id, lag(job_id, 1, -1) over () as earlier from recorded) as n"
    )
    # Numbers that rise are told apart in passing; others must all be held in memory.
    if jobs == numbered and (rising or jobs == store.row("select count(distinct job_id) from recorded")[0]):
        return
    if numbered:
        meaning = "job numbers were missing or repeated: jobs were numbered anew in order of submission,"
        meaning += " and which job had to wait for which is not known any more"
        store.repaired("job numbers", meaning, jobs)
        store.connection.execute("delete from dependencies")
    order = "submit_time nulls first, " if _is_recorded(store, "submit_time") else ""
    store.connection.execute(
        "create temp table numbered as"
        f" select * replace (row_number() over (order by {order}job_id, rowid) as job_id) from recorded"
    )
    store.connection.execute("truncate recorded")
    store.connection.execute("insert into recorded select * from numbered order by job_id")
    store.connection.execute("drop table numbered")


def _is_recorded(store: Store, field: str) -> bool:
    names = store.rows("select column_name from duckdb_columns() where table_name = 'recorded'")
    return (field,) in names


def _merge_repairs(store: Store) -> None:
    """Add up the counts of the same repair in different parts."""
    merged = store.rows("select name, meaning, sum(jobs)::bigint from repairs group by all order by all")
    store.connection.execute("truncate repairs")
    store.insert("repairs", merged)
