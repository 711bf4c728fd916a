"""
Definitions in ``converters/``: one SQL file makes a format that can be read.

It has a TOML header between ``/* ---`` and ``--- */`` that says how to recognise and read the source,
and one SELECT that says the mapping from ``source`` to the fields of GWF. Keys of the header:

``title``, ``notes``
    printed by `gwa formats`; the notes name the source of the mapping and what was decided.
``files``
    patterns such as ``*.swf`` for names, used where the content alone does not decide.
``first``, ``contains``
    a regular expression that most lines of data match, and one to be found somewhere in the head.
``reader``, ``columns``, ``delimiter``, ``comment``, ``missing``, ``options``, ``extra_columns``
    which reader of `gwa.ingest.readers` makes the table ``source``, and how.
``scope``
    ``row`` where each row is mapped on its own, ``trace`` where the SELECT needs all rows.
``sides``
    tables of further files, each with its ``columns``, told apart by their number, or by a pattern that
    most lines match: ``first`` among the ``options`` of a side.
``relative``, ``constants``, ``from_header``, ``header``, ``steps``
    see `gwa.ingest.spec.ConverterSpec`.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import duckdb

from gwa.errors import DefinitionError
from gwa.formats.base import Format
from gwa.ingest.cleaning import SLACK
from gwa.ingest.pipeline import ingest
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.lines import Layout
from gwa.ingest.spec import MISSING, ConverterSpec, RepairStep, TableSpec, with_extra_columns
from gwa.store.options import ReadOptions
from gwa.store.store import Store

HEADER: Final = re.compile(r"\A/\* ---\n(.*?)\n--- \*/\s*(.*)\Z", re.DOTALL)
NEEDED: Final = frozenset({"title", "files", "columns", "notes"})
SHAPE: Final = frozenset({"columns", "delimiter", "comment", "missing", "options"})
RECIPE: Final = frozenset({"title", "reader", "scope", "relative", "constants", "from_header", "header"})
FAULTS: Final = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
"""What the engine says of SQL that is wrong whatever the data."""

COMMON: Final = f"""
As in every log: a wait or a run time that is negative by less than {SLACK} s (an hour of daylight saving, and
what clocks differ by) is 0; any other value that its field cannot have is missing; both are counted. What is
no UTF-8 is read as Latin-1. A line that cannot be read is refused and kept with its number and the reason.
"""
"""What holds of each format that a file defines, printed behind its notes."""

KEYS: Final = NEEDED | SHAPE | RECIPE | {"first", "contains", "sides", "steps", "extra_columns"}


@dataclass(frozen=True)
class Signs:
    """By what a source is recognised."""

    first: re.Pattern[str] | None
    contains: re.Pattern[str] | None
    extra_columns: bool


def definition(name: str, text: str) -> Format:
    """Return the format that a definition describes; raise `DefinitionError` where it is wrong."""
    match = HEADER.match(text)
    if not match:
        message = f"{name}: expected a TOML header between '/* ---' and '--- */', then a SELECT"
        raise DefinitionError(message)
    try:
        header = tomllib.loads(match[1])
        _check_keys(name, header)
        recipe = _recipe(header, match[2])
        signs = Signs(_pattern(header, "first"), _pattern(header, "contains"), "extra_columns" in header)
        names = tuple(pattern.lower() for pattern in header["files"])
    except (tomllib.TOMLDecodeError, re.error, TypeError, AttributeError, ValueError) as error:
        raise DefinitionError(f"{name}: {error}") from error
    return Format(
        name=Path(name).stem,
        title=str(header["title"]),
        names=names,
        notes=f"{header['notes']}{COMMON}",
        mismatch=lambda head: _mismatch(head, recipe, signs),
        read=lambda heads, reading: _read_or_blame(name, heads, reading, recipe, signs),
    )


def _check_keys(name: str, header: Mapping[str, Any]) -> None:
    wrong = sorted(set(header) - KEYS) or sorted(NEEDED - set(header))
    if wrong:
        what = "unknown key" if wrong[0] in header else "its header lacks"
        message = f"{name}: {what} '{wrong[0]}', expected {', '.join(sorted(KEYS))}"
        raise DefinitionError(message)


def _pattern(header: Mapping[str, Any], key: str) -> re.Pattern[str] | None:
    return re.compile(header[key], re.MULTILINE) if key in header else None


def _recipe(header: Mapping[str, Any], select: str) -> ConverterSpec:
    numbered = header.get("scope") == "trace"
    return ConverterSpec(
        source_table=_shape(header, numbered=numbered),
        select=select,
        explaining_tables={
            name: _shape({**header, **side}, numbered=False) for name, side in header.get("sides", {}).items()
        },
        steps=tuple(RepairStep(**step) for step in header.get("steps", [])),
        **{key: value for key, value in header.items() if key in RECIPE},
    )


def _shape(header: Mapping[str, Any], *, numbered: bool) -> TableSpec:
    said = {key: value for key, value in header.items() if key in SHAPE}
    for table in said.keys() & {"columns", "options"}:
        if not isinstance(said[table], dict):
            raise TypeError(f"'{table}' is {said[table]!r}, expected a table")
    return TableSpec(**{**said, "missing": tuple(header.get("missing", MISSING))}, numbered=numbered)


def _mismatch(head: FileHead, recipe: ConverterSpec, signs: Signs) -> str | None:
    """Return why *head* is not of a format, judged by its first lines; None when it is."""
    if head.is_binary:
        return "is not text"
    rows = head.rows(recipe.source_table.comment)
    if not rows:
        return "has no line of data"
    if recipe.reader == "columns" and not recipe.source_table.options.get("any_width"):
        width, wanted = _widths(head, recipe)
        if width not in wanted and not (signs.extra_columns and width > wanted[0]):
            return f"has {width} columns, expected {' or '.join(map(str, wanted))}"
    if signs.contains and not signs.contains.search(head.text):
        return "lacks what is typical of it"
    if signs.first and 2 * sum(bool(signs.first.match(row)) for row in rows) < len(rows):
        return "its lines look different"
    return None


def _widths(head: FileHead, recipe: ConverterSpec) -> tuple[int, list[int]]:
    shapes = (recipe.source_table, *recipe.explaining_tables.values())
    return head.width(Layout(recipe.source_table.delimiter, recipe.source_table.comment)), [
        len(one.columns) for one in shapes
    ]


def _read_or_blame(
    name: str, heads: Sequence[FileHead], reading: ReadOptions, recipe: ConverterSpec, signs: Signs
) -> Store:
    """Return a store with the jobs; raise `DefinitionError` where the SQL in the file *name* is wrong."""
    try:
        return _read(heads, reading, recipe, signs)
    except (
        DefinitionError,
        duckdb.ParserException,
        duckdb.BinderException,
        duckdb.CatalogException,
    ) as error:
        raise DefinitionError(f"{name}: {str(error).splitlines()[0]}") from error


def _read(heads: Sequence[FileHead], reading: ReadOptions, recipe: ConverterSpec, signs: Signs) -> Store:
    """Return a store with the jobs of the files behind *heads*."""
    if signs.extra_columns:
        layout = Layout(recipe.source_table.delimiter, recipe.source_table.comment)
        width = max((head.width(layout) for head in heads), default=0)
        recipe = replace(recipe, source_table=with_extra_columns(recipe.source_table, width))
    store = Store.create(reading.target, reading.engine)
    try:
        ingest(store, heads, recipe, reading)
    except BaseException:
        store.close()
        raise
    return store
