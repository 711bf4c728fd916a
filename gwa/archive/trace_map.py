"""The map of an archive: each trace by its years and its processors, as large as its core-hours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, log10, sqrt
from typing import Final

from gwa.archive.overview import Kind, TraceLine
from gwa.words.formatting import compact

WIDTHS: Final = (800, 640, 336)
"""The widths in which the map is drawn: letters must not shrink, so a window has one that fits it."""

HEIGHT: Final = 420
LEFT, BOTTOM, RIGHT, TOP = 58, 34, 16, 24
UNDATED: Final = 96
"""The width of the column of traces without dates."""

MINIMUM_RADIUS, MAXIMUM_RADIUS, RING = 3.5, 26.0, 4.0
"""Radii: of few core-hours, of the most, and of a trace whose core-hours are unknown."""

SHADES: Final = 5
"""Steps of utilization, from nearly empty to nearly full; a sixth stands for unknown."""

STEPS: Final = (1, 2, 5, 10, 20, 50)
MAXIMUM_YEARS: Final = 9
"""No more years than these are written along the axis."""

LINE = 12.0
"""The height of a line of a label."""

LETTERS: Final = {"ijlI|!'.,:;": 3.8, "frt-()[]/ ": 4.9, "mwMWOQ%&@—": 11.3, "ABCDEGHKNRUVXY": 8.9}
LETTER: Final = 7.5
"""The widths of letters of a label, in the widest of the fonts that a page may get; that of all others."""


@dataclass(frozen=True)
class Label:
    """The name beside a dot, at its place."""

    x: float
    y: float
    anchor: str
    text: str


@dataclass(frozen=True)
class Dot:
    """
    A trace: its place and radius in the drawing, its *shade* (0 if unknown), and what it is, in words.

    A *hollow* dot is one whose core-hours are unknown: its size says nothing. One that *is undated* stands
    in the column of traces without dates.
    """

    id: str
    x: float
    y: float
    radius: float
    shade: int
    words: str
    page: str
    kind: Kind
    hollow: bool
    is_undated: bool
    label: Label | None = None


@dataclass(frozen=True)
class MapTick:
    """A place on an axis, and its label; *undated* is that of the traces without dates."""

    place: float
    label: str
    undated: bool = False


@dataclass(frozen=True)
class TraceMap:
    """The drawing: dots, the largest first, and the ticks of both axes; processors are logarithmic."""

    dots: tuple[Dot, ...]
    across: tuple[MapTick, ...]
    up: tuple[MapTick, ...]
    width: int
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP
    bottom: int = BOTTOM


def trace_maps(lines: Sequence[TraceLine]) -> list[TraceMap]:
    """Return the map in each of `WIDTHS`; none for fewer than two traces whose processors are known."""
    known = [line for line in lines if line.cpus and not line.failure]
    return [_drawn(known, width) for width in WIDTHS] if len(known) > 1 else []


def _drawn(known: Sequence[TraceLine], width: int) -> TraceMap:
    dated = [line for line in known if line.begin is not None]
    undated = [line for line in known if line.begin is None]
    right = width - RIGHT - (UNDATED if undated else 0)
    years = _Axis.of(list(map(_middle, dated)), LEFT + MAXIMUM_RADIUS / 2, right)
    up = _Axis.of([log10(line.cpus or 1) for line in known], HEIGHT - BOTTOM, TOP + 6)
    most = max((line.core_hours or 0.0 for line in known), default=0.0) or 1.0
    dots = [
        Dot(
            line.place,
            years.place(_middle(line)) if line.begin is not None else width - RIGHT - UNDATED / 2,
            up.place(log10(line.cpus or 1)),
            _radius(line.core_hours, most),
            _shade(line.busy),
            line.words,
            line.page,
            line.kind,
            line.core_hours is None,
            line.begin is None,
        )
        for line in sorted(known, key=lambda line: -(line.core_hours or 0.0))
    ]
    apart = _apart(dots)
    names = {line.place: line.label for line in known}
    across = [MapTick(years.place(year), str(year)) for year in years.years()] if dated else []
    if undated:
        across.append(MapTick(width - RIGHT - UNDATED / 2, "no date", undated=True))
    return TraceMap(
        tuple(_labelled(apart, names, width)),
        tuple(across),
        tuple(MapTick(up.place(one), compact(10.0**one, "count")) for one in range(up.low, up.high + 1)),
        width,
    )


def _middle(line: TraceLine) -> float:
    begin = line.begin or 0.0
    return (begin + (line.end if line.end is not None else begin + 1)) / 2


@dataclass(frozen=True)
class _Axis:
    """An axis from *low* to *high*, whole years or powers of ten, between two places of the drawing."""

    low: int
    high: int
    begin: float
    end: float

    @classmethod
    def of(cls, values: Sequence[float], begin: float, end: float) -> "_Axis":
        """Return the axis that holds all *values*."""
        low = floor(min(values, default=0))
        return cls(low, max(ceil(max(values, default=0)), low + 1), begin, end)

    def place(self, value: float) -> float:
        return round(self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin), 1)

    def years(self) -> list[int]:
        """Return the years to write, no more than there is room for."""
        room = min(MAXIMUM_YEARS, (self.end - self.begin) / 44)
        step = next((one for one in STEPS if (self.high - self.low) / one <= room), STEPS[-1])
        return list(range(ceil(self.low / step) * step, self.high + 1, step))


def _radius(core_hours: float | None, most: float) -> float:
    """Return a radius whose area grows with core-hours."""
    return (
        RING
        if core_hours is None
        else round(max(MINIMUM_RADIUS, MAXIMUM_RADIUS * sqrt(core_hours / most)), 1)
    )


def _shade(utilization: float | None) -> int:
    return 0 if utilization is None else min(int(utilization * SHADES), SHADES - 1) + 1


def _apart(dots: Sequence[Dot]) -> list[Dot]:
    """Move dots that would hide each other apart: to the right, by as little as shows both."""
    placed: list[Dot] = []
    for dot in dots:
        x = dot.x
        while any(abs(other.y - dot.y) < RING and abs(other.x - x) < 2 * RING for other in placed):
            x += 2 * RING
        placed.append(replace(dot, x=round(x, 1)))
    return placed


Box = tuple[float, float, float, float]


def _labelled(dots: Sequence[Dot], names: dict[str, str], width: int) -> Iterator[Dot]:
    """Yield the dots with their names, as long as a name has room: the largest dots choose first."""
    taken = list(map(_box, dots))
    for dot in dots:
        label = None
        for option, box in _options(dot, names[dot.id]):
            inside = box[0] >= LEFT and box[2] <= width and box[1] >= TOP - 12 and box[3] <= HEIGHT - BOTTOM
            if inside and not any(_overlap(box, other) for other in taken if other != _box(dot)):
                label = option
                taken.append(box)
                break
        yield replace(dot, label=label)


def _box(dot: Dot) -> Box:
    return dot.x - dot.radius, dot.y - dot.radius, dot.x + dot.radius, dot.y + dot.radius


def _options(dot: Dot, text: str) -> Iterator[tuple[Label, Box]]:
    """Yield where a name can stand: to the right, to the left, above, below."""
    length, gap = _length(text), dot.radius + 3
    for x, y, anchor, left in (
        (dot.x + gap, dot.y + 4, "start", dot.x + gap),
        (dot.x - gap, dot.y + 4, "end", dot.x - gap - length),
        (dot.x, dot.y - gap - 1, "middle", dot.x - length / 2),
        (dot.x, dot.y + gap + 9, "middle", dot.x - length / 2),
    ):
        label = Label(round(x, 1), round(y, 1), anchor, text)
        yield label, (left, y - LINE + 2, left + length, y + 2)


def _length(text: str) -> float:
    """Return the width that *text* takes at most."""
    return sum(next((width for some, width in LETTERS.items() if one in some), LETTER) for one in text)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
