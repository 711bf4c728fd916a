"""From the bytes of a source to blocks of whole lines, without comments and with counted losses."""

import codecs
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.ingest.source.compressed import Source

CHUNK_SIZE: Final = 1 << 18
"""Bytes processed at a time: a chunk that fits the processor's cache is squeezed twice as fast as 4 MiB."""

MAXIMUM_LINE_LENGTH: Final = 1 << 20
"""A longer line is not a record of a job; it is refused without being held in memory."""

REJECT_TEXT_LENGTH: Final = 300
"""How many characters of a refused line are kept."""

ALL_WHITE_TO_BLANK: Final = bytes.maketrans(b"\t\v\f\r\x00\x1a", b"      ")
LINE_END_TO_BLANK: Final = bytes.maketrans(b"\r\x00\x1a", b"   ")
# Each run of blanks is matched once, from its beginning: a line may hold millions.
REPLACED: Final = (b"\r", b"\x00", b"\x1a")
BLANKS_BEFORE_NEWLINE: Final = re.compile(rb"(?<! ) ++(?=\n)")
BLANKS_AROUND_TAB: Final = re.compile(rb"(?<! ) ++(?=\t)|(?<=\t) ++")
LONE_RETURN: Final = re.compile(rb"\r(?=[^\r\n])")
BLANK, NEWLINE = b" ", b"\n"


@dataclass(frozen=True)
class Reject:
    """A line that was refused."""

    line: int
    reason: str
    text: str


@dataclass
class LineBlock:
    """
    Whole lines of a source: *data* holds those to parse, each ended by a newline.

    *first* is the number of the first line; *total* counts all lines met, *comments* the comments and blank
    lines. *skipped* holds the numbers of the lines not in *data*.
    """

    first: int
    data: bytearray = field(default_factory=bytearray)
    total: int = 0
    skipped: list[NDArray[np.int64]] = field(default_factory=list)
    comments: int = 0
    rejects: list[Reject] = field(default_factory=list)

    @property
    def ends(self) -> NDArray[np.int64]:
        """The offsets in *data* at which its lines end."""
        return line_ends(self.data)

    @property
    def data_lines(self) -> int:
        """The number of lines in *data*."""
        return self.total - sum(len(lines) for lines in self.skipped)

    def line_numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Map positions of lines in *data*, from 0, to their numbers in the source."""
        skipped = np.sort(np.concatenate([*self.skipped, np.empty(0, np.int64)]))
        rows_before = skipped - self.first - np.arange(len(skipped))
        return self.first + rows + np.searchsorted(rows_before, rows, side="right")

    def numbered_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines in *data*, each with its number."""
        numbers = self.line_numbers(np.arange(self.data_lines, dtype=np.int64)).tolist()
        # Not splitlines, which also splits at other characters.
        return zip(numbers, self.data.decode().split("\n"), strict=False)


def line_ends(data: bytes | bytearray) -> NDArray[np.int64]:
    """Return the offsets after the newlines of *data*."""
    ends: NDArray[np.int64] = np.flatnonzero(np.frombuffer(data, np.uint8) == ord(NEWLINE)) + 1
    return ends


def select_lines(data: bytes | bytearray, is_selected: NDArray[np.bool_]) -> bytes:
    """Return those whole lines of *data* that are selected."""
    sizes = np.diff(line_ends(data), prepend=0)
    return np.frombuffer(data, np.uint8)[np.repeat(is_selected, sizes)].tobytes()


@dataclass(frozen=True)
class LineLayout:
    """
    How the lines of a format are cut into cells.

    A *delimiter* of one blank stands for any run of white space. A line without exactly *width*
    cells is refused, unless *width* is 0. Lines that begin with *comment* are comments. A carriage return
    alone ends a line, too, where there are at least *cells* cells on each side of it, and this is not 0.
    """

    delimiter: str = " "
    comment: str = ""
    width: int = 0
    cells: int = 0

    @property
    def squeezes(self) -> bool:
        """Whether runs of white space separate the cells."""
        return self.delimiter == " "


@dataclass
class RawBlock:
    """
    Whole lines of a source as they stand, in *chunks*; the first of all *lines* has the number *first*.

    What is marked in *chunks* is the beginning of a line that is too long.
    """

    first: int
    chunks: list[tuple[bytes, bool]] = field(default_factory=list)
    lines: int = 0
    size: int = 0

    def add(self, chunk: bytes, lines: int, *, is_long: bool) -> None:
        """Append a number of *lines*."""
        self.chunks.append((chunk, is_long))
        self.lines += lines
        self.size += len(chunk)


def raw_blocks(source: Source, layout: LineLayout, size: int | None = None) -> Iterator[RawBlock]:
    """
    Yield the lines of *source* in blocks of about *size* bytes, by default those of the source.

    Of a source that says of how many lines a block is, none has more.
    """
    size = source.block_size if size is None else size
    most = source.block_lines or sys.maxsize
    block = RawBlock(first=1)
    for whole, is_long in _whole_lines(source, layout):
        chunk = whole
        ends = np.frombuffer(chunk, np.uint8) == ord(NEWLINE)
        lines = 1 if is_long else int(np.count_nonzero(ends))
        while (rest := most - block.lines) < lines:
            place = int(np.flatnonzero(ends)[rest - 1]) + 1
            block.add(chunk[:place], rest, is_long=False)
            yield block
            block = RawBlock(block.first + block.lines)
            chunk, ends, lines = chunk[place:], ends[place:], lines - rest
        block.add(chunk, lines, is_long=is_long)
        if block.size >= size or block.lines == most:
            yield block
            block = RawBlock(block.first + block.lines)
    if block.lines:
        yield block


def line_blocks(source: Source, layout: LineLayout, size: int | None = None) -> Iterator[LineBlock]:
    """Yield the lines of *source* as `raw_blocks` does, without comments and with counted losses."""
    return (block_of(raw, layout) for raw in raw_blocks(source, layout, size))


def block_of(raw: RawBlock, layout: LineLayout) -> LineBlock:
    """Return the lines of *raw*, without comments and with counted losses."""
    block = LineBlock(raw.first)
    for chunk, is_long in raw.chunks:
        if is_long:
            _refuse_long(block, chunk)
        else:
            _append_lines(block, chunk, layout)
    return block


def _refuse_long(block: LineBlock, beginning: bytes) -> None:
    """Count a line that is too long in *block*."""
    number = block.first + block.total
    block.total += 1
    block.skipped.append(np.array([number]))
    reason = f"longer than {MAXIMUM_LINE_LENGTH} bytes"
    block.rejects.append(Reject(number, reason, _reject_text(beginning)))


def _whole_lines(source: Source, layout: LineLayout) -> Iterator[tuple[bytes, bool]]:
    """Yield chunks that end in a newline; the flag marks the beginning of a line that is too long."""
    rest, too_long = b"", False
    for chunk in decoded(source):
        data = rest + chunk
        end = data.rfind(NEWLINE) + 1
        if too_long:
            if not end:
                continue
            begin = data.find(NEWLINE) + 1
            data, end, too_long = data[begin:], end - begin, False
        if end:
            yield _split_at_returns(data[:end], layout) if layout.cells else data[:end], False
        rest = data[end:]
        if len(rest) > MAXIMUM_LINE_LENGTH:
            yield rest[:REJECT_TEXT_LENGTH], True
            rest, too_long = b"", True
    # Half a line at the end of truncated data may look whole; the truncation itself is rejected instead.
    if rest and not source.broken:
        yield _split_at_returns(rest + NEWLINE, layout) if layout.cells else rest + NEWLINE, False


def _split_at_returns(data: bytes, layout: LineLayout) -> bytes:
    """Return whole lines, of which those are several that carriage returns alone separate."""
    if not LONE_RETURN.search(data):
        return data
    delimiter = layout.delimiter.encode()
    lines = list[bytes]()
    for line in data.split(NEWLINE):
        parts = LONE_RETURN.split(line)
        is_several = all(part.count(delimiter) >= layout.cells - 1 for part in parts)
        lines += parts if is_several else [line]
    return NEWLINE.join(lines)


def count_lines(source: Source) -> int:
    """Return the number of lines of *source*; the last one need not end."""
    lines, last = 0, NEWLINE
    for chunk in decoded(source):
        lines, last = lines + chunk.count(NEWLINE), chunk[-1:]
    return lines + (last != NEWLINE)


def decoded(source: Source) -> Iterator[bytes]:
    """Yield the bytes of *source*, with UTF-16 decoded to UTF-8 and old Mac line ends replaced."""
    head = source.read(CHUNK_SIZE)
    utf16 = next((bom for bom in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) if head.startswith(bom)), None)
    decoder = codecs.getincrementaldecoder("utf-16")(errors="replace") if utf16 else None
    head = head.removeprefix(codecs.BOM_UTF8)
    old_mac = b"\r" in head and NEWLINE not in head
    while head:
        if decoder:
            head = decoder.decode(head).encode()
        yield head.replace(b"\r", NEWLINE) if old_mac else head
        head = source.read(CHUNK_SIZE)


def raw_lines(source: Source) -> Iterator[bytes]:
    """Yield the bytes of *source* as they are, in chunks of whole lines; what has no end comes last."""
    rest = b""
    while chunk := source.read(CHUNK_SIZE):
        lines, newline, after = chunk.rpartition(NEWLINE)
        if newline:
            yield rest + lines + NEWLINE
            rest = after
        elif len(rest := rest + after) > MAXIMUM_LINE_LENGTH:
            break
    if rest:
        yield rest


def are_plain(lines: bytes, layout: LineLayout) -> bool:
    r"""
    Whether whole *lines* are UTF-8 that nothing is replaced in, and all have the width of *layout*.

    >>> are_plain(b"1|2\n3|4\n", LineLayout("|", width=2)), are_plain(b"1|2\r\n", LineLayout("|", width=2))
    (True, False)
    """
    if not lines.endswith(NEWLINE) or any(sign in lines for sign in REPLACED) or not _is_utf8(lines):
        return False
    array, ends = np.frombuffer(lines, np.uint8), line_ends(lines)
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
    return _have_width(array == ord(layout.delimiter), begins, layout.width)


def _is_utf8(data: bytes) -> bool:
    """Whether *data* is valid UTF-8."""
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decode_latin1(error: UnicodeError) -> tuple[str, int]:
    """Decode bytes that are not UTF-8 as Latin-1, so that no line is lost because of a name in it."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("gwa-latin-1", _decode_latin1)


def to_utf8(data: bytes) -> bytes:
    """Convert *data* to UTF-8: bytes that are not valid UTF-8 are read as Latin-1."""
    if data.isascii():
        return data
    return data.decode("utf-8", errors="gwa-latin-1").encode()


def _reject_text(data: bytes) -> str:
    return data[:REJECT_TEXT_LENGTH].decode("utf-8", errors="replace").strip()


def _append_lines(block: LineBlock, chunk: bytes, layout: LineLayout) -> None:
    """Append to *block* the lines of *chunk* that have the right width and are not comments."""
    data = squeeze(to_utf8(chunk)) if layout.squeezes else _trim(to_utf8(chunk), layout.delimiter)
    line_count = data.count(NEWLINE)
    is_skipped = _lines_to_skip(block, data, line_count, layout)
    if is_skipped is not None:
        data = select_lines(data, ~is_skipped)
        block.skipped.append(block.first + block.total + np.flatnonzero(is_skipped))
    block.total += line_count
    block.data += data


def squeeze(data: bytes) -> bytes:
    r"""
    Reduce white space in whole lines to one blank between cells and none at either end.

    >>> squeeze(b" 1\t 2  \n\n3 4\r\n")
    b'1 2\n\n3 4\n'
    """
    array = np.frombuffer(data.translate(ALL_WHITE_TO_BLANK), np.uint8)
    white = array <= ord(BLANK)
    drop = np.empty(len(array), np.bool_)
    drop[0] = array[0] == ord(BLANK)
    # A blank after white space is dropped, a line end never.
    np.logical_and(white[1:], white[:-1], out=drop[1:])
    drop &= array == ord(BLANK)
    return np.compress(~drop, array).tobytes().replace(b" \n", NEWLINE)


def _trim(data: bytes, delimiter: str) -> bytes:
    """Remove carriage returns from whole lines and, if tabs delimit cells, the padding of cells."""
    if b"\r" in data or b"\x00" in data or b"\x1a" in data:
        data = BLANKS_BEFORE_NEWLINE.sub(b"", data.translate(LINE_END_TO_BLANK))
    if delimiter != "\t" or (b" \t" not in data and b"\t " not in data):
        return data
    return BLANKS_AROUND_TAB.sub(b"", data)


def _lines_to_skip(
    block: LineBlock, data: bytes, line_count: int, layout: LineLayout
) -> NDArray[np.bool_] | None:
    """Return a mask of comments, blank lines and rejects, all counted in *block*; None if there are none."""
    separator, comment_mark = layout.delimiter.encode(), layout.comment.encode()
    array = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(array == ord(NEWLINE))
    begins = np.concatenate(([0], ends[:-1] + 1))
    is_comment = ends == begins
    if comment_mark:
        is_comment |= array[begins] == comment_mark[0]
    wrong_width = np.zeros(line_count, np.bool_)
    if layout.width and not _have_width(array == separator[0], begins, layout.width):
        widths = np.add.reduceat((array == separator[0]).astype(np.int64), begins) + 1
        wrong_width = (widths != layout.width) & ~is_comment
    block.comments += int(is_comment.sum())
    for index in np.flatnonzero(wrong_width):
        line = data[begins[index] : ends[index]]
        reason = f"{line.count(separator) + 1} columns, expected {layout.width}"
        block.rejects.append(Reject(int(block.first + block.total + index), reason, _reject_text(line)))
    is_skipped: NDArray[np.bool_] = is_comment | wrong_width
    return is_skipped if is_skipped.any() else None


def _have_width(separators: NDArray[np.bool_], begins: NDArray[np.int64], width: int) -> bool:
    """Whether each line has *width* cells."""
    # Counting in bytes is fastest; the total count rules out overflow.
    counts = np.add.reduceat(separators.view(np.uint8), begins, dtype=np.uint8)
    whole: bool = np.count_nonzero(separators) == len(begins) * (width - 1)
    return whole and bool((counts == (width - 1) % 256).all())
