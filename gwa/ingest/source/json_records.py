"""
Cut a stream of JSON into records, wherever they stand.

The stream is a sequence of values, as JSON lines are, with any white space or commas between them. Each
object is a record, unless there is a list, or an object, of records under one of the given paths in it;
the elements of a list that stands alone are records, too. No document is held in memory as a whole.
What stands between records and is none is refused. A record that does not end costs no other where each
stands on a line of its own.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from gwa.ingest.source.compressed import Source
from gwa.ingest.source.json_scan import Brackets, BracketScanner, Positions, whole_escapes
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH, Reject, decoded, to_utf8

BLOCK_SIZE: Final = 1 << 24
"""Bytes of records that are handed on at a time."""

MAXIMUM_RECORD_SIZE: Final = 1 << 25
"""A longer record is refused: jobs with thousands of steps take tens of megabytes."""

MAXIMUM_GAP_SIZE: Final = 1 << 20
"""Bytes between records that are looked at; more are refused as one."""

MAXIMUM_KEY_SIZE: Final = 300
"""Bytes before a bracket in which its key is looked for."""

BROKEN_OFF: Final = "the document breaks off"
"""The beginning of the reason why the end of a document is refused."""

NO_OBJECT: Final = "is not a JSON object"
BLANK: Final = b" \t\r\n,\x00\x1a"
"""What may stand between values, and what crashed machines leave in files."""

_KEY_BEFORE: Final = re.compile(rb'"((?:[^"\\]|\\.)*+)"\s*+:\s*+\Z')
_VALUE: Final = re.compile(rb'(?:[^",]|"(?:[^"\\]|\\.)*+"?)++')


@dataclass
class RecordBlock:
    """
    Some records: *text* from each of *begins* to each of *ends*, and their distinct *numbers*.

    A record's number is that of the line where it begins, or one more than the one before if that is as high.
    *keys* are those of records that are members of an object, *documents* the numbers of the *prefixes* in
    which they stand: what stood in a document before its records, without others, closed, is a document of
    its own.
    """

    text: bytes
    begins: Positions
    ends: Positions
    numbers: Positions
    keys: Mapping[int, str]
    documents: Positions
    prefixes: Sequence[str]
    rejects: list[Reject]

    def texts(self) -> list[bytes]:
        """Return the records; bytes that are not UTF-8 are read as Latin-1."""
        return [
            to_utf8(self.text[begin:end])
            for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True)
        ]


def record_blocks(source: Source, paths: Sequence[str], *, goes_on: bool = False) -> Iterator[RecordBlock]:
    """
    Yield the records of *source* in blocks; *paths* are dotted, as ``hits.hits``.

    Where a document *goes on*, an object of records that is begun again within itself, under the same key, is
    the rest of it: so old versions of qstat print several jobs.
    """
    cutter = RecordCutter([path.split(".") for path in paths], goes_on=goes_on)
    rest = b""
    for chunk in decoded(source):
        data = rest + chunk
        end = whole_escapes(data)
        cutter.feed(data[:end])
        rest = data[end:]
        if cutter.size >= BLOCK_SIZE:
            yield cutter.block()
    cutter.feed(rest)
    cutter.end(is_cut=bool(source.broken))
    yield cutter.block()


@dataclass
class _Span:
    """
    Parts of the stream: records, or what holds them.

    *level* is the depth at which they stand, *document* the number of the prefix that holds them.
    """

    begins: Positions
    ends: Positions
    level: int
    document: int = -1
    are_records: bool = True


class _Piece:
    """A piece of the stream, its *brackets* at their positions in the whole stream."""

    def __init__(self, data: bytes, before: bytes, offset: int, brackets: Brackets) -> None:
        self.text = before + data
        self.shift = offset - len(before)
        self.positions = brackets.positions + offset
        self.opens = brackets.opens
        self.depths = brackets.depths
        self.size = len(self.positions)
        self._below: dict[int, list[int]] = {}

    def below(self, depth: int, first: int) -> int:
        """Return the first bracket from *first* on behind which the depth is less than *depth*."""
        if depth not in self._below:
            self._below[depth] = np.flatnonzero(self.depths < depth).tolist()
        return self.next_of(self._below[depth], first)

    def lift(self, first: int, by: int) -> None:
        """Change the depths of the brackets from *first* on."""
        self.depths[first:] += by
        self._below.clear()
        self.__dict__.pop("top_lists", None)

    def next_of(self, found: list[int], first: int) -> int:
        """Return the first of the brackets *found* from *first* on; their number if there is none."""
        place = bisect_left(found, first)
        return found[place] if place < len(found) else self.size

    @cached_property
    def top_lists(self) -> list[int]:
        """The lists that are values of their own."""
        top = np.flatnonzero(self.opens & (self.depths == 1)).tolist()
        return [place for place in top if self.sign(place) == b"["]

    @cached_property
    def line_begins(self) -> list[int]:
        """The objects that begin a line."""
        places = self.positions - self.shift
        array = np.frombuffer(self.text, np.uint8)
        is_first = (array[places - 1] == ord("\n")) & (places > 0)
        return np.flatnonzero(is_first & (array[places] == ord("{"))).tolist()

    def candidates(self, pattern: re.Pattern[bytes]) -> list[int]:
        """Return the brackets at which matches of *pattern* end."""
        ends = np.array([match.end() - 1 for match in pattern.finditer(self.text)], np.int64) + self.shift
        places = np.searchsorted(self.positions, ends)
        is_bracket = places < self.size
        places, ends = places[is_bracket], ends[is_bracket]
        found: list[int] = places[self.positions[places] == ends].tolist()
        return found

    def sign(self, place: int) -> bytes:
        """Return a bracket."""
        at = int(self.positions[place]) - self.shift
        return self.text[at : at + 1]

    def key(self, place: int) -> str | None:
        """Return the key of the value that a bracket opens."""
        end = int(self.positions[place]) - self.shift
        match = _KEY_BEFORE.search(self.text, max(0, end - MAXIMUM_KEY_SIZE), end)
        return match[1].decode("utf-8", "replace") if match else None


class RecordCutter:
    """
    Finds records in a stream that it is fed piece by piece.

    Records stand at the depth *level*; it is None in what follows the records of a document.
    """

    def __init__(self, paths: Sequence[Sequence[str]], *, goes_on: bool = False) -> None:
        self.goes_on = goes_on
        self.paths = [tuple(path) for path in paths]
        last = b"|".join(re.escape(path[-1].encode()) for path in self.paths)
        self.holder = re.compile(rb'"(?:' + last + rb')"\s*+:\s*+[\[{]') if paths else None
        self.scanner = BracketScanner()
        self.level: int | None = 0
        self.holder_key: str | None = None
        self.begun: int | None = None
        self.is_dropped = False
        self.dropped_to = -1
        self.cuts: set[int] = set()
        self.lined: dict[bool, bool] = {}
        self.parents: dict[int, str | None] = {}
        self.offset = 0
        self.before = b""
        self.text = bytearray()
        self.base = 0
        self.done = 0
        self.document = -1
        self.prefixes: list[str] = []
        self.outline = bytearray()
        self.spans: list[_Span] = []
        self.newlines: list[Positions] = []
        self.lines = 1
        self.number = 0
        self.rejects: list[Reject] = []

    @property
    def by_line(self) -> bool:
        """Whether records stand on lines of their own, as the first did."""
        return self.lined.get(self.level == 0, False)

    @property
    def size(self) -> int:
        """The number of bytes that are held and may be handed on."""
        return self.done - self.base

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if not data:
            return
        brackets = self.scanner.scan(data)
        piece = _Piece(data, self.before, self.offset, brackets)
        self.newlines.append(brackets.newlines + self.offset)
        self.text += data
        holders = piece.candidates(self.holder) if self.holder else []
        place = 0
        while place < piece.size:
            if self.level is None:
                place = self._skip(piece, place, holders)
            else:
                place = self._take(piece, place, holders)
        self._remember_parents(piece)
        self.offset += len(data)
        self.before = (self.before + data)[-MAXIMUM_KEY_SIZE:]
        if self.level is None:
            self._outline_to(self.offset)
            self._add_structure(self.done, self.offset)
        if self.offset - self.done > (MAXIMUM_GAP_SIZE if self.begun is None else MAXIMUM_RECORD_SIZE):
            self._drop()

    def _take(self, piece: _Piece, place: int, holders: list[int]) -> int:
        """Take records from the bracket *place* on; return the bracket at which to go on."""
        level = self.level or 0
        close = piece.below(level, place) if level else piece.size
        holder = self._next_holder(piece, place, holders) if not level else piece.size
        torn = self._next_torn(piece, place, level)
        # The first record says how the others stand.
        first = piece.size if (level == 0) in self.lined else piece.below(level + 1, place) + 1
        again = self._next_again(piece, place, holders) if self.goes_on and level else piece.size
        stop = min(close, holder, torn, first, again, piece.size)
        self._add_records(piece, place, stop, level)
        if stop == again < piece.size:
            self._go_on(piece, again)
            return stop + 1
        if stop == piece.size or stop not in (close, holder, torn):
            return stop
        if stop == torn:
            self._tear(piece, torn, level)
            return stop
        if stop == close:
            self._leave(piece, close)
        else:
            self._enter(piece, holder)
        return stop + 1

    def _next_holder(self, piece: _Piece, place: int, holders: list[int]) -> int:
        """Return the next bracket that opens a list, or an object, of records."""
        # Among lines of records a list is not a document.
        listed = piece.size if self.lined.get(True) else piece.next_of(piece.top_lists, place)
        candidate = piece.next_of(holders, place)
        while candidate < listed and not self._holds(piece, candidate):
            candidate = piece.next_of(holders, candidate + 1)
        return min(listed, candidate)

    def _next_again(self, piece: _Piece, place: int, holders: list[int]) -> int:
        """Return the next bracket that begins the records again, as one of them."""
        again = piece.next_of(holders, place)
        while again < piece.size and not (
            piece.depths[again] == (self.level or 0) + 1 and piece.key(again) == self.holder_key
        ):
            again = piece.next_of(holders, again + 1)
        return again

    def _go_on(self, piece: _Piece, place: int) -> None:
        """Take what a bracket opens for the rest of what it stands in."""
        self._add_structure(self.done, int(piece.positions[place]) + 1)
        self.begun, self.is_dropped = None, False
        piece.lift(place, -1)
        self.scanner.depth -= 1

    def _holds(self, piece: _Piece, place: int) -> bool:
        """Whether a bracket opens what is at one of the paths."""
        depth = int(piece.depths[place]) - 1
        key = piece.key(place)
        return any(
            len(path) == depth
            and path[-1] == key
            and all(self._parent(piece, place, level + 2) == path[level] for level in range(depth - 1))
            for path in self.paths
        )

    def _parent(self, piece: _Piece, place: int, depth: int) -> str | None:
        """Return the key of the value around *place* that opens at a *depth*."""
        found = np.flatnonzero(piece.opens[:place] & (piece.depths[:place] == depth))
        return piece.key(int(found[-1])) if len(found) else self.parents.get(depth)

    def _remember_parents(self, piece: _Piece) -> None:
        for depth in range(2, max(map(len, self.paths), default=0) + 1):
            self.parents[depth] = self._parent(piece, piece.size, depth)

    def _next_torn(self, piece: _Piece, place: int, level: int) -> int:
        """Return the next record that begins on a line of its own, as all do, within one that did not end."""
        if not self.by_line:
            return piece.size
        found = piece.next_of(piece.line_begins, place)
        while found < piece.size and piece.depths[found] <= level + 1:
            found = piece.next_of(piece.line_begins, found + 1)
        return found

    def _tear(self, piece: _Piece, place: int, level: int) -> None:
        """End the record that did not end before the bracket *place*."""
        at = int(piece.positions[place])
        self._refuse_lines(self.done if self.begun is None else self.begun, at)
        self._add_structure(self.done, at)
        self.begun, self.is_dropped = None, False
        by = level + 1 - int(piece.depths[place])
        piece.lift(place, by)
        self.scanner.depth += by

    def _enter(self, piece: _Piece, place: int) -> None:
        """Begin to take records behind a bracket."""
        at = int(piece.positions[place])
        level = int(piece.depths[place])
        self.holder_key = piece.key(place)
        begin = at if self.begun is None else self.begun
        if self.level is not None:
            self.outline.clear()
        if not self.is_dropped and (self.outline or self.level is not None):
            self.outline += self.text[begin - self.base : at + 1 - self.base]
        closing = b"]" if piece.sign(place) == b"[" else b"}"
        prefix = bytes(self.outline)
        self.prefixes.append((to_utf8(prefix) + closing + b"}" * (level - 1)).decode() if prefix else "")
        self.document = len(self.prefixes) - 1
        self._add_structure(begin, at + 1)
        self.level, self.begun, self.is_dropped = level, None, False
        self.lined.pop(False, None)

    def _leave(self, piece: _Piece, place: int) -> None:
        """End to take records at the bracket that closes what holds them."""
        at = int(piece.positions[place])
        self._add_structure(at, at + 1)
        if self.outline:
            self.outline += piece.sign(place)
        self.document = -1
        self.level = None if piece.depths[place] else 0
        self.begun = None

    def _skip(self, piece: _Piece, place: int, holders: list[int]) -> int:
        """Skip what follows the records of a document, up to its end or to other records."""
        close = piece.below(1, place)
        holder = self._next_holder(piece, place, holders)
        torn = piece.next_of(piece.line_begins, place) if self.lined.get(False) else piece.size
        stop = min(close, holder, torn)
        if stop == piece.size:
            return stop
        at = int(piece.positions[stop])
        self._outline_to(at)
        self._add_structure(self.done, at)
        if stop == close:
            self._add_structure(at, at + 1)
            self.level = 0
        elif stop == torn:
            self.level = 0
            by = 1 - int(piece.depths[stop])
            piece.lift(stop, by)
            self.scanner.depth += by
            return stop
        else:
            self._enter(piece, stop)
        return stop + 1

    def _outline_to(self, end: int) -> None:
        """Remember what stands between the records of a document; too much is forgotten."""
        if self.outline and len(self.outline) + end - self.done <= MAXIMUM_RECORD_SIZE:
            self.outline += self.text[self.done - self.base : end - self.base]
        else:
            self.outline.clear()

    def _add_records(self, piece: _Piece, first: int, stop: int, level: int) -> None:
        """Add the records at a *level* that end before the bracket *stop*."""
        opens, depths = piece.opens[first:stop], piece.depths[first:stop]
        positions = piece.positions[first:stop]
        begins = positions[opens & (depths == level + 1)]
        ends = positions[~opens & (depths == level)] + 1
        if self.begun is not None:
            begins = np.concatenate((np.array([self.begun]), begins))
        if len(ends) and self.is_dropped:
            self._add_structure(self.done, int(ends[0]))
            begins, ends, self.is_dropped = begins[1:], ends[1:], False
        self.begun = int(begins[-1]) if len(begins) > len(ends) else None
        if len(ends):
            self.spans.append(_Span(begins[: len(ends)], ends, level, self.document))
            self.done = int(ends[-1])
            begin, end = int(begins[0]) - self.base, int(ends[0]) - self.base
            # An empty object is on one line in any layout.
            if (level == 0) not in self.lined and end - begin > len("{}"):
                self.lined[level == 0] = self.text.find(b"\n", begin, end) < 0

    def _add_structure(self, begin: int, end: int) -> None:
        if end > begin:
            level = self.level or 0
            self.spans.append(_Span(np.array([begin]), np.array([end]), level, are_records=False))
            self.done = end

    def _drop(self) -> None:
        """Refuse what is too long, and forget its text."""
        if self.dropped_to != self.done:
            begin = self.done if self.begun is None else self.begun
            limit = MAXIMUM_GAP_SIZE if self.begun is None else MAXIMUM_RECORD_SIZE
            begin += len(held := self.text[begin - self.base :]) - len(held.lstrip(BLANK))
            self._reject(begin, f"longer than {limit} bytes", begin + REJECT_TEXT_LENGTH)
        self._add_structure(self.done, self.offset)
        self.dropped_to = self.done
        self.cuts.add(self.done)
        self.is_dropped = self.begun is not None

    def end(self, *, is_cut: bool) -> None:
        """Take note that the stream ends; where it *is_cut* that is accounted for elsewhere."""
        is_open = self.begun is not None or self.level != 0
        if is_open:
            begin = self.done if self.begun is None else self.begun
            if not is_cut and not self.is_dropped:
                self._reject(begin, f"{BROKEN_OFF}: its end is missing", begin + REJECT_TEXT_LENGTH)
            self._add_structure(self.done, self.offset)
        elif not is_cut:
            # What is left is not a record.
            self._add_structure(self.offset, self.offset + 1)

    def _refuse_lines(self, begin: int, end: int) -> None:
        """Refuse each line of what should have been records."""
        if self.is_dropped:
            return
        for line in bytes(self.text[begin - self.base : end - self.base]).split(b"\n"):
            if line.strip(BLANK):
                self.rejects.append(Reject(begin, NO_OBJECT, _shown(line)))
            begin += len(line) + 1

    def _reject(self, begin: int, reason: str, end: int) -> None:
        text = bytes(self.text[begin - self.base : min(end, begin + REJECT_TEXT_LENGTH) - self.base])
        self.rejects.append(Reject(begin, reason, _shown(text)))

    def block(self) -> RecordBlock:
        """Hand on the records found, and forget them."""
        newlines = np.concatenate([*self.newlines, np.empty(0, np.int64)])
        lines = _Lines(newlines, self.lines)
        keys, faults = self._between_records()
        records = [span for span in self.spans if span.are_records]
        empty = np.empty(0, np.int64)
        begins = np.concatenate([span.begins for span in records] or [empty])
        ends = np.concatenate([span.ends for span in records] or [empty])
        rejects = [
            Reject(int(lines.of(np.array([reject.line]))[0]), reject.reason, reject.text)
            for reject in [*self.rejects, *faults]
        ]
        block = RecordBlock(
            bytes(self.text[: self.done - self.base]),
            begins - self.base,
            ends - self.base,
            self._numbers(lines.of(begins)),
            keys,
            np.repeat([span.document for span in records], [len(span.begins) for span in records]),
            list(self.prefixes),
            rejects,
        )
        self._forget(newlines)
        return block

    def _numbers(self, lines: Positions) -> Positions:
        """Make the *lines* on which records begin distinct."""
        counted = np.arange(len(lines))
        numbers = np.maximum(np.maximum.accumulate(lines - counted), self.number + 1) + counted
        self.number = int(numbers[-1]) if len(numbers) else self.number
        return numbers

    def _forget(self, newlines: Positions) -> None:
        done = min(self.done, self.offset)
        self.lines += int(np.searchsorted(newlines, done))
        self.newlines = [newlines[np.searchsorted(newlines, done) :]]
        del self.text[: done - self.base]
        self.base = self.done = done
        self.spans.clear()
        self.rejects = []
        self.cuts = {cut for cut in self.cuts if cut >= done}
        self.prefixes = self.prefixes[-1:] if self.document >= 0 else []
        self.document = len(self.prefixes) - 1

    def _between_records(self) -> tuple[dict[int, str], list[Reject]]:
        """Return the keys of records by their position among all, and what between records is none."""
        keys: dict[int, str] = {}
        faults: list[Reject] = []
        last, count = self.base, 0
        for span in self.spans:
            begins = np.append(span.begins, last)
            gaps = span.begins - np.concatenate((np.array([last]), span.ends[:-1]))
            for place in np.flatnonzero(self._is_filled(span, last, gaps)).tolist():
                begin = int(begins[place])
                key = self._fill(int(begin - gaps[place]), begin, span.level, faults)
                if key is not None and span.are_records:
                    keys[count + place] = key
            last = int(span.ends[-1])
            count += len(span.begins) if span.are_records else 0
        return keys, faults

    def _is_filled(self, span: _Span, last: int, gaps: Positions) -> Positions:
        """Return which *gaps* before the parts of a span hold more than white space and commas."""
        lengths = np.ravel(np.column_stack((gaps, span.ends - span.begins)))
        size = int(span.ends[-1]) - last
        text = np.frombuffer(
            memoryview(self.text), np.uint8, min(size, len(self.text) + self.base - last), last - self.base
        )
        is_gap = np.repeat(np.arange(len(lengths)) % 2 == 0, lengths)[: len(text)]
        between = text[is_gap].tobytes()
        del text
        if not between.translate(None, b" \t\r\n,"):
            return np.zeros(len(gaps), np.int64)
        filled = np.frombuffer(between, np.uint8)
        is_blank = np.isin(filled, np.frombuffer(b" \t\r\n,", np.uint8))
        gap_ends = np.cumsum(gaps)
        counts = np.concatenate(([0], np.cumsum(~is_blank)))
        limits = np.minimum(gap_ends, len(filled))
        filled_bytes: Positions = counts[limits] - counts[np.minimum(limits, gap_ends - gaps)]
        return filled_bytes

    def _fill(self, begin: int, end: int, level: int, faults: list[Reject]) -> str | None:
        """Refuse what stands between two records, except for the key of the second, which is returned."""
        text = bytes(self.text[begin - self.base : end - self.base])
        match = _KEY_BEFORE.search(text) if level else None
        rest = text[: match.start()] if match else text
        position = begin
        if begin in self.cuts:
            # The rest of what was refused as too long.
            rest = rest[rest.find(b"\n") if b"\n" in rest else len(rest) :]
            position = begin + len(text) - len(rest)
        for line in rest.split(b"\n"):
            values = _VALUE.findall(line) if level else [line]
            faults += [Reject(position, NO_OBJECT, _shown(value)) for value in values if value.strip(BLANK)]
            position += len(line) + 1
        return match[1].decode("utf-8", "replace") if match else None


@dataclass
class _Lines:
    """Maps positions to numbers of lines; the first of *newlines* ends the line *first*."""

    newlines: Positions
    first: int

    def of(self, positions: Positions) -> Positions:
        """Return the numbers of the lines on which *positions* stand."""
        return np.searchsorted(self.newlines, positions) + self.first


def _shown(text: bytes) -> str:
    """Return the beginning of a text on one line."""
    return " ".join(text[:REJECT_TEXT_LENGTH].decode("utf-8", errors="replace").split())
