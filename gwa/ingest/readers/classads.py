"""
Read ClassAds: sets of ``Attribute = value`` that describe jobs of HTCondor.

An ad ends at a blank line, at a line of asterisks (as in the history of a spool), or with the file. If an
attribute is assigned twice, the last assignment holds. A value that is the name of another attribute
stands for its value; other expressions are not evaluated and their attributes are missing. Ads may also be
JSON objects, on one line or several, alone or in an array.

Each column is the attribute of that name, whatever its case. Other attributes are ignored. Options:

``skip``
    values by column, as texts: ads with one of these values count as comments.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gwa.ingest.batch import Records
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import MAXIMUM_LINE_LENGTH, REJECT_TEXT_LENGTH, Layout, line_blocks
from gwa.ingest.spec import TableSpec

RECORD_BLOCK_SIZE: Final = 1 << 22
"""Bytes of lines treated at a time: as objects of Python they take many times as much."""

BANNER: Final = "***"
"""The beginning of the line after an ad in the history of a spool."""

MAXIMUM_REFERENCES: Final = 3
"""How many names are followed to a value."""

_LITERAL: Final = re.compile(r'[-+]?\d+(\.\d*)?([eE][-+]?\d+)?|true|false|"(?:[^"]|\\")*"', re.IGNORECASE)
_NAME: Final = re.compile(r"(?:MY\.)?([A-Za-z_]\w*)", re.IGNORECASE)
_EXPRESSION: Final = re.compile(r"/Expr\((.*)\)/", re.DOTALL)


def batches(source: Source, table_spec: TableSpec) -> Iterator[Records]:
    """Yield the ads of *source* as rows; each line that is not an assignment is refused."""
    ads = _Ads(table_spec)
    for block in line_blocks(source, Layout(""), RECORD_BLOCK_SIZE):
        ads.batch = Records(table_spec, total=len(block.rejects), rejects=block.rejects)
        # Blank lines, which end an ad, are missing from the block, as are refused lines, which do not.
        refused = {reject.line for reject in block.rejects}
        expected = block.first
        for number, line in block.numbered_lines():
            if number > expected and not refused.issuperset(range(expected, number)):
                ads.end()
            expected = number + 1
            ads.take(number, line)
        if not refused.issuperset(range(expected, block.first + block.total)):
            ads.end()
        yield ads.batch
    ads.batch = Records(table_spec)
    if not source.broken:
        ads.end()
    yield ads.batch


class _Ads:
    """Reads ads line by line; holds the first line, the attributes and the JSON of the current one."""

    def __init__(self, table_spec: TableSpec) -> None:
        self.names = {name.lower() for name in table_spec.columns}
        self.skipped: Mapping[str, Sequence[str]] = table_spec.options.get("skip", {})
        self.batch = Records(table_spec)
        self.begin = 0
        self.attributes: dict[str, str] = {}
        self.lines: list[str] = []
        self.size = 0

    def take(self, number: int, line: str) -> None:
        """Continue the current ad, end it, or begin another one."""
        name, sign, value = line.partition("=")
        if self.lines or (line[0] in "{[]," and not self.begin):
            self.take_json(number, line)
        elif line.startswith(BANNER) or not line.strip():
            self.end()
        elif sign:
            self.begin = self.begin or number
            if (name := name.strip().lower()) in self.names:
                self.attributes[name] = value.strip()
        else:
            self.batch.reject(number, "is not an assignment of an attribute", line[:REJECT_TEXT_LENGTH])

    def take_json(self, number: int, line: str) -> None:
        """Continue a JSON object, whose braces stand in the first column."""
        if line[0] == "{":
            self.end()
            self.begin = number
        if self.begin:
            self.lines.append(line)
            self.size += len(line)
            is_whole = line[0] == "}" or (line[0] == "{" and line.rstrip(" ,").endswith("}"))
            if is_whole or self.size > MAXIMUM_LINE_LENGTH:
                self.end()
        elif line.strip("[], "):
            self.batch.reject(number, "is not an object of JSON", line[:REJECT_TEXT_LENGTH])

    def end(self) -> None:
        """Add the current ad, if there is one, to the batch."""
        if self.lines:
            try:
                values = json.loads("".join(self.lines).rstrip(" ,"))
            except (ValueError, RecursionError) as error:
                reason = f"is not JSON: {error}"[:REJECT_TEXT_LENGTH]
                self.batch.reject(self.begin, reason, self.lines[0][:REJECT_TEXT_LENGTH])
                self.begin = 0
            else:
                self.attributes = {name.lower(): _classad(value) for name, value in values.items()}
        if self.begin:
            columns = self.batch.table_spec.columns
            values = {name: resolve(self.attributes, name) for name in columns}
            if any(values[name] in skipped for name, skipped in self.skipped.items()):
                self.batch.add_comment()
            else:
                self.batch.add(self.begin, values)
        self.begin, self.attributes, self.lines, self.size = 0, {}, [], 0


def _classad(value: Any) -> str:  # noqa: ANN401 - JSON is of any type
    """
    Write a JSON value as ClassAds write it.

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


def resolve(attributes: Mapping[str, str], name: str) -> str | None:
    """
    Return the value of the attribute *name* as text, None if it is undefined or an expression.

    >>> resolve({"requestdisk": "DiskUsage", "diskusage": "75", "cmd": '"/bin/a"'}, "requestdisk")
    '75'
    """
    for _ in range(MAXIMUM_REFERENCES):
        value = attributes.get(name.lower(), "")
        if _LITERAL.fullmatch(value):
            return value[1:-1].replace('\\"', '"') if value[0] == '"' else value
        reference = _NAME.fullmatch(value)
        if not reference:
            return None
        name = reference[1]
    return None
