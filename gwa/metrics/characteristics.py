"""
The characteristics of jobs that distributions are fitted to, all in one place.

A `NATURAL` one is fitted as it is recorded, in seconds or kilobytes: its lognormal is a lognormal of run
times. Those of Anoep's thesis (2009) are logarithms and are called so: `log_runtime` is the logarithm of the
run time, and its lognormal is one of logarithms. To fit another characteristic, add a line to `NATURAL`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gwa.metrics.papers.anoep2009 import CHARACTERISTICS as OF_THESIS
from gwa.metrics.papers.anoep2009 import (
    PLAIN,
    Characteristic,
    Measured,
    ThesisReading,
    fact_name,
    fitted,
)
from gwa.statistics.distribution import NONNEGATIVE, POSITIVE, Distribution
from gwa.statistics.fit import Fits, fit_all
from gwa.statistics.goodness import Bootstrap
from gwa.statistics.rounding import DIRECTIONS, RoundingGrid
from gwa.store.store import Store
from gwa.words.message import message, within_sentence

GAPS: Final = """(
    select submit_time - lag(submit_time) over (order by submit_time) as gap
    from jobs where submit_time is not null
) as gaps"""

RESPONSES: Final = "(from ran where wait_time >= 0)"


@dataclass(frozen=True)
class FittedCharacteristic:
    """
    Something that distributions are fitted to.

    *name* stands in ids of facts, *unit* is that of the values before any logarithm, *tables* are those of
    the thesis, *needs* the fields without which there is nothing to measure.
    """

    name: str
    title: str
    unit: str
    needs: tuple[str, ...]
    measure: Callable[[Store, ThesisReading], Measured]
    fit: Callable[[Measured, Sequence[str | type[Distribution]]], Fits]
    tables: str = ""

    @property
    def natural(self) -> bool:
        """Whether the values are fitted as they are recorded."""
        return not self.tables


def _natural(
    name: str, title: str, unit: str, needs: tuple[str, ...], values: str, table: str
) -> FittedCharacteristic:
    """Return the characteristic of the SQL *values* of a *table*; fits are of those above 0."""

    def measure(store: Store, _: ThesisReading) -> Measured:
        x = NONNEGATIVE.within(store.sample(values, table))
        return Measured(x, PLAIN, 0.0, RoundingGrid.of(x))

    def fit(measured: Measured, candidates: Sequence[str | type[Distribution]]) -> Fits:
        return fit_all(measured.x.restrict(above=0.0), candidates, "common")

    return FittedCharacteristic(name, title, unit, needs, measure, fit)


def _of_thesis(characteristic: Characteristic) -> FittedCharacteristic:
    """Return a characteristic of the thesis, named as the logarithm that it mostly is."""
    name, title = fact_name(characteristic.name), characteristic.title
    if name != characteristic.name:
        title = message("Logarithm of {title}", title=within_sentence(title))
    return FittedCharacteristic(
        name, title, characteristic.unit, characteristic.needs, characteristic.measure, fitted,
        characteristic.tables,
    )  # fmt: skip


NATURAL: Final = (
    _natural("runtime", message("Run time"), "seconds", ("run_time",), "run_time", "ran"),
    _natural("gap", message("Time between jobs"), "seconds", ("submit_time",), "gap", GAPS),
    _natural("wait", message("Wait time"), "seconds", ("wait_time",), "wait_time", "jobs"),
    _natural(
        "response",
        message("Response time"),
        "seconds",
        ("wait_time", "run_time"),
        "wait_time + run_time",
        RESPONSES,
    ),
    _natural("requested", message("Requested time"), "seconds", ("req_time",), "req_time", "jobs"),
    _natural(
        "memory", message("Memory used per processor"), "kilobytes", ("used_memory",), "used_memory", "jobs"
    ),
)

FITTED: Final = {item.name: item for item in (*NATURAL, *map(_of_thesis, OF_THESIS.values()))}
"""Every characteristic by name, the natural ones first."""


def bootstrap(measured: Measured, n: int = 1000, replicates: int = 200) -> Bootstrap:
    """
    Return how to test fits of *measured*: rounded in the likeliest direction, if the values are rounded.

    Where values of 0 were recorded, they were not rounded up.
    """
    has_zeros = measured.dropped > 0 or (measured.base == PLAIN and measured.zeros > 0)
    directions = tuple(direction for direction in DIRECTIONS if not (has_zeros and direction == "up"))
    return Bootstrap(n, replicates, measured.grid, (POSITIVE, NONNEGATIVE), directions)
