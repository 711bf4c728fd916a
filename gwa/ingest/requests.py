"""
Turn source files into the requests of a store: read, map, clean, count.

The files are read as those of jobs are, batch by batch, and every row is accounted for: request, reject or
comment. The SELECT of a format yields values by the names of fields, of any type; what is no value of its
field is missing, and counted. A row without a time is refused, since it tells nothing of arrivals.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from gwa.errors import NothingReadError, TraceError
from gwa.ingest import pipeline
from gwa.ingest.blame import FaultySelectError
from gwa.ingest.cleaning import cut_name
from gwa.ingest.counting import NO_ZONE, note_cut_files
from gwa.ingest.mapping import JobQuery, MappingLoader, Refused, blaming, move_rejects
from gwa.ingest.source.head import FileHead, entries
from gwa.ingest.spec import ConverterSpec
from gwa.ingest.staging import read_file, reading_progress
from gwa.store.account import Account
from gwa.store.engines.config import MEMORY_OF_READING
from gwa.store.engines.duckdb import limited_memory
from gwa.store.options import ReadOptions
from gwa.store.repairs import INVALID_VALUE, LONG_NAME
from gwa.store.requests import REQUEST_FIELDS, REQUEST_NAMES, RequestStore
from gwa.store.schema import EARLIEST_UNIX_TIME, LATEST, MAXIMUM_NAME, Field
from gwa.store.store import Store
from gwa.store.system import ABSOLUTE, ASSUMED_UTC, overridden

NEEDED: Final = ("submit_time", "file_no", "line")
"""What every SELECT yields: the time of a request, and where its row stands."""

ENCODING: Final = "Encoding"
"""The header line that says how the names of a file are written, and nothing of its requests."""

LINKS: Final = ("request", "parent")
"""Names of a request and of the one before it in its session, from which sessions are made."""

EXTRA: Final = ("file_no", "line", "reject", "remarks", *LINKS)
"""What a SELECT may yield beside the fields."""

NO_PARENT: Final = "-1"
"""What logs name as the parent of the first request of a session."""

DOUBLINGS: Final = 40
"""Each reaches twice as far back in a session: enough for any, and an end for links that go in a circle."""

FURTHER: Final = """
select
    link.request, coalesce(up.first, link.first) as first,
    coalesce(up.first <> link.first, false) as moved
from links as link left join links as up on up.request = link.first
"""
"""Of each request the first one of its session, as far as is known, and whether that is a new one."""

UNTIMED: Final = "its time is missing, or is none"
"""Why a row is refused that says nothing of when."""

MAPPED: Final = f"""
select * replace (case when (try_cast(submit_time as double) between 0 and {LATEST!r}) is not true
    then coalesce(reject, '{UNTIMED}') else reject end as reject)
from (select *{{lacking}} from ({{select}}\n))
"""


def read_requests(heads: Sequence[FileHead], spec: ConverterSpec, options: ReadOptions) -> RequestStore:
    """
    Return a store with the requests of the files behind *heads*.

    Raise `StrictError` at the first bad row if *options* are strict, `TraceError` if there are no requests.
    """
    if options.appends or options.stored_hashes is not None:
        raise TraceError(
            f"{heads[0].path}: requests cannot be appended to a store: convert all their logs together"
        )
    store = RequestStore.create(options.target, options.engine)
    try:
        _fill(store, heads, spec, options)
    except BaseException:
        store.close()
        raise
    return store


def _fill(store: RequestStore, heads: Sequence[FileHead], spec: ConverterSpec, options: ReadOptions) -> None:
    """Read, map and clean the rows of files, then keep them in the order of time."""
    files = pipeline.files_to_read(store, [], heads, options.unread)
    mark = spec.source_table.comment
    said = (line for head in files for line in (entries(head.comments(mark)) if mark else ()))
    store.set_header(overridden(tuple(dict.fromkeys((*said, *spec.header.items()))), options.stated_system))
    pieces = pipeline.define_tables(store, spec)["source"]
    query = _query(store, spec, options)
    refused, read = Refused(), []

    def map_rows(_: Store) -> None:
        refused.update(_map_batch(store, query, files, strict=options.strict))

    loader = MappingLoader(store, store.scratch, pieces, None, map_rows)

    with (
        limited_memory(
            store.connection, options.engine, pipeline.READING_MEGABYTES["row"], MEMORY_OF_READING
        ),
        reading_progress(files, [], options) as bar,
    ):
        for number, head in enumerate(files):
            pipeline.set_file_variables(store, number, 0.0)
            read.append(read_file(store, head, spec, options, bar, lambda _: loader))
    total = pipeline.count_files(store, read, refused)
    _require_requests(store, heads, spec.title, total.rows, total.rejected)
    _join_sessions(store)
    fields = ", ".join(REQUEST_NAMES[1:])
    store.connection.execute(
        f"insert into requests select row_number() over (), {fields}"
        " from (from staged order by submit_time, file_no, line)"
    )
    store.connection.execute("drop table staged")
    (requests,) = store.row("select count(*) from requests")
    note_cut_files(store)
    _merge_repairs(store)
    _mark_unix_times(store)
    store.set_account(Account(total.rows, requests, total.folded, total.rejected, total.comments))


def _query(store: RequestStore, spec: ConverterSpec, options: ReadOptions) -> JobQuery:
    """Create the tables to fill; raise `FaultySelectError` if the SELECT yields what no request has."""
    yields = pipeline.define_source(store, spec, store.header, options)
    known = (*REQUEST_NAMES[1:], *EXTRA)
    for name in yields:
        if name not in known:
            near = ", ".join(get_close_matches(name, known, 3))
            hint = f", the nearest are {near}" if near else ""
            raise FaultySelectError(
                f"its SELECT yields '{name}', which is not a field of requests{hint}", name
            )
    if lacking := [name for name in NEEDED if name not in yields]:
        raise FaultySelectError(f"its SELECT lacks {lacking[0]}, which it must yield of requests")
    names = [f"{field.name} {field.sql}" for field in REQUEST_FIELDS[1:]]
    columns = ", ".join([*names, *(f"{name} varchar" for name in LINKS)])
    store.connection.execute(f"create temp table staged (file_no integer, line bigint, {columns})")
    return JobQuery(spec.select, list(yields), spec.title)


def _map_batch(store: RequestStore, query: JobQuery, heads: Sequence[FileHead], *, strict: bool) -> Refused:
    """Map the rows that are in the table ``source`` now, and return how many of each file are refused."""
    lacking = "" if "reject" in query.yields else ", cast(null as varchar) as reject"
    with blaming(store, query, heads):
        store.connection.execute(
            f"create or replace temp table mapped as {MAPPED.format(lacking=lacking, select=query.select)}"
        )
    refused = move_rejects(store, heads, strict=strict)
    fields = [field for field in REQUEST_FIELDS if field.name in query.yields]
    _count_repairs(store, fields, has_remarks="remarks" in query.yields)
    links = (f"nullif(trim(cast({name} as varchar)), '') as {name}" for name in LINKS if name in query.yields)
    values = ", ".join([*(f"{_cleaned(field)} as {field.name}" for field in fields), *links])
    store.connection.execute(f"insert into staged by name select file_no, line, {values} from mapped")
    return refused


def _join_sessions(store: RequestStore) -> None:
    """
    Name the session of each request by the first one of it, where requests name those before them.

    A request that the log does not have, but names, is the first of those that name it.
    """
    connection = store.connection
    (linked,) = store.row("select count(*) from staged where request is not null")
    if not linked:
        return
    connection.execute(
        "create temp table links as select request,"
        f" coalesce(min(nullif(parent, '{NO_PARENT}')), request) as first"
        " from staged where request is not null group by request"
    )
    for _ in range(DOUBLINGS):
        connection.execute(f"create or replace temp table further as {FURTHER}")
        connection.execute("create or replace temp table links as select request, first from further")
        if not store.row("select bool_or(moved) from further")[0]:
            break
    connection.execute(
        "update staged set session_id = coalesce(session_id, links.first)"
        " from links where links.request = staged.request"
    )
    connection.execute("drop table links")
    connection.execute("drop table further")


def _given(field: Field) -> str:
    """Return the text that a source gives as a value; NULL where it gives nothing."""
    return f"nullif(trim(cast({field.name} as varchar)), '')"


def _is_valid(field: Field) -> str:
    """Return the condition under which what a source gives is a value of *field*; NULL counts as none."""
    if field.low is None:
        return f"try_cast({_given(field)} as {field.sql}) is not null"
    number = f"try_cast({_given(field)} as double)"
    whole = f" and {number} = trunc({number})" if field.is_whole else ""
    return f"({number} between {field.low!r} and {field.high!r}{whole}) is true"


def _cleaned(field: Field) -> str:
    """Return the expression for the value of *field*, NULL for what is none."""
    if field.is_name:
        text = _given(field)
        return f"case when strlen({text}) > {MAXIMUM_NAME} then {cut_name(text)} else {text} end"
    typed = f"try_cast({_given(field)} as double)" if field.low is not None else _given(field)
    return f"case when {_is_valid(field)} then cast({typed} as {field.sql}) end"


def _count_repairs(store: RequestStore, fields: Sequence[Field], *, has_remarks: bool) -> None:
    """Count the values that are none of their field, names that are cut, and what the SELECT remarks."""
    conditions = {
        field.name: f"strlen({_given(field)}) > {MAXIMUM_NAME}"
        if field.is_name
        else f"{_given(field)} is not null and not {_is_valid(field)}"
        for field in fields
    }
    counts = ", ".join(f"count(*) filter (where {condition})" for condition in conditions.values())
    for field, count in zip(fields, store.row(f"select {counts} from mapped"), strict=True):
        name, meaning = ("long name", LONG_NAME) if field.is_name else ("invalid value", INVALID_VALUE)
        store.repaired(name, meaning.format(field=field.name), count)
    if has_remarks:
        store.connection.execute(
            "insert into repairs"
            " select split_part(remark, ': ', 1), remark[instr(remark, ': ') + 2 :], count(*)"
            " from (select unnest(remarks) as remark from mapped) where remark is not null group by remark"
        )


def _require_requests(
    store: RequestStore, heads: Sequence[FileHead], expected: str, rows: int, rejected: int
) -> None:
    """Raise `NothingReadError` if there are no requests, with what became of the rows."""
    if store.row("select count(*) from staged")[0]:
        return
    first = store.rows("select line, reason from rejects order by file, line limit 1")
    outcome = f"{rejected} of {rows} lines were refused" if rejected else f"none of its {rows} lines is one"
    detail = f", the first at line {first[0][0]}: {first[0][1]}" if first else ""
    raise NothingReadError(f"{heads[0].path}: no request in it: {outcome}{detail}; expected {expected}")


def _merge_repairs(store: RequestStore) -> None:
    """Add up the counts of the same repair in different batches."""
    merged = store.rows("select name, meaning, sum(requests)::bigint from repairs group by all order by all")
    store.connection.execute("truncate repairs")
    store.insert("repairs", merged)


def _mark_unix_times(store: RequestStore) -> None:
    """State in the header that times are Unix times if they can be nothing else, and nothing says it."""
    earliest, requests = store.row("select min(submit_time), count(*) from requests")
    store.set_header(tuple(line for line in store.header if line[0] != ENCODING))
    if earliest >= EARLIEST_UNIX_TIME and dict(store.header).get("Times") not in {ABSOLUTE, ASSUMED_UTC}:
        (local,) = store.row(f"select coalesce(sum(requests), 0) from repairs where name = '{NO_ZONE}'")
        times = ASSUMED_UTC if 2 * local > requests else ABSOLUTE
        store.set_header((("Times", times), *(line for line in store.header if line[0] != "Times")))
