"""
Converters: formats that are read by a definition in ``converters/``.

A definition is one SQL file: a TOML header that says how to recognise and read the source, and one
SELECT that says the mapping from ``source`` to the fields of GWF.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from gwa import __version__
from gwa.account import Account
from gwa.assets import asset
from gwa.cleaning import Step
from gwa.errors import DefinitionError, UnknownFormat
from gwa.formats import Format, Reading, formats, writers
from gwa.ingest import Recipe, ingest, widened
from gwa.output import whole
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
        definition(file.name, file.read_text(encoding="utf-8"))
        for file in sorted(files, key=lambda one: one.name)
    )


def all_formats() -> tuple[Format, ...]:
    """Return every format that can be read or written; one that is both is merged, by name."""
    read = (replace(one, write=writers().get(one.name)) for one in converters())
    return (*formats(), *read)


def format_called(name: str) -> Format:
    """Return the format called *name*; raise `UnknownFormat` where there is none."""
    known = {one.name: one for one in all_formats()}
    if name not in known:
        message = f"there is no format '{name}', expected one of {', '.join(known)}"
        raise UnknownFormat(message)
    return known[name]


def recognise(head: Head, name: str | None = None) -> Format:
    """
    Return the format of *head*, or the one called *name*.

    Content decides, and the file's name where several formats could read it, or where nothing in
    the content speaks for any. Raise `UnknownFormat` with what was tried and why each refused.
    """
    if name:
        return format_called(name)
    if not head.data:
        message = f"{head.path}: is empty, expected a trace or an accounting log"
        raise UnknownFormat(message)
    known = all_formats()
    refusals = {one: one.refuses(head) for one in known}
    claims = [one for one in known if refusals[one] is None]
    if len(claims) != 1:
        preferred = [one for one in claims or known if one.is_named(plain_name(head.path))]
        if len(preferred) == 1 and (claims or not head.is_binary):
            return preferred[0]
        raise UnknownFormat(_explain(head, refusals, claims))
    return claims[0]


def _explain(head: Head, refusals: Mapping[Format, str | None], claims: Sequence[Format]) -> str:
    if claims:
        return f"{head.path}: could be {' or '.join(one.name for one in claims)}: choose one with --format"
    tried = "; ".join(f"{one.name}: {reason}" for one, reason in refusals.items())
    return f"{head.path}: no known format of traces ({tried}); 'gwa formats' lists them, --format chooses one"


def read(paths: Sequence[Path], name: str | None = None, reading: Reading | None = None) -> Store:
    """
    Return a store with the jobs of the trace in *paths*, whatever its format is.

    All files must be of one format: the one called *name*, or the one that is recognised.
    """
    heads = [Head.of(path) for path in paths]
    found = {recognise(head, name).name: recognise(head, name) for head in heads}
    if len(found) > 1:
        kinds = ", ".join(sorted(found))
        message = f"{paths[0]}: the files are of different formats ({kinds}): convert them one by one"
        raise UnknownFormat(message)
    (one,) = found.values()
    store = one.read(heads, reading or Reading())
    if "format" not in store.provenance and not store.is_read_only:
        store.note({"format": one.name, "gwa": __version__})
    return store


def writer(path: Path) -> Format:
    """Return the format that the name of an output asks for; raise `UnknownFormat` if it is none."""
    writable = [one for one in all_formats() if one.write]
    for one in writable:
        if one.is_named(plain_name(path)):
            return one
    known = ", ".join(suffix for one in writable for suffix in one.suffixes)
    message = f"{path}: its suffix names no format to write, expected one of {known}"
    raise UnknownFormat(message)


def convert(
    paths: Sequence[Path],
    out: Path,
    *,
    name: str | None = None,
    reading: Reading | None = None,
    command: str = "",
) -> Account:
    """Convert the trace in *paths* to *out*, whole or not at all, and return the account of its rows."""
    target, reading = writer(out), reading or Reading()
    if target.name == "duckdb":
        return _convert_in_place(paths, out, name, reading, command)
    with read(paths, name, reading) as store:
        _sign(store, command)
        target.written(store, out)
        return store.account


def _convert_in_place(
    paths: Sequence[Path], out: Path, name: str | None, reading: Reading, command: str
) -> Account:
    """Let the store grow where it is wanted, instead of copying it there."""
    with whole(out) as part:
        with read(paths, name, replace(reading, target=part)) as store:
            _sign(store, command)
            account = store.account
            if not part.exists():
                writer(out).written(store, part)
        return account


def _sign(store: Store, command: str) -> None:
    if command and not store.is_read_only:
        store.note({"convert": command})
