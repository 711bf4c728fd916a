"""What rose or fell from one trace or period to another: load, jobs, users, waits, failures and sizes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gwa.metrics.interval_values import MEASURES, Measure, interval_values, scaled
from gwa.metrics.intervals import Intervals
from gwa.metrics.timeline import Floats
from gwa.report.document import Block, Column, Fact, Facts, Finding, Note, Table
from gwa.report.facts import number
from gwa.report.formatting import fraction, show
from gwa.statistics.contrast import MAXIMUM_LENGTH, MINIMUM_LENGTH, p_value
from gwa.store.store import Store

CHANCE: Final = 0.01
"""The rate of false alarms of each measure; so few that a table of eight of them has a few in a hundred."""

KNOWN_SHARE: Final = 0.75
"""A measure that fewer days have is not compared."""

COUNTED: Final = ("jobs", "users")
"""Of these, a day without any has none, where other measures of it are unknown."""


@dataclass(frozen=True)
class LevelDifference:
    """
    How the level of a measure differs between two traces: the mean of its days in the *first* and *second*.

    *step* is the difference on the scale of the measure, and *chance* how often days without a difference
    differ as much; None where too few days are known.
    """

    name: str
    first: float | None
    second: float | None
    step: float
    chance: float | None
    interval: str = "day"

    @property
    def measure(self) -> Measure:
        """What is measured."""
        return MEASURES[self.name]

    @property
    def change(self) -> float | None:
        """The change as a fraction of the first level, of a share the difference itself."""
        if self.first is None or self.second is None:
            return None
        if self.measure.is_share:
            return self.second - self.first
        return self.second / self.first - 1 if self.first else None

    @property
    def verdict(self) -> str:
        """What the difference means, in words."""
        if self.first is not None and self.first == self.second and not self.step:
            return "equal"
        if self.chance is None:
            return "not known"
        if self.chance > CHANCE:
            return "no more than chance"
        same_way = self.change is None or (self.change > 0) == (self.step > 0)
        return "differs" if same_way and abs(self.step) >= self.measure.least else "differs a little"


def compare_levels(first: Store, second: Store) -> list[LevelDifference]:
    """Return how each measure that both traces record differs, in the order of `MEASURES`."""
    intervals = [Intervals.days(store) for store in (first, second)]
    weekly = any(days.count > MAXIMUM_LENGTH for days in intervals)
    if weekly:
        intervals = [Intervals.days(store, weekly=True) for store in (first, second)]
    values = [_values(store, known) for store, known in zip((first, second), intervals, strict=True)]
    return [
        _difference(name, values[0][name], values[1][name], intervals, weekly=weekly)
        for name in MEASURES
        if name in values[0] and name in values[1]
    ]


def _values(store: Store, intervals: Intervals) -> dict[str, Floats]:
    if not intervals.count:
        return {}
    found = interval_values(store, intervals)
    return {name: np.nan_to_num(known) if name in COUNTED else known for name, known in found.items()}


def _difference(
    name: str, first: Floats, second: Floats, intervals: Sequence[Intervals], *, weekly: bool
) -> LevelDifference:
    unit = "week" if weekly else "day"
    if not all(np.isfinite(values).mean() >= KNOWN_SHARE for values in (first, second)):
        return LevelDifference(name, None, None, 0.0, None, unit)
    pair = (scaled(name, first), scaled(name, second))
    chance = None
    if min(map(len, pair)) >= MINIMUM_LENGTH:
        places = (intervals[0].weekday, intervals[1].weekday)
        # Recent weeks of logs of decades tell enough.
        recent = (pair[0][-MAXIMUM_LENGTH:], pair[1][-MAXIMUM_LENGTH:])
        chance = p_value(recent[0], recent[1], cycle=1 if weekly else 7, places=places)
    step = float(pair[1].mean() - pair[0].mean())
    return LevelDifference(name, float(np.nanmean(first)), float(np.nanmean(second)), step, chance, unit)


def level_table(found: Sequence[LevelDifference], names: tuple[str, str]) -> Iterator[Block]:
    """
    How load, jobs, users, waits, failures and sizes differ, and whether that is more than chance.

    Values are means over the whole days in which the load is known, or over weeks where there are more than
    400 days. Jobs, users, waits, run times and processors are of jobs submitted on the day, failures of those
    that ended on it. Days remember those before them, so they are compared by the self-normalised statistic
    of Shao and Zhang (2010), on the logarithm of the values, without what repeats every week. A difference is
    more than chance if series without one, which remember as an autoregressive one with a coefficient of 0.6,
    differ as much in at most 1 % of cases. Of two such months, a step of two standard deviations of the days
    is found in about 60 %; of days that do not remember, nearly always. Less than a fifth (a tenth for
    busy processors and users, three percentage points for failures) is called a little.
    """
    if not found:
        yield Note("Levels are not compared: there are no whole days in which the load is known.")
        return
    yield Facts(tuple(_facts(found)), listed=False)
    if all(difference.chance is None for difference in found):
        yield Note(
            f"What chance does is not known: it takes {MINIMUM_LENGTH} whole days or more of both.", "warning"
        )
    columns = (
        Column("what", f"Mean over {found[0].interval}s"),
        Column("first", names[0]),
        Column("second", names[1]),
        Column("change", "Change", "fraction"),
        Column("chance", "By chance", "fraction"),
        Column("verdict", "Verdict"),
    )
    rows = tuple(
        (
            difference.measure.title,
            _shown(difference, difference.first),
            _shown(difference, difference.second),
            difference.change,
            difference.chance,
            difference.verdict,
        )
        for difference in found
    )
    yield Table("levels", "Levels beside each other", columns, rows)


def _shown(difference: LevelDifference, value: float | None) -> str | None:
    return None if value is None else show(number(value), difference.measure.unit)


def _facts(found: Sequence[LevelDifference]) -> Iterator[Fact]:
    """Yield the differences as facts."""
    for difference in found:
        prefix, title = f"differences.{difference.name}", difference.measure.title
        unit = difference.measure.unit
        yield Fact(f"{prefix}.before", number(difference.first), f"{title}, before", unit)
        yield Fact(f"{prefix}.after", number(difference.second), f"{title}, after", unit)
        yield Fact(
            f"{prefix}.by_chance", difference.chance, f"{title}, differs as much by chance", "fraction"
        )
        yield Fact(f"{prefix}.verdict", difference.verdict, f"{title}, verdict")


def level_findings(
    found: Sequence[LevelDifference], names: tuple[str, str], section: str
) -> tuple[Finding, ...]:
    """Return what differs by more than chance and matters, as findings; or that nothing does."""
    rule = "Said of levels that differ by about a fifth (failures: 3 percentage points) and more than chance."
    differing = sorted(
        (difference for difference in found if difference.verdict == "differs"),
        key=lambda difference: abs(difference.step) / difference.measure.least,
        reverse=True,
    )
    if differing:
        return tuple(
            Finding(f"level-{difference.name}", _sentence(difference, names), section, rule, 1 / n)
            for n, difference in enumerate(differing, 1)
        )
    if any(difference.chance is not None for difference in found):
        text = f"No level of {names[1]} is found to differ from that of {names[0]} by more than chance."
        return (Finding("no-level", text, section, rule, 1.0),)
    return ()


def _sentence(difference: LevelDifference, names: tuple[str, str]) -> str:
    first, second = (_shown(difference, value) for value in (difference.first, difference.second))
    verb = "rises" if difference.step > 0 else "falls"
    change = difference.change
    by = "" if change is None or difference.measure.is_share else f", by {fraction(abs(change))}"
    return (
        f"{difference.measure.title} per {difference.interval} {verb} from {first} in {names[0]}"
        f" to {second} in {names[1]}{by}, more than by chance."
    )
