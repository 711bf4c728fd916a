"""
Cut a stream of XML into blocks of whole records, and a block into its records, by their tags alone.

What is around records (declarations, containers, document types, comments, any other text) never
reaches a parser. A record that is broken, or does not end, costs no other.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import SHOWN, Reject, decoded

BLOCK: Final = 1 << 21
"""Bytes of records that are parsed at a time."""

LONGEST: Final = 1 << 24
"""A longer record is no record of a job; it is refused without being held in memory."""

TAG: Final = 1 << 12
"""How much of a stream is kept so that no tag of a record is overlooked where chunks meet."""

DEEPEST: Final = 1000
NEAR: Final = 16
"""Elements between records are told apart so deep; an end tag belongs to one of the last few that began."""

TRIES: Final = 100
"""So many comments at most are passed over on the way back to the last record of a block."""

# What a tag may be hidden in; each form ends at the end of the block at the latest.
HIDDEN: Final = (
    rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    rb"|<!DOCTYPE[^\[>]*+(?:>|\[.*?(?:\]\s*>|\Z)|\Z)"
)
OPENINGS: Final = (b"<!--", b"<![CDATA[", b"<!DOCTYPE")
PREFIX: Final = rb"(?:[\w.-]++:)?+"
ELEMENT: Final = re.compile(rb"<(/?)" + PREFIX + rb"([\w.-]++)([^<>]*+)>")


@dataclass(frozen=True)
class Block:
    """Whole records, and what is between them; the first byte stands in *line*."""

    line: int
    data: bytes


@dataclass
class Pieces:
    """
    A block in pieces: *records* and what is *broken*, each with the line where it begins.

    *others* counts the elements between them.
    """

    records: list[tuple[int, bytes]] = field(default_factory=list)
    broken: list[tuple[int, str, bytes]] = field(default_factory=list)
    others: int = 0


class Tags:
    """How records are told from what else a stream holds: by the *names* of their elements."""

    def __init__(self, names: Sequence[str], containers: Sequence[str]) -> None:
        self.names = [name.encode() for name in names]
        self.containers = {name.encode() for name in containers}
        name = PREFIX + rb"(" + rb"|".join(map(re.escape, self.names)) + rb")"
        self.tokens = re.compile(HIDDEN + rb"|<(/?)" + name + rb"(?=[\s/>])([^<>]*+)>", re.DOTALL)
        self.start = re.compile(rb"<" + name + rb"(?=[\s/>])")
        self.end = re.compile(rb"</" + name + rb"\s*>")
        self.hidden = re.compile(HIDDEN, re.DOTALL)

    def blocks(self, source: Source) -> Iterator[Block | Reject]:
        """Yield *source* in blocks that end where a record ends; what is too long for that is refused."""
        rest, line, size, skips = b"", 1, BLOCK, False
        for chunk in decoded(source):
            rest += chunk
            if skips:
                start = self.start.search(rest)
                cut, skips = (start.start(), False) if start else (max(0, len(rest) - TAG), True)
                line, rest = line + rest.count(b"\n", 0, cut), rest[cut:]
            if skips or len(rest) < size:
                continue
            cut = self._cut(rest)
            if cut:
                yield Block(line, rest[:cut])
            elif len(rest) > LONGEST:
                yield Reject(line, f"longer than {LONGEST} bytes", shown(rest))
                start = self.start.search(rest)
                cut, skips = start.end() if start else len(rest) - TAG, True
            # Nothing to cut at: look again when there is twice as much.
            size = BLOCK if cut else 2 * len(rest)
            line, rest = line + rest.count(b"\n", 0, cut), rest[cut:]
        # Half a record where compressed data breaks off: the break is the reject for it.
        rest = rest[: self._cut(rest)] if source.broken else rest
        if rest and not skips:
            yield Block(line, rest)

    def _cut(self, data: bytes) -> int:
        """Return the last place where *data* may be cut, 0 where there is none."""
        end = self._last(data)
        if end:
            return end
        starts = [start.start() for start in self.start.finditer(data)]
        between = self._elements(data[: starts[0]] if starts else data)[1]
        # Records that begin, but do not end.
        return between or (starts[-1] if starts and len(data) > LONGEST else 0)

    def _last(self, data: bytes) -> int:
        """Return where the last record of *data* ends, 0 where none does."""
        limit = len(data)
        for _ in range(TRIES):
            end = max(self._rfind(data, name, limit) for name in self.names)
            openings = [data.rfind(opening, 0, end) for opening in OPENINGS]
            inside = [begin for begin in openings if begin >= 0 and self._hides(data, begin, end)]
            if not inside:
                return end
            limit = min(inside)
        return 0

    def _hides(self, data: bytes, begin: int, end: int) -> bool:
        """Whether the comment, CDATA or document type that begins at *begin* goes on at *end*."""
        found = self.hidden.match(data, begin)
        return found is not None and found.end() >= end

    def _rfind(self, data: bytes, name: bytes, limit: int) -> int:
        """Return where the last end tag of a *name* in *data* ends, 0 where there is none."""
        place = data.rfind(name, 0, limit)
        while place >= 0:
            begin = data.rfind(b"<", max(0, place - TAG), place)
            found = self.end.match(data, begin, limit) if begin >= 0 else None
            if found:
                return found.end()
            place = data.rfind(name, 0, place)
        return 0

    def pieces(self, block: Block) -> Pieces:
        """Return the records of a block, and what is none."""
        data, found, gap = block.data, Pieces(), []
        lines, opened, last = _Lines(data, block.line), -1, 0
        for token in self.tokens.finditer(data):
            closes, name, tail = token.groups()
            if name is None:
                # Inside a record comments and the like are left to the parser.
                if opened < 0:
                    gap.append(data[last : token.start()])
                    last = token.end()
                continue
            if opened < 0 and closes:
                text = data[last : token.end()]
                found.broken.append((lines.at(token.start()), "the record has no beginning", text))
            elif opened < 0:
                gap.append(data[last : token.start()])
            elif not closes:
                text = data[opened : token.start()]
                found.broken.append((lines.at(opened), "the record has no end", text))
            begin = opened if closes else token.start()
            if begin >= 0 and (closes or tail.endswith(b"/")):
                found.records.append((lines.at(begin), data[begin : token.end()]))
                begin = -1
            opened, last = begin, token.end()
        if opened >= 0:
            found.broken.append((lines.at(opened), "the record breaks off", data[opened:]))
        else:
            gap.append(data[last:])
        found.others = self._elements(b"".join(gap))[0]
        return found

    def _elements(self, data: bytes) -> tuple[int, int]:
        """Return how many whole elements *data* has, without containers, and where the last one ends."""
        stack: list[bytes] = []
        counts, ended = [0], 0
        for tag in ELEMENT.finditer(data):
            closes, name, tail = tag.groups()
            if name in self.containers:
                continue
            if not closes and not tail.endswith(b"/"):
                if len(stack) < DEEPEST:
                    stack.append(name)
                    counts.append(0)
                continue
            if closes:
                near = range(len(stack) - 1, max(-1, len(stack) - 1 - NEAR), -1)
                depth = next((place for place in near if stack[place] == name), None)
                if depth is None:
                    continue
                del stack[depth:], counts[depth + 1 :]
            counts[-1] += 1
            ended = ended if stack else tag.end()
        return sum(counts), ended


@dataclass
class _Lines:
    """Counts the lines of *data* up to places that are asked for in order."""

    data: bytes
    line: int
    counted: int = 0

    def at(self, place: int) -> int:
        """Return the number of the line at *place*."""
        self.line += self.data.count(b"\n", self.counted, place)
        self.counted = place
        return self.line


def shown(data: bytes) -> str:
    """Return the beginning of *data* on one line."""
    return " ".join(data[:SHOWN].decode("utf-8", errors="replace").split())
