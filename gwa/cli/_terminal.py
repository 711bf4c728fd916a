"""
Output for a terminal: messages, progress and tables.

Names come from logs that others wrote. All that is printed passes through `echo` or `printable`, so that no
name moves the cursor, changes colours or the title of the window, or turns the order of letters around.
"""

import csv
import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from shutil import get_terminal_size
from textwrap import fill
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.util.progress import SILENT, Progress
from gwa.util.spreadsheet import disarmed

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

MINIMUM_GROUPED: Final = 10_000
"""Numbers of fewer digits, such as years, need no commas."""

MAXIMUM_ROWS = 200
"""A terminal shows no more rows; pipes and files get all of them."""

GAP: Final = 2
"""Blanks between the columns of a table."""

MAXIMUM_WORD: Final = 24
"""Longer words, such as addresses, may be broken in a table."""

FIRST_COLUMN: Final = re.compile(r"\s*\S+( \S+)*\s{2,}")
"""What stands before the text of a line in two columns."""

COMMAND: Final = "next: "
"""How a line to copy begins."""

MAXIMUM_DIGITS: Final = 6
"""Of a number with a fraction a table on a terminal shows no more digits that matter."""

LINE_INTERVAL = 30.0
"""Seconds between two lines of progress."""

UNPRINTABLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]"
)
"""Controls but the tab and the end of a line, marks of direction, invisible characters, bytes of no text."""


def printable(text: object) -> str:
    r"""
    Return *text* with the characters escaped that a terminal would obey instead of showing them.

    >>> print(printable("a\x1b[31mb"), printable("\u202ecod.exe"))
    a\x1b[31mb \u202ecod.exe
    """
    return UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], str(text))


def echo(text: object, *, err: bool = False, nl: bool = True) -> None:
    """
    Print *text* with what a terminal would obey escaped.

    What stands on standard output may be copied, such as commands and paths, and keeps its lines; on standard
    error (*err*) stand sentences, which `say` prints.
    """
    if err:
        say(text, err=True, nl=nl)
    else:
        click.echo(printable(text), nl=nl)


def say(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print sentences, on standard error if *err*; on a terminal they are wrapped at words."""
    safe = printable(text)
    if (sys.stderr if err else sys.stdout).isatty():
        safe = wrapped(safe, get_terminal_size().columns)
    click.echo(safe, err=err, nl=nl)


def wrapped(text: str, width: int) -> str:
    r"""
    Return *text* with lines of at most *width* letters, broken at blanks; words and commands stay whole.

    What goes on stands below its beginning: behind a first column, else two letters further in.

    >>> print(wrapped("  Who?  Six users account for half.\nnext: gwa report a-log-with-a-name.parquet", 25))
      Who?  Six users account
            for half.
    next: gwa report a-log-with-a-name.parquet
    """
    return "\n".join(_wrapped_line(line, width) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if len(line) <= width or line.startswith(COMMAND):
        return line
    column = FIRST_COLUMN.match(line)
    indent = column.end() if column and column.end() <= width // 2 else len(line) - len(line.lstrip()) + GAP
    return fill(
        line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False,
        expand_tabs=False, replace_whitespace=False,
    )  # fmt: skip


class Bar(Progress):
    """A progress bar on standard error."""

    def __init__(self) -> None:
        """Prepare the bar; it shows with its first step."""
        self._bars: Bars | None = None
        self._task: Any = None

    @contextmanager
    def step(self, label: str, total: float | None = None) -> Iterator[Progress]:
        """Show a bar that fills up to *total*."""
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
        )
        with Bars(
            *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
        ) as self._bars:
            self._task = self._bars.add_task(printable(label), total=total)
            yield self
        self._bars = None

    def advance(self, amount: float = 1) -> None:
        """Fill the bar further."""
        if self._bars:
            self._bars.advance(self._task, amount)


class ProgressLines(Progress):
    """Lines of progress on standard error from time to time, for logs."""

    def __init__(self) -> None:
        """Prepare to count; the first step begins."""
        self._label, self._done, self._total = "", 0.0, 0.0
        self._last_line = 0.0

    @contextmanager
    def step(self, label: str, total: float | None = None) -> Iterator[Progress]:
        """Print that a step begins."""
        self._label, self._done, self._total = label, 0.0, total or 0.0
        self._print_line()
        yield self

    def advance(self, amount: float = 1) -> None:
        """Count, and print a line when the last one is half a minute old."""
        self._done += amount
        if monotonic() - self._last_line >= LINE_INTERVAL:
            self._print_line()

    def _print_line(self) -> None:
        self._last_line = monotonic()
        of = f" of {self._total:g}" if self._total else ""
        echo(f"{self._label}: {self._done:g}{of}", err=True)


def progress_lines(*, quiet: bool) -> Progress:
    """Return a bar on a terminal and lines elsewhere, for commands that take long."""
    return SILENT if quiet else Bar() if sys.stderr.isatty() else ProgressLines()


def progress(*, quiet: bool) -> Progress:
    """Return a bar on a terminal, nothing elsewhere."""
    return Bar() if not quiet and sys.stderr.isatty() else SILENT


def table(
    names: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    as_json: bool,
    shown: Collection[str] | None = None,
    digits: str = "",
    is_list: bool = False,
) -> None:
    """
    Print rows: a table on a terminal, of the columns *shown*, CSV of all when piped, JSON when asked.

    In a terminal, numbers with a fraction have *digits*, such as .3g, and each row of what *is_list* is one
    line: longer texts are cut.
    """
    if as_json:
        objects = [dict(zip(names, map(_cell_json, row), strict=True)) for row in rows]
        echo_json(json.dumps(objects, indent=1, ensure_ascii=False))
    elif sys.stdout.isatty():
        places = [place for place, name in enumerate(names) if shown is None or name in shown]
        cells = [[_with_digits(row[place], digits) for place in places] for row in rows]
        _print_table([names[place] for place in places], cells, is_list=is_list)
        if len(places) < len(names):
            left_out = ", ".join(name for name in names if shown and name not in shown)
            echo(f"Left out: {left_out}; --json or a pipe shows all.", err=True)
    else:
        echo_csv(names, rows)


def echo_csv(names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as CSV."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(disarmed, names))
    writer.writerows([_cell_csv(value) for value in row] for row in rows)


def echo_json(text: str, *, nl: bool = True) -> None:
    """Print the *text* of JSON; what a terminal would obey is escaped as JSON escapes it."""
    click.echo(UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text), nl=nl)


def _print_table(names: Sequence[str], rows: Sequence[Sequence[object]], *, is_list: bool = False) -> None:
    """Print a table that fits the terminal; where it cannot, print each row as lines of name and value."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    text = _grouped if is_list else _cell_text
    cells = [[printable(text(_rounded(value))) for value in row] for row in rows[:MAXIMUM_ROWS]]
    are_numbers = [
        all(isinstance(row[place], int | float | Decimal | None) for row in rows)
        for place in range(len(names))
    ]
    heads = list(map(printable, names))
    widths = column_widths([heads, *cells], are_numbers, console.width)
    if widths is None:
        _print_records(heads, cells)
    else:
        table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, GAP, 0, 0))
        for head, is_number, width in zip(heads, are_numbers, widths, strict=True):
            table.add_column(
                Text(head),
                justify="right" if is_number else "left",
                overflow="ellipsis" if is_list else "fold",
                no_wrap=is_list,
                width=width,
            )
        for row in cells:
            table.add_row(*map(Text, row))
        console.print(table)
    if len(rows) > MAXIMUM_ROWS:
        echo(f"… {len(rows) - MAXIMUM_ROWS} more rows; redirect the output to get them all", err=True)


def column_widths(
    cells: Sequence[Sequence[str]], are_numbers: Sequence[bool], width: int
) -> list[int] | None:
    """
    Return how wide each column of *cells* is in a table of *width* characters; None if they do not fit.

    Numbers are never broken, words only if they are longer than `MAXIMUM_WORD`. What room is left is shared
    by how much wider each column would like to be.

    >>> column_widths([["user", "about"], ["U1", "runs many short jobs"]], [False, False], 20)
    [4, 12]
    >>> column_widths([["jobs"], ["123456"]], [True], 5) is None
    True
    """
    columns = list(zip(*cells, strict=True))
    natural = [max(map(len, column)) for column in columns]
    minimum = [
        most if is_number else min(most, max(_longest_word(cell) for cell in column))
        for column, most, is_number in zip(columns, natural, are_numbers, strict=True)
    ]
    room = width - GAP * len(columns) - sum(minimum)
    if room < 0:
        return None
    wanted = [most - least for most, least in zip(natural, minimum, strict=True)]
    share = min(1.0, room / sum(wanted)) if any(wanted) else 0.0
    return [least + int(more * share) for least, more in zip(minimum, wanted, strict=True)]


def _longest_word(cell: str) -> int:
    return min(MAXIMUM_WORD, max(map(len, cell.split()), default=0))


def _print_records(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print each row as lines of a name and a value, of the values that there are."""
    widest = max(map(len, names))
    for row in rows:
        lines = [f"{name:<{widest}}  {value}" for name, value in zip(names, row, strict=True) if value]
        echo("\n".join([*lines, ""]))


def _with_digits(value: object, digits: str) -> object:
    return format(value, digits) if digits and isinstance(value, float) else value


def _rounded(value: object) -> object:
    """Return a number with a fraction as text of `MAXIMUM_DIGITS`, or whole; anything else as it is."""
    if not isinstance(value, float) or value.is_integer() or not isfinite(value):
        return value
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    return f"{value:.0f}" if whole >= MAXIMUM_DIGITS else f"{value:.{MAXIMUM_DIGITS}g}"


def _cell_text(value: object) -> str:
    """Return a cell as text; whole numbers without a point, missing values empty."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def _grouped(value: object) -> str:
    """Return a cell as text, the digits of whole numbers in groups, but for years."""
    if isinstance(value, int) and value >= MINIMUM_GROUPED:
        return f"{value:,}"
    return _cell_text(value)


def _cell_csv(value: object) -> str:
    """Return a cell of CSV: numbers as they are, text disarmed."""
    text = _cell_text(value)
    return text if isinstance(value, int | float | Decimal) else disarmed(text)


def _cell_json(value: object) -> object:
    """Return a cell as a value that JSON has."""
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - that is what nan is
        return None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, str | int | float | bool | list | dict | None):
        return value
    return str(value)
