"""
One command at a time: what reads a file and then replaces it must not meet another that does the same.

Who is at work on a file owns the folder ``.NAME.lock`` beside it: see `gwa.util.owned`. Others wait for a
while, or end in a sentence; none waits for ever.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from gwa.errors import OutputError
from gwa.util.atomic import unwritable
from gwa.util.owned import OwnedFolder, owner, sweep

SHORT_WORK: Final = 60.0
"""Seconds that are waited for what takes a moment, such as a note in a file."""

LONG_WORK: Final = 0.5
"""Seconds that are waited for what takes long, such as a conversion: for one that is just ending."""

STEP: Final = 0.05
"""Seconds between two looks at whether the other command has ended."""

pause = time.sleep
"""What passes the time between two looks."""

_MINE: ContextVar[frozenset[Path]] = ContextVar("mine", default=frozenset())
"""What this command is at work on already."""


@contextmanager
def exclusive(path: Path, patience: float = LONG_WORK, tell: Callable[[str], object] = len) -> Iterator[None]:
    """
    Let no other command that asks for the same be at work on *path* within a ``with``.

    Another one is waited for up to *patience* seconds, and *tell* is called with a sentence that says so.
    Raise `OutputError` if it is at work still. Within a ``with`` on the same path nothing is to be done.
    """
    whole = path.resolve()
    if whole in _MINE.get():
        yield
        return
    try:
        folder = _claimed(path, whole.with_name(f".{whole.name}.lock"), patience, tell)
    except OSError as error:
        raise unwritable(path, error) from error
    mine = _MINE.set(_MINE.get() | {whole})
    try:
        yield
    finally:
        with suppress(ValueError):  # what was left unfinished ends where it is collected, in another context
            _MINE.reset(mine)
        folder.discard()


def _claimed(path: Path, place: Path, patience: float, tell: Callable[[str], object]) -> OwnedFolder:
    sweep(place.parent)
    end = time.monotonic() + patience
    is_told = False
    while (folder := OwnedFolder.claim(place)) is None:
        if time.monotonic() >= end:
            raise OutputError(
                f"{path}: another gwa command is at work on it ({owner(place)}): run this one again when"
                f" that has ended; if it has, remove {place.name}"
            )
        if not is_told:
            tell(f"{path}: waiting for another gwa command ({owner(place)})")
            is_told = True
        pause(STEP)
    return folder
