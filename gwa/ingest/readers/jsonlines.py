"""
Read JSON lines: one object a line, its values by name; a number may be written as text.

Options:

``paths``
    where the value of a column stands, as in ``{cpus = "resource_request.cpus"}``; a column that is
    not named here is called as it is.
``skip``
    values by column, as texts: lines that have one of them count as comments.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb
import numpy as np

from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import SHOWN, Layout, LineBlock, Reject, parts
from gwa.ingest.spec import TableSpec

TEXT: Final = "varchar"


def batches(source: Source, shape: TableSpec) -> Iterator["Objects"]:
    """Yield the objects of *source*."""
    for part in parts(source, Layout("", shape.comment)):
        yield Objects(part, shape)


@dataclass
class Objects:
    """A part of a text, whose lines are to be taken apart by the engine."""

    part: LineBlock
    shape: TableSpec

    def __post_init__(self) -> None:
        """Take the account of the part."""
        self.total = self.part.total
        self.remarks = len(self.part.comments) + self.part.blank
        self.rejects = self.part.rejects

    def load(self, database: duckdb.DuckDBPyConnection, table: str, folder: Path) -> None:
        """Append the objects to *table*; refuse what is none, and values that are not of a column's type."""
        del folder
        if not self.part.kept:
            return
        database.register("written", _lines(self.part))
        # No table of the engine: DuckDB 2.0 mixes up rows of one that is dropped in the same transaction.
        database.register("taken", database.sql(_take(self.shape)).to_arrow_table())
        database.unregister("written")
        bad = database.execute(
            f"select line, fault, left(text, {SHOWN}) from taken where fault is not null order by line"
        ).fetchall()
        self.rejects += [Reject(*row) for row in bad]
        skipped = _skipped(self.shape)
        ((remarks,),) = database.execute(f"select count(*) from taken where {skipped}").fetchall()
        self.remarks += remarks
        database.execute(
            f"insert into {table} select {', '.join(_cast(self.shape))} from taken"
            f" where fault is null and not ({skipped})"
        )
        database.unregister("taken")


def _lines(part: LineBlock) -> object:
    """Return the kept lines as an Arrow table, which shares their bytes."""
    import pyarrow as pa

    data = bytes(part.data)
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")).astype(np.int32) + 1
    places = pa.py_buffer(np.concatenate((np.zeros(1, np.int32), ends)))
    text = pa.StringArray.from_buffers(len(ends), places, pa.py_buffer(data))
    numbers = part.line_numbers(np.arange(part.kept, dtype=np.int64))
    return pa.table({"line": numbers, "text": text})


def _take(shape: TableSpec) -> str:
    """Return the query for the values of each line, as texts, and what is wrong with them."""
    places = ", ".join(f"'{place}'" for place in _places(shape.columns, shape.options.get("paths", {})))
    faults = [
        f"when {value} is not null and try_cast({value} as {kind}) is null"
        f" then '{name} is ''' || left({value}, 40) || ''', expected a number'"
        for value, (name, kind) in zip(_values(shape), shape.columns.items(), strict=True)
        if kind != TEXT
    ]
    # What is no object is not taken apart, since that would be an error.
    return (
        f"select line, values, case when values is null then text end as text,"
        f" case when values is null then 'is no JSON object' {' '.join(faults)} end as fault"
        " from (select line, text,"
        " case when json_valid(text) then case when json_type(text) = 'OBJECT'"
        f" then json_extract_string(text, [{places}]) end end as values from written) as written"
    )


def _places(columns: Mapping[str, str], paths: Mapping[str, str]) -> Sequence[str]:
    """Return the JSON paths of *columns*; they come from a converter's definition, never from data."""
    return ["$" + "".join(f'."{key}"' for key in paths.get(name, name).split(".")) for name in columns]


def _values(shape: TableSpec) -> Sequence[str]:
    return [f"values[{number}]" for number in range(1, len(shape.columns) + 1)]


def _cast(shape: TableSpec) -> Sequence[str]:
    """Return the expressions for the columns of the table."""
    values = zip(_values(shape), shape.columns.values(), strict=True)
    cells = [value if kind == TEXT else f"try_cast({value} as {kind})" for value, kind in values]
    return [*cells, "getvariable('file_no')", "line"] if shape.numbered else cells


def _skipped(shape: TableSpec) -> str:
    """Return the condition for lines that count as comments; the values come from a definition."""
    value = dict(zip(shape.columns, _values(shape), strict=True))
    skip: Mapping[str, Sequence[str]] = shape.options.get("skip", {})
    conditions = [
        f"{value[name]} in ({', '.join(repr(str(one)) for one in texts)})" for name, texts in skip.items()
    ]
    return f"fault is null and coalesce({' or '.join(conditions)}, false)" if conditions else "false"
