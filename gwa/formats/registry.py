"""
Which formats there are: those of `gwa.formats.builtin`, and one for each definition in ``converters/``.

Other packages add definitions by an entry point in the group ``gwa.converters`` that names a package with
``.sql`` files in it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from gwa.errors import DefinitionError, GwaError, OutputError, UnknownFormat
from gwa.formats.base import Format, formats, writers
from gwa.formats.converter import definition
from gwa.formats.monthly import write as write_months
from gwa.ingest.source.compressed import plain_name
from gwa.util import plugins
from gwa.util.assets import asset


@cache
def definitions() -> tuple[tuple[Format, ...], Mapping[str, GwaError]]:
    """Return the formats defined in ``converters/``, and by name what is wrong with the other files."""
    good: list[Format] = []
    bad: dict[str, GwaError] = {}
    for file in _definition_files():
        try:
            good.append(_definition(file))
        except GwaError as error:
            bad[Path(file.name).stem] = error
    return tuple(good), bad


def _definition_files() -> Iterator[Traversable]:
    """Yield the files that define formats, ours first, then those of other packages."""
    folders = [asset("converters"), *map(files, plugins.loaded("gwa.converters"))]
    for folder in folders:
        found = (file for file in folder.iterdir() if file.name.endswith(".sql"))
        yield from sorted(found, key=lambda file: file.name)


def converters() -> tuple[Format, ...]:
    """Return the formats defined in ``converters/``, by name."""
    return definitions()[0]


def broken() -> Mapping[str, GwaError]:
    """Return what is wrong with files in ``converters/``, by the names of their formats."""
    return definitions()[1]


def all_formats() -> tuple[Format, ...]:
    """Return every format that can be read or written; one that is both is merged, by name."""
    read = (replace(one, write=writers().get(one.name)) for one in converters())
    return (*formats(), *read)


def format_called(name: str) -> Format:
    """Return the format called *name*; raise `UnknownFormat` where there is none."""
    if name.endswith(".sql"):
        return _definition(Path(name))
    if name in broken():
        raise broken()[name]
    known = {one.name: one for one in all_formats()}
    if name not in known:
        message = f"there is no format '{name}', expected one of {', '.join(known)}"
        raise UnknownFormat(message)
    return known[name]


def _definition(path: Traversable) -> Format:
    """Return the format that is defined in a file."""
    try:
        return definition(path.name, path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnknownFormat(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DefinitionError(f"{path.name}: is no text, expected a definition in SQL") from error


def writer(path: Path) -> Format:
    """Return the format that the name of an output asks for; raise `UnknownFormat` if it is none."""
    writable = [one for one in all_formats() if one.write]
    for one in writable:
        if one.is_named(plain_name(path)):
            return one
    known = ", ".join(name.removeprefix("*") for one in writable for name in one.names)
    message = f"{path}: its suffix names no format to write, expected one of {known}"
    raise UnknownFormat(message)


def partitioned(target: Format, out: Path) -> Format:
    """Return the format that writes a folder of files of *target*; raise `OutputError` for others."""
    if target.name != "parquet":
        raise OutputError(f"{out}: only Parquet is written by month, expected a name such as trace.parquet")
    return replace(target, write=write_months)
