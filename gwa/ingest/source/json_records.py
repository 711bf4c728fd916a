"""
Cut a stream of JSON into records, wherever they stand.

The stream is a sequence of values, as JSON lines are, with any white space or commas between them. Each
object is a record, unless there is a list, or an object, of records under one of the given paths in it;
the elements of a list that stands alone are records, or such documents, too. No document is held
in memory as a whole. What stands between records and is none is refused. A record that does not end costs
no other where each stands on a line of its own.

The standard library's scanner finds where a value ends. What it refuses may still be a record to who reads
it, or lie deeper than it goes: then brackets are counted. There a string ends with its line at the latest,
so that a quotation mark too many spoils no more than that.
"""

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH, Reject, decoded

BLOCK_SIZE: Final = 1 << 24
"""Characters of records that are handed on at a time."""

MAXIMUM_RECORD_SIZE: Final = 1 << 25
"""A longer record is refused: jobs with thousands of steps take tens of megabytes."""

MAXIMUM_GAP_SIZE: Final = 1 << 20
"""Characters between records that are looked at; more are refused as one."""

MAXIMUM_TOKEN: Final = 16
"""A fault that is nearer to the end of a text may be a number, word or escape that goes on."""

BROKEN_OFF: Final = "the document breaks off"
"""The beginning of the reason why the end of a document is refused."""

NO_OBJECT: Final = "is not a JSON object"
BLANK: Final = " \t\r\n,\x00\x1a"
"""What may stand between values, and what crashed machines leave in files."""

_STRING: Final = r'"(?:[^"\\\n]++|\\.)*+"?'
_BLANKS: Final = re.compile(f"[{BLANK}]*+")
_TOKEN: Final = re.compile(r'"(?:[^"\\\n]++|\\.)*+(")?|[\[\]{}]|\n(?=\{)')
_GAP: Final = re.compile(rf'(?:[^"\[\]{{}}]++|{_STRING})*+')
_TOP_GAP: Final = re.compile(rf'(?:[^"\[{{]++|{_STRING})*+')
_KEY: Final = re.compile(r'"((?:[^"\\]|\\.)*+)"\s*+:\s*+')
_KEY_BEFORE: Final = re.compile(_KEY.pattern + r"\Z")
_VALUE: Final = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*+"?)++')
_SCALAR: Final = re.compile(_STRING + r'|[^",\[\]{}\s]++')

# Only the end of a value is wanted: of each object in it a number is kept, so that memory is not.
_scan = json.JSONDecoder(object_pairs_hook=len).raw_decode


class JsonRecord(NamedTuple):
    """
    The *text* of a record, and the *number* of the line where it begins, or one more than that before.

    *key* is that of a member of an object, *document* what stood in a document before its records, without
    others, closed, as a document of its own; it is empty where there is none.
    """

    text: str
    number: int
    key: str | None
    document: str


@dataclass
class RecordBlock:
    """Some records, what was refused between them, and the number of characters in them."""

    records: list[JsonRecord] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    size: int = 0


_Found: TypeAlias = Generator[JsonRecord | Reject, None, None]


def record_blocks(source: Source, paths: Sequence[str], *, goes_on: bool = False) -> Iterator[RecordBlock]:
    """
    Yield the records of *source* in blocks; *paths* are dotted, as ``hits.hits``.

    Where a document *goes on*, an object of records that is begun again within itself, under the same key, is
    the rest of it: so old versions of qstat print several jobs.
    """
    block = RecordBlock()
    for found in records(source, paths, goes_on=goes_on):
        if isinstance(found, Reject):
            block.rejects.append(found)
            continue
        block.records.append(found)
        block.size += len(found.text)
        if block.size >= BLOCK_SIZE:
            yield block
            block = RecordBlock()
    yield block


def records(
    source: Source, paths: Sequence[str] = (), *, goes_on: bool = False
) -> Iterator[JsonRecord | Reject]:
    """Yield the records of *source*, and what is refused, as `record_blocks` takes them."""
    return Cutter(source, [tuple(path.split(".")) for path in paths], goes_on=goes_on).records()


class _TextEndsError(Exception):
    """The text that is held ends in a member of an object, which begins *at* a place below the *keys*."""

    def __init__(self, at: int, keys: tuple[str, ...]) -> None:
        super().__init__()
        self.at, self.keys = at, keys


class Cutter:
    """
    Finds records in the *text* that is held of a stream, from the place *at* on.

    *by_line* tells whether records stand on lines of their own, as the first did: those at the top, and those
    of the present list.
    """

    def __init__(self, source: Source, paths: Sequence[tuple[str, ...]], *, goes_on: bool = False) -> None:
        self.source, self.paths, self.goes_on = source, paths, goes_on
        self.names = {f'"{path[-1]}"' for path in paths}
        self.text, self.at = "", 0
        self.by_line: dict[bool, bool] = {}
        self.is_over = self.is_broken = False
        self.key: str | None = None
        self._chunks = decoded(source)
        self._decode = getincrementaldecoder("utf-8")("gwa-latin-1").decode
        self._line, self._counted, self._number = 1, 0, 0

    def more(self) -> bool:
        """Hold as much again, so that what is looked at again has a cost in proportion; tell if there was."""
        self.line_of(self.at)
        parts, wanted = [self.text[self.at :]], max(len(self.text) - self.at, 1)
        while wanted > 0 and not self.is_over:
            chunk = next(self._chunks, b"")
            self.is_over = not chunk
            parts.append(self._decode(chunk, self.is_over))
            wanted -= len(parts[-1])
        self.text, self.at, self._counted = "".join(parts), 0, 0
        return any(parts[1:])

    def line_of(self, at: int) -> int:
        """Return the number of the line of a place, which is none before that of an earlier call."""
        self._line += self.text.count("\n", self._counted, at)
        self._counted = at
        return self._line

    @property
    def held(self) -> int:
        """How many characters are held and not used up."""
        return len(self.text) - self.at

    def records(self) -> _Found:
        """Yield the records and what is refused."""
        while sign := (yield from self._gap(top=True)):
            # Among lines of records a list is not a document.
            if sign == "[" and not self.by_line.get(True):
                self.at += 1
                self.by_line.pop(False, None)
                yield from self._members("")
            else:
                yield from self._value(top=True)

    def _members(self, document: str, holder: str = "") -> Generator[JsonRecord | Reject, None, bool]:
        """
        Yield the records up to the bracket that closes their list, or object; return whether one does.

        Where the document goes on, an object under the key of the *holder* is the rest of it.
        """
        while sign := (yield from self._gap(top=False)):
            if sign in "]}":
                self.at += 1
                return True
            if self.goes_on and sign == "{" and self.key == holder:
                self.at += 1
                continue
            # What stands in a list at the top may be a document itself.
            yield from self._value(top=False, document=document, may_hold=not holder)
        yield from self._broken_off()
        return False

    def _gap(self, *, top: bool) -> Generator[Reject, None, str]:
        """Go on to the next bracket, and return it, refusing what stands before it but a key; or nothing."""
        self.key = None
        self.at = _BLANKS.match(self.text, self.at).end()  # type: ignore[union-attr]
        sign = self.text[self.at : self.at + 1]
        if sign and sign in ("{[" if top else "{[]}"):
            return sign
        gap = _TOP_GAP if top else _GAP
        while (end := gap.match(self.text, self.at).end()) == len(self.text):  # type: ignore[union-attr]
            if self.held > MAXIMUM_GAP_SIZE:
                yield from self._refused_as_too_long(MAXIMUM_GAP_SIZE)
                self._drop_line()
                return (yield from self._gap(top=top))
            if not self.more():
                if top and not self.source.broken:
                    yield from self._refused(end)
                return ""
        yield from self._refused(end, in_list=not top)
        self.at = end
        return self.text[end]

    def _refused(self, end: int, *, in_list: bool = False) -> Iterator[Reject]:
        """Yield what stands before a place, by line, and values in a list by themselves; keep a last key."""
        rest = self.text[self.at : end]
        if in_list and (match := _KEY_BEFORE.search(rest)):
            self.key, rest = match[1], rest[: match.start()]
        for number, line in enumerate(rest.split("\n"), self.line_of(self.at)):
            for value in _VALUE.findall(line) if in_list else [line]:
                if value.strip(BLANK):
                    yield Reject(number, NO_OBJECT, _shown(value))

    def _refused_as_too_long(self, limit: int) -> Iterator[Reject]:
        self.at = _BLANKS.match(self.text, self.at).end()  # type: ignore[union-attr]
        yield Reject(self.line_of(self.at), f"longer than {limit} bytes", _shown(self.text[self.at :]))

    def _broken_off(self) -> Iterator[Reject]:
        """Yield, once, that the document has no end, unless that is accounted for elsewhere."""
        if not self.source.broken and not self.is_broken:
            number = self.line_of(self.at)
            yield Reject(number, f"{BROKEN_OFF}: its end is missing", _shown(self.text[self.at :]))
        self.at, self.is_broken = len(self.text), True

    def _value(self, *, top: bool, document: str = "", may_hold: bool = True) -> _Found:
        """Yield the record that begins here, or the records in it, where it *may hold* some."""
        while True:
            end = self._end(self.at, torn=self.by_line.get(top, False))
            if may_hold and (holder := self._first_holder(end)):
                yield from self._document(*holder)
                return
            if end or self.held > MAXIMUM_RECORD_SIZE or self.is_over:
                break
            self.more()
        if (end or len(self.text)) - self.at > MAXIMUM_RECORD_SIZE:
            yield from self._too_long(top=top)
        elif not end:
            yield from self._broken_off()
        elif self.text[end - 1] == "\n":
            yield from self._refused(end)
            self.at = end
        else:
            yield self._record(end, document, top=top)

    def _too_long(self, *, top: bool) -> _Found:
        """Refuse the value that begins here, but yield the records in it."""
        yield from self._refused_as_too_long(MAXIMUM_RECORD_SIZE)
        if top and self.paths and self.text[self.at] == "{":
            self.at += 1
            yield from self._document(*(yield from self._next_holder((), "")))
        else:
            self._drop(torn=self.by_line.get(top, False))

    def _record(self, end: int, document: str, *, top: bool) -> JsonRecord:
        text = self.text[self.at : end]
        # An empty object is on one line in any layout.
        if top not in self.by_line and text != "{}":
            self.by_line[top] = "\n" not in text
        self._number = max(self.line_of(self.at), self._number + 1)
        self.at = end
        return JsonRecord(text, self._number, self.key, document)

    def _end(self, at: int, *, torn: bool = False) -> int | None:
        """
        Return the end of the value that begins with a bracket at a place; None where the text ends before.

        If it may be *torn* that is, else, the next line that begins with an object.
        """
        try:
            return _scan(self.text, at)[1]
        except json.JSONDecodeError as error:
            is_open = error.msg.startswith("Unterminated") or error.pos > len(self.text) - MAXIMUM_TOKEN
            if is_open and not self.is_over:
                return None
        except (ValueError, RecursionError):  # a number that is too long, brackets that are too deep
            pass
        return self._closing(at, torn=torn)[0]

    def _closing(self, at: int, depth: int = 0, *, torn: bool) -> tuple[int | None, int, int]:
        """
        Return where the bracket at a place is closed, or another begins; None where the text ends before.

        Return, too, up to where brackets are counted then, and the depth there.
        """
        for match in _TOKEN.finditer(self.text, at):
            sign = match[0]
            if sign in "{[":
                depth += 1
            elif sign in "]}":
                depth -= 1
                if depth <= 0:
                    return match.end(), match.end(), 0
            elif sign == "\n":
                if torn:
                    return match.end(), match.end(), 0
            elif not match[1] and match.end() >= len(self.text) - 1:  # the string may go on
                return None, match.start(), depth
        return None, len(self.text), depth

    def _drop(self, *, torn: bool) -> None:
        """Skip the value that begins here, however long it is."""
        depth = 0
        while True:
            end, self.at, depth = self._closing(self.at, depth, torn=torn)
            if end or not self.more():
                self.at = end or len(self.text)
                return

    def _drop_member(self) -> None:
        """Skip the member that begins here if it is what is too long."""
        match = _KEY.match(self.text, self.at)
        if match and self.text[match.end() : match.end() + 1] in {"[", "{"}:
            self.at = match.end()
            self._drop(torn=False)
        elif self.held > MAXIMUM_RECORD_SIZE:
            self.at = len(self.text)

    def _drop_line(self) -> None:
        """Skip the rest of a line, up to an object or list."""
        while not (match := re.compile(r"[\n\[{]").search(self.text, self.at)):
            self.at = len(self.text)
            if not self.more():
                return
        self.at = match.start()

    def _first_holder(self, end: int | None) -> tuple[int, tuple[str, ...], str] | None:
        """Return where records begin in the object here, as `_document` takes it; None if there are none."""
        names = (name for name in self.names if self.text.find(name, self.at, end or len(self.text)) >= 0)
        if self.text[self.at] != "{" or not any(names):
            return None
        try:
            at, path = self._holder(self.at + 1, ())
        except _TextEndsError:
            return None
        return (at, path, self.text[self.at : at]) if path else None

    def _document(self, at: int, path: tuple[str, ...], outline: str) -> _Found:
        """
        Yield the records that begin at a place, under a *path*, and those under other paths of the document.

        Its *outline* is what it has so far but for records; it is empty where that is too much.
        """
        while path:
            closing = {"[": "]", "{": "}"}[self.text[at - 1]]
            document = f"{outline}{closing}{'}' * len(path)}" if outline else ""
            self.at = at
            self.by_line.pop(False, None)
            if not (yield from self._members(document, path[-1])):
                return
            outline += closing if outline else ""
            at, path, outline = yield from self._next_holder(path[:-1], outline)
        self.at = at

    def _next_holder(
        self, keys: tuple[str, ...], outline: str
    ) -> Generator[Reject, None, tuple[int, tuple[str, ...], str]]:
        """Return where other records of a document begin; the path is empty where the document ends."""
        while True:
            try:
                at, path = self._holder(self.at, keys)
            except _TextEndsError as end:
                if self.held > MAXIMUM_RECORD_SIZE:
                    self.at, keys, outline = end.at, end.keys, ""
                    self._drop_member()
                elif self.is_over:
                    yield from self._broken_off()
                    return self.at, (), ""
                self.more()
                continue
            is_small = len(outline) + at - self.at <= MAXIMUM_RECORD_SIZE
            return at, path, outline + self.text[self.at : at] if outline and is_small else ""

    def _holder(self, at: int, keys: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
        """
        Return the place behind the bracket that opens records, and their path; it is empty if none does.

        Members of the object under *keys* are looked through from a place on. Raise `_TextEndsError` where
        the text ends before the document does.
        """
        while True:
            at = _BLANKS.match(self.text, at).end()  # type: ignore[union-attr]
            sign = self.text[at : at + 1]
            if sign == "}":
                at += 1
                if not keys:
                    return at, ()
                keys = keys[:-1]
                continue
            match = _KEY.match(self.text, at)
            if not match and sign and (sign != '"' or self.is_over):
                return at, ()  # no member: the document is torn
            if not match or match.end() == len(self.text):
                raise _TextEndsError(at, keys)
            path, opening = (*keys, match[1]), self.text[match.end()]
            if opening in "[{" and path in self.paths:
                return match.end() + 1, path
            if opening == "{" and any(one[: len(path)] == path for one in self.paths):
                at, keys = match.end() + 1, path
            elif end := self._end_of_member(match.end()):
                at = end
            else:
                raise _TextEndsError(at, keys)

    def _end_of_member(self, at: int) -> int | None:
        """Return the end of the value at a place; None where the text ends before."""
        if self.text[at] in "[{":
            return self._end(at)
        match = _SCALAR.match(self.text, at)
        return match.end() if match and match.end() < len(self.text) else None


def _shown(text: str) -> str:
    """Return the beginning of a text on one line."""
    return " ".join(text[:REJECT_TEXT_LENGTH].split())
