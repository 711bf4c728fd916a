"""
Read JSON lines: one object per line, its values by name; a number may be written as text.

Options:

``paths``
    the path to the value of a column, as in ``{cpus = "resource_request.cpus"}``; for other columns
    it is the name of the column.
``skip``
    values by column, as texts: lines with one of these values count as comments.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import duckdb
import numpy as np

from gwa.ingest.batch import BlockBatch
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH, Layout, LineBlock, Reject, line_blocks
from gwa.ingest.spec import TableSpec
from gwa.store.engines.duckdb import literal

TEXT: Final = "varchar"


def batches(source: Source, table_spec: TableSpec) -> Iterator["Objects"]:
    """Yield the objects of *source*."""
    for block in line_blocks(source, Layout("", table_spec.comment)):
        yield Objects(block, table_spec)


class Objects(BlockBatch):
    """A block of lines of one object each."""

    def load(self, database: duckdb.DuckDBPyConnection, table: str, folder: Path) -> None:
        """Append the objects to *table*; refuse other lines, and values that are not of a column's type."""
        del folder
        if not self.block.data_lines:
            return
        database.register("lines", _line_table(self.block))
        # Not a temporary table: DuckDB 2.0 mixes up rows of a table that is dropped in the same transaction.
        database.register("parsed", database.sql(_values_query(self.table_spec)).to_arrow_table())
        database.unregister("lines")
        rejected = database.execute(
            f"select line, fault, left(text, {REJECT_TEXT_LENGTH}) from parsed"
            " where fault is not null order by line"
        ).fetchall()
        self.rejects += [Reject(*row) for row in rejected]
        is_comment = _comment_condition(self.table_spec)
        ((comments,),) = database.execute(f"select count(*) from parsed where {is_comment}").fetchall()
        self.comments += comments
        database.execute(
            f"insert into {table} select {', '.join(_column_expressions(self.table_spec))} from parsed"
            f" where fault is null and not ({is_comment})"
        )
        database.unregister("parsed")


def _line_table(block: LineBlock) -> object:
    """Return the lines as an Arrow table, which shares their bytes."""
    import pyarrow as pa

    offsets = np.concatenate((np.zeros(1, np.int64), block.ends)).astype(np.int32)
    text = pa.StringArray.from_buffers(
        block.data_lines, pa.py_buffer(offsets), pa.py_buffer(bytes(block.data))
    )
    numbers = block.line_numbers(np.arange(block.data_lines, dtype=np.int64))
    return pa.table({"line": numbers, "text": text})


def _values_query(table_spec: TableSpec) -> str:
    """Return the query for the values of each line, as texts, and the reason to refuse it."""
    paths = ", ".join(map(literal, _json_paths(table_spec.columns, table_spec.options.get("paths", {}))))
    faults = [
        f"when {value} is not null and try_cast({value} as {kind}) is null"
        f" then '{name} is ''' || left({value}, 40) || ''', expected a number'"
        for value, (name, kind) in zip(_value_columns(table_spec), table_spec.columns.items(), strict=True)
        if kind != TEXT
    ]
    # Values are extracted from objects only, since elsewhere that is an error.
    return (
        f"select line, values, case when values is null then text end as text,"
        f" case when values is null then 'is no JSON object' {' '.join(faults)} end as fault"
        " from (select line, text,"
        " case when json_valid(text) then case when json_type(text) = 'OBJECT'"
        f" then json_extract_string(text, [{paths}]) end end as values from lines) as lines"
    )


def _json_paths(columns: Mapping[str, str], paths: Mapping[str, str]) -> Sequence[str]:
    """Return the JSON paths of *columns*; they come from a converter's definition, never from data."""
    return ["$" + "".join(f'."{key}"' for key in paths.get(name, name).split(".")) for name in columns]


def _value_columns(table_spec: TableSpec) -> Sequence[str]:
    return [f"values[{number}]" for number in range(1, len(table_spec.columns) + 1)]


def _column_expressions(table_spec: TableSpec) -> Sequence[str]:
    """Return the SQL of each column of the table."""
    values = zip(_value_columns(table_spec), table_spec.columns.values(), strict=True)
    cells = [value if kind == TEXT else f"try_cast({value} as {kind})" for value, kind in values]
    return [*cells, "getvariable('file_no')", "line"] if table_spec.numbered else cells


def _comment_condition(table_spec: TableSpec) -> str:
    """Return the condition for lines that count as comments; the values come from a definition."""
    value = dict(zip(table_spec.columns, _value_columns(table_spec), strict=True))
    skip: Mapping[str, Sequence[str]] = table_spec.options.get("skip", {})
    conditions = [
        f"{value[name]} in ({', '.join(literal(str(text)) for text in texts)})"
        for name, texts in skip.items()
    ]
    return f"fault is null and coalesce({' or '.join(conditions)}, false)" if conditions else "false"
