"""How many processors were busy on average: of which time, and whether that is a value or a bound."""

from dataclasses import dataclass
from typing import Final, Literal

from gwa.metrics.presence import present, recorded
from gwa.metrics.timeline import Level, level
from gwa.metrics.window import RUNNING, window
from gwa.store.store import Period, Store

Kind = Literal["value", "at least", "unknown"]
"""What a level is: what was, a bound of it, or nothing that is known."""

BIN: Final = 600.0
"""Ten minutes: the archive's interval for utilization."""


@dataclass(frozen=True)
class Busy:
    """
    The busy processors over a *period*: their *levels*, and of which *kind* these are.

    A value is of the window of observation. Where no such window is known, all that the log shows is a lower
    bound, at each moment, and it is of the whole time that the log tells of.
    """

    kind: Kind
    period: Period | None = None
    levels: Level | None = None

    @property
    def mean(self) -> float | None:
        """The mean number of busy processors over the period."""
        return self.levels.mean() if self.levels else None


def busy(store: Store) -> Busy:
    """Return the busy processors of *store*, over its window or, where that is unknown, over all its time."""
    observed = window(store)
    if observed.period:
        return Busy("value", observed.period, busy_in(store, observed.period))
    span = recorded(store)
    if window(store.whole).borders and span and span[0] < span[1]:
        return Busy("at least", span, busy_in(store, span))
    return Busy("unknown")


def busy_in(store: Store, period: Period) -> Level:
    """Return the busy processors in *period*, as far as the log shows them."""
    return level(store, "n_procs", RUNNING, present(store), width=BIN, period=period)
