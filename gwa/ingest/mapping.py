"""
Map rows of a source to jobs with the SELECT of a format: a batch at a time, or a whole source.

A whole source that is too large to be grouped within the memory limit is mapped in parts, where its
definition says what the rows of a job have in common.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Final, TypeAlias

import duckdb

from gwa.errors import DefinitionError, StrictError, TraceError
from gwa.ingest.cleaning import insert_jobs, needs_numbers, ordered_by_submission, with_row_numbers
from gwa.ingest.contradictions import START
from gwa.ingest.counting import MAXIMUM_REJECTS_KEPT
from gwa.ingest.source.head import FileHead
from gwa.ingest.staging import define_view, part_condition
from gwa.store.engines.config import parse_size
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


@dataclass(frozen=True)
class JobQuery:
    """
    The SELECT of the format *title* over the source, and the columns that it *yields*.

    Rows for which the expression *joined_by* differs are never of one job; empty where that is not known.
    """

    select: str
    yields: Sequence[str]
    title: str
    joined_by: str = ""


def map_batch(store: Store, query: JobQuery, heads: Sequence[FileHead], *, strict: bool) -> Refused:
    """Map the rows that are in the table ``source`` now, and return how many are refused."""
    if not {"reject", START} & {*query.yields}:
        insert_jobs(store, f"({query.select})", query.yields)
        return Refused()
    store.connection.execute(f"create or replace temp table mapped as {query.select}")
    refused = _move_rejects(store, heads, strict=strict) if "reject" in query.yields else Refused()
    insert_jobs(store, "mapped", query.yields)
    store.connection.execute("drop table mapped")
    return refused


def grouping_megabytes(rows: int) -> int:
    """
    Return the engine's memory in which so many *rows* of a source are grouped as a whole.

    With less, a join writes the rows themselves to disk, which takes longer than all of the rest.
    """
    return ceil((BYTES_BESIDE_ROWS + rows * BYTES_OF_ROW) / 1e6)


def map_whole_source(
    store: Store, query: JobQuery, heads: Sequence[FileHead], files: Sequence[Path], *, strict: bool
) -> tuple[int, Refused]:
    """
    Map a whole source, rows of which are in Parquet *files*, to jobs; return how many are folded and refused.

    Raise `TraceError` if any is lost.
    """
    yields = query.yields
    given = store.row("select count(*) as n from source")[0]
    try:
        _create_mapped(store, query, files, parts=_part_count(store, query, given))
    except duckdb.ConversionException as error:
        raise DefinitionError(f"{query.title}: {str(error).splitlines()[0]}") from error
    rows = "cast(sum(rows) as bigint)" if "rows" in yields else "count(*)"
    covered, mapped = store.row(f"select {rows}, count(*) from mapped")
    if (covered or 0) != given:
        message = (
            f"{heads[0].path}: {given} rows were read, but {covered} became jobs or were folded or refused"
        )
        raise TraceError(message)
    refused = _move_rejects(store, heads, strict=strict) if "reject" in yields else Refused()
    if needs_numbers(yields):
        insert_jobs(store, with_row_numbers("mapped"), ["job_id", *yields])
    else:
        insert_jobs(store, "mapped", yields)
    store.connection.execute("drop table mapped")
    return given - mapped, refused


def _part_count(store: Store, query: JobQuery, rows: int) -> int:
    """Return in how many parts so many *rows* are mapped."""
    (limit,) = store.row("select current_setting('memory_limit')")
    memory = max(parse_size(limit) - BYTES_BESIDE_ROWS, BYTES_BESIDE_ROWS // 10)
    return ceil(rows * BYTES_OF_ROW / memory) if query.joined_by else 1


def _create_mapped(store: Store, query: JobQuery, files: Sequence[Path], *, parts: int) -> None:
    """
    Create the table ``mapped``.

    It is read twice and dropped, so not worth compressing; DuckDB spills it to disk if memory is short.
    """
    database, select = store.connection, query.select
    if parts > 1:
        _map_parts(store, query, files, parts)
        select = "from mapped_part"
    if needs_numbers(query.yields):
        select = ordered_by_submission(f"({select})", query.yields)
    database.execute(f"create temp table mapped as {select}")
    database.execute("drop table if exists mapped_part")


def _map_parts(store: Store, query: JobQuery, files: Sequence[Path], parts: int) -> None:
    """Create the table ``mapped_part`` of the jobs of all parts, each of which takes a pass over the rows."""
    for part in range(parts):
        define_view(store, "source", files, part_condition(query.joined_by, part, parts))
        begin = "insert into mapped_part" if part else "create temp table mapped_part as"
        store.connection.execute(f"{begin} {query.select}")
    define_view(store, "source", files)


def _move_rejects(store: Store, heads: Sequence[FileHead], *, strict: bool) -> Refused:
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
