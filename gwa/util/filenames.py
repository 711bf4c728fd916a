"""Names of files as text: those of a Unix system are bytes, which need not be UTF-8."""

import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

MAXIMUM_LENGTH: Final = 100
"""Characters of a name that is made from what somebody is called."""


PIPE: Final = "a pipe"

KINDS: Final = (
    (stat.S_ISFIFO, PIPE),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def kind_of(path: Path) -> str | None:
    """Return in words what stands at *path*, if that is neither file nor folder: reading it may not end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return None
    return next((words for is_of, words in KINDS if is_of(mode)), None)


def as_text(name: str) -> str:
    r"""
    Return the *name* of a file as text that can be stored and printed; bytes that are not UTF-8 are escaped.

    >>> as_text("caf\udce9.swf")
    'caf\\xe9.swf'
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def is_text(name: str) -> bool:
    """Whether the *name* of a file is UTF-8, as DuckDB and SQLite need it."""
    return as_text(name) == name


def file_names(names: Iterable[str]) -> dict[str, str]:
    """
    Return a name of a file for each of *names*, all different, in which nothing means a folder.

    >>> file_names(["ann", "../b c", "Ann"])
    {'ann': 'ann', '../b c': '_.._b_c', 'Ann': 'Ann-2'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w.~@+-]", "_", name, flags=re.ASCII)[:MAXIMUM_LENGTH] or "_"
        plain = f"_{plain}" if plain.startswith(".") else plain
        unique, number = plain, 1
        # Some file systems take capitals for small letters.
        while unique.lower() in taken:
            number += 1
            unique = f"{plain}-{number}"
        taken.add(unique.lower())
        found[name] = unique
    return found
