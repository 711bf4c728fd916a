"""
Scratch folders: for files that are needed while a program runs, never later.

They are in the folder that ``GWA_TMPDIR`` names, else in ``TMPDIR``: where logs are confidential, name a
folder in memory or on an encrypted disk. Only their owner can read them. What a killed process leaves there
is removed when gwa next needs a scratch folder in the same place.
"""

import os
import re
import tempfile
import weakref
from pathlib import Path
from typing import Final

from gwa.errors import OutputError
from gwa.util.owned import TOKEN_BYTES, OwnedFolder, sweep

NAMES: Final = re.compile(rf"gwa-[0-9a-f]{{{2 * TOKEN_BYTES}}}")
"""The names of scratch folders."""

PLACES: Final = ("GWA_TMPDIR", "TMPDIR", "TEMP", "TMP")
"""The variables that name a place for them, the first one first."""


class ScratchFolder:
    """A new folder, which is removed on request, with this object, or at the end of the program."""

    def __init__(self) -> None:
        """Create the folder; raise `OutputError` if that is impossible."""
        tidy()
        place = _place()
        try:
            folder = OwnedFolder.create(lambda token: place / f"gwa-{token}")
        except OSError as error:
            raise OutputError(f"{place}: no room for temporary files: {error.strerror}") from error
        self.path = folder.path
        self._removal = weakref.finalize(self, folder.remove)

    def __enter__(self) -> Path:
        """Return its path; the folder is removed at the end of a ``with``."""
        return self.path

    def __exit__(self, *_: object) -> None:
        """Remove the folder."""
        self.remove()

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        self._removal()


def tidy() -> None:
    """Remove the scratch folders of processes that have ended."""
    sweep(_place(), NAMES)


def _place() -> Path:
    """
    Return the folder for temporary files.

    Unlike `tempfile`, it is not tried with a file, which a killed process would leave.
    """
    for name in PLACES:
        place = os.environ.get(name)
        if place and os.access(place, os.W_OK | os.X_OK):
            return Path(place).absolute()
    return Path(tempfile.gettempdir())
