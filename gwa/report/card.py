"""A picture to mail or to put on a slide: what became of the hours, its bar, and the days."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from gwa.errors import OutputError
from gwa.report.course import Course
from gwa.report.document import Report
from gwa.report.figures._style import INK, MUTED, SETTINGS
from gwa.report.figures.strips import COLOURS
from gwa.report.lead import Hours
from gwa.util.atomic import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

WIDTH: Final = 1200
HEIGHT: Final = 630
"""Pixels of a picture, as those who show previews of links take them."""

KINDS: Final = (".png", ".svg")
DOTS: Final = 100

PARTS: Final = {
    "finished": COLOURS["completed"], "computed": COLOURS["completed"], "still": COLOURS["limit"],
    "unmeasured": COLOURS["unknown"], "held": "#5f7f9c", "used": "#5f7f9c", "restarted": "#7a5a3a",
    "unused": "#d8dfe6", "not_held": "#d8dfe6", "outages": "#f0b9b2",
    **{name: COLOURS[name] for name in ("limit", "failed", "cancelled", "running", "unknown")},
}  # fmt: skip
"""The colours of the parts of a bar, as a style sheet of pages has them."""

LETTERS: Final = 52
"""Letters of a line of the sentence."""

LONG: Final = 110
"""Letters of a line of what the hundred are."""

LEFT: Final = 0.04
INSIDE: Final = 0.92


def write_card(report: Report, path: Path, words: Callable[[str], str]) -> None:
    """
    Write what became of the hours to *path*, as PNG or SVG by its suffix, in the language of *words*.

    Raise `OutputError` for another suffix, or where the report says nothing of hours.
    """
    if path.suffix.lower() not in KINDS:
        raise OutputError(f"{path.name}: a card is {' or '.join(KINDS)}, expected a name such as card.png")
    write_whole(path, card(report, path.suffix.lower().removeprefix("."), words))


def card(report: Report, kind: str, words: Callable[[str], str]) -> bytes:
    """Return the picture as the bytes of a *kind*, png or svg; the same report gives the same bytes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    lead, file = report.lead, BytesIO()
    if lead is None:
        raise OutputError("the report says nothing of hours")
    with mpl.rc_context(SETTINGS):
        canvas = Canvas(figsize=(WIDTH / DOTS, HEIGHT / DOTS), dpi=DOTS, facecolor="white")
        head = " · ".join(filter(None, (words(report.title), words(report.period))))
        canvas.text(LEFT, 0.93, head[:LONG], size=13, color=MUTED, va="center")
        lines = wrap(words(lead.sentence), LETTERS)
        canvas.text(
            LEFT, 0.885, "\n".join(lines), size=25, weight="bold", color=INK, va="top", linespacing=1.2
        )
        top = 0.885 - 0.075 * len(lines)
        if lead.segments:
            top = _bar(canvas, lead, words, top)
        course = report.explorer.course if report.explorer else None
        if course:
            _days(canvas, course, max(0.12, top - 0.06))
        metadata: dict[str, Any] = {"Software": None} if kind == "png" else {"Date": None, "Creator": "gwa"}
        canvas.savefig(file, format=kind, dpi=DOTS, metadata=metadata)
    return file.getvalue()


def _bar(canvas: "Canvas", lead: Hours, words: Callable[[str], str], top: float) -> float:
    """Draw the bar with its captions and what the hundred are below *top*; return where they end."""
    axes = canvas.add_axes((LEFT, top - 0.1, INSIDE, 0.085))
    axes.axis("off")
    axes.set_xlim(0, 1)
    left = 0.0
    for one in lead.segments:
        axes.barh(0, one.share, left=left, height=1, color=PARTS[one.id], linewidth=0)
        left += one.share
    axes.set_ylim(-0.5, 0.5)
    place, under = LEFT, top - 0.135
    for caption in lead.captions:
        text = f"{words(caption.text)} {words(caption.label)}"
        for part in caption.ids:
            canvas.text(place, under, "■", size=13, color=PARTS[part], va="center")
            place += 0.016
        canvas.text(place, under, text, size=12.5, color=INK, va="center")
        place += 0.016 + 0.0083 * len(text)
    basis = wrap(words(lead.basis), LONG)[:2]
    canvas.text(LEFT, under - 0.032, "\n".join(basis), size=10.5, color=MUTED, va="top", linespacing=1.3)
    return under - 0.04 - 0.033 * len(basis)


def _days(canvas: "Canvas", course: Course, top: float) -> None:
    """Draw what was held in each day, stacked by outcome, up to all that there is."""
    import numpy as np

    shares, levels = course.levels()
    axes = canvas.add_axes((LEFT, 0.075, INSIDE, top - 0.075))
    below = np.zeros(len(shares) - 1)
    for name, level in levels.items():
        above = below + level
        low, high = (np.append(edge, edge[-1:]) for edge in (below, above))
        axes.fill_between(shares, low, high, step="post", color=COLOURS[name], linewidth=0)
        below = above
    highest = max(float(below.max()), course.capacity or 0.0) or 1.0
    axes.set(xlim=(0, 1), ylim=(0, highest), facecolor="#f3f5f7" if course.capacity else "white")
    axes.grid(visible=False)
    axes.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
    axes.spines["bottom"].set_visible(False)
    canvas.text(LEFT, 0.04, course.first, size=11, color=MUTED, va="center")
    canvas.text(LEFT + INSIDE, 0.04, course.last, size=11, color=MUTED, va="center", ha="right")
