"""
Converters: formats that are read by a definition in ``converters/``.

A definition is one SQL file: a TOML header that says how to recognise and read the source, and one
SELECT that says the mapping from ``source`` to the fields of GWF.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from gwa.assets import asset
from gwa.errors import DefinitionError, UnknownFormat
from gwa.formats import Format, Reading, formats
from gwa.ingest import Recipe, Step, ingest, widened
from gwa.readers.columns import MISSING
from gwa.readers.compressed import plain_name
from gwa.readers.head import Head
from gwa.readers.lines import Layout
from gwa.store import Store

HEADER: Final = re.compile(r"\A/\* ---\n(.*?)\n--- \*/\s*(.*)\Z", re.DOTALL)
KEYS: Final = {
    "title", "files", "first", "comment", "delimiter", "missing", "extra_columns", "relative", "notes",
    "columns", "constants", "from_header", "steps",
}  # fmt: skip
NEEDED: Final = {"title", "files", "first", "columns", "notes"}


def definition(name: str, text: str) -> Format:
    """Return the format that a definition describes; raise `DefinitionError` where it is wrong."""
    match = HEADER.match(text)
    if not match:
        message = f"{name}: expected a TOML header between '/* ---' and '--- */', then a SELECT"
        raise DefinitionError(message)
    try:
        header = tomllib.loads(match[1])
        recipe = _recipe(name, header, match[2])
        first = re.compile(header["first"])
    except (tomllib.TOMLDecodeError, re.error, TypeError) as error:
        raise DefinitionError(f"{name}: {error}") from error
    return Format(
        name=Path(name).stem,
        title=header["title"],
        suffixes=tuple(pattern.removeprefix("*").lower() for pattern in header["files"]),
        notes=header["notes"],
        refuses=lambda head: _refuses(head, recipe, first, extra=bool(header.get("extra_columns"))),
        read=lambda heads, reading: _read(heads, reading, recipe, extra=bool(header.get("extra_columns"))),
    )


def _recipe(name: str, header: Mapping[str, Any], select: str) -> Recipe:
    wrong = sorted(set(header) - KEYS) or sorted(NEEDED - set(header))
    if wrong:
        what = "unknown key" if wrong[0] in header else "its header lacks"
        message = f"{name}: {what} '{wrong[0]}', expected {', '.join(sorted(KEYS))}"
        raise DefinitionError(message)
    known = {field.name for field in fields(Recipe)} - {"select", "steps", "missing"}
    return Recipe(
        select=select,
        steps=tuple(Step(**step) for step in header.get("steps", [])),
        missing=tuple(header.get("missing", MISSING)),
        **{key: value for key, value in header.items() if key in known},
    )


def _refuses(head: Head, recipe: Recipe, first: re.Pattern[str], *, extra: bool) -> str | None:
    """Return why *head* is not of a format, judged by most of its first lines."""
    if head.is_binary:
        return "is not text"
    rows = head.rows(recipe.comment)
    if not rows:
        return "has no line of data"
    good = sum(bool(first.match(row)) for row in rows)
    width, wanted = head.width(Layout(recipe.delimiter, recipe.comment)), len(recipe.columns)
    if good * 2 >= len(rows) and (width == wanted or (extra and width > wanted)):
        return None
    return f"has {width} columns, expected {wanted}" if width != wanted else "its lines look different"


def _read(heads: Sequence[Head], reading: Reading, recipe: Recipe, *, extra: bool) -> Store:
    """Return a store with the jobs of the files behind *heads*."""
    layout = Layout(recipe.delimiter, recipe.comment)
    width = max((head.width(layout) for head in heads), default=0)
    store = Store.create(reading.target, reading.engine)
    try:
        ingest(
            store,
            heads,
            widened(recipe, width) if extra else recipe,
            system=reading.system,
            strict=reading.strict,
            progress=reading.progress,
        )
    except BaseException:
        store.close()
        raise
    return store


@cache
def converters() -> tuple[Format, ...]:
    """Return the formats defined in ``converters/``, by name."""
    files = [file for file in asset("converters").iterdir() if file.name.endswith(".sql")]
    return tuple(
        definition(file.name, file.read_text(encoding="utf-8")) for file in sorted(files, key=lambda one: one.name)
    )


def all_formats() -> tuple[Format, ...]:
    """Return every format that can be read or written; one that is both is merged, by name."""
    return (*formats(), *converters())


def recognise(head: Head, name: str | None = None) -> Format:
    """
    Return the format of *head*, or the one called *name*.

    Content decides, and the file's name where several formats could read it, or where nothing in
    the content speaks for any. Raise `UnknownFormat` with what was tried and why each refused.
    """
    known = all_formats()
    if name:
        named = [one for one in known if one.name == name]
        if not named:
            message = f"there is no format '{name}', expected one of {', '.join(one.name for one in known)}"
            raise UnknownFormat(message)
        return named[0]
    refusals = {one: one.refuses(head) for one in known}
    claims = [one for one in known if refusals[one] is None]
    if len(claims) != 1:
        preferred = [one for one in claims or known if one.is_named(plain_name(head.path))]
        if len(preferred) == 1 and (claims or not head.is_binary):
            return preferred[0]
        raise UnknownFormat(_explain(head, refusals, claims))
    return claims[0]


def _explain(head: Head, refusals: Mapping[Format, str | None], claims: Sequence[Format]) -> str:
    if not head.data:
        return f"{head.path}: is empty, expected a trace or an accounting log"
    if claims:
        return f"{head.path}: could be {' or '.join(one.name for one in claims)}: choose one with --format"
    tried = "; ".join(f"{one.name}: {reason}" for one, reason in refusals.items())
    return f"{head.path}: no known format of traces ({tried}); 'gwa formats' lists them, --format chooses one"
