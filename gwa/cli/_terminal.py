"""
Output for a terminal: messages, progress and tables.

Names come from logs that others wrote. All that is printed passes through `echo` or `printable`, so that no
name moves the cursor, changes colours or the title of the window, or turns the order of letters around.
"""

import csv
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import floor, isfinite, log10
from shutil import get_terminal_size
from textwrap import fill
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import click

from gwa.util.progress import SILENT, Progress
from gwa.util.spreadsheet import disarmed

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

NO_WORDS: Final[Mapping[str, Callable[[Any], str]]] = {}

MAXIMUM_ROWS = 200
"""A terminal shows no more rows; pipes and files get all of them."""

GAP: Final = 2
"""Blanks between the columns of a table."""

MAXIMUM_WORD: Final = 24
"""Longer words, such as addresses, may be broken in a table."""

FIRST_COLUMN: Final = re.compile(r"\s*\S+( \S+)*\s{2,}")
"""What stands before the text of a line in two columns."""

UNIT: Final = re.compile(r"(?<=\d) (?=%|(?:s|min|h|d|y|KB|MB|GB|TB)\b)")
"""What stands between a number and its unit."""

COMMAND: Final = re.compile(r"next: |\s+gwa (?!.*\S {2,}\S)")
"""How a line to copy begins, unless what it does stands behind it."""

GOES_ON: Final = re.compile(r"(?<=\S)\n(?:(?=[^\s|])| {6}(?=\w))")
"""The end of a line within a paragraph, or within an entry of a list."""

MAXIMUM_DIGITS: Final = 6
"""Of a number with a fraction a table on a terminal shows no more digits that matter."""

MINIMUM_DIGITS: Final = 2
"""Nor fewer of the smallest one of a column whose numbers have the same decimals."""

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


def echo_data(text: str) -> None:
    """
    Print text in a format of a program, as that format writes it, which says itself what is escaped.

    A terminal would obey what no format escapes, so there it is escaped nevertheless.
    """
    click.echo(printable(text) if sys.stdout.isatty() else text, nl=False)


def say(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print sentences, on standard error if *err*; on a terminal they are wrapped at words."""
    safe = printable(text)
    if (sys.stderr if err else sys.stdout).isatty():
        safe = wrapped(safe, get_terminal_size().columns)
    click.echo(safe, err=err, nl=nl)


def say_prose(text: str) -> None:
    """Print paragraphs, whose lines are as long as a terminal is wide; elsewhere they stay as they are."""
    say(GOES_ON.sub(" ", text) if sys.stdout.isatty() else text)


def wrapped(text: str, width: int) -> str:
    r"""
    Return *text* with lines of at most *width* letters, broken at blanks; commands stay whole.

    What goes on stands below its beginning: behind a first column, else two letters further in.

    >>> print(wrapped("  Who?  Six users account for half.\nnext: gwa report a-log-with-a-name.parquet", 25))
      Who?  Six users account
            for half.
    next: gwa report a-log-with-a-name.parquet
    """
    return "\n".join(_wrapped_line(line, width) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if len(line) <= width or COMMAND.match(line):
        return line
    column = FIRST_COLUMN.match(line)
    indent = column.end() if column and column.end() <= width // 2 else len(line) - len(line.lstrip()) + GAP
    # A number stays with its unit.
    return fill(
        UNIT.sub("\0", line), width, subsequent_indent=" " * indent, break_long_words=False,
        break_on_hyphens=False, expand_tabs=False, replace_whitespace=False,
    ).replace("\0", " ")  # fmt: skip


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
        of = f" of {self._total:,.0f}" if self._total else ""
        echo(f"{self._label}: {self._done:,.0f}{of}", err=True)


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
    digits: int = MAXIMUM_DIGITS,
    words: Mapping[str, Callable[[Any], str]] = NO_WORDS,
    is_list: bool = False,
    is_query: bool = False,
) -> None:
    """
    Print rows: a table on a terminal, CSV when piped, JSON when asked.

    In a terminal, figures are written for readers (see `column_text`): those with a fraction with this number
    of *digits*, those of the columns that *words* name as these say, such as durations. Where it is too
    narrow for all columns, those *shown* are printed. Each row of what *is_list* is one line: longer texts
    are cut. Columns without a value are left out, but not of a query. What is left out is said.
    """
    if as_json:
        objects = [dict(zip(names, map(_cell_json, row), strict=True)) for row in rows]
        echo_json(json.dumps(objects, indent=1, ensure_ascii=False))
    elif sys.stdout.isatty():
        columns = [
            _Column.of(name, [row[place] for row in rows[:MAXIMUM_ROWS]], digits, words.get(name), is_query)
            for place, name in enumerate(names)
        ]
        width = get_terminal_size().columns
        told = [column for column in columns if is_query or not rows or any(column.cells)]
        if shown is not None and sum(column.width + GAP for column in told) - GAP > width:
            told = [column for column in told if column.name in shown]
        _print_table(told, width, is_list=is_list)
        if len(rows) > MAXIMUM_ROWS:
            say(f"… {len(rows) - MAXIMUM_ROWS:,} more rows; redirect the output to get them all", err=True)
        left_out = [name for name in names if name not in {column.name for column in told}]
        if left_out:
            say(f"Left out: {', '.join(left_out)}; --json or a pipe shows all.", err=True)
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


@dataclass(frozen=True)
class _Column:
    """A column of a table on a terminal: figures stand to the right, and are never broken."""

    name: str
    head: str
    cells: Sequence[str]
    are_figures: bool

    @property
    def width(self) -> int:
        """How wide it is where nothing is broken."""
        return max(map(len, (self.head, *self.cells)))

    @classmethod
    def of(
        cls,
        name: str,
        values: Sequence[object],
        digits: int,
        words: Callable[[Any], str] | None,
        is_plain: bool,
    ) -> "_Column":
        """Return the *values* as they are written, by *words* if there are any."""
        head = name if is_plain else name.replace("_", " ")
        if words is None:
            return cls(name, head, column_text(values, digits, are_plain=is_plain), _are_numbers(values))
        return cls(name, head, ["" if value is None else words(value) for value in values], are_figures=True)


def _print_table(columns: Sequence[_Column], width: int, *, is_list: bool) -> None:
    """Print a table that fits the terminal; where it cannot, print each row as lines of name and value."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    heads = [printable(column.head) for column in columns]
    rows = [list(map(printable, row)) for row in zip(*(column.cells for column in columns), strict=True)]
    widths = column_widths([heads, *rows], [column.are_figures for column in columns], width)
    if widths is None:
        _print_records(heads, rows, width)
        return
    table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for head, column, own_width in zip(heads, columns, widths, strict=True):
        table.add_column(
            Text(head),
            justify="right" if column.are_figures else "left",
            overflow="ellipsis" if is_list else "fold",
            no_wrap=is_list,
            width=own_width,
        )
    for row in rows:
        table.add_row(*map(Text, row))
    # With a height, since Rich takes any terminal for 80 wide that cannot move its cursor.
    Console(width=width, height=MAXIMUM_ROWS).print(table)


def column_widths(
    cells: Sequence[Sequence[str]], are_numbers: Sequence[bool], width: int
) -> list[int] | None:
    """
    Return how wide each column of *cells* is in a table of *width* characters; None if they do not fit.

    Numbers are never broken, words only if they are longer than `MAXIMUM_WORD`. What room is left is shared
    by how much wider each column would like to be.

    >>> column_widths([["user", "about"], ["U1", "runs many short jobs"]], [False, False], 20)
    [4, 14]
    >>> column_widths([["jobs"], ["123456"]], [True], 5) is None
    True
    """
    columns = list(zip(*cells, strict=True))
    natural = [max(map(len, column)) for column in columns]
    for longest in (width, MAXIMUM_WORD):
        minimum = [
            _unbroken(column, longest, is_figure=is_number)
            for column, is_number in zip(columns, are_numbers, strict=True)
        ]
        room = width - GAP * (len(columns) - 1) - sum(minimum)
        if room >= 0:
            break
    else:
        return None
    wanted = [most - least for most, least in zip(natural, minimum, strict=True)]
    share = min(1.0, room / sum(wanted)) if any(wanted) else 0.0
    return [least + int(more * share) for least, more in zip(minimum, wanted, strict=True)]


def _unbroken(column: Sequence[str], longest: int, *, is_figure: bool) -> int:
    """Return how wide a column is at least: its head is broken at blanks, as texts are, figures are not."""
    head, *cells = column
    return max(
        _longest_word(head, longest),
        *(len(cell) if is_figure else _longest_word(cell, longest) for cell in cells),
        0,
    )


def _longest_word(cell: str, longest: int) -> int:
    return min(longest, max(map(len, cell.split()), default=0))


def _print_records(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> None:
    """Print each row as lines of a name and a value, of the values that there are."""
    widest = max(map(len, names))
    for row in rows:
        lines = [f"{name:<{widest}}  {value}" for name, value in zip(names, row, strict=True) if value]
        echo(wrapped("\n".join([*lines, ""]), width))


def column_text(
    values: Sequence[object], digits: int = MAXIMUM_DIGITS, *, are_plain: bool = False
) -> list[str]:
    """
    Return the cells of a column as people read them; those that are missing are empty.

    Thousands are separated, unless the numbers *are plain*, as those of a query, which may be years, times or
    names of jobs. The numbers of a column have the same decimals, chosen so that the largest has
    *digits* digits, or, where the smallest would lose its own, each has those that matter.

    >>> column_text([14713.5, 620893.45, 86.44, None]), column_text([1200, 8152]), column_text([0.5, 1 / 3])
    (['14,714', '620,893', '86', ''], ['1,200', '8,152'], ['0.500000', '0.333333'])
    >>> column_text([1.01e6, 0.0174, "off"], 3), column_text([2012, 12.5], are_plain=True)
    (['1,010,000', '0.0174', 'off'], ['2012.0', '12.5'])
    """
    places = _decimals(values, digits) if _are_numbers(values) else None
    return [_cell(value, digits, places, "" if are_plain else ",") for value in values]


def _are_numbers(values: Sequence[object]) -> bool:
    """Whether all of a column are numbers, but for those that are missing."""
    return all(_is_number(value) or value is None for value in values)


def _is_number(value: object) -> TypeGuard[float | Decimal]:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _decimals(values: Sequence[object], digits: int) -> int | None:
    """Return how many decimals all numbers of a column have; None where no number of them suits all."""
    sizes = [abs(float(value)) for value in values if _is_number(value) and value and isfinite(value)]
    if sizes and max(sizes) >= 2**53:
        return None
    if all(size.is_integer() for size in sizes):
        return 0
    places = max(0, digits - 1 - floor(log10(max(sizes))))
    if min(sizes) < 10 ** (MINIMUM_DIGITS - 1 - places):
        return None
    # No decimal that is a zero in all of them.
    return next(
        (fewer for fewer in range(places) if all(_has(size, fewer, places) for size in sizes)), places
    )


def _has(size: float, fewer: int, places: int) -> bool:
    """Whether a number rounded to *places* decimals has no more than *fewer* of them."""
    return round(size, places) == round(size, fewer)


def _cell(value: object, digits: int, places: int | None, separator: str) -> str:
    """Return a cell for readers, a number with a fixed number of decimals or as *digits* need."""
    if not _is_number(value) or not isfinite(value):
        return _cell_text(value)
    if places is not None:
        return f"{value:{separator}.{places}f}"
    from gwa.words.formatting import decimal

    whole = f"{abs(value):.0f}"
    return decimal(float(value), f"{separator}.{max(digits, len(whole))}g")


def _cell_text(value: object) -> str:
    """Return a cell as text; whole numbers without a point, missing values empty."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


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
