"""
The strip of a trace: how busy its system was all the time, so small that it stands in a row of a table.

It is kept as a text, a letter for each of `PARTS` equal parts of the time, so that a list that people write
can hold it: ``a`` is below 5 %, ``b`` below 10 %, up to ``t`` for 95 % and more, ``-`` where the load is
not known.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from gwa.breakdown.cube import Cube

PARTS: Final = 60
LETTERS: Final = "abcdefghijklmnopqrst"
UNKNOWN: Final = "-"
WIDTH, HEIGHT = 120, 20
"""The size of the drawing, in pixels."""


def strip(cube: Cube, cpus: float | None) -> str:
    """Return the strip of a trace, of *cpus* processors; nothing where they or the load are not known."""
    if not cpus or "cpu_seconds" not in cube.usage.column_names or not cube.days.num_rows:
        return ""
    days = cube.days.sort_by("day").to_pydict()
    first, width = days["day"][0], cube.grain.days
    number = (days["day"][-1] - first) // width + 1
    known = np.zeros(number)
    known[[(day - first) // width for day in days["day"]]] = days["accounted_seconds"]
    held = np.zeros(number)
    used = cube.usage.filter(pc.and_(cube.usage["known"], cube.usage["accounted"]))
    places = (np.asarray(used["day"], dtype=np.int64) - first) // width
    np.add.at(held, places, np.nan_to_num(np.asarray(used["cpu_seconds"], dtype=np.float64)))
    parts = min(PARTS, number)
    busy, seconds = (_parts(values, parts) for values in (held, known * cpus))
    return "".join(_letter(one, of) for one, of in zip(busy, seconds, strict=True))


def _parts(values: NDArray[np.float64], parts: int) -> list[float]:
    """Return the sums of *values* in a number of equal *parts*; what lies across an edge is shared."""
    edges = np.linspace(0, len(values), parts + 1)
    sums = np.interp(edges, np.arange(len(values) + 1), np.concatenate([[0.0], np.cumsum(values)]))
    return list(np.diff(sums).tolist())


def _letter(busy: float, of: float) -> str:
    return UNKNOWN if of <= 0 else LETTERS[min(int(busy / of * len(LETTERS)), len(LETTERS) - 1)]


def outline(text: str) -> str:
    """Return the path of a strip in a drawing of `WIDTH` by `HEIGHT`: steps from the floor, gaps left out."""
    return "".join(_steps(text))


def _steps(text: str) -> Iterator[str]:
    step = WIDTH / max(len(text), 1)
    for place, letter in enumerate(text):
        if letter != UNKNOWN:
            height = (LETTERS.index(letter) + 0.5) / len(LETTERS) * HEIGHT
            yield f"M{place * step:.1f} {HEIGHT}v{-height:.1f}h{step:.1f}v{height:.1f}z"
