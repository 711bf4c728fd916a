"""
Read the accounting file of Grid Engine, whose colons part the fields and also stand inside them.

Versions write 43, 45 or more fields, and nothing escapes a colon in ``category`` or a name. A
line is taken apart where its numbers stand: those in front of the category, and those behind it. The
colons inside fields become the sign U+001F. Rows ``TIME:acct:…`` of the ``reporting`` file are such
lines, too.

Source: accounting(5) and reporting(5).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
from numpy.typing import NDArray

from gwa.ingest.readers.columns import ColumnLines
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import SHOWN, Layout, LineBlock, Reject, parts
from gwa.ingest.spec import TableSpec

CELLS: Final = (
    "qname", "hostname", "unix_group", "owner", "job_name", "job_number", "account", "priority",
    "submission_time", "start_time", "end_time", "failed", "exit_status", "ru_wallclock", "ru_utime",
    "ru_stime", "ru_maxrss", "ru_ixrss", "ru_ismrss", "ru_idrss", "ru_isrss", "ru_minflt", "ru_majflt",
    "ru_nswap", "ru_inblock", "ru_oublock", "ru_msgsnd", "ru_msgrcv", "ru_nsignals", "ru_nvcsw",
    "ru_nivcsw", "project", "department", "granted_pe", "slots", "task_number", "cpu", "mem", "io",
    "category", "iow", "pe_taskid", "maxvmem", "arid", "ar_submission_time", "job_class", "qdel_info",
    "maxrss", "maxpss", "submit_host", "cwd", "submit_cmd", "wallclock", "ioops", "bound_cores",
)  # fmt: skip
"""The fields in their order; what later versions add is not read."""

OLD, NEW = 43, 45
"""How many fields there are up to version 6.1, and from 6.2 on at the least."""

MAXRSS: Final = 47
"""The place in CELLS of the last field that is of use."""

NAME, PRIORITY, USED, CATEGORY, SLAVE = 4, 7, 24, 39, 41
"""Places in CELLS, from 0; USED is how many numbers there are from PRIORITY on."""

NUMBERS: Final = (5, 7, 8, 9, 10, 11, 12, 34, 35, 40, 42)
RESERVED: Final = (43, 44)
"""Places of numbers; those of reservations are new in 6.2. Colons in front of them would move them."""

NONE: Final = b"NONE"
NUMERIC: Final = np.isin(np.arange(256), np.frombuffer(b"0123456789+-.e", np.uint8))
LONGEST_NUMBER: Final = 24
TASK_DIGITS: Final = 9
"""Which bytes numbers consist of, and of how many; the digits of a slave task, of which there are fewer."""

INSIDE: Final = 12
"""With more colons inside its category a line is put together one by one."""

MOST: Final = 1000
"""A line with more fields is no record of a job."""

NUMBER: Final = re.compile(r"-?\d+(\.\d*)?([eE][-+]?\d+)?")
TASK: Final = re.compile(r"NONE|\d+\..+|")
REPORTED: Final = re.compile(r"\d{6,13}:(\w+):")
COLON: Final = "\x1f"
"""What a colon inside a field becomes."""

Places = NDArray[np.int64]


def batches(source: Source, shape: TableSpec) -> Iterator["Accounting"]:
    """Yield the rows of *source*; those that cannot be put together are rejects."""
    for part in parts(source, Layout("", shape.comment)):
        yield _sorted(part, shape)


@dataclass
class Accounting:
    """A part of an accounting file, its lines sorted by the number of their fields."""

    total: int
    remarks: int
    rejects: list[Reject]
    groups: list[ColumnLines]

    def load(self, database: duckdb.DuckDBPyConnection, table: str, folder: Path) -> None:
        """Append the lines to *table*, and to the rejects those with a field that is no number."""
        for group in self.groups:
            group.load(database, table, folder)
            self.rejects += group.rejects


def _sorted(part: LineBlock, shape: TableSpec) -> Accounting:
    """Sort the lines of *part* by their width, after putting together those that are broken apart."""
    found = Accounting(part.total, len(part.comments) + part.blank, part.rejects, [])
    text = np.frombuffer(part.data, np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    widths = _widths(text, ends)
    numbers = part.line_numbers(np.arange(len(ends)))
    for width in np.unique(widths[widths > 0]).tolist():
        lines = np.flatnonzero(widths == width)
        found.groups.append(_lines(_kept(part.data, ends, lines), numbers[lines], width, shape))
    mended: dict[int, list[tuple[int, str]]] = {}
    for line in np.flatnonzero(widths == 0).tolist():
        begin = ends[line - 1] + 1 if line else 0
        _mend(part.data[begin : ends[line]].decode(), int(numbers[line]), found, mended)
    for width, rows in mended.items():
        data = bytearray("".join(f"{row}\n" for _, row in rows).encode())
        found.groups.append(_lines(data, np.array([number for number, _ in rows]), width, shape))
    return found


def _widths(text: NDArray[np.uint8], ends: Places) -> Places:
    """Return how many fields each line has, once the colons in its category are no more; 0 if it is odd."""
    # One more, behind the last colon, stands for the end of the last line.
    colons = np.append(np.flatnonzero(text == ord(":")), len(text) - 1)
    behind = np.searchsorted(colons[:-1], ends)
    apart = np.diff(behind, prepend=0) + 1
    widths = np.zeros(len(ends), np.int64)
    for width in np.unique(apart[(apart >= OLD) & (apart <= MOST)]).tolist():
        lines = np.flatnonzero(apart == width)
        for inside in range(min(width - OLD, INSIDE) + 1):
            left = lines[widths[lines] == 0]
            if not len(left) or width - inside == (OLD + NEW) // 2:
                continue
            firsts = behind[left] - width + 1
            plain = _is_plain(text, colons, firsts, inside, is_old=width - inside == OLD)
            widths[left[plain]] = width - inside
            for colon in range(CATEGORY, CATEGORY + inside):
                text[colons[firsts[plain] + colon]] = ord(COLON)
    return widths


def _kept(data: bytearray, ends: Places, lines: Places) -> bytearray:
    """Return those *lines* of *data* that are asked for."""
    if len(lines) == len(ends):
        return data
    wanted = np.zeros(len(ends), np.bool_)
    wanted[lines] = True
    text = np.frombuffer(data, np.uint8)
    return bytearray(text[np.repeat(wanted, np.diff(ends + 1, prepend=0))].tobytes())


def _lines(data: bytearray, numbers: Places, width: int, shape: TableSpec) -> ColumnLines:
    """Return lines of *width* fields, whose places in the source are *numbers*."""
    cells = (*CELLS, *(f"more{place}" for place in range(len(CELLS), width)))[:width]
    part = LineBlock(first=int(numbers[0]), data=data, total=int(numbers[-1] - numbers[0]) + 1)
    if part.total > len(numbers):
        every = np.arange(part.first, part.first + part.total)
        part.skipped.append(np.setdiff1d(every, numbers, assume_unique=True))
    return ColumnLines(part, replace(shape, delimiter=":", options={**shape.options, "cells": cells}))


def _is_plain(
    text: NDArray[np.uint8], colons: Places, firsts: Places, inside: int, *, is_old: bool
) -> NDArray[np.bool_]:
    """
    Return which lines have numbers in their places, when so many colons are *inside* their category.

    *firsts* are the places in *colons* of the first colon of each.
    """
    plain = np.ones(len(firsts), np.bool_)
    for place in NUMBERS if is_old else (*NUMBERS, *RESERVED):
        letter = text[colons[firsts + place - 1 + (inside if place > CATEGORY else 0)] + 1]
        plain &= _is_digit(letter) | (letter == ord("-"))
    task = firsts[plain] + SLAVE + inside
    plain[plain] = _is_none(text, colons, task) | _is_slave(text, colons, task)
    return plain


def _is_digit(letters: NDArray[np.uint8]) -> NDArray[np.bool_]:
    digits: NDArray[np.bool_] = (letters >= ord("0")) & (letters <= ord("9"))
    return digits


def _is_none(text: NDArray[np.uint8], colons: Places, behind: Places) -> NDArray[np.bool_]:
    """Return which fields, in front of the colons *behind*, are NONE."""
    begins = colons[behind - 1] + 1
    none: NDArray[np.bool_] = colons[behind] - begins == len(NONE)
    for place, letter in enumerate(NONE):
        none &= text[np.minimum(begins + place, len(text) - 1)] == letter
    return none


def _is_slave(text: NDArray[np.uint8], colons: Places, behind: Places) -> NDArray[np.bool_]:
    """Return which fields are the id of a slave task, such as 1.node07, with a number on either side."""
    dots = colons[behind - 1] + 1
    slave = _is_digit(text[dots])
    for _ in range(TASK_DIGITS):
        dots = dots + _is_digit(text[dots])
    slave &= text[dots] == ord(".")
    for side in (-1, 0, 1):
        stops = behind[slave] + side
        begins, ends = colons[stops - 1] + 1, colons[stops]
        numeric = ends - begins <= LONGEST_NUMBER
        for place in range(LONGEST_NUMBER):
            numeric &= NUMERIC[text[np.minimum(begins + place, ends)]] | (begins + place >= ends)
        slave[slave] = numeric if side else ~numeric
    return slave


def _mend(line: str, number: int, found: Accounting, rows: dict[int, list[tuple[int, str]]]) -> None:
    """Put a line together and add it to the *rows* of its width, or to the rejects."""
    reported = REPORTED.match(line)
    if reported and reported[1] != "acct":
        found.remarks += 1
        return
    cells = line[reported.end() if reported else 0 :].split(":")
    possible = OLD <= len(cells) <= MOST
    joined = joined_cells(cells) if possible else None
    if joined:
        rows.setdefault(len(joined), []).append((number, ":".join(joined)))
    else:
        fault = "its fields are not where they should be" if possible else f"{len(cells)} fields"
        reason = f"{fault}, expected the {OLD}, {NEW} or more of an accounting file"
        found.rejects.append(Reject(number, reason, line[:SHOWN]))


def joined_cells(cells: Sequence[str]) -> list[str] | None:
    """
    Return fields that were broken apart at colons inside them, put together; None where they do not fit.

    The numbers between the account and the project are found first; what is too much before them
    belongs to the name of the job. Behind them the category ends where a number, the id of a slave
    task and the memory follow.
    """
    numeric = [bool(NUMBER.fullmatch(cell)) for cell in cells]
    for start in range(PRIORITY, len(cells) - (CATEGORY - PRIORITY)):
        first = start + CATEGORY - PRIORITY
        if numeric[start - 2] and all(numeric[start : start + USED]) and all(numeric[first - 5 : first]):
            break
    else:
        return None
    front = [*cells[:NAME], COLON.join(cells[NAME : start - 2]), *cells[start - 2 : first]]
    for last in range(first, len(cells) - 3):
        tail = cells[last + 1 :]
        if numeric[last + 1] and numeric[last + 3] and TASK.fullmatch(tail[1]) and _fits(tail):
            return [*front, COLON.join(cells[first : last + 1]), *tail[: MAXRSS - CATEGORY]]
    return None


def _fits(tail: Sequence[str]) -> bool:
    """Whether what follows the category is as long as some version writes it."""
    width = CATEGORY + 1 + len(tail)
    return width == OLD or (width >= NEW and all(NUMBER.fullmatch(cell) for cell in tail[3:5]))
