"""
Turn source files into the jobs of a store: read, map, clean, count.

A `ConverterSpec` says how the lines of a format become a table ``source`` and which SELECT maps that to
jobs. Rows are processed in batches, so memory does not grow with the files, and every row is
accounted for: job, fold, reject or comment.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import duckdb

from gwa.errors import TraceError
from gwa.ingest import in_place
from gwa.ingest.blame import FaultySelectError, is_fault, reason
from gwa.ingest.checkpoint import Checkpoint, SourceFile
from gwa.ingest.cleaning import (
    are_fields,
    count_noted,
    insert_noting,
    needs_numbers,
    number_by_submission,
)
from gwa.ingest.clocks import define_clocks, note_repeated_hours
from gwa.ingest.contradictions import MEASURED, START
from gwa.ingest.counting import ZONE_REMARK, RowCounts, finish_store
from gwa.ingest.in_flight import DEFERRING, Crew, Member, in_order, possible_workers
from gwa.ingest.mapping import (
    JobQuery,
    MappingLoader,
    Refused,
    create_empty,
    grouping_megabytes,
    map_batch,
    map_whole_source,
)
from gwa.ingest.pieces import TablePieces
from gwa.ingest.source.head import FileHead, entries
from gwa.ingest.source.parts import drop_duplicates, missing_parts, sort_parts
from gwa.ingest.spec import ConverterSpec
from gwa.ingest.staging import (
    RECORD,
    STAGING,
    Loader,
    define_view,
    open_checkpoint,
    read_file,
    read_into_checkpoint,
    reading_progress,
    table_for,
)
from gwa.store.engines.config import MEMORY_OF_READING
from gwa.store.engines.duckdb import few_rows, limited_memory
from gwa.store.options import ReadOptions
from gwa.store.schema import BY_NAME, NAMES
from gwa.store.store import Store
from gwa.store.system import CLUSTER_KEY, Header, from_header, overridden
from gwa.util.filenames import as_text

EXTRA_COLUMNS: Final = (
    "source_id", "raw_id", "preceding_job", "think_time", "rows", "reject", "remarks", "file_no", "line",
    START, MEASURED,
)  # fmt: skip
"""
Columns that a SELECT may yield besides the fields: for tables beside ``jobs``, for the account, and to judge
a job by.

``remarks`` is a list of texts ``name: meaning`` on decisions made for a job; they are counted as repairs.
"""

MAXIMUM_KNOWN: Final = 200
"""The number of SELECTs of which it is kept what they yield."""

KNOWN_YIELDS: Final[dict[bytes, list[tuple[str, str]]]] = {}
"""What SELECTs yield, by their texts and what they are given; it is kept for the life of the process."""

NO_NUMBER: Final = re.compile(r"TIME|DATE|INTERVAL|BLOB|STRUCT|MAP|UNION|VARCHAR|BOOLEAN|.*\[\d*\]$")
"""Types whose values are no numbers."""

SMALL_SOURCE: Final = 1 << 20
"""Bytes of text up to which to plan what is asked of a source takes longer than to answer it."""

READING_MEGABYTES: Final = {"row": 200, "trace": 300}
"""Memory for the engine while a source is read, by scope: its rows are mapped meanwhile, or kept."""


@dataclass(frozen=True)
class Reading:
    """
    What is known before the *fresh* files of a trace are read behind the *earlier* ones in its *checkpoint*.

    *starts* are the times at which the times of each file count as 0, *pieces* hold rows by their table. What
    *is_small* stays in the engine.
    """

    checkpoint: Checkpoint | None
    earlier: Sequence[SourceFile]
    fresh: Sequence[FileHead]
    header: Header
    starts: Sequence[float]
    query: JobQuery
    pieces: Mapping[str, TablePieces]
    is_small: bool

    @property
    def files(self) -> list[FileHead]:
        """The heads of all files, in order."""
        return [*(file.head for file in self.earlier), *self.fresh]


def begin(store: Store, heads: Sequence[FileHead], spec: ConverterSpec, options: ReadOptions) -> Reading:
    """Prepare an empty *store* for the files behind *heads* and those stored in the checkpoint."""
    is_small = _is_small(heads, options)
    checkpoint = open_checkpoint(store, spec, options, is_small=is_small)
    stored = len(options.stored_hashes or ())
    earlier = checkpoint.files[:stored] if checkpoint else []
    fresh = files_to_read(store, [file.head for file in earlier], heads, options.unread)
    mark = spec.table_read.comment
    headers = [
        *(tuple(file.header) for file in earlier),
        *(entries(head.comments(mark)) if mark else () for head in fresh),
    ]
    files = [*(file.head for file in earlier), *fresh]
    stated = ((CLUSTER_KEY, options.cluster),) if options.cluster and fresh else ()
    header = overridden(_merge_headers([*headers, stated, tuple(spec.header.items())]), options.stated_system)
    store.set_header(header)
    starts = _start_times(files, headers, header) if spec.relative else [0.0] * len(files)
    clusters = _clusters([*(file.cluster for file in earlier), *[options.cluster] * len(fresh)])
    pieces = define_tables(store, spec)
    query = _prepare_jobs(store, spec, header, options, clusters)
    return Reading(checkpoint, earlier, fresh, header, starts, query, pieces, is_small)


def ingest(store: Store, heads: Sequence[FileHead], spec: ConverterSpec, options: ReadOptions) -> None:
    """
    Fill an empty *store* with the jobs of the files behind *heads*, and of files stored in the checkpoint.

    Raise `StrictError` at the first bad row if *options* are strict, `TraceError` if there are no jobs.
    """
    reading = begin(store, heads, spec, options)
    with few_rows(store.connection, options.engine) if reading.is_small else nullcontext():
        _fill(store, reading, spec, options)


def _is_small(heads: Sequence[FileHead], options: ReadOptions) -> bool:
    """Whether the files behind *heads* are whole in these, with little text, and their rows are not kept."""
    is_limited = options.engine is not None and options.engine.memory is not None
    if is_limited or options.rows_folder or any(len(head.data) >= head.size for head in heads):
        return False
    return sum(len(head.data) for head in heads) <= SMALL_SOURCE


def _fill(store: Store, reading: Reading, spec: ConverterSpec, options: ReadOptions) -> None:
    """Fill the *store* with the jobs of what *reading* is of."""

    def limited(megabytes: int) -> AbstractContextManager[None]:
        if reading.is_small:
            return nullcontext()
        return limited_memory(store.connection, options.engine, megabytes, MEMORY_OF_READING)

    checkpoint, fresh, files = reading.checkpoint, reading.fresh, reading.files
    query, starts, stored = reading.query, reading.starts, len(reading.earlier)
    needed, folded = READING_MEGABYTES[spec.scope], 0
    with limited(needed):
        is_for_it = spec.scope == "trace" or are_fields(query.columns)
        texts = in_place.plain_texts(fresh, spec, options) if is_for_it else None
        if texts and spec.scope == "row" and not map_in_place(store, spec, query, texts, starts, options):
            texts = None
        if texts:
            read: Sequence[SourceFile] = [text.file for text in texts]
            refused = in_place.define_texts(store, spec, texts) if spec.scope == "trace" else Refused()
        elif checkpoint:
            checkpoint.resume(fresh, stored, options.cluster)
            with crew_for(store, reading, spec, options) as crew:
                read_into_checkpoint(store, checkpoint, fresh, stored, spec, options, crew)
                refused = _map_checkpoint(store, checkpoint, spec, query, starts, crew, strict=options.strict)
            read = checkpoint.files
        else:
            read, refused = _read_into_engine(store, reading, spec, options)
    if spec.scope == "trace":
        rows = sum(file.rows for file in read)
        needed = max(needed, grouping_megabytes(rows)) + (in_place.megabytes_in_place(rows) if texts else 0)
    with limited(needed):
        if spec.scope == "trace":
            stored_rows = checkpoint.parquet_files("source") if checkpoint else []
            given = sum(file.rows - file.comments for file in read) if texts else None
            folded, refused = map_whole_source(
                store, query, files, stored_rows, strict=options.strict, given=given
            )
        elif needs_numbers(query.yields):
            number_by_submission(store)
        in_place.require_unchanged(texts)
        total = count_files(store, read, refused)
        total.folded += folded
        finish_store(store, files, spec.title, total, spec.steps, spec.needs)
        note_repeated_hours(store, sql_of(spec))


def _clusters(stated: Sequence[str | None]) -> dict[str | None, list[int]]:
    """Return the numbers of files by the cluster that is *stated* of each; none where none is stated."""
    numbers: dict[str | None, list[int]] = defaultdict(list)
    for number, cluster in enumerate(stated):
        numbers[cluster].append(number)
    return dict(numbers) if any(stated) else {}


def sql_of(spec: ConverterSpec) -> str:
    """Return the SQL by which times of a format become seconds."""
    return f"{spec.sql}\n{spec.preparation.select}" if spec.preparation else spec.select


def _read_into_engine(
    store: Store, reading: Reading, spec: ConverterSpec, options: ReadOptions
) -> tuple[list[SourceFile], Refused]:
    """
    Read files into the engine, and return them and how many of their rows are refused.

    In the scope ``row`` their rows are mapped batch by batch, else they stay, for `map_whole_source`.
    """
    heads, query, refused = reading.fresh, reading.query, Refused()

    def map_rows(at: Store) -> None:
        given = {"strict": options.strict, "keeps": reading.is_small}
        refused.update(map_batch(at, query, heads, cluster=options.cluster, **given))

    def read(number: int, head: FileHead, start: float) -> SourceFile:
        table = table_for(head, spec)[0]

        def hire(place: int) -> Loader:
            member = crew.member(place)
            set_file_variables(member.store, number, start)
            preparation = spec.preparation if table == "source" else None
            loading = (member.store, member.folder, member.pieces[table], preparation)
            if spec.scope == "trace":
                return Loader(*loading)
            return MappingLoader(*loading, map_rows, is_ahead=crew.size > 1 and query.maps_alone)

        return read_file(store, head, spec, options, bar, hire, crew.size)

    with (
        crew_for(store, reading, spec, options) as crew,
        crew.at_work(),
        reading_progress(heads, [], options) as bar,
    ):
        files = [read(number, *file) for number, file in enumerate(zip(heads, reading.starts, strict=True))]
    return files, refused


@contextmanager
def crew_for(store: Store, reading: Reading, spec: ConverterSpec, options: ReadOptions) -> Iterator[Crew]:
    """Yield what loads the batches of files, side by side where that is possible, until the ``with`` ends."""

    def prepare(other: Store) -> Mapping[str, TablePieces]:
        pieces = define_tables(other, spec)
        define_source(other, spec, reading.header, options)
        return pieces

    is_stored, is_deferring = reading.checkpoint is not None, spec.reader in DEFERRING
    needs_file = spec.preparation is not None and spec.preparation.needs_file
    limits = (store, reading.fresh, options.engine)
    has_blocks = is_deferring and not needs_file and (is_stored or spec.scope == "row")
    blocks = possible_workers(*limits) if has_blocks else 1
    files = possible_workers(*limits, by_file=True) if is_deferring and is_stored else 1
    size = max(blocks, files)
    crew = Crew(store, reading.pieces, size, prepare, by_file=files > blocks)
    try:
        yield crew
    finally:
        crew.leave()


def map_in_place(
    store: Store,
    spec: ConverterSpec,
    query: JobQuery,
    texts: Sequence[in_place.TextInPlace],
    starts: Sequence[float],
    options: ReadOptions,
) -> bool:
    """
    Map the lines of *texts* where they stand, each once; return whether all of them are jobs.

    If any line is not a job, nothing is mapped: the reader then says which lines are refused, and why.
    """
    for number, (text, start) in enumerate(zip(texts, starts, strict=True)):
        set_file_variables(store, number, start)
        in_place.define_texts(store, spec, [text], number)
        try:
            jobs = insert_noting(store, query.select_of(options.cluster), query.columns)
        except duckdb.Error as error:
            if not is_fault(error):
                raise
            jobs = -1
        if jobs != text.text.lines:
            store.connection.execute("truncate recorded")
            break
    TablePieces(store.connection, spec.source_table, f"{STAGING}source")
    count_noted(store, query.columns)
    return jobs == text.text.lines


def _map_checkpoint(
    store: Store,
    checkpoint: Checkpoint,
    spec: ConverterSpec,
    query: JobQuery,
    starts: Sequence[float],
    crew: Crew,
    *,
    strict: bool,
) -> Refused:
    """
    Let a *crew* map the rows of a checkpoint, a Parquet file each, and return how many are refused.

    In the scope ``trace`` only the views of all rows are defined, for `map_whole_source`.
    """
    refused, heads = Refused(), [file.head for file in checkpoint.files]
    for file in checkpoint.files:
        store.insert("rejects", [(file.file, *reject) for reject in file.rejects])
    if spec.scope == "trace":
        for table in spec.tables:
            define_view(store, table, checkpoint.parquet_files(table))
        return refused
    is_ahead = crew.size > 1 and query.maps_alone

    def map_rows(member: Member, item: tuple[int, Path]) -> None:
        number, path = item
        set_file_variables(member.store, number, starts[number])
        define_view(member.store, "source", [path])
        if is_ahead:
            member.store.connection.begin()
        cluster = checkpoint.files[number].cluster
        refused.update(map_batch(member.store, query, heads, strict=strict, cluster=cluster))

    def settle(member: Member, _: object) -> None:
        if is_ahead:
            member.store.connection.commit()

    paths = (
        (number, path) for number in range(len(starts)) for path in checkpoint.parquet_files("source", number)
    )
    with crew.at_work() if is_ahead else nullcontext():
        in_order(paths, crew.size if is_ahead else 1, crew.member, map_rows, settle)
    return refused


def set_file_variables(store: Store, number: int, start: float) -> None:
    """Let the SELECT know the number of the file whose rows it maps, and when its times count as 0."""
    store.connection.execute(f"set variable start = cast({start!r} as double)")
    store.connection.execute(f"set variable file_no = {number}")


def count_files(store: Store, read: Sequence[SourceFile], refused: Refused) -> RowCounts:
    """
    Describe the files that were *read* as the sources of the store, and return the counts of their rows.

    The rejects of a file are those of its reader and the rows that the SELECT *refused*. All rows of
    explaining files are folded into the jobs of others.
    """
    total = RowCounts()
    for number, file in enumerate(read):
        rejected = file.rejected + refused[number]
        folded = 0 if file.table == "source" else file.rows - file.comments - rejected
        row = (file.file, file.bytes, file.sha256, file.rows, file.comments, rejected, None)
        store.insert("sources", [row])
        total.add(RowCounts(file.rows, file.comments, rejected, folded))
    return total


def _merge_headers(headers: Sequence[Header]) -> Header:
    """Return the distinct lines of all headers, in order."""
    return tuple(dict.fromkeys(line for header in headers for line in header))


def _start_times(heads: Sequence[FileHead], headers: Sequence[Header], merged: Header) -> list[float]:
    """Return the time at which each file counts as 0; files that do not state it share that of the others."""
    stated = [from_header(header).start for header in headers]
    known = {start for start in stated if start is not None}
    if len(known) > 1 and None in stated:
        silent = heads[stated.index(None)].path
        message = f"{silent}: its header has no UnixStartTime, and the other files disagree on theirs"
        raise TraceError(message)
    shared = from_header(merged).start or 0.0
    return [shared if start is None or len(known) == 1 else start for start in stated]


def files_to_read(
    store: Store, earlier: Sequence[FileHead], heads: Sequence[FileHead], unread: Sequence[Path]
) -> list[FileHead]:
    """Return the files to read, in order; record duplicate files and missing parts as repairs."""
    distinct, duplicates = drop_duplicates(sort_parts(heads))
    for head, original in duplicates:
        meaning = f"{as_text(head.path.name)} is the same file as {as_text(original.path.name)}; read once"
        store.repaired("duplicate file", meaning, 1)
    for name, meaning, count in missing_parts([*earlier, *distinct], unread):
        store.repaired(name, meaning, count)
    return distinct


def define_tables(store: Store, spec: ConverterSpec) -> dict[str, TablePieces]:
    """Create the staging tables, without rows, and return what holds theirs in the engine, by table."""
    pieces = {
        name: TablePieces(store.connection, table_spec, f"{STAGING}{name}")
        for name, table_spec in spec.tables.items()
    }
    for name in pieces:
        define_view(store, name)
    if spec.preparation:
        TablePieces(store.connection, spec.preparation.record_table, RECORD)
    return pieces


def _prepare_jobs(
    store: Store,
    spec: ConverterSpec,
    header: Header,
    options: ReadOptions,
    clusters: Mapping[str | None, Sequence[int]],
) -> JobQuery:
    """Create the table of jobs from the columns that the SELECT yields."""
    yields = define_source(store, spec, header, options)
    _check_yields(yields, spec.scope)
    values = dict(reversed(header))
    constants = {name: values[key] for name, key in spec.from_header.items() if values.get(key)}
    query = JobQuery(spec.select, list(yields), spec.title, spec.joined_by, spec.beforehand, clusters)
    store.begin(["job_id", *query.columns], {**spec.constants, **constants})
    return query


def define_source(store: Store, spec: ConverterSpec, header: Header, options: ReadOptions) -> dict[str, str]:
    """Define all that the SELECT uses besides its tables, and return the types of what it yields."""
    database = store.connection
    system = from_header(header)
    remark = "" if system.zone else ZONE_REMARK
    given = {"zone": system.timezone.key, **options.format_options}
    variables = {"start": 0.0, "file_no": 0, "zone_remark": remark, **given}
    for name, value in variables.items():
        database.execute(f"set variable {name} = $value", {"value": value})
    define_clocks(database)
    try:
        for head, body in spec.functions.items():
            database.execute(f"create temp macro {head} as ({body}\n)")
        create_empty(store, spec.beforehand)
        described = _described(store, spec, given)
    except duckdb.Error as error:
        raise FaultySelectError(reason(error)) from error
    yields = dict(described)
    if len(yields) < len(described):
        twice = next(name for name, _ in described if [known for known, _ in described].count(name) > 1)
        raise FaultySelectError(f"its SELECT yields {twice} twice", twice)
    return yields


def _described(store: Store, spec: ConverterSpec, given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """
    Return the names and the types of what the SELECT yields, each as often as it does.

    They follow from the texts of the definition and from the values that it is *given*, and are asked for
    once: to bind the SELECT takes up to a tenth of the time in which a small log is opened.
    """
    texts = (spec.select, spec.functions, spec.tables, spec.beforehand, spec.preparation, given)
    key = sha256(repr(texts).encode(errors="surrogatepass")).digest()
    if key not in KNOWN_YIELDS:
        if len(KNOWN_YIELDS) >= MAXIMUM_KNOWN:
            KNOWN_YIELDS.clear()
        KNOWN_YIELDS[key] = [(name, kind) for name, kind, *_ in store.rows(f"describe {spec.select}")]
    return KNOWN_YIELDS[key]


def _check_yields(yields: Mapping[str, str], scope: str) -> None:
    """Raise `FaultySelectError` for columns of a SELECT, by their types, that are not those of jobs."""
    for name, kind in yields.items():
        if name not in {*NAMES, *EXTRA_COLUMNS}:
            near = get_close_matches(name, [*NAMES, *EXTRA_COLUMNS], 3)
            hint = f", the nearest are {', '.join(near)}" if near else ""
            raise FaultySelectError(f"its SELECT yields '{name}', which is not a field{hint}", name)
        if name in BY_NAME and not BY_NAME[name].is_text and NO_NUMBER.match(kind):
            raise FaultySelectError(f"its {name} is {kind}, expected a number (of seconds: epoch(…))", name)
    if "reject" in yields and not {"file_no", "line"} <= yields.keys():
        also = "" if scope == "trace" else ', which a source has where scope = "trace"'
        raise FaultySelectError(
            f"it yields reject, so it must yield file_no and line as well{also}", "reject"
        )
