"""
What a kilowatt hour stands for: grams of carbon dioxide, and money.

A *carbon file* is either CSV with the columns ``time`` and ``g_per_kwh``, or TOML:

    g_per_kwh = 350            # or: series = "intensity.csv", beside this file
    pue = 1.2                  # energy of the site over that of the computers; 1 if left out
    price_per_kwh = 0.25
    currency = "EUR"

    [embodied]                 # of making the machine, in equal parts over its life
    kg = 250_000
    years = 5

A value of a series holds until the next one, and the last for as long as the usual step, which is the median.
Where the next one is later than that, the series has a gap, in which the intensity is unknown.
"""

import csv
import io
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from gwa.errors import DefinitionError
from gwa.util.toml import Check, TomlFile, read_text, record

Floats = NDArray[np.float64]

MAXIMUM_SERIES_BYTES: Final = 50_000_000
"""A decade of quarters of an hour is a tenth of this."""


@dataclass(frozen=True)
class Intensity:
    """Grams of carbon dioxide for a kilowatt hour, *grams* from each of *times* on; nan where unknown."""

    times: Floats
    grams: Floats


@dataclass(frozen=True)
class Carbon:
    """
    What a kilowatt hour stands for.

    *constant* grams at any time, or those of a *series*. *pue* is the energy of the whole site over that of
    its computers. *embodied_kg* are those of making the machine, in equal parts over *embodied_years*.
    """

    constant: float | None = None
    series: Intensity | None = None
    pue: float = 1.0
    price_per_kwh: float | None = None
    currency: str = ""
    embodied_kg: float | None = None
    embodied_years: float | None = None


POSITIVE: Final = Check(lambda value: value > 0, "a number above 0")
NOT_NEGATIVE: Final = Check(lambda value: value >= 0, "a number, at least 0")


@dataclass(frozen=True, kw_only=True)
class _Embodied:
    kg: Annotated[float, POSITIVE]
    years: Annotated[float, POSITIVE]


@dataclass(frozen=True, kw_only=True)
class _CarbonFile:
    g_per_kwh: Annotated[float | None, NOT_NEGATIVE] = None
    series: str | None = None
    pue: Annotated[float, Check(lambda pue: 1 <= pue <= 10, "a number from 1 to 10")] = 1.0  # noqa: PLR2004
    price_per_kwh: Annotated[float | None, NOT_NEGATIVE] = None
    currency: str = ""
    embodied: _Embodied | None = None

    def __post_init__(self) -> None:
        if (self.g_per_kwh is None) == (self.series is None):
            raise ValueError("g_per_kwh: expected either g_per_kwh or series")


def read_carbon(path: Path) -> Carbon:
    """Return what a carbon file says; raise `DefinitionError` where it is none."""
    if path.suffix.lower() != ".toml":
        return Carbon(series=read_series(path))
    file = TomlFile.read(path, "a carbon file")
    with file.located():
        said = record(_CarbonFile, file.data)
    return Carbon(
        said.g_per_kwh,
        read_series(path.parent / Path(said.series).name) if said.series else None,
        said.pue,
        said.price_per_kwh,
        said.currency,
        said.embodied.kg if said.embodied else None,
        said.embodied.years if said.embodied else None,
    )


def read_series(path: Path) -> Intensity:
    """Return the carbon intensities in a CSV file; raise `DefinitionError` where it has none."""
    expected = "CSV with the columns time and g_per_kwh"
    rows = csv.reader(io.StringIO(read_text(path, expected, MAXIMUM_SERIES_BYTES)))
    header = [cell.strip().lower() for cell in next(rows, [])]
    if not {"time", "g_per_kwh"} <= set(header):
        raise DefinitionError(f"{path}:1: has the columns {', '.join(header)[:80]}, expected {expected}")
    time, grams = header.index("time"), header.index("g_per_kwh")
    values: dict[float, float] = {}
    for line, row in enumerate(rows, 2):
        if row:
            try:
                values[_moment(row[time])] = float(row[grams]) if row[grams].strip() else float("nan")
            except (ValueError, IndexError) as error:
                raise DefinitionError(f"{path}:{line}: {error}, expected a time and grams per kWh") from error
    if not values:
        raise DefinitionError(f"{path}: has no values, expected {expected}")
    return _with_gaps(values)


def _moment(text: str) -> float:
    """Return Unix seconds, given so or as a time with a zone; without one it is UTC."""
    try:
        return float(text)
    except ValueError:
        moment = datetime.fromisoformat(text.strip())
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _with_gaps(values: dict[float, float]) -> Intensity:
    """Return a series with nan where the next value is later than the usual step, and behind the last."""
    times = np.array(sorted(values))
    grams = np.array([values[time] for time in times.tolist()])
    if np.any(grams < 0) or np.any(np.isinf(grams)):
        raise DefinitionError("a carbon intensity is below 0 or infinite, expected grams per kWh")
    steps = np.diff(times)
    step = float(np.median(steps)) if len(steps) else float("inf")
    late = np.append(steps > step, True)
    ends = times[late] + step
    all_times = np.append(times, ends[np.isfinite(ends)])
    all_grams = np.append(grams, np.full(np.isfinite(ends).sum(), np.nan))
    order = np.argsort(all_times, kind="stable")
    return Intensity(all_times[order], all_grams[order])
