"""What programs print that is no log of jobs, such as the table of squeue, and what to export instead."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from gwa.formats.base import Format
from gwa.ingest.source.head import FileHead

FIRST_CHARACTERS: Final = 20_000
"""How much of a head is searched: a table begins with its names, and a document with its kind."""


@dataclass(frozen=True)
class Tool:
    """
    The output of a program: its *title*, the *pattern* that tells it, and *why* no trace is made of it.

    *reads* is the name of the format to export; without one, *instead* says what to do.
    """

    title: str
    pattern: re.Pattern[str]
    why: str
    reads: str = ""
    instead: str = ""

    def advice(self, format_called: Callable[[str], Format]) -> str:
        """Return in words what the file is, and the command whose output is read."""
        what = f"is {self.title}: {self.why}"
        if not self.reads:
            return f"{what}; {self.instead}"
        return f"{what}; gwa reads '{command(format_called(self.reads))}', see 'gwa formats {self.reads}'"


def command(format_: Format) -> str:
    """Return the first command that gets the logs of a format out of the system that has them."""
    lines = (line.strip() for line in format_.export.splitlines())
    return next(line for line in lines if line and not line.startswith("#"))


@cache
def tools() -> Mapping[str, Tool]:
    """Return the tools whose output is known, by name."""
    text = files("gwa.formats").joinpath("tools.toml").read_text(encoding="utf-8")
    return {
        name: Tool(**{**entry, "pattern": re.compile(entry["pattern"], re.MULTILINE)})
        for name, entry in tomllib.loads(text).items()
    }


def tool_of(head: FileHead) -> Tool | None:
    """Return the tool that printed a file, None where it is not known."""
    text = head.text[:FIRST_CHARACTERS]
    return next((tool for tool in tools().values() if tool.pattern.search(text)), None)
