"""
Read the accounting file of Grid Engine, whose colons part the fields and also stand inside them.

Versions write 43, 45 or more fields, and nothing escapes a colon in ``category`` or a name. A
line is taken as it is when its fields have the shape that their places ask for. Any other is put
together from both ends; the colons inside its fields become U+00AD, which is what later versions
write there themselves. Rows ``TIME:acct:…`` of the ``reporting`` file are such lines, too.

Source: accounting(5) and reporting(5).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
from numpy.typing import NDArray

from gwa.readers.batch import Shape
from gwa.readers.columns import Lines
from gwa.readers.compressed import Source
from gwa.readers.lines import SHOWN, Layout, Part, Reject, parts

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
"""Places of fields that begin with a digit in every line that is as it should be."""

MOST: Final = 1000
"""A line with more fields is no record of a job."""

NUMBER: Final = re.compile(r"-?\d+(\.\d*)?([eE][-+]?\d+)?")
TASK: Final = re.compile(r"NONE|\d+\..+|")
REPORTED: Final = re.compile(r"\d{6,13}:(\w+):")
COLON: Final = "\u00ad"

Places = NDArray[np.int64]


def batches(source: Source, shape: Shape) -> Iterator["Accounting"]:
    """Yield the rows of *source*; those that cannot be put together are rejects."""
    for part in parts(source, Layout("", shape.comment)):
        yield _sorted(part, shape)


@dataclass
class Numbered(Part):
    """Lines of one width; *numbers* are their places in the source."""

    numbers: Places = field(default_factory=lambda: np.empty(0, np.int64))

    def line_numbers(self, rows: Places) -> Places:
        """Return the line numbers of lines, given as positions in *data* from 0."""
        return self.numbers[rows]


@dataclass
class Accounting:
    """A part of an accounting file, its lines sorted by the number of their fields."""

    total: int
    remarks: int
    rejects: list[Reject]
    groups: list[Lines]

    def load(self, database: duckdb.DuckDBPyConnection, table: str, folder: Path) -> None:
        """Append the lines to *table*, and to the rejects those with a field that is no number."""
        for group in self.groups:
            group.load(database, table, folder)
            self.rejects += group.rejects


def _sorted(part: Part, shape: Shape) -> Accounting:
    """Sort the lines of *part* by their width, after putting together those that are broken apart."""
    found = Accounting(part.total, len(part.comments) + part.blank, part.rejects, [])
    text = np.frombuffer(bytes(part.data), np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    colons = np.flatnonzero(text == ord(":"))
    behind = np.searchsorted(colons, ends)
    widths = np.diff(behind, prepend=0) + 1
    numbers = part.line_numbers(np.arange(len(ends)))
    left = np.ones(len(ends), np.bool_)
    for width in np.unique(widths[(widths == OLD) | (widths >= NEW) & (widths <= MOST)]):
        lines = np.flatnonzero(widths == width)
        lines = lines[_is_plain(text, colons, behind[lines] - width + 1, ends[lines], int(width))]
        left[lines] = False
        kept = text if len(lines) == len(ends) else text[np.repeat(~left & (widths == width), _sizes(ends))]
        found.groups.append(_lines(kept.tobytes(), numbers[lines], int(width), shape))
    rows: dict[int, list[tuple[int, str]]] = {}
    for line in np.flatnonzero(left).tolist():
        begin = ends[line - 1] + 1 if line else 0
        _mend(text[begin : ends[line]].tobytes().decode(), int(numbers[line]), found, rows)
    for width, mended in rows.items():
        data = "".join(f"{row}\n" for _, row in mended).encode()
        found.groups.append(_lines(data, np.array([number for number, _ in mended]), width, shape))
    return found


def _sizes(ends: Places) -> Places:
    return np.diff(ends + 1, prepend=0)


def _lines(data: bytes, numbers: Places, width: int, shape: Shape) -> Lines:
    cells = (*CELLS, *(f"more{place}" for place in range(len(CELLS), width)))[:width]
    options = {**shape.options, "cells": cells}
    part = Numbered(first=0, data=bytearray(data), total=len(numbers), numbers=numbers)
    return Lines(part, replace(shape, delimiter=":", options=options))


def _is_plain(
    text: NDArray[np.uint8], colons: Places, firsts: Places, ends: Places, width: int
) -> NDArray[np.bool_]:
    """Return which of the lines of *width* fields, whose first colons are *firsts*, are as they should be."""
    stops = np.append(colons, 0)

    def digit(places: Places) -> NDArray[np.bool_]:
        return (text[places] >= ord("0")) & (text[places] <= ord("9"))

    plain = np.ones(len(firsts), np.bool_)
    wanted = NUMBERS if width == OLD else (*NUMBERS, 43, 44)
    for place in wanted:
        begins = stops[firsts + place - 1] + 1
        plain &= digit(begins) | (text[begins] == ord("-"))
    begins, task_ends = stops[firsts + SLAVE - 1] + 1, stops[firsts + SLAVE]
    task = task_ends - begins == len("NONE")
    for offset, letter in enumerate(b"NONE"):
        task &= text[np.minimum(begins + offset, ends)] == letter
    counted = digit(begins)
    for _ in range(7):
        begins = begins + counted
        counted &= digit(begins)
    task |= (text[begins] == ord(".")) & (begins < task_ends) & digit(stops[firsts + SLAVE - 1] + 1)
    return plain & task


def _mend(line: str, number: int, found: Accounting, rows: dict[int, list[tuple[int, str]]]) -> None:
    """Put a line together and add it to the *rows* of its width, or to the rejects."""
    reported = REPORTED.match(line)
    if reported and reported[1] != "acct":
        found.remarks += 1
        return
    cells = line[reported.end() if reported else 0 :].split(":")
    joined = joined_cells(cells) if OLD <= len(cells) <= MOST else None
    if joined:
        rows.setdefault(len(joined), []).append((number, ":".join(joined)))
    else:
        fault = f"{len(cells)} fields" if len(cells) < OLD else "its fields are not where they should be"
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
    run, start = 0, 0
    for place in range(PRIORITY, len(cells)):
        run = run + 1 if numeric[place] else 0
        if run == USED:
            start = place - USED + 1
            break
    if not start or not numeric[start - 2]:
        return None
    name = COLON.join(cells[NAME : start - 2])
    front = [*cells[:NAME], name, *cells[start - 2 : start + CATEGORY - PRIORITY]]
    if len(front) != CATEGORY:
        return None
    first = start + CATEGORY - PRIORITY
    for last in range(first, len(cells) - 3):
        tail = cells[last + 1 :]
        if numeric[last + 1] and numeric[last + 3] and TASK.fullmatch(tail[1]) and _fits(tail):
            return [*front, COLON.join(cells[first : last + 1]), *tail[: MAXRSS - CATEGORY]]
    return None


def _fits(tail: Sequence[str]) -> bool:
    """Whether what follows the category is as long as some version writes it."""
    width = CATEGORY + 1 + len(tail)
    return width == OLD or (width >= NEW and all(NUMBER.fullmatch(cell) for cell in tail[3:5]))
