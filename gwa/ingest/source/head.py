"""The beginning of a source: enough to recognise its format and to read its header."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from gwa.errors import TraceError
from gwa.ingest.source.compressed import Source, plain_name
from gwa.ingest.source.lines import Layout, LineBlock, parts

SIZE: Final = 1 << 20
"""How much of a source is looked at."""

TOGETHER: Final = 32 * SIZE
"""How much is looked at of all sources of a trace, since some consist of a thousand files."""

LINES: Final = 1000
"""How many lines of data are looked at."""

CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))
"""Bytes that text does not have, but for a few that crashed machines leave in logs."""

_ENTRY = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*)\s*:(?!//)\s*(.*?)\s*$")


@dataclass(frozen=True)
class FileHead:
    """
    The first bytes of the file at *path*, up to *size*, decompressed.

    The *name* lacks the suffix of compression.
    """

    path: Path
    name: str
    data: bytes
    size: int = SIZE

    @classmethod
    def of(cls, path: Path, size: int = SIZE) -> "FileHead":
        """Read the head of *path*; raise `TraceError` for what cannot be read or is empty."""
        source = Source(path)
        try:
            data = b""
            while len(data) < size and (more := source.read(size - len(data))):
                data += more
        finally:
            source.close()
        if not data and source.broken:
            message = f"{path}: {source.broken}"
            raise TraceError(message)
        return cls(path, plain_name(path), data, size)

    @cached_property
    def text(self) -> str:
        """The head as text; what is no UTF-8 is replaced."""
        return self._lines.data.decode("utf-8", errors="replace")

    @cached_property
    def _lines(self) -> LineBlock:
        """All lines, comments included."""
        return next(parts(_Bytes(self.data), Layout(delimiter="")), LineBlock(1))

    @cached_property
    def _whole(self) -> list[str]:
        """The lines, without a last one that may have been cut by the size of the head."""
        lines = self.text.removesuffix("\n").split("\n")
        return lines[:-1] if len(self.data) >= self.size and len(lines) > 1 else lines

    @property
    def is_binary(self) -> bool:
        """Whether these are bytes of no text at all."""
        sample = self.data[:8192]
        odd = len(sample) - len(sample.translate(None, CONTROLS))
        return odd > len(sample) // 10 and not self.data.startswith((b"\xff\xfe", b"\xfe\xff"))

    def comments(self, mark: str) -> list[str]:
        """Return the comment lines without their mark."""
        return [line[len(mark) :] for line in self._whole if line.startswith(mark)]

    def rows(self, mark: str = "") -> list[str]:
        """Return the first lines that are neither blank nor comments."""
        lines = (line for line in self._whole if line.strip())
        return list(islice((line for line in lines if not (mark and line.lstrip().startswith(mark))), LINES))

    def width(self, layout: Layout) -> int:
        """Return how many cells most lines have, 0 when there are none."""
        rows = self.rows(layout.comment)
        cut = (
            # Bytes, since only blanks of ASCII part cells.
            (lambda row: len(row.encode().split()))
            if layout.squeezes
            else (lambda row: row.count(layout.delimiter) + 1)
        )
        common = Counter(map(cut, rows)).most_common(1)
        return common[0][0] if common else 0


class _Bytes(Source):
    """A source that is already in memory."""

    def __init__(self, data: bytes) -> None:
        self.data: bytes = data
        self.broken = None

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        chunk, self.data = self.data[:size], self.data[size:]
        return chunk


def entries(comments: list[str]) -> tuple[tuple[str, str], ...]:
    """
    Return the *key: value* pairs of a header; a line without a key continues the one before.

    >>> entries([" Computer: IBM SP2", " Note: cleaned", "       user=3 removed"])
    (('Computer', 'IBM SP2'), ('Note', 'cleaned user=3 removed'))
    """
    found: list[tuple[str, str]] = []
    for comment in comments:
        entry = _ENTRY.match(comment)
        if entry:
            found.append((entry[1], entry[2]))
        elif found and comment.strip():
            key, value = found[-1]
            found[-1] = (key, f"{value} {comment.strip()}".strip())
    return tuple(found)
