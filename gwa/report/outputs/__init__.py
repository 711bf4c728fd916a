"""
What a report can be written as: one file for each kind of output, found by looking.

A module has a ``HELP`` line and a function ``render`` from an `Edition` of a report to what is
written: text, bytes, or the files of a folder by their names. Its name is
the flag of the command line and, where it writes one file, the suffix.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TypeAlias

from gwa.blocks import Report
from gwa.errors import OutputError
from gwa.report.edition import Edition
from gwa.report.language import Language, translated

Written: TypeAlias = str | bytes | Mapping[str, str | bytes]


@dataclass(frozen=True)
class Output:
    """A kind of output: its *name*, a line of *help*, and what makes it of a report."""

    name: str
    help: str
    render: Callable[[Edition], Written]


def outputs() -> dict[str, Output]:
    """
    Return all kinds of outputs by name.

    >>> list(outputs())
    ['html', 'json', 'latex', 'pdf']
    """
    names = sorted(found.name for found in iter_modules(__path__))
    modules = {name: import_module(f"{__name__}.{name}") for name in names}
    return {name: Output(name, module.HELP, module.render) for name, module in modules.items()}


def write(
    report: Report,
    folder: Path,
    name: str,
    kinds: Sequence[str],
    *,
    theme: Path | None = None,
    language: Language | None = None,
    strings: Path | None = None,
) -> list[Path]:
    """
    Write *report* into *folder* as each of *kinds* and return the paths.

    Templates and style sheets in the folder *theme* take the place of ours. Without a *language* the report
    is English. All texts that it took, for a translator, go into the file *strings*.
    """
    from gwa.util.atomic import write_folder, write_whole

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror}") from error
    say = language or Language()
    edition, written = Edition(translated(report, say), theme, say), []
    for kind in kinds:
        content = outputs()[kind].render(edition)
        if isinstance(content, Mapping):
            written.append(folder / f"{name}-{kind}")
            write_folder(written[-1], content)
        else:
            written.append(folder / f"{name}.{kind}")
            write_whole(written[-1], content)
    if strings:
        write_folder(strings.parent, {strings.name: say.toml()})
        written.append(strings)
    return written
