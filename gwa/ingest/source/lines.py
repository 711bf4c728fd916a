"""From the bytes of a source to parts of whole lines, without comments and with counted losses."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.ingest.source.compressed import Source

CHUNK: Final = 1 << 18
"""Bytes treated at a time: what fits the processor's cache squeezes twice as fast as 4 MiB."""

PART: Final = 1 << 25
"""Bytes of lines that are parsed at a time; memory and temporary disk are a small multiple of it."""

LONGEST_LINE: Final = 1 << 20
"""A longer line is no record of a job; it is refused without being held in memory."""

SHOWN: Final = 300
"""How much of a refused line is kept to show it."""

BLANKS: Final = bytes.maketrans(b"\t\v\f\r\x00\x1a", b"      ")
ENDS: Final = bytes.maketrans(b"\r\x00\x1a", b"   ")
# Runs of blanks are looked at once, from their beginning: there may be millions in a row.
BEFORE_END: Final = re.compile(rb"(?<! ) ++(?=\n)")
AROUND_TAB: Final = re.compile(rb"(?<! ) ++(?=\t)|(?<=\t) ++")
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
    Whole lines of a source: *data* holds the ones to parse, each ended by a newline.

    *first* is the number of the first line, *size* and *total* count all bytes and lines met,
    *skipped* holds the numbers of the lines not in *data*: the comments and the *rejects*.
    """

    first: int
    data: bytearray = field(default_factory=bytearray)
    size: int = 0
    total: int = 0
    skipped: list[NDArray[np.int64]] = field(default_factory=list)
    comments: list[tuple[int, str]] = field(default_factory=list)
    blank: int = 0
    rejects: list[Reject] = field(default_factory=list)

    @property
    def kept(self) -> int:
        """How many lines *data* holds."""
        return self.total - sum(len(lines) for lines in self.skipped)

    def line_numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the line numbers of kept lines, given as positions in *data* from 0."""
        skipped = np.sort(np.concatenate([*self.skipped, np.empty(0, np.int64)]))
        kept_before = skipped - self.first - np.arange(len(skipped))
        return self.first + rows + np.searchsorted(kept_before, rows, side="right")

    def rows(self) -> Iterator[tuple[int, str]]:
        """Yield the kept lines, each with its number."""
        numbers = self.line_numbers(np.arange(self.kept, dtype=np.int64)).tolist()
        # Not splitlines: text may hold other signs that it takes for the end of a line.
        return zip(numbers, self.data.decode().split("\n"), strict=False)


@dataclass(frozen=True)
class Layout:
    """
    How the lines of a format are cut into cells.

    A *delimiter* of one blank means any run of white space. A line that does not have *width*
    cells is refused, unless *width* is 0. Lines that begin with *comment* are comments.
    """

    delimiter: str = " "
    comment: str = ""
    width: int = 0

    @property
    def squeezes(self) -> bool:
        """Whether runs of white space separate the cells."""
        return self.delimiter == " "


def parts(source: Source, layout: Layout, size: int = PART) -> Iterator[LineBlock]:
    """Yield the lines of *source* in parts of about *size* bytes."""
    part = LineBlock(first=1)
    for chunk, long_line in _whole_lines(source):
        if long_line:
            part.total += 1
            number = part.first + part.total - 1
            part.skipped.append(np.array([number]))
            part.rejects.append(Reject(number, f"longer than {LONGEST_LINE} bytes", _text(chunk)))
        else:
            _add(part, chunk, layout)
        part.size += len(chunk)
        if part.size >= size:
            yield part
            part = LineBlock(first=part.first + part.total)
    if part.total:
        yield part


def _whole_lines(source: Source) -> Iterator[tuple[bytes, bool]]:
    """Yield chunks that end in a newline; the flag marks the head of a line that is too long."""
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
            yield data[:end], False
        rest = data[end:]
        if len(rest) > LONGEST_LINE:
            yield rest[:SHOWN], True
            rest, too_long = b"", True
    # Half a line where compressed data breaks off may look whole; the break is the reject for it.
    if rest and not source.broken:
        yield rest + NEWLINE, False


def decoded(source: Source) -> Iterator[bytes]:
    """Yield the bytes of *source* as UTF-8 with plain line ends."""
    head = source.read(CHUNK)
    utf16 = next((bom for bom in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) if head.startswith(bom)), None)
    decoder = codecs.getincrementaldecoder("utf-16")(errors="replace") if utf16 else None
    head = head.removeprefix(codecs.BOM_UTF8)
    old_mac = b"\r" in head and NEWLINE not in head
    while head:
        if decoder:
            head = decoder.decode(head).encode()
        yield head.replace(b"\r", NEWLINE) if old_mac else head
        head = source.read(CHUNK)


def _latin1(error: UnicodeError) -> tuple[str, int]:
    """Read bytes that are not UTF-8 as Latin-1, so that no line is lost for a name in it."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("gwa-latin-1", _latin1)


def utf8(data: bytes) -> bytes:
    """Return *data* as UTF-8; bytes that are none are read as Latin-1."""
    if data.isascii():
        return data
    return data.decode("utf-8", errors="gwa-latin-1").encode()


def _text(data: bytes) -> str:
    return data[:SHOWN].decode("utf-8", errors="replace").strip()


def _add(part: LineBlock, chunk: bytes, layout: Layout) -> None:
    """Append the lines of *chunk* that are no comments and have the right width to *part*."""
    data = squeeze(utf8(chunk)) if layout.squeezes else _trimmed(utf8(chunk), layout.delimiter)
    lines = data.count(NEWLINE)
    skip = _to_skip(part, data, lines, layout)
    if skip is not None:
        cells = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(cells == ord(NEWLINE)) + 1
        keep = np.repeat(~skip, np.diff(ends, prepend=0))
        data = cells[keep].tobytes()
        part.skipped.append(part.first + part.total + np.flatnonzero(skip))
    part.total += lines
    part.data += data


def squeeze(data: bytes) -> bytes:
    r"""
    Return whole lines with one blank between cells and none at either end.

    >>> squeeze(b" 1\t 2  \n\n3 4\r\n")
    b'1 2\n\n3 4\n'
    """
    cells = np.frombuffer(data.translate(BLANKS), np.uint8)
    white = cells <= ord(BLANK)
    drop = np.empty(len(cells), np.bool_)
    drop[0] = cells[0] == ord(BLANK)
    # A blank goes when white space stands before it, a line end never.
    np.logical_and(white[1:], white[:-1], out=drop[1:])
    drop &= cells == ord(BLANK)
    return np.compress(~drop, cells).tobytes().replace(b" \n", NEWLINE)


def _trimmed(data: bytes, delimiter: str) -> bytes:
    """Return whole lines without carriage returns and, between tabs, without padding."""
    if b"\r" in data or b"\x00" in data or b"\x1a" in data:
        data = BEFORE_END.sub(b"", data.translate(ENDS))
    if delimiter != "\t" or (b" \t" not in data and b"\t " not in data):
        return data
    return AROUND_TAB.sub(b"", data)


def _to_skip(part: LineBlock, data: bytes, lines: int, layout: Layout) -> NDArray[np.bool_] | None:
    """Return which lines are not to be parsed, or None when all are."""
    separator, mark = layout.delimiter.encode(), layout.comment.encode()
    cells = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(cells == ord(NEWLINE))
    begins = np.concatenate(([0], ends[:-1] + 1))
    blank = ends == begins
    comment = cells[begins] == mark[0] if mark else np.zeros(lines, np.bool_)
    wrong = np.zeros(lines, np.bool_)
    if layout.width and not _is_wide(cells == separator[0], begins, layout.width):
        widths = np.add.reduceat((cells == separator[0]).astype(np.int64), begins) + 1
        wrong = (widths != layout.width) & ~blank & ~comment
    skip: NDArray[np.bool_] = blank | comment | wrong
    if not skip.any():
        return None
    _note(part, data, (begins, ends), comment, wrong, layout)
    part.blank += int(blank.sum())
    return skip


def _is_wide(separators: NDArray[np.bool_], begins: NDArray[np.int64], width: int) -> bool:
    """Whether each line has *width* cells."""
    # Counts in a byte are the fastest; what they leave open, the count of all decides.
    counts = np.add.reduceat(separators.view(np.uint8), begins, dtype=np.uint8)
    whole: bool = np.count_nonzero(separators) == len(begins) * (width - 1)
    return whole and bool((counts == (width - 1) % 256).all())


def _note(
    part: LineBlock,
    data: bytes,
    spans: tuple[NDArray[np.int64], NDArray[np.int64]],
    comment: NDArray[np.bool_],
    wrong: NDArray[np.bool_],
    layout: Layout,
) -> None:
    """Record the texts of comments and of lines that have the wrong width."""
    begins, ends = spans
    first = part.first + part.total
    for index in np.flatnonzero(comment):
        part.comments.append((int(first + index), _text_line(data, begins[index], ends[index])))
    for index in np.flatnonzero(wrong):
        line = data[begins[index] : ends[index]]
        width = line.count(layout.delimiter.encode()) + 1
        reason = f"{width} columns, expected {layout.width}"
        part.rejects.append(Reject(int(first + index), reason, _text(line)))


def _text_line(data: bytes, begin: int, end: int) -> str:
    return data[begin:end].decode("utf-8", errors="replace")
