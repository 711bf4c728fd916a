"""Who was written to when: a small file, so that people are not written to again too soon."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Self

from gwa.errors import DefinitionError
from gwa.util.atomic import writable, write_whole
from gwa.util.toml import read_text

MAXIMUM_BYTES: Final = 20_000_000
FORMAT: Final = "gwa advise 1"
"""What the file says it is."""


@dataclass
class CoolDown:
    """The file *path*, and when each name that it lists was last written to (*sent*)."""

    path: Path | None = None
    sent: dict[str, datetime] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return what a file says, nothing if there is none; raise `DefinitionError` for another file."""
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
