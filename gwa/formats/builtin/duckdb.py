"""
The store: a DuckDB file with all that gwa knows of a trace, opened without reading it through.

Other programs see all fields in its view ``jobs``, and beside it ``header``, ``rejects``,
``repairs`` and ``provenance``. It is of DuckDB's storage version 1.0.0, which older ones read too.
"""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import OutputError, TraceError
from gwa.formats.base import WORDS, Format, new_store, refuse_requests, require_match
from gwa.formats.builtin._columns import is_packed, refuse_packed_name
from gwa.ingest.cleaning import STATUS_CONDITION, cut_name
from gwa.ingest.source.head import FileHead
from gwa.store.account import Account
from gwa.store.metadata import provenance
from gwa.store.options import ReadOptions
from gwa.store.repairs import LONG_NAME
from gwa.store.requests import RequestStore
from gwa.store.schema import FIELDS, MAXIMUM_NAME, Field
from gwa.store.store import MAGIC, TABLES, HoldsRequestsError, Store
from gwa.store.system import overridden
from gwa.store.versions import fields_known
from gwa.util.atomic import whole

MAGIC_POSITION: Final = slice(8, 8 + len(MAGIC))
"""The position of the magic bytes in a DuckDB file."""

FIRST_BLOCK_OFFSET: Final = 3 * 4096
"""The offset of the first block in a DuckDB file."""

DENSE: Final = 64
"""The range of job numbers, as a multiple of their count, up to which a bit for each takes little room."""

WHOLE_TABLES: Final = (
    "select count(*) from header where key is null or value is null",
    "select count(*) from provenance where key is null or value is null",
    "select count(*) from repairs where name is null or meaning is null or not jobs > 0",
    "select count(*) from sources where file is null or least(bytes, rows, comments, rejected, skipped) < 0",
    "select count(*) from dependencies where job_id is null or not isfinite(think_time)",
)
"""Queries for lines that lack what every line has, or that hold numbers which count nothing."""

BATCH_ROWS: Final = 100_000
"""Rows held in memory at a time while they are copied between stores."""


def mismatch(head: FileHead) -> str | None:
    """Return the reason why *head* is not that of a store, or None."""
    if head.data[MAGIC_POSITION] != MAGIC:
        return "is not a DuckDB file"
    if is_packed(head):
        return "is a compressed DuckDB file: unpack it first"
    return None


def read(heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Open a store, or copy it to the target, or to scratch space."""
    require_match(heads, mismatch)
    if len(heads) > 1:
        message = f"{heads[1].path}: cannot join several stores, expected one: convert their logs together"
        raise TraceError(message)
    try:
        store = Store.open(heads[0].path, options.engine)
    except HoldsRequestsError:
        refuse_requests(heads[0].path, options)
        return _read_requests(heads[0].path, options)
    try:
        _refuse_truncated(store, heads[0].path)
        _refuse_impossible(store, heads[0].path)
        _cut_long_names(store)
        _believe_no_other_account(store, heads[0].path)
        store.remark_lacking()
        if options.system:
            # This table takes precedence over the one in the file, which stays unchanged.
            store.connection.execute("create temp table header as from header")
            store.set_header(overridden(store.header, options.system))
        return _copy_to_target(store, options) if options.is_copied else store
    except BaseException:
        store.close()
        raise


def _read_requests(path: Path, options: ReadOptions) -> Store:
    """Open a store of requests, or copy it to the target, or to scratch space."""
    if options.system:
        raise TraceError(f"{path}: holds {WORDS[RequestStore.holds]}, which no system file describes")
    store = RequestStore.open(path, options.engine)
    if not options.is_copied:
        return store
    with store:
        copy = RequestStore.create(options.target, options.engine)
        try:
            _copy_requests(store, copy)
        except BaseException:
            copy.close()
            raise
    return copy


def _copy_requests(source: Store, target: Store) -> None:
    """Copy all tables to an empty store of requests."""
    for name in source.tables:
        order = "request_id" if name == "requests" else "all"
        _copy_rows(source, target, f"from {name} order by {order}", name)


def _refuse_truncated(store: Store, path: Path) -> None:
    """Raise `TraceError` for a truncated file, which DuckDB would detect only during a query."""
    ((last,),) = store.rows("select max(block_id) from pragma_storage_info('recorded')")
    ((size,),) = store.rows(
        "select block_size from pragma_database_size() where database_name not in ('temp')"
    )
    if last is not None and path.stat().st_size < FIRST_BLOCK_OFFSET + (last + 1) * size:
        raise TraceError(f"{path}: is cut off: jobs at its end are missing")


def _refuse_impossible(store: Store, path: Path) -> None:
    """
    Raise `TraceError` for values that no field has, which another program wrote: nan, say, or two equal jobs.

    One scan finds the extremes; nan is above all numbers.
    """
    names = {
        name
        for (name,) in store.rows("select column_name from duckdb_columns() where table_name = 'recorded'")
    }
    fields = [field for field in FIELDS if field.name in names and not field.is_text]
    extremes = ", ".join(f"min({field.name}), max({field.name})" for field in fields)
    jobs, numbered, *values = store.row(f"select count(*), count(job_id), {extremes} from recorded")
    faults = [
        f"a job's {field.name} is {value}, expected {_range(field)}"
        for field, *ends in zip(fields, values[::2], values[1::2], strict=True)
        for value in ends
        if value is not None and not field.low <= value <= (inf if field.high is None else field.high)
    ]
    faults += [f"{jobs - numbered:,} jobs have no number"] if numbered < jobs else []
    faults += [] if faults else _faults_of_values(store, jobs)
    if faults:
        raise TraceError(f"{path}: {faults[0]}: convert its log again")


def _cut_long_names(store: Store) -> None:
    """Show names that are too long as they are cut when a log is read; the file stays as it is."""
    recorded = store.recorded
    names = [field.name for field in FIELDS if field.name in recorded and field.is_name]
    if not names:
        return
    statistics = store.rows(f"select {', '.join(f'stats({name})' for name in names)} from recorded limit 1")
    lengths = [known["max_string_length"] for known in statistics[0]] if statistics else []
    long = [name for name, length in zip(names, lengths, strict=False) if length > MAXIMUM_NAME]
    if not long:
        return
    cases = [
        f"case when strlen({name}) > {MAXIMUM_NAME} then {cut_name(name)} else {name} end as {name}"
        for name in long
    ]
    for name in long:
        (cut,) = store.row(f"select count(*) from recorded where strlen({name}) > {MAXIMUM_NAME}")
        store.repaired("long name", LONG_NAME.format(field=name), cut)
    (_, jobs), *_ = store.views()
    store.show(f"select * replace ({', '.join(cases)}) from ({jobs})")


def _range(field: Field) -> str:
    """Return in words what numbers a field has."""
    return f"{field.low:g} to {field.high:g}" if field.high is not None else f"{field.low:g} or more"


def _faults_of_values(store: Store, jobs: int) -> list[str]:
    """Return what is wrong with job numbers, outcomes, and the tables beside the jobs."""
    low, high = store.row("select min(job_id), max(job_id) from recorded")
    is_dense = jobs and high - low < DENSE * jobs
    distinct = f"bit_count(bitstring_agg(job_id, {low}, {high}))" if is_dense else "count(distinct job_id)"
    queries = {
        f"select {jobs} - {distinct} from recorded": "job numbers stand for several jobs",
        f"select count(*) from jobs where not ({STATUS_CONDITION})": "jobs have a status that is none",
        **dict.fromkeys(WHOLE_TABLES, "lines beside the jobs are no more than half there"),
    }
    return [f"{count:,} {words}" for query, words in queries.items() if (count := store.row(query)[0])]


def _believe_no_other_account(store: Store, path: Path) -> None:
    """
    Put a count of the jobs in the place of an account that is not that of these jobs and these sources.

    It may be that of a whole trace, of which a part was saved. Raise `TraceError` for one that does not add
    up, which only another program can have written.
    """
    account, (jobs,) = store.account, store.row("select count(*) from recorded")
    if not account.adds_up:
        raise TraceError(f"{path}: its account of rows does not add up: convert its log again")
    sources, *counts = store.row(
        "select count(*), coalesce(sum(rows), 0), coalesce(sum(comments), 0), coalesce(sum(rejected), 0),"
        " coalesce(sum(skipped), 0) from sources"
    )
    stated = [account.rows, account.comments, account.rejected, account.skipped]
    if account.jobs != jobs or (sources and stated != counts):
        # This table takes precedence over the one in the file, which stays unchanged.
        store.connection.execute("create temp table provenance as from provenance")
        store.set_account(Account(jobs, jobs, 0, 0, 0))


def _copy_to_target(store: Store, options: ReadOptions) -> Store:
    """Return a copy of *store* at the target, and close the original."""
    with new_store(options) as copy:
        _copy(store, copy)
    store.close()
    return copy


def _copy(source: Store, target: Store) -> None:
    """Copy all tables to an empty store; fields that no job records, or that are constant, are not stored."""
    recorded, constants = _varying_and_constant(source)
    target.begin(recorded, constants)
    order = "order by submit_time nulls first, job_id"
    _copy_rows(source, target, f"select {', '.join(recorded)} from jobs {order}", "recorded")
    for name in TABLES.keys() - {"provenance"}:
        _copy_rows(source, target, f"from {name} order by all", name)
    target.note(provenance(source) | fields_known(source.provenance))


def _varying_and_constant(store: Store) -> tuple[list[str], dict[str, str]]:
    """Return the recorded fields whose values vary, and the texts of those that are the same in all jobs."""
    jobs = int(store.row("select count(*) from jobs")[0])
    texts = [field.name for field in FIELDS if field.is_text]
    extremes = store.row(f"select {', '.join(f'min({name}), max({name})' for name in texts)} from jobs")
    constants = {
        name: low
        for name, low, high in zip(texts, extremes[::2], extremes[1::2], strict=True)
        if low is not None and low == high and store.known[name] == jobs
    }
    names = [field.name for field in FIELDS if store.known[field.name] and field.name not in constants]
    return names if "job_id" in names else ["job_id", *names], constants


def _copy_rows(source: Store, target: Store, select: str, table: str) -> None:
    """Append the rows of *select* to a table of *target*, a batch at a time."""
    reader = source.connection.sql(select).to_arrow_reader(BATCH_ROWS)
    target.connection.register("batches", reader)
    try:
        target.connection.execute(f"insert into {table} select * from batches")
    finally:
        target.connection.unregister("batches")
        reader.close()


def write(store: Store, path: Path) -> None:
    """Write a copy of *store*."""
    refuse_packed_name(path)
    log = Path(f"{path}.wal")
    if log.exists():
        raise OutputError(f"{path}: another program has it open, or broke off: there is a {log.name}")
    with whole(path) as part:
        try:
            with (RequestStore if store.holds == RequestStore.holds else Store).create(part) as copy:
                (_copy_requests if store.holds == RequestStore.holds else _copy)(store, copy)
                copy.flush()
        except duckdb.Error as error:
            raise OutputError(f"{path}: cannot be written: {str(error).splitlines()[0]}") from error


FORMAT = Format(
    name="duckdb",
    title="gwa's store",
    names=("*.duckdb",),
    notes=__doc__ or "",
    export="gwa convert LOG -o trace.duckdb",
    mismatch=mismatch,
    read=read,
    write=write,
    holds=(Store.holds, RequestStore.holds),
)
