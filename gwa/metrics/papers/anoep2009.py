"""
The characteristics that the thesis models: what is measured, on which scale, and who counts.

Source: S. D. Anoep, thesis (2009), sections 3.3 and 4.3, tables 4.2-4.20. The preset ``thesis`` gives what
its published numbers really are (natural logarithms for some, base 2 for others, no hour filter, bags
cut at 1200 s), found by reproducing the rows of LCG; the preset ``text`` does what its text says.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.bags import TEXT, THESIS, Definition, bags, clustered_table
from gwa.metrics.timeline import exact_sum
from gwa.statistics.distribution import Distribution
from gwa.statistics.fit import SIX, Fits, fit_all
from gwa.statistics.rounding import RoundingGrid
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR
from gwa.words.message import message

SLOTS: Final = 48
"""Half hours of a day."""

SHIFT: Final = 6.0 * HOUR
"""The day of the thesis begins at 6 in the morning, local time."""

DAY_HOURS: Final = (8, 17)
"""The hours of the preset ``text`` in which gaps between bags count."""

NATURAL, BINARY, PLAIN = "e", "2", ""
"""Bases of the logarithm that a characteristic is modelled on."""


@dataclass(frozen=True)
class ThesisReading:
    """
    A reading of the thesis: its *bags*, the *bases* of its scales, and its hours.

    *shift* is when its day begins, in seconds after midnight UTC; where it is None, at 6 in the morning
    of the trace's own zone. The published row of LCG is that of 24,300 s, a quarter to seven.
    """

    name: str
    bags: Definition
    bases: Mapping[str, str]
    day_hours_only: bool = False
    shift: float | None = None


PRESETS: Final = {
    reading.name: reading
    for reading in (
        ThesisReading(
            "thesis",
            THESIS,
            {
                "runtime": NATURAL,
                "requested": BINARY,
                "task_size": BINARY,
                "bag_gap": BINARY,
                "daily": PLAIN,
                "task_gap": NATURAL,
                "bag_size": NATURAL,
                "variance": NATURAL,
            },
        ),
        ThesisReading(
            "text",
            TEXT,
            dict.fromkeys(
                ("runtime", "requested", "task_size", "bag_gap", "task_gap", "bag_size", "variance"), BINARY
            )
            | {"daily": PLAIN},
            day_hours_only=True,
        ),
    )
}


@dataclass(frozen=True)
class Measured:
    """
    A characteristic of a trace on its scale.

    *x* is what is fitted; *base* says of which logarithm it is (none where empty); *dropped* is the
    share of the raw values below 1 second or job that has no place on the scale. *grid* says how the
    values were rounded, if they were.
    """

    x: Sample
    base: str
    dropped: float
    grid: RoundingGrid | None = None

    @property
    def zeros(self) -> float:
        """The share of x = 0, raw values of 1: they count against distributions on x > 0."""
        return 1 - self.x.restrict(above=0.0).n / self.x.n if self.x.n else 0.0

    def raw(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values on the scale in their own unit."""
        return x if self.base == PLAIN else NUMBERS[self.base] ** x


@dataclass(frozen=True)
class Characteristic:
    """One of the thesis' characteristics: how its raw values are asked for, and its tables."""

    name: str
    title: str
    unit: str
    tables: str
    raw: Callable[[Store, ThesisReading], Sample]
    needs: tuple[str, ...]

    def measure(self, store: Store, preset: ThesisReading) -> Measured:
        """Return the characteristic of the trace under a *preset*."""
        base = preset.bases[self.name]
        raw = self.raw(store, preset)
        if base == PLAIN:
            return Measured(raw, base, 0.0, RoundingGrid.of(raw))
        on_scale = raw.restrict(low=1.0)
        grid = RoundingGrid(base=NUMBERS[base]) if RoundingGrid.of(on_scale) else None
        return Measured(on_scale.map(LOGARITHMS[base]), base, 1 - on_scale.n / raw.n if raw.n else 0.0, grid)


def fitted(measured: Measured, candidates: Sequence[str | type[Distribution]] = SIX) -> Fits:
    """
    Return the fits of the thesis, with likelihoods that can be compared.

    Parameters and distances are the thesis' (see `gwa.statistics.fit.Policy`): zeros count against
    distributions that have none. AIC and BIC, Anderson-Darling and Cramér-von Mises are over the
    observations that all candidates can produce.
    """
    of_thesis, common = fit_all(measured.x, candidates, "thesis"), fit_all(measured.x, candidates, "common")
    comparable = {fit.name: fit for fit in common}
    fits = (
        replace(fit, loglik=same.loglik, n=same.n, compared_on=same.measured_on)
        if (same := comparable.get(fit.name))
        else fit
        for fit in of_thesis
    )
    return Fits(tuple(fits), of_thesis.refused)


LOGARITHMS: Final = {NATURAL: np.log, BINARY: np.log2}
NUMBERS: Final = {NATURAL: math.e, BINARY: 2.0}
"""The bases as numbers."""


def _bag_gaps(store: Store, preset: ThesisReading) -> Sample:
    """Gaps between the first submissions of consecutive bags, of any user."""
    hours = ""
    if preset.day_hours_only:
        seconds = _time_of_day("start", _offset(store))
        hours = f"where {seconds} >= {DAY_HOURS[0] * HOUR} and {seconds} < {DAY_HOURS[1] * HOUR}"
    return store.sample(
        "gap",
        "(select start, start - lag(start) over (order by start) as gap"
        f" from {bags(store, preset.bags)} {hours}) as gaps",
    )


def _daily(store: Store, preset: ThesisReading) -> Sample:
    """The half hour of the day, counted from when the preset's day begins, in which bags begin."""
    shift = _offset(store) - SHIFT if preset.shift is None else -preset.shift
    seconds = _time_of_day("start", shift)
    return store.sample(f"floor({seconds} / {DAY / SLOTS!r})", bags(store, preset.bags))


def _task_gaps(store: Store, preset: ThesisReading) -> Sample:
    """Gaps between consecutive tasks of a bag."""
    table = clustered_table(store, preset.bags)
    return store.sample("before", f"(select before from {table} where bag <> job_id) as gaps")


def _bag_sizes(store: Store, preset: ThesisReading) -> Sample:
    """Tasks of a bag, of bags with more than one."""
    return store.sample("size", f"(select size from {bags(store, preset.bags)} where size >= 2) as several")


def _variances(store: Store, preset: ThesisReading) -> Sample:
    """Population variance of the run times in a bag, of bags with more than one task that ran."""
    sums = "{} as total, {} as squares".format(*map(exact_sum, ("run_time", "run_time * run_time")))
    return store.sample(
        "(n * squares - total * total) / (n * n)",
        f"(select cast(count(*) as double) as n, {sums} from {clustered_table(store, preset.bags)}"
        " where run_time >= 0 group by bag having count(*) >= 2) as bags",
    )


def _time_of_day(moment: str, shift: float) -> str:
    """Return the SQL for the seconds since midnight of a clock that is *shift* seconds ahead of UTC."""
    return f"({moment} + {shift!r} - floor(({moment} + {shift!r}) / {float(DAY)!r}) * {float(DAY)!r})"


def _offset(store: Store) -> float:
    """Return the offset of the trace's zone from UTC at its first submission, in seconds."""
    from datetime import UTC, datetime

    first = store.row("select min(submit_time) from jobs")[0] or 0.0
    if store.system.relative:
        return 0.0
    offset = datetime.fromtimestamp(first, UTC).astimezone(store.system.timezone).utcoffset()
    return offset.total_seconds() if offset else 0.0


CHARACTERISTICS: Final = {
    characteristic.name: characteristic
    for characteristic in (
        Characteristic(
            "runtime",
            message("Run time"),
            "seconds",
            "4.2, 4.3",
            lambda store, _: store.sample("run_time"),
            ("run_time",),
        ),
        Characteristic(
            "requested",
            message("Requested time"),
            "seconds",
            "4.4, 4.5",
            lambda store, _: store.sample("req_time"),
            ("req_time",),
        ),
        Characteristic(
            "task_size",
            message("Processors of parallel tasks"),
            "count",
            "4.7, 4.8",
            lambda store, _: store.sample("n_procs").restrict(low=2.0),
            ("n_procs",),
        ),
        Characteristic(
            "bag_gap",
            message("Time between bags"),
            "seconds",
            "4.9, 4.10",
            _bag_gaps,
            ("submit_time", "user_id"),
        ),
        Characteristic(
            "daily",
            message("Half hour of the day in which bags begin"),
            "",
            "4.11, 4.12",
            _daily,
            ("submit_time", "user_id"),
        ),
        Characteristic(
            "task_gap",
            message("Time between tasks of a bag"),
            "seconds",
            "4.13, 4.14",
            _task_gaps,
            ("submit_time", "user_id"),
        ),
        Characteristic(
            "bag_size",
            message("Tasks of a bag"),
            "count",
            "4.15, 4.16",
            _bag_sizes,
            ("submit_time", "user_id"),
        ),
        Characteristic(
            "variance",
            message("Variance of run times in a bag"),
            "seconds squared",
            "4.17, 4.18",
            _variances,
            ("submit_time", "user_id", "run_time"),
        ),
    )
}


def fact_name(name: str) -> str:
    """
    Return what a characteristic is called in ids of facts: log_runtime is the logarithm of the run time.

    >>> fact_name("runtime"), fact_name("daily")
    ('log_runtime', 'daily')
    """
    return name if PRESETS["thesis"].bases[name] == PLAIN else f"log_{name}"


def shares(store: Store) -> tuple[float, float]:
    """
    Return p1 and p2 of the thesis' table 4.6: sequential tasks, and powers of two among parallel ones.

    The head of table 4.24 calls p1 the share of parallel tasks; its numbers are those of table 4.6.
    """
    sizes = store.sample("n_procs").restrict(low=1.0)
    parallel = sizes.restrict(low=2.0)
    powers = sum(
        int(count)
        for value, count in zip(parallel.values, parallel.counts, strict=True)
        if math.log2(value).is_integer()
    )
    return 1 - parallel.n / sizes.n if sizes.n else math.nan, powers / parallel.n if parallel.n else math.nan
