"""The beginning of a source: enough to recognise its format and to read its header."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from gwa.errors import TraceError
from gwa.ingest.source.archives import refuse_archive
from gwa.ingest.source.compressed import Source, plain_name
from gwa.ingest.source.lines import LineBlock, LineLayout, line_blocks

HEAD_SIZE: Final = 1 << 20
"""Bytes of a source that are examined."""

TOTAL_HEAD_SIZE: Final = 32 * HEAD_SIZE
"""Bytes of all sources of a trace that are examined, since some traces consist of a thousand files."""

MAXIMUM_HEAD_ROWS: Final = 1000
"""Lines of data that are examined."""

CONTROL_BYTES: Final = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b\x1c\x1d\x1e\x1f"))
"""Control characters that do not occur in text: separators do, and what crashed machines leave in logs."""

_ENTRY = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*)\s*:(?!//)\s*(.*?)\s*$")


@dataclass(frozen=True)
class FileHead:
    """
    The first bytes of the file at *path*, up to *size*, decompressed.

    The *name* is that of the file without its compression suffix.
    """

    path: Path
    name: str
    data: bytes
    size: int = HEAD_SIZE

    @classmethod
    def of(cls, path: Path, size: int = HEAD_SIZE) -> "FileHead":
        """Read the head of *path*; raise `TraceError` for what cannot be read, as an archive."""
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
        refuse_archive(path, data)
        return cls(path, plain_name(path), data, size)

    @cached_property
    def text(self) -> str:
        """The head as text; invalid UTF-8 is replaced."""
        return self._lines.data.decode("utf-8", errors="replace")

    @cached_property
    def _lines(self) -> LineBlock:
        """All lines, comments included."""
        return next(line_blocks(_BytesSource(self.data), LineLayout(delimiter="")), LineBlock(1))

    @cached_property
    def _whole_lines(self) -> list[str]:
        """The lines, without the last one if the size of the head may have cut it."""
        lines = self.text.removesuffix("\n").split("\n")
        return lines[:-1] if len(self.data) >= self.size and len(lines) > 1 else lines

    def source(self) -> Source:
        """Return the head as a source of its own."""
        return _BytesSource(self.data)

    @property
    def is_binary(self) -> bool:
        """Whether the data is not text."""
        sample = self.data[:8192]
        controls = len(sample) - len(sample.translate(None, CONTROL_BYTES))
        return controls > len(sample) // 10 and not self.data.startswith((b"\xff\xfe", b"\xfe\xff"))

    def comments(self, comment_mark: str) -> list[str]:
        """Return the comments, which begin with *comment_mark*, without it."""
        return [line[len(comment_mark) :] for line in self._whole_lines if line.startswith(comment_mark)]

    def rows(self, comment_mark: str = "") -> Sequence[str]:
        """Return the first lines that are neither blank nor comments, found once for each mark."""
        if comment_mark not in self._rows:
            lines = (line for line in self._whole_lines if line.strip())
            rows = (line for line in lines if not (comment_mark and line.lstrip().startswith(comment_mark)))
            self._rows[comment_mark] = list(islice(rows, MAXIMUM_HEAD_ROWS))
        return self._rows[comment_mark]

    @cached_property
    def _rows(self) -> dict[str, Sequence[str]]:
        """The first lines by the mark of the comments that are not among them."""
        return {}

    def width(self, layout: LineLayout) -> int:
        """Return the most common number of cells in a line, 0 if there are no lines."""
        rows = self.rows(layout.comment)
        if layout.squeezes:
            # Bytes, since only ASCII white space separates cells.
            widths = Counter(len(row.encode().split()) for row in rows)
        else:
            widths = Counter(row.count(layout.delimiter) + 1 for row in rows)
        return widths.most_common(1)[0][0] if widths else 0


class _BytesSource(Source):
    """A source that is already in memory."""

    def __init__(self, data: bytes) -> None:
        self.data: bytes = data
        self.broken = None
        self.block_size = len(data) + 1
        self.block_lines = 0

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        chunk, self.data = self.data[:size], self.data[size:]
        return chunk


def entries(comments: list[str]) -> tuple[tuple[str, str], ...]:
    """
    Return the *key: value* pairs of a header; a line without a key continues the value before it.

    >>> entries([" Computer: IBM SP2", " Note: cleaned", "       user=3 removed"])
    (('Computer', 'IBM SP2'), ('Note', 'cleaned user=3 removed'))
    """
    pairs: list[tuple[str, str]] = []
    for comment in comments:
        entry = _ENTRY.match(comment)
        if entry:
            pairs.append((entry[1], entry[2]))
        elif pairs and comment.strip():
            key, value = pairs[-1]
            pairs[-1] = (key, f"{value} {comment.strip()}".strip())
    return tuple(pairs)
