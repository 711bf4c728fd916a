"""
Cut a stream of XML into blocks of whole records, and a block into its records, by their tags alone.

Text around records (declarations, containers, document types, comments and so on) never
reaches a parser. A record that is malformed, or does not end, does not affect others.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH, Reject, decoded

BLOCK_SIZE: Final = 1 << 21
"""Bytes of records that are parsed at a time."""

MAXIMUM_RECORD_SIZE: Final = 1 << 22
"""A longer record is refused without being held in memory."""

MAXIMUM_TAG_SIZE: Final = 1 << 12
"""Bytes of a stream that are kept so that a tag across the border of two chunks is found."""

MAXIMUM_DEPTH: Final = 1000
MAXIMUM_UNCLOSED: Final = 16
"""Elements between records are counted to this depth; an end tag closes one of the last few elements."""

MAXIMUM_ATTEMPTS: Final = 100
"""The number of comments skipped on the way back to the last record of a block."""

# Constructs that may hide a tag; each ends at the end of the block at the latest.
HIDDEN: Final = (
    rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    rb"|<!DOCTYPE[^\[>]*+(?:>|\[.*?(?:\]\s*>|\Z)|\Z)"
)
OPENINGS: Final = (b"<!--", b"<![CDATA[", b"<!DOCTYPE")
PREFIX: Final = rb"(?:[\w.-]++:)?+"
ELEMENT: Final = re.compile(rb"<(/?)" + PREFIX + rb"([\w.-]++)([^<>]*+)>")


@dataclass(frozen=True)
class Block:
    """Whole records and the text between them; the first byte stands in *line*."""

    line: int
    data: bytes


@dataclass
class BlockPieces:
    """
    A block in pieces: *records* and *broken* ones, each with the line where it begins.

    *other_elements* counts the elements between them.
    """

    records: list[tuple[int, bytes]] = field(default_factory=list)
    broken: list[tuple[int, str, bytes]] = field(default_factory=list)
    other_elements: int = 0


class Tags:
    """Finds records in a stream by the *names* of their elements."""

    def __init__(self, names: Sequence[str], containers: Sequence[str]) -> None:
        self.names = [name.encode() for name in names]
        self.containers = {name.encode() for name in containers}
        name = PREFIX + rb"(" + rb"|".join(map(re.escape, self.names)) + rb")"
        self.tokens = re.compile(HIDDEN + rb"|<(/?)" + name + rb"(?=[\s/>])([^<>]*+)>", re.DOTALL)
        self.start = re.compile(rb"<" + name + rb"(?=[\s/>])")
        self.end = re.compile(rb"</" + name + rb"\s*>")
        self.hidden = re.compile(HIDDEN, re.DOTALL)

    def blocks(self, source: Source) -> Iterator[Block | Reject]:
        """Yield *source* in blocks that end where a record ends; records that are too long are refused."""
        rest, line, size, is_skipping = b"", 1, BLOCK_SIZE, False
        for chunk in decoded(source):
            rest += chunk
            if is_skipping:
                start = self.start.search(rest)
                cut, is_skipping = (
                    (start.start(), False) if start else (max(0, len(rest) - MAXIMUM_TAG_SIZE), True)
                )
                line, rest = line + rest.count(b"\n", 0, cut), rest[cut:]
            if is_skipping or len(rest) < size:
                continue
            cut = self._cut(rest)
            if cut:
                yield Block(line, rest[:cut])
            elif len(rest) > MAXIMUM_RECORD_SIZE:
                yield Reject(line, f"longer than {MAXIMUM_RECORD_SIZE} bytes", reject_text(rest))
                start = self.start.search(rest)
                cut, is_skipping = start.end() if start else len(rest) - MAXIMUM_TAG_SIZE, True
            # If there is no place to cut, try again with twice as much.
            size = BLOCK_SIZE if cut else min(2 * len(rest), MAXIMUM_RECORD_SIZE + 1)
            line, rest = line + rest.count(b"\n", 0, cut), rest[cut:]
        # Half a record at the end of truncated data is dropped: the truncation itself is rejected instead.
        rest = rest[: self._cut(rest)] if source.broken else rest
        if rest and not is_skipping:
            yield Block(line, rest)

    def _cut(self, data: bytes) -> int:
        """Return the last position where *data* may be cut, 0 if there is none."""
        end = self._last_record_end(data)
        if end:
            return end
        starts = [start.start() for start in self.start.finditer(data)]
        between = self._count_elements(data[: starts[0]] if starts else data)[1]
        # Cut before a record that begins but does not end.
        return between or (starts[-1] if starts and len(data) > MAXIMUM_RECORD_SIZE else 0)

    def _last_record_end(self, data: bytes) -> int:
        """Return the end of the last record of *data*, 0 if none ends."""
        limit = len(data)
        for _ in range(MAXIMUM_ATTEMPTS):
            end = max(self._last_end_tag(data, name, limit) for name in self.names)
            openings = [data.rfind(opening, 0, end) for opening in OPENINGS]
            inside = [begin for begin in openings if begin >= 0 and self._hides_end(data, begin, end)]
            if not inside:
                return end
            limit = min(inside)
        return 0

    def _hides_end(self, data: bytes, begin: int, end: int) -> bool:
        """Whether the comment, CDATA or document type that begins at *begin* extends to *end*."""
        hidden = self.hidden.match(data, begin)
        return hidden is not None and hidden.end() >= end

    def _last_end_tag(self, data: bytes, name: bytes, limit: int) -> int:
        """Return the end of the last end tag of a *name* in *data*, 0 if there is none."""
        position = data.rfind(name, 0, limit)
        while position >= 0:
            begin = data.rfind(b"<", max(0, position - MAXIMUM_TAG_SIZE), position)
            end_tag = self.end.match(data, begin, limit) if begin >= 0 else None
            if end_tag:
                return end_tag.end()
            position = data.rfind(name, 0, position)
        return 0

    def pieces(self, block: Block) -> BlockPieces:
        """Split a block into its records and the rest."""
        data, result, gaps = block.data, BlockPieces(), []
        lines, opened, last = _LineCounter(data, block.line), -1, 0
        for token in self.tokens.finditer(data):
            closes, name, tail = token.groups()
            if name is None:
                # Comments inside a record are left to the parser.
                if opened < 0:
                    gaps.append(data[last : token.start()])
                    last = token.end()
                continue
            if opened < 0 and closes:
                text = data[last : token.end()]
                result.broken.append((lines.at(token.start()), "the record has no beginning", text))
            elif opened < 0:
                gaps.append(data[last : token.start()])
            elif not closes:
                text = data[opened : token.start()]
                result.broken.append((lines.at(opened), "the record has no end", text))
            begin = opened if closes else token.start()
            if begin >= 0 and (closes or tail.endswith(b"/")):
                result.records.append((lines.at(begin), data[begin : token.end()]))
                begin = -1
            opened, last = begin, token.end()
        if opened >= 0:
            result.broken.append((lines.at(opened), "the record breaks off", data[opened:]))
        else:
            gaps.append(data[last:])
        result.other_elements = self._count_elements(b"".join(gaps))[0]
        return result

    def _count_elements(self, data: bytes) -> tuple[int, int]:
        """Return the number of whole elements of *data*, without containers, and the end of the last one."""
        stack: list[bytes] = []
        counts, ended = [0], 0
        for tag in ELEMENT.finditer(data):
            closes, name, tail = tag.groups()
            if name in self.containers:
                continue
            if not closes and not tail.endswith(b"/"):
                if len(stack) < MAXIMUM_DEPTH:
                    stack.append(name)
                    counts.append(0)
                continue
            if closes:
                near = range(len(stack) - 1, max(-1, len(stack) - 1 - MAXIMUM_UNCLOSED), -1)
                depth = next((position for position in near if stack[position] == name), None)
                if depth is None:
                    continue
                del stack[depth:], counts[depth + 1 :]
            counts[-1] += 1
            ended = ended if stack else tag.end()
        return sum(counts), ended


@dataclass
class _LineCounter:
    """Counts the lines of *data* up to increasing positions."""

    data: bytes
    line: int
    counted: int = 0

    def at(self, position: int) -> int:
        """Return the number of the line at *position*, not before the previous one."""
        self.line += self.data.count(b"\n", self.counted, position)
        self.counted = position
        return self.line


def reject_text(data: bytes) -> str:
    """Return the beginning of *data* on one line."""
    return " ".join(data[:REJECT_TEXT_LENGTH].decode("utf-8", errors="replace").split())
