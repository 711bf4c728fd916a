"""
The seal of a file: the SHA-256 of all its other bytes, which stands in its own metadata.

Who writes a file puts `blank()` into its metadata, and `seal` then puts the hash there. So one flipped bit
anywhere in the file is seen when it is read, at the cost of reading it once.
"""

import re
import secrets
from hashlib import sha256
from pathlib import Path
from typing import Final

KEY: Final = "gwa_seal"
"""The key of the seal in the metadata of a file."""

BEGIN: Final = "gwa-sha256:"
SEAL: Final = re.compile(rf"{BEGIN}[0-9a-f]{{64}}")
BLOCK: Final = 1 << 20


def blank() -> str:
    """Return a seal for a file that is being written, unlike anything else in it."""
    return BEGIN + secrets.token_hex(32)


def seal(path: Path, empty: str) -> None:
    """Put the hash of all else in the file *path* in the place of its *empty* seal."""
    digest, place = _hash(path, empty.encode())
    if place is None:
        raise ValueError(f"{path}: has no seal to fill in")
    with path.open("r+b") as file:
        file.seek(place)
        file.write(f"{BEGIN}{digest}".encode())


def is_intact(path: Path, found: str) -> bool:
    """Whether the file *path* is as it was when it got the seal that is *found* in its metadata."""
    if not SEAL.fullmatch(found):
        return False
    digest, place = _hash(path, found.encode())
    return place is not None and found == f"{BEGIN}{digest}"


def has_any(path: Path, begin: int = 0) -> bool:
    """Whether there is a seal in the file *path*, from a byte on, be it where none is looked for."""
    pattern, keep, rest = re.compile(SEAL.pattern.encode()), len(BEGIN) + 64, b""
    with path.open("rb") as file:
        file.seek(begin)
        while block := file.read(BLOCK):
            if pattern.search(rest + block):
                return True
            rest = (rest + block)[-keep:]
    return False


def _hash(path: Path, found: bytes) -> tuple[str, int | None]:
    """Return the hash of a file with zeros in the place of the seal that was *found*, and that place."""
    digest, rest, place, position = sha256(), b"", None, 0
    zeros, keep = bytes(len(found)), len(found) - 1
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            data = rest + block
            if place is None and (at := data.find(found)) >= 0:
                place = position + at
                data = data[:at] + zeros + data[at + len(found) :]
            # What may be the beginning of a seal is looked at with the next block.
            done = max(0, len(data) - keep)
            digest.update(memoryview(data)[:done])
            rest, position = data[done:], position + done
    digest.update(rest)
    return digest.hexdigest(), place
