"""
Map rows of a source to jobs with the SELECT of a format: a batch at a time, or a whole source.

A whole source that is too large to be grouped within the memory limit is mapped in parts, where its
definition says what the rows of a job have in common.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Final, TypeAlias

import duckdb

from gwa.errors import RowsLostError, StrictError
from gwa.ingest import cleaning
from gwa.ingest.batch import Batch
from gwa.ingest.blame import blamed, is_fault
from gwa.ingest.contradictions import START
from gwa.ingest.counting import MAXIMUM_REJECTS_KEPT
from gwa.ingest.jobstats import define_jobstats, uses_jobstats
from gwa.ingest.pieces import TablePieces
from gwa.ingest.row_order import in_order, total_order
from gwa.ingest.source.head import FileHead
from gwa.ingest.spec import ALWAYS, MadeTable, Preparation
from gwa.ingest.staging import STAGING, Loader, define_view, part_condition
from gwa.store.engines.config import parse_size
from gwa.store.engines.duckdb import literal
from gwa.store.store import Store
from gwa.util.filenames import as_text

Refused: TypeAlias = Counter[int]
"""How many rows of each file, by its number, a SELECT refused."""

BYTES_OF_ROW: Final = 75
"""
The engine's memory for each row that is grouped: states of texts and lists are not spilled to disk.

Ten million events of PBS, the format with the largest states, fit into 640 MB, but not into 430 MB.
"""

BYTES_BESIDE_ROWS: Final = 120_000_000
"""The engine's memory for blocks that are read, joined and written meanwhile, however few the rows are."""


CLUSTER: Final = "last_run_site_id"
"""The field of the cluster of a job."""

ROWS_KEPT: Final = 2_000
"""
The number of rows of a source that are copied into the engine before tables are made of them.

Else each of these opens the files again, which takes longer than to read so few rows.
"""


@dataclass(frozen=True)
class JobQuery:
    """
    The SELECT of the format *title* over the source, and the columns that it *yields*.

    *clusters* are those that files were stated to be of, with the numbers of their files. Jobs of one number
    on two clusters are two, so rows of each are mapped by themselves.


    Rows for which the expression *joined_by* differs are never of one job; empty where that is not known. The
    tables to make *beforehand* exist, and are empty.
    """

    select: str
    yields: Sequence[str]
    title: str
    joined_by: str = ""
    beforehand: Mapping[str, MadeTable] = field(default_factory=dict)
    clusters: Mapping[str | None, Sequence[int]] = field(default_factory=dict)

    @property
    def maps_alone(self) -> bool:
        """Whether what becomes of some rows depends on no others, and they are mapped in a single pass."""
        return not {"reject", START} & {*self.yields} and not cleaning.needs_numbers(self.yields)

    @property
    def columns(self) -> list[str]:
        """The columns of jobs, with that of their cluster where it is stated of some."""
        return list(dict.fromkeys([*self.yields, *([CLUSTER] if self.clusters else [])]))

    def select_of(self, cluster: str | None) -> str:
        """Return the SELECT for the rows of files that were stated to be of a *cluster*, None for others."""
        if not self.clusters:
            return self.select
        stated = "cast(null as varchar)" if cluster is None else literal(cluster)
        if CLUSTER in self.yields:
            return f"select * replace (coalesce({CLUSTER}, {stated}) as {CLUSTER}) from ({self.select}\n)"
        return f"select *, {stated} as {CLUSTER} from ({self.select}\n)"


def map_batch(
    store: Store,
    query: JobQuery,
    heads: Sequence[FileHead],
    *,
    strict: bool,
    cluster: str | None = None,
    keeps: bool = False,
) -> Refused:
    """
    Map the rows that are in the table ``source`` now, and return how many are refused.

    All of them are of files that were stated to be of a *cluster*, if of any. What the SELECT yields is kept
    if it *keeps* it or judges jobs, else computed as often as it is read, which takes less of many rows.
    """
    select = query.select_of(cluster)
    with blaming(store, query, heads), in_order(store.connection, select):
        if not keeps and not {"reject", START} & {*query.yields}:
            cleaning.insert_jobs(store, f"({select})", query.columns)
            return Refused()
        store.connection.execute(f"create or replace temp table mapped as {select}")
        refused = move_rejects(store, heads, strict=strict) if "reject" in query.yields else Refused()
        cleaning.insert_jobs(store, "mapped", query.columns)
    store.connection.execute("drop table mapped")
    return refused


class MappingLoader(Loader):
    """
    A loader that makes jobs of the rows of each batch by *map_rows*, and forgets the rows.

    It does so in the order of the batches or, if it is *ahead*, as soon as each is loaded, in a transaction
    that is committed in this order.
    """

    def __init__(
        self,
        store: Store,
        folder: Path,
        pieces: TablePieces,
        preparation: Preparation | None,
        map_rows: Callable[[Store], object],
        *,
        is_ahead: bool = False,
    ) -> None:
        super().__init__(store, folder, pieces, preparation)
        self._rows, self._map_rows, self._is_ahead = pieces, map_rows, is_ahead

    def load(self, batch: Batch) -> None:
        """Append the rows of *batch*, and map them if that is done ahead."""
        super().load(batch)
        if self._is_ahead:
            self.store.connection.begin()
            self._map()

    def settle(self) -> int:
        """Map the rows, or commit the jobs made ahead; return how many rows there are beyond those read."""
        if self._is_ahead:
            self.store.connection.commit()
        else:
            self._map()
        # Only now: DuckDB 2.0 mixes up rows of a table that is dropped in the transaction that reads it.
        self._rows.clear()
        return super().settle()

    def _map(self) -> None:
        if self._rows.count:
            self._map_rows(self.store)


@contextmanager
def blaming(store: Store, query: JobQuery, heads: Sequence[FileHead]) -> Iterator[None]:
    """Make of what the engine says of the SELECT an error that names the column and the row."""
    try:
        yield
    except duckdb.Error as error:
        if not is_fault(error):
            raise
        with suppress(duckdb.TransactionException):  # it has failed, and would answer nothing more
            store.connection.rollback()
        raise blamed(store, query.select, query.yields, heads, error) from error


def grouping_megabytes(rows: int) -> int:
    """
    Return the engine's memory in which that number of *rows* of a source are grouped as a whole.

    With less, a join writes the rows themselves to disk, which takes longer than all of the rest.
    """
    return ceil((BYTES_BESIDE_ROWS + rows * BYTES_OF_ROW) / 1e6)


def map_whole_source(
    store: Store,
    query: JobQuery,
    heads: Sequence[FileHead],
    files: Sequence[Path],
    *,
    strict: bool,
    given: int | None = None,
) -> tuple[int, Refused]:
    """
    Map a whole source, rows of which are in Parquet *files*, to jobs; return how many are folded and refused.

    *given* is the number of its rows where it is known. Raise `TraceError` if any is lost.
    """
    yields = query.columns
    given = store.row("select count(*) as n from source")[0] if given is None else given
    if files and query.beforehand and given <= ROWS_KEPT:
        store.connection.execute(f"create or replace temp table {STAGING}kept as from source")
        store.connection.execute(f"create or replace temp view source as from {STAGING}kept")
    with blaming(store, query, heads):
        _create_mapped(store, query, files, parts=_part_count(store, query, given))
    rows = "cast(sum(rows) as bigint)" if "rows" in yields else "count(*)"
    covered, mapped = store.row(f"select {rows}, count(*) from mapped")
    if (covered or 0) != given:
        raise RowsLostError(
            f"{heads[0].path}: {given} rows were read, but {covered or 0} became jobs, or were folded or"
            " refused"
        )
    refused = move_rejects(store, heads, strict=strict) if "reject" in yields else Refused()
    if cleaning.needs_numbers(yields):
        cleaning.insert_jobs(store, cleaning.with_row_numbers("mapped"), ["job_id", *yields])
    else:
        cleaning.insert_jobs(store, _in_order_of_numbers(store, "mapped", yields), yields)
    store.connection.execute("drop table mapped")
    return given - mapped, refused


def _in_order_of_numbers(store: Store, table: str, columns: Sequence[str]) -> str:
    """Return the relation of the jobs of a new *table* in the order of their numbers, if they have any."""
    if "job_id" not in columns or cleaning.have_rising_numbers(store, table):
        return table
    return f"(from {table} order by {total_order(['job_id'], columns)})"


def create_empty(store: Store, tables: Mapping[str, MadeTable]) -> None:
    """Create the *tables* that are made of a source before it is mapped, without rows."""
    for name, table in tables.items():
        columns = ", ".join(f"{column} {kind}" for column, kind in table.columns.items())
        store.connection.execute(f"create temp table {name} ({columns})")


def clear(store: Store, tables: Mapping[str, MadeTable]) -> None:
    """Drop the rows of the *tables* that are made of a source before it is mapped."""
    for name in tables:
        store.connection.execute(f"truncate {name}")


def _fill(store: Store, tables: Mapping[str, MadeTable]) -> None:
    """Make the *tables* of the rows that are in ``source`` now, where there is a need for them."""
    for name, table in tables.items():
        if table.when == ALWAYS or store.row(table.when)[0]:
            if uses_jobstats(table.select):
                define_jobstats(store.connection)
            store.connection.execute(f"insert into {name} {table.select}")


def _part_count(store: Store, query: JobQuery, rows: int) -> int:
    """Return the number of parts in which a number of *rows* is mapped."""
    (limit,) = store.row("select current_setting('memory_limit')")
    memory = max(parse_size(limit) - BYTES_BESIDE_ROWS, BYTES_BESIDE_ROWS // 10)
    return ceil(rows * BYTES_OF_ROW / memory) if query.joined_by else 1


def _create_mapped(store: Store, query: JobQuery, files: Sequence[Path], *, parts: int) -> None:
    """
    Create the table ``mapped``.

    It is read twice and dropped, so not worth compressing; DuckDB spills it to disk if memory is short.
    """
    database, select = store.connection, query.select
    if parts > 1 or query.clusters:
        _map_parts(store, query, files, parts)
        select = "from mapped_part"
    else:
        _fill(store, query.beforehand)
    if cleaning.needs_numbers(query.yields):
        select = cleaning.ordered_by_submission(f"({select})", query.yields)
    database.execute(f"create temp table mapped as {select}")
    database.execute("drop table if exists mapped_part")


def _map_parts(store: Store, query: JobQuery, files: Sequence[Path], parts: int) -> None:
    """Create the table ``mapped_part`` of the jobs of all parts, each of which takes a pass over the rows."""
    begin = "create temp table mapped_part as"
    for cluster, numbers in (query.clusters or {None: ()}).items():
        of_cluster = f"file_no in ({', '.join(map(str, numbers))})" if numbers else "true"
        for part in range(parts):
            of_part = part_condition(query.joined_by, part, parts) if parts > 1 else "true"
            clear(store, query.beforehand)
            define_view(store, "source", files, f"{of_cluster} and {of_part}")
            _fill(store, query.beforehand)
            store.connection.execute(f"{begin} {query.select_of(cluster)}")
            begin = "insert into mapped_part"
    define_view(store, "source", files)


def move_rejects(store: Store, heads: Sequence[FileHead], *, strict: bool) -> Refused:
    """Move refused rows from the table ``mapped`` to the rejects, and return how many each file has."""
    rejects = store.rows("select file_no, line, reject from mapped where reject is not null order by all")
    if strict and rejects:
        number, line, reason = rejects[0]
        raise StrictError(f"{heads[number].path}:{line}: {reason}")
    kept = rejects[:MAXIMUM_REJECTS_KEPT]
    store.insert(
        "rejects", [(as_text(heads[number].path.name), line, reason, "") for number, line, reason in kept]
    )
    store.connection.execute("delete from mapped where reject is not null")
    return Refused(number for number, _, _ in rejects)
