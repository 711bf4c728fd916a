"""Stores with a checksum of their content: what does not fit it is refused; its absence is said."""

from pathlib import Path

from gwa.errors import TraceError
from gwa.store.repairs import UNSEALED
from gwa.store.store import Store
from gwa.util import seal


def check(path: Path, found: str | None, begin: int = 0) -> bool:
    """
    Return whether a file has a checksum, which is that of its content.

    *found* is that in its metadata, if any; where there is none, one from the byte *begin* on is one that the
    metadata lost. Raise `TraceError` for a file that is damaged.
    """
    if seal.has_any(path, begin) if found is None else not seal.is_intact(path, found):
        raise TraceError(
            f"{path}: is damaged: its content does not fit its checksum: copy it again, or convert its log"
            " again"
        )
    return found is not None


def remark_unsealed(store: Store) -> None:
    """Say that what gwa wrote has no checksum, or another one than that of this content."""
    store.remark(*UNSEALED)
