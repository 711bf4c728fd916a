"""
Append logs to a store at the price of what they hold: only jobs whose rows share a key with new ones change.

The rows of these jobs are mapped twice, without the new rows and with them. The store loses what the first
makes of them and gets what the second does: jobs, their ids, repairs, rejects and counts. Jobs are numbered
in order of submission, so that those submitted since the first that is new or gone, the tail, are written
again.
The result is what one conversion of all logs makes; where that is not so, `RebuildNeeded` is raised.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gwa.ingest.checkpoint import Checkpoint, SourceFile
from gwa.ingest.cleaning import SETTLED, finish_jobs, merge_repairs, needs_numbers
from gwa.ingest.clocks import note_repeated_hours
from gwa.ingest.contradictions import DAY, FALSE_SUBMISSION, NEVER
from gwa.ingest.counting import (
    MAXIMUM_REJECTS_KEPT,
    job_times,
    mark_unix_times,
    note_cut_files,
    note_untimed_jobs,
)
from gwa.ingest.keys import KEYS, key_of, pieces_with_keys, want
from gwa.ingest.mapping import Refused, clear, grouping_megabytes, map_batch, map_whole_source
from gwa.ingest.pipeline import READING_MEGABYTES, Reading, begin, crew_for, set_file_variables, sql_of
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.parts import missing_parts
from gwa.ingest.spec import ConverterSpec, LogFact
from gwa.ingest.staging import define_view, read_into_checkpoint, rows_in
from gwa.store.account import Account
from gwa.store.engines.config import MEMORY_OF_READING
from gwa.store.engines.duckdb import limited_memory, literal
from gwa.store.options import ReadOptions, RebuildNeeded
from gwa.store.repairs import INVALID_VALUE
from gwa.store.store import Store

LAST_WITNESSES: Final = 3
"""The number of last files that show of a kind of jobs what is true of a whole log."""

IDS: Final = ("source_id", "raw_id")
"""What stands of a job beside its fields."""


@dataclass(frozen=True)
class Mapped:
    """
    What became of some rows: *jobs* in a Parquet file, and how many are *folded*, *refused* and repaired.

    *facts* are the kinds of jobs of which each fact of a log holds by these rows.
    """

    jobs: Path
    folded: int = 0
    refused: Refused = field(default_factory=Counter)
    rejects: Sequence[tuple[str, int, str]] = ()
    repairs: Mapping[tuple[str, str], int] = field(default_factory=dict)
    facts: Sequence[Sequence[str]] = ()


def append_rows(heads: Sequence[FileHead], spec: ConverterSpec, options: ReadOptions) -> Store:
    """
    Return the store at the target of *options*, a copy of the one that is appended to, with more jobs.

    The rows of its logs are in the checkpoint. Raise `RebuildNeeded` where all rows have to be mapped again.
    """
    _require_keys(spec)
    with Store.create(None, options.engine) as scratch:
        reading = begin(scratch, heads, spec, options)
        _require_numbers(reading)
        _require_whole_tables(reading, options)
        told = scratch.rows("from repairs")
        # It was opened, and so checked, before it was copied.
        store = Store.adopt(options.target or Path(), options.engine)
        try:
            _require_same_system(store, scratch, reading)
            (settled_jobs,) = store.row("select count(*) from recorded")
            before, after = _map_twice(scratch, reading, spec, options)
            replaced = _replace_jobs(
                store,
                before.jobs,
                after.jobs,
                options,
                is_of_whole=spec.scope == "trace",
                has_false_submissions=_has_false_submissions(store, after),
            )
            store.insert("repairs", told)
            _count(store, reading, before, after, replaced)
            if options.settled_logs and not store.rows(f"from repairs where name = '{SETTLED[0]}'"):
                store.repaired(*SETTLED, settled_jobs)
        except BaseException:
            store.close()
            raise
    return store


# Where all rows have to be mapped again.


def _require_keys(spec: ConverterSpec) -> None:
    """Refuse a format whose jobs may change with any new row."""
    if spec.steps or spec.relative or spec.explaining_tables:
        raise RebuildNeeded("what a new log says may change any job of this format")
    if spec.scope == "trace" and not spec.joined_by:
        raise RebuildNeeded("nothing says which rows of this format are of one job")


def _require_numbers(reading: Reading) -> None:
    """Refuse jobs that have numbers of their own: which are the same is found among all jobs."""
    if not needs_numbers(reading.query.yields) or "preceding_job" in reading.query.yields:
        raise RebuildNeeded("jobs of this format have numbers of their own")
    if reading.query.clusters:
        raise RebuildNeeded("jobs of one number may be of several clusters, which the logs do not name")


def _require_whole_tables(reading: Reading, options: ReadOptions) -> None:
    """Refuse parts of a table, of which more or less are missing with the new ones."""
    if missing_parts(reading.files, options.unread):
        raise RebuildNeeded("the logs are parts of a table")


def _require_same_system(store: Store, scratch: Store, reading: Reading) -> None:
    """Refuse logs that say more of the system than earlier ones, and times near 1970 that may be none."""
    known = [[line for line in header if line[0] != "Times"] for header in (store.header, reading.header)]
    if known[0] != known[1]:
        raise RebuildNeeded("the new logs, or the options, say something else of the system")
    _align_fields(store, scratch)
    _require_times(store)


def _align_fields(store: Store, scratch: Store) -> None:
    """
    Record the same fields in *store* as in the *scratch* store; raise `RebuildNeeded` where there are others.

    A store that was copied since, as where measurements were joined, has no fields that are empty, and notes
    those that are the same in all jobs.
    """
    columns, made = (
        {name: kind for name, kind, *_ in one.rows("describe recorded")} for one in (store, scratch)
    )
    if columns == made:
        return
    provenance = store.provenance
    for name in made.keys() - columns.keys():
        store.connection.execute(f"alter table recorded add column {name} {made[name]}")
        if constant := provenance.get(f"constant.{name}"):
            store.connection.execute(f"update recorded set {name} = ?", [constant])
            store.connection.execute("delete from provenance where key = ?", [f"constant.{name}"])
    for name in columns.keys() - made.keys():
        if store.row(f"select count({name}) from recorded")[0]:
            raise RebuildNeeded(f"jobs of the store have a {name}, which their logs do not")
        store.connection.execute(f"alter table recorded drop column {name}")
    store.show_all()


def _require_times(store: Store) -> None:
    """Refuse jobs that have a time which is that of a log of Unix times, or none, by most jobs of the log."""
    columns = {name for name, *_ in store.rows("describe recorded")}
    for name in {"submit_time", "eligible_time"} & columns:
        first, last = store.row(f"select min({name}), max({name}) from recorded")
        if first is not None and not (first > DAY and last < NEVER[0]):
            raise RebuildNeeded(f"some jobs have a {name} that may be none (1970, 2106)")


# Mapping.


def _map_twice(
    store: Store, reading: Reading, spec: ConverterSpec, options: ReadOptions
) -> tuple[Mapped, Mapped]:
    """Read the new files in the scratch *store*, and map their jobs without and with the new rows."""
    checkpoint, stored = reading.checkpoint, len(reading.earlier)
    assert checkpoint  # noqa: S101 - a store that is appended to has one
    with limited_memory(store.connection, options.engine, READING_MEGABYTES[spec.scope], MEMORY_OF_READING):
        checkpoint.resume(reading.fresh, stored)
        with crew_for(store, reading, spec, options) as crew:
            read_into_checkpoint(store, checkpoint, reading.fresh, stored, spec, options, crew)
    before = Mapped(store.scratch / "before.parquet", facts=[[]] * len(spec.log_facts))
    after = Mapped(store.scratch / "after.parquet", facts=before.facts)
    if spec.scope == "row":
        _write_jobs(store, before.jobs)
        refused = _map_batches(store, checkpoint, reading, strict=options.strict)
        return before, _finished(store, after, spec, 0, refused)
    fresh = [path for number in _fresh(reading) for path in checkpoint.parquet_files("source", number)]
    earlier = _earlier_rows(store, checkpoint, fresh, reading, spec)
    if earlier:
        before = _mapped(store, before, [earlier], reading, spec, options, strict=False)
    else:
        _write_jobs(store, before.jobs)
    files = [earlier, *fresh] if earlier else fresh
    after = _mapped(store, after, files, reading, spec, options, strict=options.strict)
    if not options.settled_logs:
        _require_same_facts(checkpoint, reading, spec.log_facts, before, after)
    return before, after


def _fresh(reading: Reading) -> range:
    """Return the numbers of the new files."""
    return range(len(reading.earlier), len(reading.earlier) + len(reading.fresh))


def _earlier_rows(
    store: Store, checkpoint: Checkpoint, fresh: Sequence[Path], reading: Reading, spec: ConverterSpec
) -> Path | None:
    """Write the rows that share a key with those in *fresh* files to a file; None where there are none."""
    new = rows_in("source", fresh)
    want(store, new, spec.joined_by, _witnesses(checkpoint, reading, spec.log_facts))
    pieces = pieces_with_keys(store, checkpoint.folder, len(reading.earlier))
    if pieces:
        # Rows that are mapped without the new ones need all that tells of the whole log.
        want(store, new, spec.joined_by, _witnesses(checkpoint, reading, spec.log_facts, with_all=True))
        pieces = pieces_with_keys(store, checkpoint.folder, len(reading.earlier))
    if not pieces:
        return None
    path = store.scratch / "earlier.parquet"
    store.connection.execute(
        f"copy (select * from {rows_in('source', pieces)} where {key_of(spec.joined_by)} in"
        f" (select key from {KEYS})) to {literal(str(path))} (format parquet)"
    )
    return path


def _witnesses(
    checkpoint: Checkpoint, reading: Reading, facts: Sequence[LogFact], *, with_all: bool = False
) -> list[int]:
    """Return keys of rows that tell of the whole log, from the last files with any, where no new rows do."""
    keys: list[int] = []
    for number, fact in enumerate(facts):
        if with_all or fact.holds or not _told(checkpoint, _fresh(reading), number):
            files: Counter[str] = Counter()
            for file in reversed(reading.earlier):
                telling = [one for one in file.witnesses[number] if files[one[0]] < LAST_WITNESSES]
                keys += [key for _, key in telling]
                files.update({kind for kind, _ in telling})
    return keys


def _told(checkpoint: Checkpoint, files: range, fact: int) -> list[str]:
    """Return the kinds of jobs of which rows of *files* tell a fact of the whole log."""
    return sorted({kind for number in files for kind, _ in checkpoint.files[number].witnesses[fact]})


def _require_same_facts(
    checkpoint: Checkpoint, reading: Reading, facts: Sequence[LogFact], before: Mapped, after: Mapped
) -> None:
    """Refuse rows by which something is true of the whole log that was not, or of which that is not known."""
    files = range(len(checkpoint.files))
    for number, fact in enumerate(facts):
        told, told_now = (_told(checkpoint, some, number) for some in (files[: len(reading.earlier)], files))
        same = before.facts[number] == after.facts[number] == told if fact.holds else told == told_now
        if not same:
            raise RebuildNeeded("the new rows tell something of the whole log that earlier ones did not")


def _map_batches(store: Store, checkpoint: Checkpoint, reading: Reading, *, strict: bool) -> Refused:
    """Map the rows of the new files, one Parquet file after the other, and return how many are refused."""
    refused: Refused = Counter()
    for number in _fresh(reading):
        set_file_variables(store, number, 0.0)
        for path in checkpoint.parquet_files("source", number):
            define_view(store, "source", [path])
            refused.update(map_batch(store, reading.query, reading.files, strict=strict))
    return refused


def _mapped(
    store: Store,
    mapped: Mapped,
    files: Sequence[Path],
    reading: Reading,
    spec: ConverterSpec,
    options: ReadOptions,
    *,
    strict: bool,
) -> Mapped:
    """Map the rows in Parquet *files* as a whole source."""
    for table in ("recorded", "source_ids", "raw_ids", "repairs", "rejects"):
        store.connection.execute(f"truncate {table}")
    clear(store, reading.query.beforehand)
    define_view(store, "source", files)
    (rows,) = store.row("select count(*) from source")
    with limited_memory(store.connection, options.engine, grouping_megabytes(rows), MEMORY_OF_READING):
        folded, refused = map_whole_source(store, reading.query, reading.files, files, strict=strict)
    return _finished(store, mapped, spec, folded, refused)


def _finished(store: Store, mapped: Mapped, spec: ConverterSpec, folded: int, refused: Refused) -> Mapped:
    """Finish the jobs that were mapped, and write them to a file."""
    _require_times(store)
    if refused.total() > MAXIMUM_REJECTS_KEPT:
        raise RebuildNeeded("too many rows are refused")
    finish_jobs(store, ())
    note_untimed_jobs(store, job_times(store), spec.needs)
    note_repeated_hours(store, sql_of(spec))
    _write_jobs(store, mapped.jobs)
    return Mapped(
        mapped.jobs,
        folded,
        refused,
        store.rows("select file, line, reason from rejects"),
        {(name, meaning): jobs for name, meaning, jobs in store.rows("from repairs")},
        [sorted(store.row(fact.holds)[0] or []) if fact.holds else [] for fact in spec.log_facts],
    )


def _write_jobs(store: Store, path: Path) -> None:
    """Write the jobs of the scratch *store* with their ids to a Parquet file."""
    store.connection.execute(
        "copy (select recorded.*, source_id, raw_id from recorded inner join source_ids using (job_id)"
        f" left join raw_ids using (job_id) order by job_id) to {literal(str(path))} (format parquet)"
    )


# Replacing.


def _replace_jobs(
    store: Store,
    before: Path,
    after: Path,
    options: ReadOptions,
    *,
    is_of_whole: bool,
    has_false_submissions: bool,
) -> int:
    """
    Replace the jobs in the file *before* by those in the file *after*; they are numbered as all others.

    Return how many jobs are replaced whose rows were not kept.
    """
    database = store.connection
    fields = [name for name, *_ in store.rows("describe recorded") if name != "job_id"]
    for name, path in (("before", before), ("after", after)):
        database.execute(
            f"create temp table {name} as"
            " select *, count(*) over (partition by source_id, submit_time) as same"
            f" from read_parquet({literal(str(path))})"
        )
    settled = _take_settled(store, fields) if options.settled_logs and is_of_whole else 0
    is_same = " and ".join(f"old.{name} is not distinct from new.{name}" for name in (*fields, "raw_id"))
    database.execute(
        f"""create temp table stays as
        select old.job_id as old, new.job_id as new, {is_same} as is_same
        from before as old
        inner join after as new
            on old.source_id = new.source_id and old.submit_time is not distinct from new.submit_time
        where old.same = 1 and new.same = 1"""
    )
    _find_places(store)
    first = _first_moved(store, has_false_submissions=has_false_submissions)
    _change_in_place(store, fields, first)
    _write_tail(store, fields, first)
    for table in ("before", "after", "stays", "place", "tail"):
        database.execute(f"drop table {table}")
    return settled


def _has_false_submissions(store: Store, after: Mapped) -> bool:
    """Whether a job has no submission in the store though it has one in its rows."""
    repairs = [*after.repairs, *store.rows("select name, meaning from repairs")]
    invalid = INVALID_VALUE.format(field="submit_time")
    false = {("false submission", FALSE_SUBMISSION), ("invalid value", invalid)}
    return not false.isdisjoint(repairs)


def _take_settled(store: Store, fields: Sequence[str]) -> int:
    """Let jobs whose rows were not kept go where the new logs tell of them, and return how many there are."""
    listed = ", ".join(fields)
    (settled,) = store.row(
        f"""insert into before by name
        with told as (
            select distinct source_id, submit_time
            from after
            anti join before on after.source_id = before.source_id and after.submit_time = before.submit_time
        )
        select
            -recorded.job_id as job_id, {listed}, source_id, raw_id,
            count(*) over (partition by source_id, submit_time) as same
        from (from recorded where submit_time >= (select min(submit_time) from told)) as recorded
        inner join source_ids using (job_id)
        left join raw_ids using (job_id)
        semi join told using (source_id, submit_time)"""
    )
    return int(settled)


def _find_places(store: Store) -> None:
    """Make the table ``place`` of the numbers that jobs have in the store which change or go."""
    changing = "(from before anti join (from stays where is_same) as kept on before.job_id = kept.old)"
    jobs, undated, lowest = store.row(
        f"select count(*), count(*) filter (where submit_time is null), min(submit_time) from {changing}"
    )
    since = f"submit_time >= {lowest!r}" if jobs and not undated else "false" if not jobs else "true"
    (low,) = store.row(f"select coalesce(min(job_id), 0) from recorded where {since}")
    nth = "row_number() over (partition by source_id, submit_time order by job_id) as nth"
    store.connection.execute(
        f"""create temp table place as
        with known as (
            select job_id, source_id, submit_time, {nth}
            from (
                from source_ids where job_id >= {low} and source_id in (select source_id from {changing})
            )
            inner join (select job_id, submit_time from recorded where job_id >= {low}) using (job_id)
        )
        select old.job_id as old, known.job_id as place
        from (select job_id, source_id, submit_time, {nth} from before) as old
        semi join {changing} as changing on old.job_id = changing.job_id
        inner join known
            on old.source_id = known.source_id and old.submit_time is not distinct from known.submit_time
                and old.nth = known.nth"""
    )
    if store.row("select count(*) from place")[0] != jobs:
        raise RebuildNeeded("the store does not hold the jobs of its rows")


def _first_moved(store: Store, *, has_false_submissions: bool) -> int:
    """
    Return the first number from which on jobs are numbered again.

    Jobs without a submission are the first ones, but where it is a false one they stand where that put them.
    """
    (last,) = store.row("select coalesce(max(job_id), 0) from recorded")
    moving = (
        "(select submit_time from before where job_id not in (select old from stays)"
        " union all select submit_time from after where job_id not in (select new from stays))"
    )
    lowest, undated = store.row(
        f"select min(submit_time), count(*) filter (where submit_time is null) from {moving}"
    )
    if lowest is None and not undated:
        return int(last) + 1
    if undated and has_false_submissions:
        raise RebuildNeeded("jobs without a submission are new or gone, and others have a false one")
    if undated:
        return 1
    (first,) = store.row(
        f"select coalesce(min(job_id), {last + 1}) from recorded where submit_time >= {lowest!r}"
    )
    if store.row(f"select count(*) from recorded where job_id >= {first} and submit_time is null")[0]:
        raise RebuildNeeded("jobs whose submission is no time stand among the last ones")
    return int(first)


def _change_in_place(store: Store, fields: Sequence[str], first: int) -> None:
    """Change the jobs before the number *first* that have other values, and stay where they are."""
    changed = (
        "(select place, after.* from stays inner join place using (old)"
        f" inner join after on after.job_id = stays.new where not is_same and place < {first}) as changed"
    )
    if not store.row(f"select count(*) from {changed}")[0]:
        return
    values = ", ".join(f"{name} = changed.{name}" for name in fields)
    store.connection.execute(
        f"update recorded set {values} from {changed} where recorded.job_id = changed.place"
    )
    store.connection.execute(f"delete from raw_ids where job_id in (select place from {changed})")
    store.connection.execute(
        f"insert into raw_ids select place, raw_id from {changed} where raw_id is not null order by all"
    )


def _write_tail(store: Store, fields: Sequence[str], first: int) -> None:
    """Write the jobs from the number *first* on again: those that are there still, and those that are new."""
    database, listed = store.connection, ", ".join(fields)
    database.execute(
        f"""create temp table tail as
        select {listed}, {", ".join(IDS)}
        from (
            select false as is_new, recorded.job_id as number, recorded.*, source_id, raw_id
            from (from recorded where job_id >= {first}) as recorded
            inner join (from source_ids where job_id >= {first}) as source_ids using (job_id)
            left join (from raw_ids where job_id >= {first}) as raw_ids using (job_id)
            where recorded.job_id not in (select place from place)
            union all by name
            select true as is_new, job_id as number, {listed}, {", ".join(IDS)}
            from after
            where job_id not in (
                select new from stays left join place using (old) where is_same or place < {first}
            )
        )
        order by submit_time nulls first, source_id, is_new, number"""
    )
    for table in ("recorded", "source_ids", "raw_ids"):
        database.execute(f"delete from {table} where job_id >= {first}")
    numbered = f"(select rowid + {first} as job_id, * from tail) as tail"
    database.execute(f"insert into recorded by name select job_id, {listed} from {numbered}")
    database.execute(f"insert into source_ids select job_id, source_id from {numbered}")
    database.execute(f"insert into raw_ids select job_id, raw_id from {numbered} where raw_id is not null")


# Counting.


def _count(store: Store, reading: Reading, before: Mapped, after: Mapped, replaced: int) -> None:
    """Count what became of the new rows, of those whose jobs changed, and of jobs that were *replaced*."""
    checkpoint = reading.checkpoint
    assert checkpoint  # noqa: S101 - a store that is appended to has one
    fresh = [checkpoint.files[number] for number in _fresh(reading)]
    _count_rejects(store, reading.earlier, fresh, before, after)
    for number, file in enumerate(checkpoint.files):
        _count_file(
            store, file, after.refused[number], before.refused[number], is_new=number in _fresh(reading)
        )
    changes = Counter(after.repairs)
    changes.subtract(before.repairs)
    store.insert("repairs", [(*repair, jobs) for repair, jobs in changes.items() if jobs])
    store.connection.execute("delete from repairs where name = 'cut file'")
    merge_repairs(store)
    store.connection.execute("delete from repairs where jobs = 0")
    note_cut_files(store)
    store.set_header(reading.header)
    mark_unix_times(store, job_times(store))
    account = store.account
    (jobs,) = store.row("select count(*) from recorded")
    store.set_account(
        Account(
            account.rows + sum(file.rows for file in fresh),
            jobs,
            account.folded + after.folded - before.folded + replaced,
            account.rejected
            + sum(file.rejected for file in fresh)
            + after.refused.total()
            - before.refused.total(),
            account.comments + sum(file.comments for file in fresh),
            account.skipped,
        )
    )


def _count_file(store: Store, file: SourceFile, refused: int, refused_before: int, *, is_new: bool) -> None:
    """Describe a new file as a source, or count what is refused of an earlier one now."""
    if is_new:
        rejected = file.rejected + refused
        store.insert(
            "sources", [(file.file, file.bytes, file.sha256, file.rows, file.comments, rejected, None)]
        )
    elif refused != refused_before:
        store.connection.execute(
            "update sources set rejected = rejected + ? where sha256 = ?",
            [refused - refused_before, file.sha256],
        )


def _count_rejects(
    store: Store, earlier: Sequence[SourceFile], fresh: Sequence[SourceFile], before: Mapped, after: Mapped
) -> None:
    """Note the rows that are refused now, and forget those that were."""
    refused = Counter(after.rejects)
    refused.subtract(before.rejects)
    gone = [reject for reject, times in refused.items() for _ in range(-times)]
    new = [reject for reject, times in refused.items() for _ in range(times)]
    (kept,) = store.row("select count(*) from rejects")
    mapped = kept - sum(len(file.rejects) for file in earlier)
    if mapped + len(new) > MAXIMUM_REJECTS_KEPT and gone:
        raise RebuildNeeded("of the rows that are refused not all are listed")
    for reject in gone:
        store.connection.execute(
            "delete from rejects where rowid = (select min(rowid) from rejects"
            " where file = ? and line = ? and reason = ? and text = '')",
            reject,
        )
    for file in fresh:
        store.insert("rejects", [(file.file, *reject) for reject in file.rejects])
    store.insert("rejects", [(*reject, "") for reject in new[: max(0, MAXIMUM_REJECTS_KEPT - mapped)]])
