"""
Whether a file is whole, which its own content proves: compressed files end in a checksum or a mark.

A file that was cut looks whole where only the end of its bytes is seen.
"""

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Final, cast

from gwa.errors import DownloadError

BLOCK: Final = 1 << 20

BROKEN: Final = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
"""What reading a file raises that was cut, or damaged."""


def is_proven_whole(path: Path, name: str) -> bool:
    """
    Read the file in *path*, to be called *name*, to its end, and return whether that proves it whole.

    It is False of a kind of file whose end has no mark. Raise `DownloadError` for one that was cut.
    """
    check = CHECKS.get(Path(name).suffix.lower())
    if check is None:
        return False
    try:
        check(path)
    except BROKEN as error:
        raise DownloadError(f"{name}: is not whole: {error}") from error
    return True


def read_to_end(file: IO[bytes]) -> None:
    """Read what is left of *file*, so that a checksum at its end is checked."""
    while file.read(BLOCK):
        pass


def _checksummed(opened: Callable[[Path], object]) -> Callable[[Path], None]:
    """Return what reads a file that is *opened* by a module of Python, which checks its checksum."""

    def check(path: Path) -> None:
        with cast("IO[bytes]", opened(path)) as file:
            read_to_end(file)

    return check


def _zstandard(path: Path) -> None:
    import zstandard

    with path.open("rb") as source:
        left = source.read(BLOCK)
        while left:  # a frame after the other: the reader of streams takes one that was cut for its end
            frame = zstandard.ZstdDecompressor().decompressobj()
            frame.decompress(left)
            while not frame.eof and (left := source.read(BLOCK)):
                frame.decompress(left)
            if not frame.eof:
                raise EOFError("the file ends in the middle of a frame")
            left = frame.unused_data or source.read(BLOCK)


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        if damaged := archive.testzip():
            raise zipfile.BadZipFile(f"its member {damaged} is damaged")


def _parquet(path: Path) -> None:
    with path.open("rb") as file:
        file.seek(-4, 2)
        if file.read() != b"PAR1":
            raise EOFError("it does not end as a Parquet file does")


CHECKS: Final[Mapping[str, Callable[[Path], None]]] = {
    ".gz": _checksummed(gzip.open),
    ".tgz": _checksummed(gzip.open),
    ".bz2": _checksummed(bz2.open),
    ".xz": _checksummed(lzma.open),
    ".zst": _zstandard,
    ".zip": _zip,
    ".parquet": _parquet,
}
"""What reads a file of a kind to its end, by the suffix of its name."""
