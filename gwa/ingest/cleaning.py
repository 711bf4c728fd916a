"""
Clean the values of jobs when they are inserted, and count every repair.

A value that a field cannot have (a number out of range, a fraction of a processor, not a number at all)
becomes missing; a duration that is negative by at most `SLACK` becomes 0. The thresholds
are those of the Parallel Workloads Archive's own conversion module. Before that a job is judged as a whole
(`gwa.ingest.contradictions`): what cannot be true of one job together is no value of it.
"""

from collections.abc import Sequence
from typing import Final

from gwa.ingest.clocks import REPEATED
from gwa.ingest.contradictions import REPAIRS, SLACK, clear_false_times, judged
from gwa.ingest.row_order import total_order
from gwa.ingest.spec import RepairStep
from gwa.store.engines.duckdb import literal
from gwa.store.hosts import GPU_FORM, is_readable
from gwa.store.repairs import CLOCK_SKEW, EARLIER, INVALID_VALUE, LACKING, LONG_NAME, UNSEALED
from gwa.store.runs import FORM
from gwa.store.schema import BY_NAME, FIELDS, MAXIMUM_NAME, STATUS, Field
from gwa.store.store import Store

SOURCE_ORDER: Final = ("source_id", "file_no", "line")
"""The order in which jobs with the same submit time are numbered if the source has no numbers for them."""

DURATIONS: Final = ("wait_time", "run_time")
MAXIMUM_BIGINT: Final = 9_223_372_036_854_774_784.0
"""The largest double that a BIGINT holds; 2^63 - 1 itself stands for missing in some logs."""

RAW_RANGES: Final = {"status": (-(2.0**31), 2.0**31 - 1)}
"""Wider ranges that hold until `finish_jobs`, since a converter's steps may need the raw values."""

UNKNOWN_STATUS: Final = "a status other than 1, 0 and 5 was set to missing"
JOB_NUMBERS: Final = (
    "job numbers were missing or repeated: jobs were renumbered in order of submission, and which job had"
    " to wait for which is not known any more"
)

SETTLED: Final = (
    "settled jobs",
    "jobs were in the store before the rows of logs were kept: what is appended replaces those it tells of",
)
"""The repair that counts the jobs of a store that was made without keeping rows, and is appended to."""

NOTED: Final = "noted_faults"
"""The column of ``recorded`` that says, a bit for each kind, what was wrong with a job; null for nothing."""

KEPT_OF_NAME: Final = 80
"""Characters that are kept of a name that is cut."""

FORMS: Final = {"runs": FORM, "gpu_list": GPU_FORM}
"""What the texts of fields in a notation of gwa look like; lists of nodes are looked at each once."""

STATUS_CONDITION: Final = f"status in ({', '.join(map(str, STATUS))})"


def cleaning_repairs() -> frozenset[tuple[str, str]]:
    """Return the names and meanings of all repairs that cleaning can count."""
    fields = {field.name for field in FIELDS}
    return frozenset(
        {
            *(("clock skew", CLOCK_SKEW.format(field=name)) for name in DURATIONS),
            *(("invalid value", INVALID_VALUE.format(field=name)) for name in fields),
            *(("long name", LONG_NAME.format(field=name)) for name in fields),
            ("unknown status", UNKNOWN_STATUS),
            ("job numbers", JOB_NUMBERS),
            *((EARLIER, LACKING.format(field=name)) for name in fields),
            SETTLED,
            UNSEALED,
            *REPAIRS,
            ("repeated hour", REPEATED),
        }
    )


def insert_jobs(store: Store, relation: str, columns: Sequence[str]) -> None:
    """
    Clean and append the jobs of a *relation*, and count the repairs.

    Its *columns* are fields and values for the tables beside ``jobs``. Jobs that have an identity in the
    source but no number have their place in the log until `number_by_submission`.
    """
    fields = [BY_NAME[name] for name in columns if name in BY_NAME]
    relation = judged(store, relation, columns)
    faulty = _count_faults(store, relation, fields)
    values = ", ".join(f"{_cleaned(field, faulty)} as {field.name}" for field in fields)
    if needs_numbers(columns):
        store.connection.execute(f"create temp table identified as from {relation} as mapped")
        (earlier,) = store.row("select count(*) from recorded")
        jobs = with_row_numbers("identified", earlier)
        store.connection.execute(f"insert into recorded by name select job_id, {values} from {jobs}")
        _insert_extras(store, jobs, [*columns, "job_id"])
        store.connection.execute("drop table identified")
    else:
        store.connection.execute(f"insert into recorded by name select {values} from {relation} as mapped")
        _insert_extras(store, relation, columns)


def are_fields(columns: Sequence[str]) -> bool:
    """Whether all *columns* are fields: such jobs are cleaned while they are inserted, in one pass."""
    return BY_NAME.keys() >= set(columns)


def insert_noting(store: Store, select: str, columns: Sequence[str]) -> int:
    """
    Clean and append the jobs of a *select* of fields, and return their number; it is read but once.

    What is repaired is noted beside each job, for `count_noted`.
    """
    fields = [BY_NAME[name] for name in columns]
    numbers = {field.name for field in _numeric(fields)}
    values = [f"{_cleaned(field, numbers)} as {field.name}" for field in fields]
    bits = (
        f"case when {condition} then {1 << bit} else 0 end"
        for bit, (condition, _, _) in enumerate(_kinds_of_faults(fields))
    )
    noted = f"nullif({' + '.join(bits) or '0'}, 0) as {NOTED}"
    store.connection.execute(f"alter table recorded add column if not exists {NOTED} bigint")
    return int(
        store.row(f"insert into recorded by name select {', '.join([*values, noted])} from ({select}\n)")[0]
    )


def count_noted(store: Store, columns: Sequence[str]) -> None:
    """Count the repairs that `insert_noting` noted of jobs with these *columns*."""
    noted = store.rows(f"select {NOTED}, count(*) from recorded where {NOTED} is not null group by all")
    store.connection.execute(f"alter table recorded drop column {NOTED}")
    for bit, (_, name, meaning) in enumerate(_kinds_of_faults([BY_NAME[name] for name in columns])):
        store.repaired(name, meaning, sum(count for faults, count in noted if faults >> bit & 1))


def needs_numbers(columns: Sequence[str]) -> bool:
    """Whether jobs have an identity in the source, but no number."""
    return "source_id" in columns and "job_id" not in columns


def ordered_by_submission(relation: str, columns: Sequence[str]) -> str:
    """
    Return the query for the jobs of *relation* in order of submission, refused ones last.

    Where nothing says which rows jobs are made of, they are sorted by all that they have: a sort on several
    threads leaves those that tie in any order.
    """
    order = ("reject is not null", "submit_time nulls first", *SOURCE_ORDER)
    first = [expression for expression in order if expression.split()[0] in columns]
    by = ", ".join(first) if "line" in columns else total_order(first, columns)
    return f"select * from {relation} as mapped order by {by}"


def with_row_numbers(table: str, earlier: int = 0) -> str:
    """
    Return the relation of the jobs of a new *table*, numbered in the order in which they were inserted.

    Numbers follow those of *earlier* jobs.

    Sorting on insertion takes half the time and memory of a window function over the table.
    """
    return f"(select rowid + {earlier + 1} as job_id, * from {table})"


def _valid_condition(field: Field) -> str:
    """Return the condition under which a number is a valid value of *field*; it is false for NaN."""
    low, high = RAW_RANGES.get(field.name, (field.low, field.high or MAXIMUM_BIGINT))
    condition = f"{field.name} between {low!r} and {high!r}"
    return f"{condition} and {field.name} = trunc({field.name})" if field.is_whole else condition


def _skew_condition(field: Field) -> str:
    return f"{field.name} >= {-SLACK} and {field.name} < 0"


def _numeric(fields: Sequence[Field]) -> list[Field]:
    return [field for field in fields if not field.is_text]


def _count_faults(store: Store, relation: str, fields: Sequence[Field]) -> set[str]:
    """Count the values that need repair, record the counts and return the names of their fields."""
    kinds = _kinds_of_faults(fields)
    if not kinds:
        return set()
    counts = ", ".join(f"count(*) filter (where {condition})" for condition, _, _ in kinds)
    values = store.row(f"select {counts} from {relation} as mapped")
    for (_, name, meaning), count in zip(kinds, values, strict=True):
        store.repaired(name, meaning, count)
    faulty = {meaning for (_, _, meaning), count in zip(kinds, values, strict=True) if count}
    return {
        field.name
        for field in _numeric(fields)
        if faulty & {CLOCK_SKEW.format(field=field.name), INVALID_VALUE.format(field=field.name)}
    }


def _kinds_of_faults(fields: Sequence[Field]) -> list[tuple[str, str, str]]:
    """Return what may be wrong with *fields*: a condition, and the name and the meaning of a repair."""
    kinds = []
    for field in _numeric(fields):
        valid = _valid_condition(field)
        if field.name in DURATIONS:
            skewed = _skew_condition(field)
            kinds.append((skewed, "clock skew", CLOCK_SKEW.format(field=field.name)))
            valid = f"{valid} or {skewed}"
        kinds.append((f"not ({valid})", "invalid value", INVALID_VALUE.format(field=field.name)))
    return kinds


def is_clean(store: Store) -> bool:
    """Whether ``jobs`` is already as `insert_jobs` and `finish_jobs` would leave it."""
    valid = [f"coalesce(bool_and({_valid_condition(field)}), true)" for field in _numeric(FIELDS)]
    valid.append(f"coalesce(bool_and({STATUS_CONDITION}), true)")
    for name, form in FORMS.items():
        valid.append(f"coalesce(bool_and(regexp_matches({name}, {literal(f'^{form}$')})), true)")
    valid.append("count(*) = count(distinct job_id)")
    # In bits: not every engine counts the bytes of a text under the same name.
    lengths = (f"coalesce(max(bit_length({field.name})), 0)" for field in FIELDS if field.is_name)
    valid.append(f"greatest({', '.join(lengths)}) <= {8 * MAXIMUM_NAME}")
    return bool(store.row(f"select {' and '.join(valid)} as clean from jobs")[0])


def _cleaned(field: Field, faulty: set[str]) -> str:
    """Return the expression for a field; the expensive form only if some value is faulty."""
    plain = f"cast({field.name} as {field.sql})"
    if field.name not in faulty:
        return plain
    skew = f"when {_skew_condition(field)} then 0 " if field.name in DURATIONS else ""
    return f"case {skew}when {_valid_condition(field)} then {plain} end"


def _insert_extras(store: Store, relation: str, columns: Sequence[str]) -> None:
    """Insert the values besides the fields: the source's own job ids, dependencies, and remarks."""
    if "preceding_job" in columns:
        store.connection.execute(
            "insert into dependencies"
            " select try_cast(job_id as bigint), try_cast(preceding_job as bigint), think_time"
            f" from {relation} as mapped where preceding_job >= 0 and job_id is not null"
        )
    if "source_id" in columns:
        store.connection.execute(f"insert into source_ids select job_id, source_id from {relation} as mapped")
    if "raw_id" in columns:
        store.connection.execute(
            f"insert into raw_ids select job_id, raw_id from {relation} as mapped where raw_id <> source_id"
        )
    if "remarks" in columns:
        store.connection.execute(
            "insert into repairs"
            " select split_part(remark, ': ', 1), remark[instr(remark, ': ') + 2 :], count(*)"
            f" from (select unnest(remarks) as remark from {relation} as mapped) as remarks"
            " where remark is not null group by remark"
        )


def finish_jobs(store: Store, steps: Sequence[RepairStep]) -> int:
    """Run a converter's *steps*, clear unknown statuses, number jobs; return the number of rows folded."""
    folded = 0
    for step in _due(store, steps):
        if store.row(step.when)[0]:
            changed = int(store.row(step.sql)[0])
            store.repaired(step.name, step.meaning, changed)
            folded += changed if step.folds else 0
    recorded = store.recorded
    _clear_false_values(store, recorded)
    _clear_unreadable_lists(store, recorded)
    _cut_long_names(store, recorded)
    clear_false_times(store, recorded)
    folded += _assign_job_numbers(store)
    merge_repairs(store)
    return folded


def _due(store: Store, steps: Sequence[RepairStep]) -> Sequence[RepairStep]:
    """Return the *steps* from the first that is due: what one changes may make others due."""
    if not steps:
        return steps
    conditions = ", ".join(f"({step.when}\n)" for step in steps)
    is_due = store.row(f"select {conditions}")
    return steps[next((place for place, due in enumerate(is_due) if due), len(steps)) :]


def _clear_false_values(store: Store, recorded: Sequence[str]) -> None:
    """Set what is no status, and runs and GPUs that are not written as they are, to missing."""
    false = (
        ("status", f"not ({STATUS_CONDITION})", "unknown status", UNKNOWN_STATUS),
        *(
            (name, f"not regexp_full_match({name}, {literal(form)})", "invalid value", INVALID_VALUE)
            for name, form in FORMS.items()
        ),
    )
    asked = [kind for kind in false if kind[0] in recorded]
    counts = ", ".join(f"count(*) filter (where {where})" for _, where, _, _ in asked)
    found = store.row(f"select {counts} from recorded") if asked else ()
    for (field, where, name, meaning), count in zip(asked, found, strict=True):
        if count:
            store.connection.execute(f"update recorded set {field} = null where {where}")
            store.repaired(name, meaning.format(field=field), count)


def _clear_unreadable_lists(store: Store, recorded: Sequence[str]) -> None:
    """Set lists of nodes that cannot be read to missing; each distinct one is looked at once."""
    if "node_list" not in recorded:
        return
    # No condition is put below a limit: else it would be asked of each job, not of each distinct list.
    distinct = "select distinct node_list from recorded where node_list is not null limit 9223372036854775807"
    unreadable = store.rows(f"select node_list from ({distinct}) as lists where not {is_readable()}")
    if unreadable:
        store.connection.execute("create temp table unreadable (node_list varchar)")
        store.insert("unreadable", unreadable)
        (cleared,) = store.row(
            "update recorded set node_list = null where node_list in (select node_list from unreadable)"
        )
        store.connection.execute("drop table unreadable")
        store.repaired("invalid value", INVALID_VALUE.format(field="node_list"), cleared)


def _cut_long_names(store: Store, recorded: Sequence[str]) -> None:
    """Cut names that are texts; a hash keeps apart those that begin alike."""
    names = [field.name for field in FIELDS if field.is_name and field.name in recorded]
    if not names:
        return
    statistics = store.rows(f"select {', '.join(f'stats({name})' for name in names)} from recorded limit 1")
    for name, known in zip(names, statistics[0] if statistics else (), strict=bool(statistics)):
        if known["max_string_length"] > MAXIMUM_NAME:
            (cut,) = store.row(
                f"update recorded set {name} = {cut_name(name)} where strlen({name}) > {MAXIMUM_NAME}"
            )
            store.repaired("long name", LONG_NAME.format(field=name), cut)


def cut_name(name: str) -> str:
    """Return the SQL of the beginning of a long *name*, and a hash of all of it."""
    return f"left({name}, {KEPT_OF_NAME}) || '…' || left(md5({name}), 8)"


def _assign_job_numbers(store: Store) -> int:
    """
    Keep the source's job numbers if they are unique, else number jobs from 1 by submission.

    Return the number of jobs that were folded, since the same job stands in the source twice.
    """
    # Rising numbers are unique; only others need a distinct count, which holds them in memory.
    if have_rising_numbers(store, "recorded"):
        return 0
    jobs, numbered = store.row("select count(*), count(job_id) from recorded")
    if jobs == numbered == _distinct_numbers(store):
        return 0
    folded = _fold_repeated_jobs(store)
    jobs, numbered = jobs - folded, numbered - folded
    if jobs == numbered == _distinct_numbers(store):
        return folded
    if numbered:
        store.repaired("job numbers", JOB_NUMBERS, jobs)
        store.connection.execute("delete from dependencies")
    order = "submit_time nulls first, " if "submit_time" in store.recorded else ""
    store.connection.execute(
        "create temp table numbered as"
        f" select * replace (row_number() over (order by {order}job_id, rowid) as job_id) from recorded"
    )
    _replace(store, "recorded", "from numbered order by job_id")
    store.connection.execute("drop table numbered")
    return folded


BY_SUBMISSION: Final = """
select job_id, row_number() over (order by {submitted}source_id, job_id) as number
from recorded left join source_ids using (job_id)
"""


def number_by_submission(store: Store) -> None:
    """
    Number the jobs, which have their places in the log, by submission, and by identity where that is equal.

    So numbers do not depend on how the log was cut into batches, whatever the memory and the threads.
    """
    submitted = "submit_time nulls first, " if "submit_time" in store.recorded else ""
    store.connection.execute(f"create temp table numbered as {BY_SUBMISSION.format(submitted=submitted)}")
    if not store.row("select coalesce(bool_and(job_id = number), true) from numbered")[0]:
        for table in ("recorded", "source_ids", "raw_ids", "dependencies"):
            store.connection.execute(
                f"create temp table renumbered as select {table}.* replace (number as job_id)"
                f" from {table} inner join numbered using (job_id) order by number"
            )
            _replace(store, table, "from renumbered")
            store.connection.execute("drop table renumbered")
    store.connection.execute("drop table numbered")


def _replace(store: Store, table: str, query: str) -> None:
    """Put the rows that a *query* yields in the place of those of a *table*."""
    store.connection.execute(f"truncate {table}")
    store.connection.execute(f"insert into {table} by name {query}")


def have_rising_numbers(store: Store, table: str) -> bool:
    """Whether each job of a *table* has a number, and a higher one than the job before it."""
    earlier = f"(select job_id, lag(job_id, 1, -1) over () as earlier from {table}) as jobs"
    return bool(store.row(f"select coalesce(bool_and(job_id > earlier is true), true) from {earlier}")[0])


def _distinct_numbers(store: Store) -> int:
    return int(store.row("select count(distinct job_id) from recorded")[0])


def _fold_repeated_jobs(store: Store) -> int:
    """
    Remove jobs that stand in the source more than once, as where a log has grown and is given again.

    These are jobs of the same number that agree in every value; and a job without a run time, where one of
    the same number, submission and user has it. Return how many were removed.
    """
    recorded = store.recorded
    submitted, ran, user = (name in recorded for name in ("submit_time", "run_time", "user_id"))
    repeated = "(select job_id from recorded where job_id is not null group by job_id having count(*) > 1)"
    places = f"row_number() over (partition by {', '.join(recorded)} order by rowid) > 1"
    if submitted and ran:
        by = "partition by job_id, submit_time" + (", user_id" if user else "")
        places += f" or (run_time is null and submit_time is not null and count(run_time) over ({by}) > 0)"
    (folded,) = store.row(
        "delete from recorded where rowid in (select place from ("
        f"select rowid as place, {places} as is_again from recorded where job_id in {repeated})"
        " as jobs where is_again)"
    )
    if folded:
        meaning = "jobs that stand in the source more than once, with the same number and values, were folded"
        store.repaired("repeated jobs", meaning, folded)
        store.connection.execute("create temp table links as select distinct * from dependencies")
        store.connection.execute("truncate dependencies")
        store.connection.execute("insert into dependencies select * from links order by all")
        store.connection.execute("drop table links")
    return int(folded)


def merge_repairs(store: Store) -> None:
    """Add up the counts of the same repair in different batches."""
    merged = store.rows("select name, meaning, sum(jobs)::bigint from repairs group by all order by all")
    if merged:
        store.connection.execute("truncate repairs")
        store.insert("repairs", merged)
