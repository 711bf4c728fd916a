"""The map of an archive: each trace by its length and its number of jobs, coloured by utilization."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import Final

from gwa.archive.published import PublishedTrace
from gwa.util.units import DAY
from gwa.words.formatting import compact, fraction, number, seconds

WIDTH, HEIGHT = 640, 320
LEFT, BOTTOM, MARGIN, TOP = 56, 40, 16, 26
SMALLEST, LARGEST = 5.0, 22.0
SHADES: Final = 5
"""Steps of utilization, from nearly empty to nearly full; a sixth stands for unknown."""


@dataclass(frozen=True)
class Dot:
    """A trace: its place and radius in the drawing, its *shade* (0 if unknown), and what it is, in words."""

    id: str
    x: float
    y: float
    radius: float
    shade: int
    label: str
    words: str


@dataclass(frozen=True)
class Tick:
    """A place on an axis, and its label."""

    place: float
    label: str


@dataclass(frozen=True)
class TraceMap:
    """The drawing: dots, the largest first, and the ticks of the axes, both of them logarithmic."""

    dots: tuple[Dot, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    width: int = WIDTH
    height: int = HEIGHT


def trace_map(traces: Sequence[PublishedTrace]) -> TraceMap | None:
    """Return the map of the traces whose length and jobs are known; None for fewer than two."""
    known = [
        trace
        for trace in traces
        if (trace.number("trace.span_seconds") or 0) > 0 and (trace.number("trace.jobs") or 0) > 0
    ]
    if len(known) < 2:  # noqa: PLR2004 - one dot is not a map
        return None
    days = [_log(trace.number("trace.span_seconds"), DAY) for trace in known]
    jobs = [_log(trace.number("trace.jobs")) for trace in known]
    across = _Axis(min(days), max(days), LEFT, WIDTH - MARGIN)
    up = _Axis(min(jobs), max(jobs), HEIGHT - BOTTOM, TOP)
    cpus = max(trace.number("trace.cpus") or 1 for trace in known)
    dots = [
        Dot(
            trace.entry.id,
            across.place(one),
            up.place(other),
            _radius(trace.number("trace.cpus"), cpus),
            _shade(trace.busy[0]),
            trace.entry.title,
            _words(trace),
        )
        for trace, one, other in zip(known, days, jobs, strict=True)
    ]
    return TraceMap(
        tuple(sorted(dots, key=lambda dot: -dot.radius)),
        tuple(Tick(place, f"{compact(10.0**power)} d") for power, place in across.decades()),
        tuple(Tick(place, compact(10.0**power, "count")) for power, place in up.decades()),
    )


@dataclass(frozen=True)
class _Axis:
    """A logarithmic axis over whole decades from *low* to *high*, between two places of the drawing."""

    low: float
    high: float
    begin: float
    end: float

    @property
    def _ends(self) -> tuple[int, int]:
        low, high = floor(self.low), ceil(self.high)
        return low, high if high > low else low + 1

    def place(self, value: float) -> float:
        low, high = self._ends
        return round(self.begin + (value - low) / (high - low) * (self.end - self.begin), 1)

    def decades(self) -> list[tuple[int, float]]:
        low, high = self._ends
        return [(power, self.place(power)) for power in range(low, high + 1)]


def _log(value: float | None, unit: float = 1.0) -> float:
    return log10((value or 0.0) / unit)


def _radius(cpus: float | None, most: float) -> float:
    """Return a radius whose area grows with the number of processors."""
    return round(max(SMALLEST, LARGEST * sqrt((cpus or 0) / most)), 1)


def _shade(utilization: float | None) -> int:
    return 0 if utilization is None else min(int(utilization * SHADES), SHADES - 1) + 1


def _words(trace: PublishedTrace) -> str:
    """Return a sentence on a trace, for who points at its dot or has it read aloud."""
    jobs, span, cpus = (trace.number(name) for name in ("trace.jobs", "trace.span_seconds", "trace.cpus"))
    busy, at_least = trace.busy
    parts = [
        f"{number(jobs or 0)} jobs in {seconds(span or 0)}",
        f"{number(cpus)} processors" if cpus else "",
        "utilization unknown" if busy is None else f"{'at least ' if at_least else ''}{fraction(busy)} busy",
    ]
    title = f"{trace.entry.title} (synthetic)" if trace.entry.synthetic else trace.entry.title
    return f"{title}: {', '.join(filter(None, parts))}"
