"""
How every figure looks: its colours, its lines and its axes.

Colours are written as fixed values here; `_svg` turns each into a CSS variable with that value as
fallback, so that a page can choose others for dark mode.

matplotlib is imported only to draw: a page needs widths and colours of figures that another process drew.
"""

from collections.abc import Iterable, Sequence
from math import log10
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from gwa.report.figures import _ticks
from gwa.words.message import message

if TYPE_CHECKING:
    from datetime import datetime

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas

INK: Final = "#24292f"
MUTED: Final = "#59636e"
GRID: Final = "#e4e7eb"

COLOURS: Final = ("#0a66a3", "#c04c00", "#007a5a", "#a1458a", "#8a6500", "#5b6bc0")
"""Hues of Okabe and Ito's colour-blind-safe set, darkened until text in them is readable on white."""

DASHES: Final[Sequence[Any]] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
"""Lines differ by these too, for those who do not see the colours."""

VARIABLES: Final = {
    INK: "--chart-ink", MUTED: "--chart-muted", GRID: "--chart-grid",
    **{colour: f"--chart-{place}" for place, colour in enumerate(COLOURS, 1)},
}  # fmt: skip
"""The CSS variable of each colour."""

FIGURE_WIDTH: Final = 700
"""How wide a figure is, in units of the drawing; text is 11 of them high."""

SMALL_TEXT: Final = 10.0

FEW_DAYS: Final = 3
"""The number of days below which an axis shows hours, and its words the days."""

SETTINGS: Final[dict[Any, Any]] = {
    "svg.fonttype": "none", "svg.hashsalt": "gwa", "svg.image_inline": True, "text.parse_math": False,
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 11, "text.color": INK,
    "axes.edgecolor": GRID, "axes.linewidth": 1.0, "axes.spines.top": False, "axes.spines.right": False,
    "axes.spines.left": False, "axes.axisbelow": True, "axes.grid": True, "axes.unicode_minus": True,
    "grid.color": GRID, "grid.linewidth": 0.8, "xtick.color": MUTED, "ytick.color": MUTED,
    "xtick.labelsize": SMALL_TEXT, "ytick.labelsize": SMALL_TEXT, "xtick.minor.visible": False,
    "xtick.major.size": 0, "ytick.major.size": 0, "xtick.major.pad": 6, "ytick.major.pad": 5,
    "lines.solid_joinstyle": "round", "path.simplify": True, "path.simplify_threshold": 0.1,
}  # fmt: skip
"""matplotlib's settings while a figure is drawn."""


def axes(
    canvas: "Canvas",
    *,
    height: float,
    width: float = FIGURE_WIDTH,
    left: float,
    bottom: float,
    top: float,
    right: float = 20,
) -> "Axes":
    """Return axes inside fixed margins: nothing is measured, so that nothing depends on a font."""
    canvas.set_size_inches(width / 72, height / 72)
    inside = ((width - left - right) / width, (height - top - bottom) / height)
    axes = canvas.add_axes((left / width, bottom / height, *inside))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_label_coords(0, 0)  # it has no label, for which matplotlib would measure all ticks again
    return axes


def line(place: int, width: float = 1.7, *, dashed: bool = True) -> dict[str, Any]:
    """Return the look of the line at *place* among the lines of a figure; a jagged one is not *dashed*."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": DASHES[place % len(DASHES)] if dashed else "-",
        "linewidth": width,
    }


def words(axes: "Axes", below: str, above: str, lift: float = 8) -> None:
    """Write what the x axis shows under it, and what the y axis shows over its upper end, upright."""
    look: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "color": MUTED}
    axes.annotate(
        below, (1, 0), (0, -34), ha="right", va="center_baseline", fontsize=SMALL_TEXT + 0.5, **look
    )
    axes.annotate(
        above, (0, 1), (-axes.bbox.x0, lift), ha="left", va="baseline", fontsize=SMALL_TEXT + 0.5, **look
    )


def set_ticks(axis: "Axis", places: Iterable[tuple[float, str]]) -> None:
    """Let exactly these ticks stand on *axis*."""
    from matplotlib import ticker

    ticks = list(places)
    axis.set_major_locator(ticker.FixedLocator([place for place, _ in ticks]))
    axis.set_major_formatter(ticker.FixedFormatter([label for _, label in ticks]))
    axis.set_minor_locator(ticker.NullLocator())


def linear_ticks(axis: "Axis", low: float, high: float, unit: str) -> None:
    """Let round ticks stand on *axis*."""
    set_ticks(axis, _ticks.linear(low, high, unit))


def value_axis(axes: "Axes", values: Sequence[float], unit: str, *, log: bool) -> None:
    """Scale the x axis to *values*: linear, logarithmic, or logarithmic with a place for zero."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    positive = [value for value in values if value > 0]
    width = axes.bbox.width
    if not log or not positive or high <= 2 * low:
        margin = (high - low) * 0.02 or abs(high) * 0.1 or 1.0
        axes.set_xlim(low - margin, high + margin)
        linear_ticks(axes.xaxis, low, high, unit)
        return
    start = min(positive)
    if low > 0:
        axes.set_xscale("log")
        axes.set_xlim(start, _beyond(start, high))
        set_ticks(axes.xaxis, _ticks.logarithmic(start, high, unit, width))
        return
    axes.set_xscale("symlog", linthresh=start, linscale=0.5)
    axes.set_xlim(min(low, -0.08 * start), _beyond(start, high))
    decades = max(log10(high) - log10(start), 0.3)
    share = decades / (decades + 0.6)
    set_ticks(axes.xaxis, [(0, "0"), *_ticks.logarithmic(start, high, unit, width * share)])


def _beyond(low: float, high: float) -> float:
    """Return where a logarithmic axis ends: a little beyond *high*."""
    return 10 ** min(log10(high) + 0.03 * (log10(high) - log10(low)), 308.0)


def time_axis(axes: "Axes", zone: str | None) -> str:
    """Put dates in *zone*, or days since the start, on the x axis of days; return its words."""
    from matplotlib import dates

    low, high = axes.dataLim.intervalx
    if not high >= low:  # nothing was drawn
        low = high = 0.0
    axes.set_xlim(low, high if high > low else low + 1)
    if zone is None:
        hours = high - low < FEW_DAYS
        scale = 24 if hours else 1
        places = _ticks.linear(low * scale, high * scale, "count", 8)
        set_ticks(axes.xaxis, [(tick.place / scale, tick.label) for tick in places])
        return message("hours since the start") if hours else message("days since the start")
    clock = ZoneInfo(zone)
    locator = dates.AutoDateLocator(tz=clock, minticks=4, maxticks=9)
    locator.intervald[dates.MICROSECONDLY] = [1_000_000]  # no ticks between seconds, however brief the time
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(
        dates.ConciseDateFormatter(
            locator,
            tz=clock,
            formats=["%Y", "%b", "%-d %b", "%H:%M", "%H:%M", "%H:%M:%S"],
            zero_formats=["", "%b %Y", "%b", "%-d %b", "%H:%M", "%H:%M"],
            show_offset=False,
        )
    )
    first, last = (dates.num2date(moment, tz=clock) for moment in axes.get_xlim())
    return message("{dates}, time in {zone}", dates=_dates(first, last), zone=zone)


def _dates(first: "datetime", last: "datetime") -> str:
    """Return what ticks from *first* to *last* do not say: the days where they are hours, or the years."""
    if first.date() == last.date():
        return _date(first)
    if (last - first).days < FEW_DAYS:
        start = message("{day} {month}", day=first.day, month=message(f"{first:%b}"))
        return message("{first} to {last}", first=start, last=_date(last))
    return f"{first.year}" if first.year == last.year else f"{first.year}–{last.year}"


def _date(moment: "datetime") -> str:
    """Return the day of a *moment*: 3 Mar 2007."""
    return message("{day} {month} {year}", day=moment.day, month=message(f"{moment:%b}"), year=moment.year)
