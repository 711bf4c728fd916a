"""Describe a problem with a log, for an issue, without the contents of the log."""

import platform
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from gwa.cli._options import PATH, options
from gwa.cli._output import to_file
from gwa.cli._reading import opened_whole
from gwa.cli._terminal import echo
from gwa.errors import GwaError
from gwa.util.version import __version__

LIBRARIES: Final = ("click", "duckdb", "numpy", "pandas", "pyarrow", "scipy", "matplotlib", "weasyprint")
"""The dependencies whose versions explain most problems."""

LINES: Final = 5
"""The number of lines that are shown of a log that cannot be read."""

FIRST_REFUSED: Final = "select line, reason, text from rejects order by file, line limit 5"

WIDTH: Final = 500
"""The number of characters of a masked line that are shown."""

IN_QUOTES: Final = re.compile(r"'[^']*'|\"[^\"]*\"")

INTRODUCTION: Final = (
    "Letters of the log are replaced by x and digits by 9. Please check before you publish it."
)


@click.command(name="report-problem")
@click.argument("log", type=PATH, required=False)
@options
@to_file
def command(log: Path | None, **params: Any) -> None:
    """
    Describe a problem with LOG, to paste into an issue.

    Prints the versions of gwa and its libraries, the format of the log, the account of its rows and the
    first refused lines; if the log cannot be read at all, its first lines. In lines and in values that
    errors quote, letters are replaced by x and digits by 9; names of files are left out. Without LOG, only
    versions are printed.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa report-problem sample.sacct > problem.md
      gwa report-problem
    """
    echo("\n".join(_versions()))
    if log is not None:
        echo("\n".join(["", *_description(log, params)]))


def masked(text: str) -> str:
    """
    Return *text* with its shape only: letters become x, digits 9, punctuation and blanks stay.

    >>> masked("4711|müller|2024-03-01T10:00:00|gpu:2")
    '9999|xxxxxx|9999-99-99x99:99:99|xxx:9'
    """
    return "".join(map(_masked_character, text))


def _masked_character(character: str) -> str:
    if character.isdigit() or character.isnumeric():
        return "9"
    if character.isascii() and not character.isalpha():
        return character if character.isprintable() else " "
    return "x"


def _versions() -> Iterator[str]:
    """Yield the versions of all that may matter, as a list in Markdown."""
    yield "### Versions"
    yield ""
    yield f"- gwa {__version__}"
    system = f"{platform.system()} {platform.release()} ({platform.machine()})"
    yield f"- {platform.python_implementation()} {platform.python_version()} on {system}"
    yield "- " + ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)


def _version(library: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(library)
    except PackageNotFoundError:
        return "missing"


def _description(log: Path, params: dict[str, Any]) -> Iterator[str]:
    """Yield what became of the rows of *log*, or why it cannot be read."""
    try:
        with opened_whole(log, params) as trace:
            store = trace.store
            account, format_name = store.account, store.provenance.get("format", "unknown")
            refused = store.rows(FIRST_REFUSED)
    except GwaError as error:
        yield from ("### Error", "", f"{type(error).__name__}: {_without_values(str(error), log)}", "")
        yield from _lines("First lines", _first_lines(log))
        return
    yield from ("### Format", "", f"- {format_name}")
    yield "- " + ", ".join(f"{count:,} {what}" for what, count in vars(account).items())
    yield ""
    texts = [f"line {line}, {_without_values(reason, log)}: {masked(text)}" for line, reason, text in refused]
    yield from _lines("First refused lines", texts)


def _without_values(message: str, log: Path) -> str:
    """Return the first sentence of *message*, without the name of the log and what it quotes of it."""
    first = message.replace(str(log), "LOG").replace(log.name, "LOG").splitlines()[0]
    return IN_QUOTES.sub(lambda quoted: masked(quoted[0]), re.split(r" \(|\. ", first)[0])


def _first_lines(log: Path) -> list[str]:
    """Return the first lines of what cannot be read as a trace, masked; none of a binary file."""
    from gwa.ingest.source.head import FileHead

    try:
        head = FileHead.of(log)
    except (GwaError, OSError):
        return []
    return [] if head.is_binary else [masked(line) for line in head.rows()[:LINES]]


def _lines(title: str, texts: list[str]) -> Iterator[str]:
    """Yield masked lines as a block of code, with what was done to them."""
    if texts:
        yield from (f"### {title}", "", INTRODUCTION, "", "```")
        yield from (text[:WIDTH] for text in texts)
        yield "```"
