"""
Who was written to when: a small file, so that people are not written to again too soon.

Several commands may send letters by the same file: each looks, sends and notes while no other does.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Self

from gwa.errors import DefinitionError
from gwa.util.atomic import writable, write_whole
from gwa.util.exclusive import exclusive
from gwa.util.toml import read_text

MAXIMUM_BYTES: Final = 20_000_000
FORMAT: Final = "gwa advise 1"
"""What the file says it is."""

PATIENCE: Final = 300.0
"""Seconds that are waited for another command, which may be handing a letter to a slow server."""


@dataclass
class CoolDown:
    """The file *path*, and when each name that it lists was last written to (*sent*)."""

    path: Path | None = None
    sent: dict[str, datetime] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return what a file says, nothing if there is none; raise `DefinitionError` for another file."""
        path = path.resolve()  # a file has one state, by whichever of its names
        writable(path)
        if not path.exists():
            return cls(path)
        text = read_text(path, "a file of 'gwa advise --state'", MAXIMUM_BYTES)
        try:
            return cls(path, _sent(json.loads(text)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DefinitionError(
                f"{path}: is not a file of 'gwa advise --state'; expected another name"
            ) from error

    def is_over(self, name: str, seconds: float, now: datetime | None = None) -> bool:
        """Whether somebody was not written to in the last *seconds*."""
        last = self.sent.get(name)
        return last is None or (now or datetime.now(UTC)) - last >= timedelta(seconds=seconds)

    @contextmanager
    def alone(self, tell: Callable[[str], object] = len) -> Iterator[None]:
        """
        Let no other command look or note within a ``with``, which begins with what others have noted.

        *tell* is called with a sentence where another one is waited for; see `gwa.util.exclusive`.
        """
        if self.path is None:
            yield
            return
        with exclusive(self.path, PATIENCE, tell):
            self.sent = type(self).read(self.path).sent
            yield

    def note(self, name: str, now: datetime | None = None) -> None:
        """Note that somebody was written to, at once and whole."""
        self.sent[name] = now or datetime.now(UTC)
        if self.path:
            sent = {who: when.isoformat(timespec="seconds") for who, when in sorted(self.sent.items())}
            write_whole(self.path, json.dumps({"format": FORMAT, "sent": sent}, indent=1) + "\n")


def _sent(content: Mapping[str, Any]) -> dict[str, datetime]:
    """Return what a file says; raise `ValueError` where that is something else."""
    sent = {str(name): datetime.fromisoformat(when) for name, when in content["sent"].items()}
    if content["format"] != FORMAT or any(when.tzinfo is None for when in sent.values()):
        raise ValueError(content["format"])
    return sent
