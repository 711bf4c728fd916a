"""Parameters in a TOML file: what is wrong with one is said with the line on which it stands."""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from gwa.errors import DefinitionError, GwaError
from gwa.models.parameters import Parameters

P = TypeVar("P", bound=Parameters)

LARGEST: Final = 100_000
"""A file of more bytes is refused unread."""

PLACE: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")
"""How the parser of TOML says where."""


@dataclass(frozen=True)
class Located:
    """The *text* of the file *path*, which is sound TOML."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> "Located":
        """Return the file; raise `DefinitionError` where there is none, or where it is no TOML."""
        try:
            if path.stat().st_size > LARGEST:
                raise DefinitionError(
                    f"{path}: has {path.stat().st_size:,} bytes, expected at most {LARGEST:,}"
                )
            text = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
        except OSError as error:
            raise DefinitionError(f"{path}: {(error.strerror or str(error)).lower()}") from error
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise DefinitionError(f"{path}:{line}: is no UTF-8 text") from error
        try:
            tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise _no_toml(path, text, error) from error
        return cls(path, text)

    def parsed(self, kind: type[P]) -> P:
        """Return what the file says as parameters of a *kind*."""
        with self.blamed():
            return kind.parsed(tomllib.loads(self.text))

    @contextmanager
    def blamed(self, at: str = "") -> Iterator[None]:
        """Let an error about a parameter, or about the one *at* a path, name the file and the line."""
        try:
            yield
        except GwaError as error:
            message = f"{at}: {error}" if at else str(error)
            raise DefinitionError(f"{self.path}:{self.line(message)}: {message}") from error

    def line(self, message: str) -> int:
        """Return the line of the parameter with whose path a *message* begins, else of what lacks it."""
        steps = _steps(tomllib.loads(self.text), message)
        if not steps:
            return 1
        lines = self.text.split("\n")
        # The first line without which those above lack the parameter is where its statement begins.
        return 1 + bisect_left(
            range(len(lines)), x=True, key=lambda last: _holds(_beginning(lines, last), steps)
        )


def _steps(said: Any, message: str) -> list[str | int]:  # noqa: ANN401 - whatever TOML says
    """Return the path with which a *message* begins, such as ``workloads[0].days``, as far as it goes."""
    steps: list[str | int] = []
    while True:
        known: dict[str, str | int] = {}
        if isinstance(said, dict):
            known = {name: name for name in sorted(said, key=len)}
        elif isinstance(said, list):
            known = {f"[{place}]": place for place in range(len(said))}
        begun = [name for name in known if message.startswith(name)]
        begun = [name for name in begun if message[len(name) : len(name) + 1] in {"", ".", "[", ":", " "}]
        if not begun:
            return steps
        steps.append(known[begun[-1]])
        said = said[steps[-1]]
        message = message[len(begun[-1]) :].removeprefix(".")


def _holds(said: Any, steps: Sequence[str | int]) -> bool:  # noqa: ANN401 - whatever TOML says
    """Whether there is something at the path *steps*."""
    for step in steps:
        if not (isinstance(step, int) and step < len(said) if isinstance(said, list) else step in said):
            return False
        said = said[step]
    return True


def _beginning(lines: Sequence[str], last: int) -> dict[str, Any]:
    """Return what the lines up to *last* say, and those after it that its statement goes on to."""
    for end in range(last + 1, len(lines)):
        try:
            return tomllib.loads("\n".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
    return tomllib.loads("\n".join(lines))


def _no_toml(path: Path, text: str, error: Exception) -> DefinitionError:
    """Return what is to be said of a *text* that the parser refuses."""
    said = str(error).splitlines()[0]
    place = PLACE.search(said)
    line = int(place[1]) if place and place[1] else text.rstrip("\n").count("\n") + 1
    return DefinitionError(f"{path}:{line}: {PLACE.sub('', said)}, expected TOML")
