"""
Read ClassAds: sets of ``Attribute = value``, as HTCondor writes them of its jobs.

An ad ends at a blank line, at a line of asterisks, as in the history of a spool, or with the file. An
attribute may be assigned again: the last assignment holds. A value that is another attribute's name
is that attribute's value; other expressions are not evaluated and their attributes are missing. Ads
may as well be objects of JSON, one in a line or laid out over several, alone or in an array.

Columns are the attributes of these names, without regard to case. Attributes that nobody asks for are
passed over.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gwa.ingest.batch import Records
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import LONGEST_LINE, SHOWN, Layout, parts
from gwa.ingest.spec import TableSpec

PART: Final = 1 << 22
"""Bytes of lines treated at a time: as objects of Python they take many times as much."""

BANNER: Final = "***"
"""What begins the line behind an ad in the history of a spool."""

STEPS: Final = 3
"""How many names are followed to a value."""

_LITERAL: Final = re.compile(r'[-+]?\d+(\.\d*)?([eE][-+]?\d+)?|true|false|"(?:[^"]|\\")*"', re.IGNORECASE)
_NAME: Final = re.compile(r"(?:MY\.)?([A-Za-z_]\w*)", re.IGNORECASE)
_EXPRESSION: Final = re.compile(r"/Expr\((.*)\)/", re.DOTALL)


def batches(source: Source, shape: TableSpec) -> Iterator[Records]:
    """Yield the ads of *source* as rows; what is no assignment is refused, line by line."""
    ads = _Ads(shape)
    for part in parts(source, Layout(""), PART):
        ads.batch = Records(shape, total=len(part.rejects), rejects=part.rejects)
        # A blank line ends an ad; a line that is too long is no line of it.
        refused = {reject.line for reject in part.rejects}
        expected = part.first
        for number, line in part.rows():
            if number > expected and not refused.issuperset(range(expected, number)):
                ads.end()
            expected = number + 1
            ads.take(number, line)
        if not refused.issuperset(range(expected, part.first + part.total)):
            ads.end()
        yield ads.batch
    ads.batch = Records(shape)
    if not source.broken:
        ads.end()
    yield ads.batch


class _Ads:
    """The ad in hand: its first line, what it says so far, and, of JSON, its lines so far."""

    def __init__(self, shape: TableSpec) -> None:
        self.names = {name.lower() for name in shape.columns}
        self.batch = Records(shape)
        self.begin = 0
        self.said: dict[str, str] = {}
        self.lines: list[str] = []
        self.size = 0

    def take(self, number: int, line: str) -> None:
        """Go on with the ad in hand, end it, or begin one."""
        name, sign, value = line.partition("=")
        if self.lines or (line[0] in "{[]," and not self.begin):
            self.take_json(number, line)
        elif line.startswith(BANNER) or not line.strip():
            self.end()
        elif sign:
            self.begin = self.begin or number
            if (name := name.strip().lower()) in self.names:
                self.said[name] = value.strip()
        else:
            self.batch.reject(number, "is no assignment of an attribute", line[:SHOWN])

    def take_json(self, number: int, line: str) -> None:
        """Go on with an object of JSON: it begins and ends in the first column."""
        if line[0] == "{":
            self.end()
            self.begin = number
        if self.begin:
            self.lines.append(line)
            self.size += len(line)
            is_whole = line[0] == "}" or (line[0] == "{" and line.rstrip(" ,").endswith("}"))
            if is_whole or self.size > LONGEST_LINE:
                self.end()
        elif line.strip("[], "):
            self.batch.reject(number, "is no object of JSON", line[:SHOWN])

    def end(self) -> None:
        """Add the ad in hand, if there is one, to the batch."""
        if self.lines:
            try:
                said = json.loads("".join(self.lines).rstrip(" ,"))
            except (ValueError, RecursionError) as error:
                self.batch.reject(self.begin, f"is no JSON: {error}"[:SHOWN], self.lines[0][:SHOWN])
                self.begin = 0
            else:
                self.said = {name.lower(): _classad(value) for name, value in said.items()}
        if self.begin:
            self.batch.add(
                self.begin, {name: _resolved(self.said, name) for name in self.batch.shape.columns}
            )
        self.begin, self.said, self.lines, self.size = 0, {}, [], 0


def _classad(value: Any) -> str:  # noqa: ANN401 - JSON is of any type
    """
    Return a value of JSON as it stands in a ClassAd.

    >>> _classad("DiskUsage"), _classad("/Expr(DiskUsage)/"), _classad(None)
    ('"DiskUsage"', 'DiskUsage', 'undefined')
    """
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()
        expression = _EXPRESSION.fullmatch(text)
        return expression[1] if expression else '"' + text.replace('"', '\\"') + '"'
    if isinstance(value, bool | int | float):
        return str(value)
    return "undefined"


def _resolved(said: Mapping[str, str], name: str) -> str | None:
    """
    Return the value of the attribute *name* as text, None where it is undefined or an expression.

    >>> _resolved({"requestdisk": "DiskUsage", "diskusage": "75", "cmd": '"/bin/a"'}, "requestdisk")
    '75'
    """
    for _ in range(STEPS):
        value = said.get(name.lower(), "")
        if _LITERAL.fullmatch(value):
            return value[1:-1].replace('\\"', '"') if value[0] == '"' else value
        reference = _NAME.fullmatch(value)
        if not reference:
            return None
        name = reference[1]
    return None
