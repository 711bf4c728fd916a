"""The values of a sample as numbers, and what they tell of the units of columns."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, Self

import duckdb
import numpy as np
from numpy.typing import NDArray

from gwa.formats.tables.mapping import RoleSource
from gwa.formats.tables.sample import MINIMUM_SHARE, SampledColumn, TableSample
from gwa.formats.tables.units import SECONDS, value
from gwa.ingest.clocks import define_clocks
from gwa.util.arrow_columns import texts

Numbers = NDArray[np.float64]
"""One value per row of the sample; NaN where it is missing."""

EPOCHS: Final = {"s": (3e8, 1e10), "ms": (3e11, 1e13), "us": (3e14, 1e16), "ns": (3e17, 1e19)}
"""Medians of times since 1970 in each unit: from 1979 on."""

EXCEL_DAYS: Final = (20_000, 60_000)
"""Days since 1900 of the years 1954 to 2064, in tables of spreadsheets."""

TIME_SHAPES: Final = {
    "iso": "iso",
    "compact": "compact",
    "dots": "d.m.y",
    "named": "d-mon-y",
    "ctime": "ctime",
}
DURATION_SHAPES: Final = {"clock": "clock", "iso8601": "iso8601", "spoken": "spoken"}

TIGHT: Final = 0.3
"""Some jobs use this share of what they requested, or else the unit of the request is too large."""

EXCEEDED: Final = 1.05
"""By this factor jobs may exceed their limit until they are ended."""

SHORT_LIMIT, LONG_LIMIT = 600, 3000
"""Limits are rarely shorter in seconds, or longer in minutes."""

USED: Final = (0.05, 1.1)
"""The share of their processors' time that jobs use which use most of it."""

QUARTER: Final = 900
"""A quarter of an hour in seconds."""

PERCENT: Final = 100
MONTHS: Final = 12

SIZES: Final = {"B": 1e8, "KB": 1e6, "MB": 1e2, "GB": 0.0}
"""The least median of memory in each unit, as far as one may guess."""


class Values:
    """The sample in an engine, so that units mean here what they mean in a conversion."""

    def __init__(self, sample: TableSample) -> None:
        """Take the rows of *sample*."""
        self.sample = sample
        self._found: dict[tuple[RoleSource, str], Numbers] = {}
        self._places = {name: f"c{place}" for place, name in reversed(list(enumerate(sample.names)))}

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        import pyarrow as pa

        database = duckdb.connect()
        database.execute("set TimeZone = 'UTC'")
        database.execute("set variable zone = 'UTC'")
        define_clocks(database)
        columns = [texts(row[place] for row in self.sample.rows) for place in range(len(self.sample.names))]
        rows = pa.Table.from_arrays(columns, names=[f"c{place}" for place in range(len(columns))])
        database.register("sample", rows)
        return database

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if "_database" in self.__dict__:
            self._database.close()

    def of(self, source: RoleSource | None, kind: str) -> Numbers:
        """Return the values of a *source* of a *kind*; all are missing if it is None or has no column."""
        if source is None or source.is_none:
            return np.full(len(self.sample.rows), np.nan)
        if (source, kind) not in self._found:
            self._found[source, kind] = self._computed(source, kind)
        return self._found[source, kind]

    def _computed(self, source: RoleSource, kind: str) -> Numbers:
        terms = [
            value(self._places[name], kind if not place else "count", source.unit if not place else "")
            for place, name in enumerate(source.columns)
        ]
        product = " * ".join([*terms, *([source.factor] if source.factor else [])])
        rows = self._database.execute(f"select cast({product} as double) from sample").fetchnumpy()
        (numbers,) = rows.values()
        return np.ma.filled(np.ma.asarray(numbers, dtype=np.float64), np.nan)


def known(*arrays: Numbers) -> list[Numbers]:
    """Return the values of the rows in which none is missing."""
    is_known = ~np.isnan(np.stack(arrays)).any(axis=0)
    return [array[is_known] for array in arrays]


def mostly(holds: NDArray[np.bool_]) -> bool:
    """Whether something holds in nearly all rows, of at least one."""
    return len(holds) > 0 and bool(holds.mean() >= MINIMUM_SHARE)


def median(column: SampledColumn) -> float:
    """Return the median of the numbers in a column that are not 0; 0 if there are none."""
    numbers = [float(text.replace(",", ".")) for text in column.values if _is_number(text)]
    found = [number for number in numbers if number]
    return float(np.median(found)) if found else 0.0


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text.replace(",", "."))))
    except ValueError:
        return False


def epoch_unit(column: SampledColumn) -> str:
    """Return the unit of numbers that are times since 1970; "" if they are not."""
    middle = median(column)
    return next((unit for unit, (low, high) in EPOCHS.items() if low <= middle < high), "")


def time_unit(column: SampledColumn, orders: Sequence[str]) -> str:
    """Return the unit of times by their values; "" if they leave a choice."""
    if column.shape == "slashes":
        return orders[0] if len(orders) == 1 else ""
    if column.shape in TIME_SHAPES:
        return TIME_SHAPES[column.shape]
    if column.looks("compact"):
        return "compact"
    if column.shape == "number" and EXCEL_DAYS[0] <= median(column) <= EXCEL_DAYS[1]:
        return ""
    return epoch_unit(column) or "s"


def duration_unit(column: SampledColumn) -> str:
    """Return the unit of durations that their form tells; "" for numbers, and for what may be MM:SS."""
    unit = DURATION_SHAPES.get(column.shape, "")
    is_short = unit == "clock" and all(text.count(":") == 1 for text in column.values)
    return "" if is_short else unit


def is_time(column: SampledColumn) -> bool:
    """Whether the values can be nothing but points in time."""
    if column.is_number:
        is_excel = column.shape == "number" and EXCEL_DAYS[0] <= median(column) <= EXCEL_DAYS[1]
        return is_excel or bool(epoch_unit(column))
    return column.shape in {*TIME_SHAPES, "slashes"}


def date_orders(columns: Iterable[SampledColumn]) -> list[str]:
    """Return the orders of day and month that dates such as 03/04/2025 can have."""
    firsts, seconds = set[int](), set[int]()
    for column in columns:
        for text in column.values:
            parts = text.split("/")
            if len(parts) == len(("day", "month", "year")) and parts[0].isdigit() and parts[1].isdigit():
                firsts.add(int(parts[0]))
                seconds.add(int(parts[1]))
    can = {"d/m/y": max(seconds, default=0) <= MONTHS, "m/d/y": max(firsts, default=0) <= MONTHS}
    return [order for order, is_possible in can.items() if is_possible]


def _step(column: SampledColumn) -> float:
    """Return the resolution of the numbers in a column: 0.01 if they have two decimals."""
    texts = (text.replace(",", ".") for text in column.values if _is_number(text))
    decimals = max((len(text.partition(".")[2].rstrip("0")) for text in texts), default=0)
    return float(10.0 ** -min(decimals, 9))


def agreeing_units(raw: Numbers, difference: Numbers, column: SampledColumn) -> list[str]:
    """Return the units in which *raw* numbers are a *difference* in seconds, but for rounding."""
    found, wanted = known(raw, difference)
    sound = (wanted >= 0) & (found >= 0)
    found, wanted = found[sound], wanted[sound]
    if not len(wanted) or not (wanted > 0).any():
        return []
    step = _step(column)
    return [
        unit
        for unit, factor in SECONDS.items()
        if mostly(np.abs(wanted - found * factor) <= np.maximum(1 + factor * step, wanted / 100))
        and mostly((found > 0) | (wanted <= 1 + factor))
    ]


def agrees(seconds: Numbers, difference: Numbers) -> bool:
    """Whether durations are a *difference*, to the minute or a hundredth, where both are known."""
    found, wanted = known(seconds, difference)
    return mostly(np.abs(wanted - found) <= np.maximum(61.0, wanted / 100))


def is_within(seconds: Numbers, difference: Numbers) -> bool:
    """Whether durations are a *difference* in half of the rows, and shorter in others: suspended jobs."""
    found, wanted = known(seconds, difference)
    return mostly(found <= wanted + 61) and bool(np.median(np.abs(wanted - found)) <= 1)


def limit_unit(raw: Numbers, run: Numbers) -> str:
    """Return the unit of limits on run times: the least in which jobs keep to them, if some come near."""
    limits, runs = known(raw, run)
    is_set = limits > 0
    limits, runs = limits[is_set], runs[is_set]
    for unit in ("s", "min", "h"):
        share = runs / (limits * SECONDS[unit])
        if mostly(share <= EXCEEDED):
            is_near = bool(np.quantile(share, 0.99) >= TIGHT)
            return unit if is_near or (unit == "s" and _are_quarters(limits)) else ""
    return ""


def _are_quarters(limits: Numbers) -> bool:
    """Whether limits are quarters of hours if they are seconds, as round requests are."""
    return mostly(limits % QUARTER == 0) and len(np.unique(limits)) > 1


def guessed_limit(raw: Numbers, run: Numbers) -> str:
    """Return the likeliest unit of limits, for a question."""
    limits, runs = known(raw, run)
    if not len(limits):
        limits = known(raw)[0]
        return "s" if len(limits) and np.median(limits) > LONG_LIMIT else "min"
    fits = [unit for unit in ("s", "min", "h") if mostly(runs <= limits * SECONDS[unit] * EXCEEDED)]
    if "s" in fits and np.median(limits) < SHORT_LIMIT:
        fits.remove("s")
    return fits[0] if fits else "min"


def cpu_unit(raw: Numbers, run: Numbers, procs: Numbers) -> str:
    """Return the only unit of CPU times that fits processors and run times; "" if there is none."""
    used, capacity = known(raw, run * procs)
    is_set = (used > 0) & (capacity > 0)
    shares = used[is_set] / capacity[is_set]
    if not len(shares):
        return ""
    high = float(np.quantile(shares, 0.9))
    fits = [unit for unit in ("s", "ms", "us", "h") if USED[0] <= high * SECONDS[unit] <= USED[1]]
    return fits[0] if len(fits) == 1 else ""


def guessed_size(column: SampledColumn) -> str:
    """Return the likeliest unit of memory, for a question."""
    middle = median(column)
    return next(unit for unit, least in SIZES.items() if middle >= least)


def fraction_unit(raw: Numbers) -> str:
    """Return whether shares are fractions or percent; "" if they are neither."""
    (found,) = known(raw)
    if not len(found) or found.max() > PERCENT or found.min() < 0:
        return ""
    return "fraction" if found.max() <= 1 else "percent"


def powers_of_two(column: SampledColumn) -> float:
    """Return the share of the whole numbers in a column that are powers of two."""
    numbers = [int(float(text)) for text in column.values if _is_number(text)]
    return sum(number > 0 and number & (number - 1) == 0 for number in numbers) / max(len(numbers), 1)
