"""
The formats that exist: those of `gwa.formats.builtin`, and one for each definition in ``converters/``.

Other packages add definitions by an entry point in the group ``gwa.converters`` that names a package with
``.sql`` files in it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from gwa.errors import ArgumentError, DefinitionError, GwaError, OutputError, UnknownFormat
from gwa.formats.base import Format, formats, writers
from gwa.formats.definition import repairs_of
from gwa.ingest.source.compressed import plain_name
from gwa.store.privacy import Vocabulary
from gwa.store.store import Store
from gwa.util import plugins
from gwa.util.assets import asset

MAXIMUM_BYTES: Final = 1_000_000
"""A larger file is not a definition."""

GROUP: Final = "gwa.converters"
"""The group of entry points by which other packages add definitions."""


@cache
def definitions() -> tuple[tuple[Format, ...], Mapping[str, GwaError]]:
    """Return the formats defined in ``converters/``, and the errors in the other files by name."""
    defined: list[Format] = []
    errors: dict[str, GwaError] = {}
    for file, is_ours in _definition_files():
        try:
            defined.append(_definition(file, is_stranger=not is_ours))
        except GwaError as error:
            errors[Path(file.name).stem] = error
    return tuple(defined), errors


def _definition_files() -> Iterator[tuple[Traversable, bool]]:
    """Yield the files that define formats, those of gwa, then those of other packages, and which are ours."""
    folders = [
        (asset("converters"), True),
        (asset("converters", "requests"), True),
        *((files(name), False) for name in plugins.loaded(GROUP)),
    ]
    for folder, is_ours in folders:
        definitions = (file for file in folder.iterdir() if file.name.endswith(".sql"))
        yield from ((file, is_ours) for file in sorted(definitions, key=lambda file: file.name))


def converters(of: str = Store.holds) -> tuple[Format, ...]:
    """Return the formats *of* jobs, or of requests, defined in ``converters/``, by name."""
    return tuple(format_ for format_ in definitions()[0] if of in format_.holds)


def broken() -> Mapping[str, GwaError]:
    """Return the errors in files in ``converters/``, by the names of their formats."""
    return definitions()[1]


def all_formats() -> tuple[Format, ...]:
    """Return every format that can be read or written; defined ones are joined with their writers."""
    converted = (replace(format_, write=writers().get(format_.name)) for format_ in definitions()[0])
    return (*formats(), *converted)


@cache
def vocabulary() -> Vocabulary:
    """Return the texts that the formats of this installation write into traces, and that identify no one."""
    from gwa.ingest.cleaning import cleaning_repairs

    texts = [file.read_bytes().decode(errors="replace") for file, _ in _definition_files()]
    repairs = {repair for text in texts for repair in repairs_of(text)}
    missing = {
        ("missing part", "parts of a table were not given"),
        ("gap in parts", "parts between those that were given are missing"),
    }
    names = {format_.name for format_ in all_formats()}
    return Vocabulary(frozenset({*names, "synthetic"}), frozenset({*repairs, *cleaning_repairs(), *missing}))


def format_called(name: str) -> Format:
    """Return the format called *name*, or defined in that file; raise `ArgumentError` if there is none."""
    if name.endswith(".sql"):
        return _definition(Path(name), is_stranger=True)
    if name in broken():
        raise broken()[name]
    known = {format_.name: format_ for format_ in all_formats()}
    if name not in known:
        raise ArgumentError(f"there is no format '{name}', expected one of {', '.join(known)}")
    return known[name]


def _definition(path: Traversable, *, is_stranger: bool) -> Format:
    """Return the format defined in a file."""
    from gwa.formats.converter import definition  # all that reads logs, which a store does without

    text = _text(path)
    return definition(path.name, text, lambda name: _text_of(path.name, name), is_stranger=is_stranger)


def _text_of(user: str, name: str) -> str:
    """Return the text of the definition of the format *name* for that of *user*."""
    known = {Path(file.name).stem: file for file, _ in _definition_files()}
    if name not in known:
        raise DefinitionError(f"{user}: select is '{name}', expected one of {', '.join(known)}")
    return _text(known[name])


def _text(path: Traversable) -> str:
    """Return the text of a definition."""
    try:
        with path.open("rb") as file:
            content = file.read(MAXIMUM_BYTES + 1)
        if len(content) > MAXIMUM_BYTES:
            raise DefinitionError(
                f"{path.name}: is longer than {MAXIMUM_BYTES:,} bytes, no definition in SQL"
            )
        return content.decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise UnknownFormat(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DefinitionError(f"{path.name}: is not text, expected a definition in SQL") from error


def writer(path: Path) -> Format:
    """Return the format that writes files with the suffix of *path*; raise `ArgumentError` if none does."""
    writable = [format_ for format_ in all_formats() if format_.write]
    for format_ in writable:
        if format_.is_named(plain_name(path)):
            return format_
    known = ", ".join(name.removeprefix("*") for format_ in writable for name in format_.names)
    raise ArgumentError(f"{path}: its suffix names no format to write, expected one of {known}")


def monthly(target: Format, out: Path) -> Format:
    """Return the variant of *target* that writes a file per month; raise `OutputError` if there is none."""
    if target.name != "parquet":
        raise OutputError(f"{out}: only Parquet is written by month, expected a name such as trace.parquet")
    from gwa.formats.monthly import write as write_months

    return replace(target, write=write_months)
