"""
Read records of JSON: lines of objects, lists of them, or documents that hold such a list somewhere.

The values of a record are found by name, and a number may be written as text. Of equal names in an object
the first counts. NaN and Infinity are numbers. Options:

``records``
    dotted paths to the lists, or the objects, whose elements are the records of a document, as in
    ``["jobs", "hits.hits"]``. What is not such a document is a record itself.
``paths``
    the path to the value of a column, as in ``{cpus = "resource_request.cpus"}``, or several, of which
    the first with a value that is no empty text counts; for other columns it is the name of the column. A
    value that is an object or a list is given as JSON.
``within``
    the key under which a record stands in an object of its own, as ``_source``; without it the object is
    the record.
``key``
    the column for the key of a record that is a member of an object.
``document``
    the paths to values of columns in the document that holds a record, from what stands before the records.
``mend``
    whether a record that is not JSON is mended: words such as 005 and .5 become texts, a backslash that
    escapes nothing is dropped, and a quotation mark within the value of a line is one of its characters. The
    records may begin again within themselves, under the same key.
``members``
    the pattern of the keys of an object that holds records under them: its members are the records.
``skip``
    values by column, as texts: records with one of these values count as comments.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gwa.ingest.pieces import Pieces
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.json_records import NO_OBJECT, JsonRecord, RecordBlock, record_blocks
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH, Reject
from gwa.ingest.spec import TableSpec
from gwa.store.engines.duckdb import literal
from gwa.util.arrow_columns import texts, whole_numbers

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

TEXT: Final = "varchar"


def batches(source: Source, table_spec: TableSpec) -> Iterator["Objects"]:
    """Yield the records of *source*."""
    options = table_spec.options
    for block in record_blocks(source, options.get("records", ()), goes_on=bool(options.get("mend"))):
        yield Objects(block, table_spec)


class Objects:
    """Some records, each an object."""

    def __init__(self, block: RecordBlock, table_spec: TableSpec) -> None:
        """Take over the records of *block*."""
        self.block = block
        self.query = _Query(table_spec)
        self.total = len(block.records) + len(block.rejects)
        self.comments = 0
        self.rejects = block.rejects

    def load(self, rows: Pieces, folder: Path) -> None:
        """Append the records to *rows*; refuse others, and values that are not of a column's type."""
        del folder
        if not self.block.records:
            return
        database = rows.database
        records = self.block.records
        if self.query.options.get("mend"):
            records = [*map(_as_json, records)]
        database.register("records", _record_table(records))
        if keys := self.query.options.get("members"):
            self.total += _take_members(database, keys)
        # Not a temporary table: DuckDB 2.0 mixes up rows of a table that is dropped in the same transaction.
        database.register("parsed", database.sql(self.query.values).to_arrow_table())
        database.unregister("records")
        rejected = database.execute(
            f"select line, fault, left(text, {REJECT_TEXT_LENGTH}) from parsed"
            " where fault is not null order by line"
        ).fetchall()
        self.rejects += [Reject(line, fault, " ".join(text.split())) for line, fault, text in rejected]
        is_comment = self.query.is_comment
        ((comments,),) = database.execute(f"select count(*) from parsed where {is_comment}").fetchall()
        self.comments += comments
        rows.append(
            f"select {', '.join(self.query.cells)} from parsed where fault is null and not ({is_comment})"
        )
        database.unregister("parsed")


VALUES: Final = re.compile(r"""",\s*"[^"]*"\s*:""")
"""What separates two members of an object on one line."""

STRING_OR_WORD: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"\[\]{},:]+')
ESCAPE: Final = re.compile(r"""\\(?:(["\\/bfnrtu])|(.))""")
ONE_VALUE: Final = re.compile(r"""^(\s*"[^"\n]*"\s*:\s*")(.*)("[}\]]*,?\s*)$""", re.MULTILINE)
LONE_QUOTE: Final = re.compile(r"""((?:[^"\\]|\\.)*)\"""")


def _as_json(record: JsonRecord) -> JsonRecord:
    """Return a *record* with a text that is JSON, if it nearly is."""
    try:
        json.loads(record.text)
    except ValueError:
        return record._replace(text=mended(record.text))
    return record


def _take_members(database: "duckdb.DuckDBPyConnection", keys: str) -> int:
    """
    Put the members of objects of records in their place, and return how many more records there are.

    Such an object begins with a key like *keys*, a regular expression.
    """
    begins = literal(rf'^\s*\{{\s*"({keys})"\s*:\s*\{{')
    is_object_of_records = f"regexp_matches(text, {begins}) and json_valid(text)"
    (holders,) = database.sql(f"select count(*) from records where {is_object_of_records}").fetchall()[0]
    if not holders:
        return 0
    taken = database.sql(
        "select line, member.value::varchar as text, member.key as key, document from ("
        f"select * exclude (key) from records where {is_object_of_records}), json_each(text) as member"
        f" union all by name from records where ({is_object_of_records}) is not true"
    ).to_arrow_table()
    (before,) = database.sql("select count(*) from records").fetchall()[0]
    database.unregister("records")
    database.register("records", taken)
    return len(taken) - int(before)


def mended(text: str) -> str:
    r"""
    Return a *text* that nearly is JSON as JSON.

    >>> mended(r'{"a":005, "b":"it\'s"}')
    '{"a":"005", "b":"it\'s"}'
    """
    text = ESCAPE.sub(lambda match: match[0] if match[1] else match[2], text)
    text = ONE_VALUE.sub(lambda match: f"{match[1]}{_with_quotes_escaped(match[2])}{match[3]}", text)
    return STRING_OR_WORD.sub(lambda match: _as_value(match[0]), text)


def _as_value(text: str) -> str:
    """Return a string as it is, and a word that is no value of JSON as a string."""
    try:
        json.loads(text)
    except ValueError:
        return text if text.startswith('"') else f'"{text}"'
    return text


def _with_quotes_escaped(value: str) -> str:
    """Return the *value* of a text with all its quotation marks escaped, unless it is several values."""
    if VALUES.search(value):
        return value
    return LONE_QUOTE.sub(lambda match: f'{match[1]}\\"', value)


def _record_table(records: Sequence[JsonRecord]) -> "pa.Table":
    """Return the records as an Arrow table, with the text of each document once."""
    import pyarrow as pa

    documents: dict[str, int] = {}
    places = [documents.setdefault(record.document, len(documents)) for record in records]
    return pa.table(
        {
            "line": whole_numbers(np.array([record.number for record in records], np.int64)),
            "text": texts(record.text for record in records),
            "key": texts(record.key for record in records),
            "document": pa.DictionaryArray.from_arrays(
                whole_numbers(np.array(places, np.int64)), texts(text or None for text in documents)
            ),
        }
    )


@dataclass(frozen=True)
class _Query:
    """The SQL that takes the values of columns from records; names and paths come from a definition."""

    table_spec: TableSpec

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the reader."""
        return self.table_spec.options

    @cached_property
    def paths(self) -> Mapping[str, Sequence[str]]:
        """The paths of each column that is in the record itself."""
        given = self.options.get("paths", {})
        elsewhere = {*self.options.get("document", {}), self.options.get("key")}
        return {
            name: [path] if isinstance(path := given.get(name, name), str) else path
            for name in self.table_spec.columns
            if name not in elsewhere
        }

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The expression of each column, as text."""
        documents: Mapping[str, str] = self.options.get("document", {})
        found = {name: f"members[{number}]" for number, name in enumerate(documents, 1)}
        number = 0
        for name, paths in self.paths.items():
            values = [f"values[{number + nth}]" for nth in range(1, len(paths) + 1)]
            *first, last = values
            given = [*(f"nullif({value}, '')" for value in first), last]
            found[name] = f"coalesce({', '.join(given)})" if first else last
            number += len(paths)
        if key := self.options.get("key"):
            found[key] = "key"
        return {name: found[name] for name in self.table_spec.columns}

    @cached_property
    def values(self) -> str:
        """The query for the values of each record, as texts, and the reason to refuse it."""
        paths = ", ".join(map(_json_path, chain.from_iterable(self.paths.values())))
        members = ", ".join(map(_json_path, self.options.get("document", {}).values()))
        faults = [
            f"when {value} is not null and try_cast({value} as {kind}) is null"
            f" then '{name} is ''' || left({value}, 40) || ''', expected a number'"
            for (name, kind), value in zip(self.table_spec.columns.items(), self.texts.values(), strict=True)
            if kind != TEXT
        ]
        extracted = f"json_extract_string(document, [{members}])" if members else "[]::varchar[]"
        # To ask first whether it is JSON, and of an object, is to parse it three times.
        return (
            "select line, key, values, members,"
            " case when fault is not null or values is null then text end as text,"
            f" coalesce(fault, case when values is null then '{NO_OBJECT}' end) as fault"
            f" from (select line, key, text, values, members, case {' '.join(faults)} end as fault"
            " from (select line, key, text,"
            f" case when json_valid(document) then {extracted} end as members,"
            " case when starts_with(text, '{') then"
            f" try(json_extract_string({self._record}, [{paths}])) end as values from records))"
        ).replace("case  end", "null::varchar")

    @property
    def _record(self) -> str:
        within = self.options.get("within")
        return f"coalesce(json_extract(text, {_json_path(within)}), text)" if within else "text"

    @cached_property
    def cells(self) -> Sequence[str]:
        """The expression of each column of the table."""
        cells = [
            text if kind == TEXT else f"try_cast({text} as {kind})"
            for text, kind in zip(self.texts.values(), self.table_spec.columns.values(), strict=True)
        ]
        return [*cells, "getvariable('file_no')", "line"] if self.table_spec.numbered else cells

    @cached_property
    def is_comment(self) -> str:
        """The condition for records that count as comments."""
        skip: Mapping[str, Sequence[str]] = self.options.get("skip", {})
        conditions = [
            f"{self.texts[name]} in ({', '.join(literal(str(text)) for text in texts)})"
            for name, texts in skip.items()
        ]
        return f"fault is null and coalesce({' or '.join(conditions)}, false)" if conditions else "false"


def _json_path(path: str) -> str:
    """Return the SQL of a dotted *path*, which comes from a definition, never from data."""
    return literal("$" + "".join(f'."{key}"' for key in path.split(".")))
