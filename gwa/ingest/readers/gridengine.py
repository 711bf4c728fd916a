"""
Read the accounting file of Grid Engine, whose colons separate the fields and also occur inside them.

Depending on the version there are 43, 45 or more fields, and a colon in ``category`` or a name is not
escaped. A line is split by the positions of its numbers, before the category and after it. Colons
inside fields become the character U+001F. Rows ``TIME:acct:…`` of the ``reporting`` file are read, too.

Source: accounting(5) and reporting(5).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.ingest.pieces import Pieces
from gwa.ingest.readers.columns import ColumnLines
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import (
    REJECT_TEXT_LENGTH,
    LineBlock,
    LineLayout,
    Reject,
    line_blocks,
    select_lines,
)
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
"""The fields in order; fields that later versions add are not read."""

OLD_FIELDS, NEW_FIELDS = 43, 45
"""The number of fields up to version 6.1, and the minimum from 6.2 on."""

LAST_USED_FIELD: Final = 47
"""The position in CELLS of the last field that is used."""

NAME, PRIORITY, NUMBERS_AFTER_PRIORITY, CATEGORY, SLAVE_TASK = 4, 7, 24, 39, 41
"""Positions in CELLS, from 0; NUMBERS_AFTER_PRIORITY counts the numbers from PRIORITY on."""

NUMBER_FIELDS: Final = (5, 7, 8, 9, 10, 11, 12, 34, 35, 40, 42)
RESERVATION_FIELDS: Final = (43, 44)
"""Positions of numbers, which colons inside earlier fields would move; reservations are new in 6.2."""

NONE: Final = b"NONE"
BEGINS_NUMBER: Final = np.isin(np.arange(256), np.frombuffer(b"0123456789-", np.uint8))
IS_NUMERIC_BYTE: Final = np.isin(np.arange(256), np.frombuffer(b"0123456789+-.e", np.uint8))
MAXIMUM_NUMBER_LENGTH: Final = 24
MAXIMUM_TASK_DIGITS: Final = 9
"""The bytes that numbers consist of, and how many at most; a slave task's number has fewer digits."""

MAXIMUM_CATEGORY_COLONS: Final = 12
"""Lines with more colons in their category are joined one by one."""

MAXIMUM_FIELDS: Final = 1000
"""A line with more fields is refused."""

NUMBER: Final = re.compile(r"-?\d+(\.\d*)?([eE][-+]?\d+)?")
TASK_ID: Final = re.compile(r"NONE|\d+\..+|")
REPORTING_PREFIX: Final = re.compile(r"\d{6,13}:(\w+):")
INNER_COLON: Final = "\x1f"
"""Replaces a colon inside a field."""

Positions = NDArray[np.int64]


def batches(source: Source, table_spec: TableSpec) -> Iterator["Accounting"]:
    """Yield the rows of *source*; lines whose fields cannot be told apart are rejects."""
    for block in line_blocks(source, LineLayout("", table_spec.comment)):
        yield _group_by_width(block, table_spec)


@dataclass
class Accounting:
    """A block of an accounting file, its lines grouped by their number of fields."""

    total: int
    comments: int
    rejects: list[Reject]
    groups: list[ColumnLines]

    def load(self, rows: Pieces, folder: Path) -> None:
        """Append the lines to *rows*; those with a malformed number are appended to the rejects."""
        for group in self.groups:
            group.load(rows, folder)
            self.rejects += group.rejects


def _group_by_width(block: LineBlock, table_spec: TableSpec) -> Accounting:
    """Group the lines of *block* by width, after joining fields that contain colons."""
    batch = Accounting(block.total, block.comments, block.rejects, [])
    text = np.frombuffer(block.data, np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    widths = _widths(text, ends)
    numbers = block.line_numbers(np.arange(len(ends)))
    for width in np.unique(widths[widths > 0]).tolist():
        fits = widths == width
        data = block.data if fits.all() else bytearray(select_lines(block.data, fits))
        batch.groups.append(_column_lines(data, numbers[fits], width, table_spec))
    repaired: dict[int, list[tuple[int, str]]] = {}
    for line in np.flatnonzero(widths == 0).tolist():
        begin = ends[line - 1] + 1 if line else 0
        _join_line(block.data[begin : ends[line]].decode(), int(numbers[line]), batch, repaired)
    for width, rows in repaired.items():
        data = bytearray("".join(f"{row}\n" for _, row in rows).encode())
        batch.groups.append(_column_lines(data, np.array([number for number, _ in rows]), width, table_spec))
    return batch


def _widths(text: NDArray[np.uint8], ends: Positions) -> Positions:
    """Return the number of fields of each line, with colons in its category replaced; 0 if undecided."""
    # The last entry stands for the end of the last line.
    colons = np.append(np.flatnonzero(text == ord(":")), len(text) - 1)
    colons_before = np.searchsorted(colons[:-1], ends)
    raw_widths = np.diff(colons_before, prepend=0) + 1
    widths = np.zeros(len(ends), np.int64)
    for width in np.unique(raw_widths[(raw_widths >= OLD_FIELDS) & (raw_widths <= MAXIMUM_FIELDS)]).tolist():
        lines = np.flatnonzero(raw_widths == width)
        for inner_colons in range(min(width - OLD_FIELDS, MAXIMUM_CATEGORY_COLONS) + 1):
            undecided = lines[widths[lines] == 0]
            if not len(undecided) or width - inner_colons == (OLD_FIELDS + NEW_FIELDS) // 2:
                continue
            firsts = colons_before[undecided] - width + 1
            matches = _numbers_in_place(text, colons, firsts, inner_colons, width - inner_colons)
            widths[undecided[matches]] = width - inner_colons
            for offset in range(CATEGORY, CATEGORY + inner_colons):
                text[colons[firsts[matches] + offset]] = ord(INNER_COLON)
    return widths


def _column_lines(data: bytearray, numbers: Positions, width: int, table_spec: TableSpec) -> ColumnLines:
    """Return lines of *width* fields, whose numbers in the source are *numbers*."""
    cells = (*CELLS, *(f"more{position}" for position in range(len(CELLS), width)))[:width]
    block = LineBlock(first=int(numbers[0]), data=data, total=int(numbers[-1] - numbers[0]) + 1)
    if block.total > len(numbers):
        every = np.arange(block.first, block.first + block.total)
        block.skipped.append(np.setdiff1d(every, numbers, assume_unique=True))
    options = {**table_spec.options, "cells": cells}
    return ColumnLines(block, replace(table_spec, delimiter=":", options=options))


def _numbers_in_place(
    text: NDArray[np.uint8], colons: Positions, firsts: Positions, inner_colons: int, width: int
) -> NDArray[np.bool_]:
    """
    Return which lines of *width* fields have numbers where they belong.

    Their category contains *inner_colons*; *firsts* are the positions in *colons* of their first colons.
    """
    fields = NUMBER_FIELDS if width == OLD_FIELDS else (*NUMBER_FIELDS, *RESERVATION_FIELDS)
    before = [field - 1 + (inner_colons if field > CATEGORY else 0) for field in fields]
    begin_number = BEGINS_NUMBER[text[colons[np.add.outer(before, firsts)] + 1]]
    matches: NDArray[np.bool_] = np.logical_and.reduce(begin_number)
    task_ends = firsts[matches] + SLAVE_TASK + inner_colons
    is_task_id = _is_none(text, colons, task_ends)
    others = np.flatnonzero(~is_task_id)
    is_task_id[others] = _is_slave(text, colons, task_ends[others])
    matches[matches] = is_task_id
    return matches


def _is_digit(characters: NDArray[np.uint8]) -> NDArray[np.bool_]:
    digits: NDArray[np.bool_] = (characters >= ord("0")) & (characters <= ord("9"))
    return digits


def _is_none(text: NDArray[np.uint8], colons: Positions, field_ends: Positions) -> NDArray[np.bool_]:
    """Return which fields, those before the colons *field_ends*, are NONE."""
    begins = colons[field_ends - 1] + 1
    none: NDArray[np.bool_] = colons[field_ends] - begins == len(NONE)
    for position, letter in enumerate(NONE):
        none &= text[np.minimum(begins + position, len(text) - 1)] == letter
    return none


def _is_slave(text: NDArray[np.uint8], colons: Positions, field_ends: Positions) -> NDArray[np.bool_]:
    """Return which fields are the id of a slave task, such as 1.node07, between two numbers."""
    dots = colons[field_ends - 1] + 1
    is_slave = _is_digit(text[dots])
    for _ in range(MAXIMUM_TASK_DIGITS):
        dots = dots + _is_digit(text[dots])
    is_slave &= text[dots] == ord(".")
    for neighbour in (-1, 0, 1):
        stops = field_ends[is_slave] + neighbour
        begins, ends = colons[stops - 1] + 1, colons[stops]
        is_numeric = ends - begins <= MAXIMUM_NUMBER_LENGTH
        for position in range(MAXIMUM_NUMBER_LENGTH):
            is_numeric &= IS_NUMERIC_BYTE[text[np.minimum(begins + position, ends)]] | (
                begins + position >= ends
            )
        is_slave[is_slave] = is_numeric if neighbour else ~is_numeric
    return is_slave


def _join_line(
    line: str, number: int, batch: Accounting, rows_by_width: dict[int, list[tuple[int, str]]]
) -> None:
    """Join the fields of a line and add it to *rows_by_width*, or to the rejects."""
    prefix = REPORTING_PREFIX.match(line)
    if prefix and prefix[1] != "acct":
        batch.comments += 1
        return
    cells = line[prefix.end() if prefix else 0 :].split(":")
    is_possible = OLD_FIELDS <= len(cells) <= MAXIMUM_FIELDS
    joined = join_cells(cells) if is_possible else None
    if joined:
        rows_by_width.setdefault(len(joined), []).append((number, ":".join(joined)))
    else:
        problem = "its fields are not where they should be" if is_possible else f"{len(cells)} fields"
        reason = f"{problem}, expected the {OLD_FIELDS}, {NEW_FIELDS} or more of an accounting file"
        batch.rejects.append(Reject(number, reason, line[:REJECT_TEXT_LENGTH]))


def join_cells(cells: Sequence[str]) -> list[str] | None:
    """
    Join the pieces of fields that contain colons; None if they do not fit.

    The numbers between the account and the project are located first; surplus cells before them
    belong to the name of the job. After them the category ends where a number, the id of a slave
    task and the memory follow.
    """
    is_number = [bool(NUMBER.fullmatch(cell)) for cell in cells]
    for start in range(PRIORITY, len(cells) - (CATEGORY - PRIORITY)):
        first = start + CATEGORY - PRIORITY
        if (
            is_number[start - 2]
            and all(is_number[start : start + NUMBERS_AFTER_PRIORITY])
            and all(is_number[first - 5 : first])
        ):
            break
    else:
        return None
    front = [*cells[:NAME], INNER_COLON.join(cells[NAME : start - 2]), *cells[start - 2 : first]]
    for last in range(first, len(cells) - 3):
        tail = cells[last + 1 :]
        if is_number[last + 1] and is_number[last + 3] and TASK_ID.fullmatch(tail[1]) and _fits(tail):
            return [*front, INNER_COLON.join(cells[first : last + 1]), *tail[: LAST_USED_FIELD - CATEGORY]]
    return None


def _fits(tail: Sequence[str]) -> bool:
    """Whether *tail*, the fields after the category, is as long as some version writes it."""
    width = CATEGORY + 1 + len(tail)
    return width == OLD_FIELDS or (width >= NEW_FIELDS and all(NUMBER.fullmatch(cell) for cell in tail[3:5]))
