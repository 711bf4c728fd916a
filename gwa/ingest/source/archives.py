"""Archives and compressions that are not read: how they are told from logs, and what to do with them."""

import re
import tarfile
from pathlib import Path
from shlex import quote
from typing import Final

from gwa.errors import UnknownFormat

SIGNATURES: Final = {
    b"PK\x03\x04": ("a zip archive, or a file made like one such as .xlsx", "unzip {0}"),
    b"PK\x05\x06": ("an empty zip archive", "unzip {0}"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "7z x {0}"),
    b"Rar!\x1a\x07": ("a rar archive", "unrar x {0}"),
    b"\x04\x22\x4d\x18": ("compressed by lz4", "lz4 -d {0}"),
    b"\x02\x21\x4c\x18": ("compressed by lz4", "lz4 -d {0}"),
    b"LZIP": ("compressed by lzip", "lzip -d {0}"),
    b"\x1f\x9d": ("compressed by compress", "uncompress {0}"),
    b"\xff\x06\x00\x00sNaPpY": ("compressed by snappy", "snzip -d {0}"),
    b"\x1f\x8b": ("compressed twice", ""),
    b"BZh": ("compressed twice", ""),
    b"\xfd7zXZ\x00": ("compressed twice", ""),
    b"\x28\xb5\x2f\xfd": ("compressed twice", ""),
}
"""
The first bytes of what is not read: what it is, and the command that unpacks it.

They are those of decompressed data, so that another compression is the second one.
"""

BZIP2_BEGINNING: Final = re.compile(rb"BZh[1-9]1AY&SY")


def refuse_archive(path: Path, data: bytes) -> None:
    """Raise `UnknownFormat` if *data*, the beginning of the file at *path*, is that of an archive."""
    if member := _first_member(data):
        unpack = f"tar -xf {quote(path.name)}"
        raise UnknownFormat(
            f"{path}: is a tar archive ({member}, …): unpack it ({unpack}), and give the files"
        )
    for signature, (kind, command) in SIGNATURES.items():
        if data.startswith(signature) and (signature != b"BZh" or BZIP2_BEGINNING.match(data)):
            how = f" ({command.format(quote(path.name))})" if command else ""
            raise UnknownFormat(f"{path}: is {kind}: unpack it{how}, and give what is inside")


def _first_member(data: bytes) -> str | None:
    """Return the name of the first file in a tar archive that *data* begins, None if it begins none."""
    try:
        member = tarfile.TarInfo.frombuf(data[: tarfile.BLOCKSIZE], "utf-8", "replace")
    except tarfile.HeaderError:
        return None
    return " ".join(member.name.split()) or "no name"
