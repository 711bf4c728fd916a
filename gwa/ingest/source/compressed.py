"""Sources that may be compressed: decompression, the position in the file, and its hash."""

import bz2
import gzip
import hashlib
import io
import lzma
import zlib
from pathlib import Path
from typing import Final, Protocol, cast

from gwa.errors import TraceError
from gwa.util import interrupts

MAGIC: Final = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
CUT: Final = "compressed data broke off"
"""The beginning of the reason why compressed data cannot be read to its end."""

SUFFIXES: Final = (".gz", ".bz2", ".xz", ".zst")


class Stream(Protocol):
    """A stream of decompressed bytes."""

    def read1(self, size: int, /) -> bytes:
        """Return some bytes, up to *size*, and none at the end."""


class _HashingFile(io.RawIOBase):
    """The raw bytes of a file, hashed and counted as they are read; `TraceError` where the disk fails."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = path.open("rb", buffering=0)
        self.hash = hashlib.sha256()
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        try:
            size = self.file.readinto(view)
        except OSError as error:
            raise unreadable(self.path, error) from error
        self.hash.update(view[:size])
        self.count += size
        return size

    def close(self) -> None:
        self.file.close()
        super().close()


BLOCK_SIZE: Final = 1 << 23
"""Bytes of lines that are parsed at a time; memory and temporary disk are a small multiple of it."""


class Source:
    """
    A file opened for reading; its magic bytes, not its name, decide how it is decompressed.

    A truncated stream sets `broken` to the reason and ends; the data before that is returned.
    """

    def __init__(
        self, path: Path, block_size: int = BLOCK_SIZE, block_lines: int = 0, processes: int = 0
    ) -> None:
        """
        Open *path*, to be read in blocks of that size, and of at most *block_lines* unless this is 0.

        At most that many further *processes* may take the blocks apart.
        Raise `TraceError` if it is not a readable file.
        """
        self.path = path
        self.block_size = block_size
        self.block_lines = block_lines
        self.processes = processes
        self.broken: str | None = None
        try:
            if path.is_dir():
                raise TraceError(f"{path}: is a directory, expected a file")
            self.size = path.stat().st_size
            self._raw = _HashingFile(path)
        except OSError as error:
            raise unreadable(path, error) from error
        self._stream = _decompress(io.BufferedReader(self._raw, 1 << 20))

    @property
    def is_compressed(self) -> bool:
        """Whether the bytes of the file are not those that are read."""
        return not isinstance(self._stream, io.BufferedReader)

    @property
    def position(self) -> int:
        """The number of bytes of the file itself that were read so far."""
        return self._raw.count

    def read(self, size: int) -> bytes:
        """Return up to *size* decompressed bytes, ``b""`` at the end; end any thread after Ctrl-C."""
        interrupts.check()
        pieces: list[bytes] = []
        while size > 0 and not self.broken:
            try:
                # Not read, which loses data that it has already when it reaches the truncation.
                piece = self._stream.read1(size)
            except TraceError:
                raise
            except (EOFError, OSError, lzma.LZMAError, zlib.error, ValueError) as error:
                self.broken = f"{CUT}: {error}"
            except Exception as error:
                if type(error).__name__ != "ZstdError":
                    raise
                self.broken = f"{CUT}: {error}"
            else:
                if not piece:
                    break
                pieces.append(piece)
                size -= len(piece)
        return b"".join(pieces)

    def sha256(self) -> str:
        """Return the hash of the whole file, after reading the rest of it."""
        while self._raw.read(1 << 20):
            pass
        return self._raw.hash.hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._raw.close()


def unreadable(path: Path, error: OSError) -> TraceError:
    """Return the error, in one line, that *path* cannot be read because of an *error* of the system."""
    return TraceError(f"{path}: {(error.strerror or str(error)).lower()}")


def is_compressed(head: bytes) -> bool:
    """Whether the first bytes of a file are those of compressed data."""
    return any(head.startswith(magic) for magic in MAGIC)


def _decompress(raw: io.BufferedReader) -> Stream:
    head = raw.peek(8)[:8]
    kind = next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)
    if kind == "gzip":
        return gzip.GzipFile(fileobj=raw)
    if kind == "bzip2":
        return bz2.BZ2File(raw)
    if kind == "xz":
        return lzma.LZMAFile(raw)
    return _ZstdFrames(raw) if kind == "zstd" else raw


class _ZstdFrames:
    """A sequence of Zstandard frames; the library's own reader does not report a truncated last frame."""

    STEP: Final = 1 << 11
    """Bytes decompressed at a time: even hostile data becomes no more than 64 MB."""

    def __init__(self, raw: io.BufferedReader) -> None:
        from zstandard import ZstdDecompressor

        self._raw, self._rest, self._ready = raw, b"", memoryview(b"")
        self._new_frame = ZstdDecompressor().decompressobj
        self._frame = self._new_frame()
        self._is_begun = False

    def read1(self, size: int, /) -> bytes:
        while not self._ready:
            data = self._rest or self._raw.read(self.STEP)
            if not data:
                if self._is_begun:
                    raise EOFError("the last frame has no end")
                return b""
            self._ready, self._is_begun = memoryview(self._frame.decompress(data)), True
            self._rest = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._is_begun = self._new_frame(), False
        # A view, since copying the rest for each piece would take time that grows with its square.
        piece, self._ready = bytes(self._ready[:size]), self._ready[size:]
        return piece


def plain_name(path: Path) -> str:
    """Return the name of a file without its compression suffix."""
    return path.stem if path.suffix.lower() in SUFFIXES else path.name
