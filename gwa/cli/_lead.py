"""What became of the hours of a machine, on a terminal: the sentence, a bar of blocks, and its parts."""

import sys
from collections.abc import Callable
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from gwa.cli._terminal import echo

if TYPE_CHECKING:
    from gwa.report.lead import Caption, Lead, Segment

BLOCKS: Final = {
    "finished": "█", "limit": "▓", "failed": "▒", "cancelled": "▒", "running": "▞", "unknown": "?",
    "used": "█", "restarted": "▚", "unused": "░", "outages": "×", "computed": "█", "still": "▓",
    "unmeasured": "▒", "held": "█", "not_held": "░",
}  # fmt: skip
"""What the parts of a bar are drawn with."""

MAXIMUM_WIDTH: Final = 100
INDENT: Final = "  "

TIED: Final = "\N{NO-BREAK SPACE}"
"""What no line is broken at."""


def say_lead(lead: "Lead", words: Callable[[str], str]) -> None:
    """Say what became of the hours on standard error, in the language of *words*."""
    width = min(get_terminal_size().columns, MAXIMUM_WIDTH) - len(INDENT)
    for part in filter(None, (lead, lead.gpus)):
        _say(words(part.sentence), width)
        if part.segments and _can_draw():
            echo(INDENT + blocks(part.segments, width), err=True)
        captions = "   ".join(f"{_swatch(one)}{words(one.text)} {words(one.label)}" for one in part.captions)
        captions = captions.replace(" ", TIED).replace(TIED * 3, "   ")
        _say(captions, width)
        _say(words(part.basis), width)


def _swatch(caption: "Caption") -> str:
    """Return the blocks of the segments that a *caption* is of, where blocks can be drawn."""
    return "".join(dict.fromkeys(BLOCKS[name] for name in caption.ids)) + " " if _can_draw() else ""


def blocks(segments: "tuple[Segment, ...]", width: int) -> str:
    """
    Return a bar of *width* blocks; where a part ends is rounded, so that they fill it.

    >>> from gwa.report.lead import Segment
    >>> blocks((Segment("finished", 6.0, 0.6), Segment("limit", 1.0, 0.1), Segment("unused", 3.0, 0.3)), 10)
    '██████▓░░░'
    """
    line, share = "", 0.0
    for one in segments:
        share += one.share
        line += BLOCKS[one.id] * (round(share * width) - len(line))
    return line


def _say(text: str, width: int) -> None:
    for line in wrap(text, width):
        echo(INDENT + line.replace(TIED, " "), err=True)


def _can_draw() -> bool:
    """Whether standard error can have blocks in it."""
    try:
        "".join(BLOCKS.values()).encode(sys.stderr.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
