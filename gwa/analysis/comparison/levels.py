"""What is higher in one trace than in another, or rose or fell between two periods of one system."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import copysign, inf, log
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gwa.analysis.comparison.quantities import (
    QUANTITIES,
    ComparedQuantity,
    ComparedRatio,
    busy_ratios,
    counted_ratios,
    quantile_ratios,
)
from gwa.analysis.comparison.recording import Recording
from gwa.analysis.comparison.relation import Relation, relation
from gwa.metrics.intervals import Intervals
from gwa.report.columns import Cells, table_of
from gwa.report.document import Block, Column, Fact, Facts, Finding, Note
from gwa.report.facts import number
from gwa.statistics.contrast import MAXIMUM_LENGTH, MINIMUM_LENGTH, half_width, p_value
from gwa.store.store import Store
from gwa.util.units import DAY
from gwa.words.compared import look_equal
from gwa.words.formatting import show
from gwa.words.message import Message, Number, Verbatim, joined, message, within_sentence

CHANCE: Final = 0.05
"""The rate at which chance makes any false difference in a table."""

MINIMUM_CHANCE: Final = 1 / 5000
"""The resolution of `p_value`: rarer is not told from never."""

MINIMUM_WEEKS: Final = 26
"""Traces that are both as long are compared by their weeks, others by their days."""

MAXIMUM_FACTOR: Final = 4.0
"""A larger ratio of two values is not given in percent: the values say it better."""

PERIODS_ONLY: Final = ("busy_processors", "users_daily", "users_weekly", "jobs", "machine_share")
"""What is compared between periods of one system only, where it is not the size of the system."""

SYSTEMS_ONLY: Final = ("jobs_per_processor", "machine_share")
"""What says of periods of one system nothing that others do not say."""

SIZE: Final = "may be due to size"
"""The verdict on a difference that shows in one of two ways of measuring it only."""

SIZED: Final = ("busy", "jobs_per_processor", "processors")
"""What is not compared between systems where the number of processors is not stated."""

CONFIRMED_BY: Final = {"jobs_per_processor": "jobs", "processors": "machine_share"}
"""
Between systems a difference must show in both ways of measuring it.

A system of twice the size may have twice as many jobs, or jobs of twice the size: neither is a difference.
"""

Series: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tested:
    """
    The difference (*step*) that is tested, and how often *chance* makes as large a one; None if unknown.

    *series* are what it is tested by, which repeats after a *cycle*, and begins at *places* of it.
    """

    step: float
    chance: float | None
    series: tuple[Series, Series]
    cycle: int
    places: tuple[int, int]

    def reach(self, chance: float) -> float | None:
        """Return how far the true difference may be from *step*, at this rate of errors; None if unknown."""
        if self.chance is None:
            return None
        return half_width(*self.series, max(chance, MINIMUM_CHANCE), self.cycle, self.places)


OUTCOMES: Final = {"failed": 0, "cancelled": 5}
"""The shares of outcomes, and the status of their jobs."""

VALUE_NAMES: Final[Mapping[Relation, tuple[str, str]]] = {
    Relation.PERIODS: ("before", "after"),
    Relation.PERIODS_BACKWARDS: ("first", "second"),
    Relation.SYSTEMS: ("first", "second"),
}
"""The ends of the ids of facts."""


@dataclass(frozen=True)
class LevelDifference:
    """
    How a quantity, called *name*, differs between two traces, in which it is *first* and *second*.

    *step* is the difference that is tested, and *chance* how often traces without any difference have as
    large a one in any quantity of the table; None where too few whole days or weeks are known. *reach* is
    how far the true difference may be from *step* by chance: 0 is out of it if the step is more than
    chance. A difference that *is_of_size* shows only in one of two ways of measuring it, since the systems
    are of different size.
    """

    name: str
    first: float
    second: float
    step: float
    chance: float | None
    reach: float | None = None
    interval: str = "day"
    relation: Relation = Relation.SYSTEMS
    is_of_size: bool = False

    @property
    def quantity(self) -> ComparedQuantity:
        """What is compared."""
        return QUANTITIES[self.name]

    @property
    def size(self) -> float:
        """The difference of the values: that of shares, or that of logarithms."""
        first, second = (value + self.quantity.offset for value in (self.first, self.second))
        if self.quantity.is_share:
            return second - first
        if first <= 0 or second <= 0:
            return 0.0 if first == second else copysign(inf, second - first)
        return log(second / first)

    @property
    def change(self) -> float | None:
        """
        The change as a fraction of the first value, of a share the difference itself.

        None where a value is so small, or the ratio so large, that a percentage would mislead.
        """
        if self.quantity.is_share:
            return self.second - self.first
        low, high = sorted((self.first, self.second))
        if low <= 0 or low < self.quantity.tiny or high > MAXIMUM_FACTOR * low:
            return None
        return self.second / self.first - 1

    @property
    def verdict(self) -> str:
        """What the difference means, in words."""
        if self.first == self.second:
            return "equal"
        if self.chance is None:
            return "not known"
        if self.is_of_size:
            return SIZE
        if self.chance > CHANCE:
            return "no more than chance"
        is_same_way = self.size * self.step > 0
        return "differs" if is_same_way and abs(self.size) >= self.quantity.least else "differs a little"


def compare_levels(first: Store, second: Store) -> list[LevelDifference]:
    """
    Return how each quantity that both traces record differs, in the order of `QUANTITIES`.

    Between two systems only shares, quantiles and values per processor are compared; between two periods of
    one system jobs and users per day or week as well. A lower bound is not compared with anything.
    """
    stores, related = (first, second), relation(first, second)
    intervals = _intervals(stores)
    if not all(each.count for each in intervals):
        return []
    logs = [Recording.of(store) for store in stores]
    ratios = _ratios(stores, intervals)
    tested = {name: _test(pair, intervals) for name, pair in ratios.items()}
    unit = "day" if intervals[0].width == DAY else "week"
    found = []
    for name in QUANTITIES:
        if name in ratios and _is_compared(name, logs, related):
            (one, other), test = ratios[name], tested[name]
            is_of_size = related is Relation.SYSTEMS and _is_of_size(name, tested)
            found.append(
                LevelDifference(
                    name, one.value, other.value, test.step, test.chance, None, unit, related, is_of_size
                )
            )
    return _adjusted(found, tested)


def _intervals(stores: Sequence[Store]) -> list[Intervals]:
    """Return the whole weeks of each trace or, where one is shorter than `MINIMUM_WEEKS`, the whole days."""
    weeks = [Intervals.days(store, weekly=True) for store in stores]
    if all(each.count >= MINIMUM_WEEKS for each in weeks):
        return weeks
    return [Intervals.days(store) for store in stores]


def _ratios(stores: Sequence[Store], intervals: Sequence[Intervals]) -> dict[str, tuple[ComparedRatio, ...]]:
    """Return what is known of every trace, by the name of the quantity."""
    each = [
        dict(chain(busy_ratios(store, known), counted_ratios(store, known)))
        for store, known in zip(stores, intervals, strict=True)
    ]
    both = {name: tuple(ratios[name] for ratios in each) for name in each[0] if name in each[1]}
    ratios = both | quantile_ratios(stores, intervals)
    return {name: pair for name, pair in ratios.items() if all(ratio.below.any() for ratio in pair)}


def _test(pair: Sequence[ComparedRatio], intervals: Sequence[Intervals]) -> Tested:
    """Return the difference that is tested, and how often chance makes as large a one."""
    # The recent part of a log of decades is long enough.
    first, second = (ratio.series()[-MAXIMUM_LENGTH:] for ratio in pair)
    step = float(second.mean() - first.mean())
    begins = [(each.weekday + max(each.count - MAXIMUM_LENGTH, 0)) % 7 for each in intervals]
    cycle, places = 7 if intervals[0].width == DAY else 1, (begins[0], begins[1])
    chance = None
    if min(len(first), len(second)) >= MINIMUM_LENGTH:
        chance = max(p_value(first, second, cycle=cycle, places=places), MINIMUM_CHANCE)
    return Tested(step, chance, (first, second), cycle, places)


def _is_of_size(name: str, tested: Mapping[str, Tested]) -> bool:
    """Whether the other way of measuring a difference of two systems does not confirm it."""
    other = CONFIRMED_BY.get(name, "")
    if other not in tested:
        return False
    own, confirming = tested[name], tested[other]
    if own.chance is None or confirming.chance is None or own.chance > CHANCE:
        return False
    return confirming.chance > CHANCE or own.step * confirming.step <= 0


def _is_compared(name: str, logs: Sequence[Recording], related: Relation) -> bool:
    """Whether a quantity means the same in both logs, and is not the size of a system."""
    if name in OUTCOMES:
        first, second = (log.outcomes for log in logs)
        return first == second and len(first) > 1 and OUTCOMES[name] in first
    has_size = all(log.has_size for log in logs)
    if related is Relation.SYSTEMS:
        return name not in PERIODS_ONLY and (has_size or name not in SIZED)
    return name not in SYSTEMS_ONLY and (name != ("busy_processors" if has_size else "busy"))


def _adjusted(found: Sequence[LevelDifference], tests: Mapping[str, Tested]) -> list[LevelDifference]:
    """
    Return the differences with the chance of a false one among all of them (Holm 1979).

    The reach of each is at the rate of errors that is left for it, so that a difference is more than chance
    if and only if it is out of its reach.
    """
    tested = sorted(
        (difference for difference in found if difference.chance is not None),
        key=lambda difference: difference.chance or 0.0,
    )
    adjusted: dict[str, float] = {}
    reach: dict[str, float | None] = {}
    largest, rate = 0.0, CHANCE
    for place, difference in enumerate(tested):
        if largest <= CHANCE:  # after the first that is not more than chance, none is
            rate = CHANCE / (len(tested) - place)
        largest = max(largest, min((difference.chance or 0.0) * (len(tested) - place), 1.0))
        adjusted[difference.name] = largest
        reach[difference.name] = tests[difference.name].reach(rate)
    return [
        replace(difference, chance=adjusted.get(difference.name), reach=reach.get(difference.name))
        for difference in found
    ]


def level_table(found: Sequence[LevelDifference], names: tuple[str, str]) -> Iterator[Block]:
    """
    How utilization, waits, outcomes, run times and job sizes differ, and whether by more than chance.

    Two systems are compared by shares, quantiles and values per processor: how many processors, users or jobs
    they have is not a difference. One has more jobs than the other if it has more of them both per day and
    per processor and day, and larger jobs if they are larger both in processors and as a share of the
    machine; else the difference may be due to size. Two periods of one system (parts of one log, or logs that
    state the same system, site and number of processors and do not overlap) are also compared by jobs and
    users per day or week.

    Utilization is that of the window in which the load is known. Jobs, users, waits, run times and processors
    are of jobs submitted in the period, outcomes of those that ended in it. Of a quantile, the share of the
    jobs above the quantile of both traces is tested.

    Days, or weeks where both traces have 26 or more, are correlated with those before them. They are
    therefore compared by the self-normalised statistic of Shao and Zhang (2010), of days without what repeats
    every week. By chance: how often traces without any difference, with the memory of an autoregressive
    process with a coefficient of 0.6, have a difference as large in any row (Holm 1979). A difference is more
    than chance at 5 % or less. Differences below about a fifth (3 percentage points for outcomes, 5 for
    utilization) are called a little.
    """
    if not found:
        yield Note("Differences are not tested: one of the logs has no whole day.")
        return
    yield Facts(tuple(_facts(found)), listed=False)
    if all(difference.chance is None for difference in found):
        yield Note(
            f"What chance does is not known: it takes {MINIMUM_LENGTH} whole days or more of both.", "warning"
        )
    cells: Cells[LevelDifference] = {
        Column("what", "Quantity"): lambda one: one.quantity.title,
        Column("first", names[0]): lambda one: _shown(one, one.first),
        Column("second", names[1]): lambda one: _shown(one, one.second),
        Column("change", "Difference"): change_text,
        Column("chance", "By chance", "fraction"): lambda one: one.chance,
        Column("verdict", "Verdict"): lambda one: one.verdict,
    }
    yield table_of("levels", "Levels side by side", found, cells)


def _shown(difference: LevelDifference, value: float) -> str:
    return show(number(value), difference.quantity.unit)


def change_text(difference: LevelDifference) -> Message | None:
    """
    Return the change in percent, of a share in points; None where the values do not show it, or it misleads.

    >>> change_text(LevelDifference("busy", 0.836, 0.852, 0.016, 0.5))
    '+1.6 points'
    >>> change_text(LevelDifference("wait_p95", 3600.0, 2700.0, -0.1, 0.5))
    '−25 %'
    >>> change_text(LevelDifference("wait_median", 0.0, 300.0, 0.3, 0.001))
    """
    change = difference.change
    values = number(difference.first), number(difference.second)
    if change is None or look_equal(*values, difference.quantity.unit):
        return None
    if difference.quantity.is_share:
        return message("{n} points", n=signed(100 * change, 1))
    return message("{n} %", n=signed(100 * change))


def signed(value: float, decimals: int = 0) -> Number:
    """
    Return a number with its sign, but for one that is rounded to 0.

    >>> signed(1.55, 1), signed(-25), signed(-0.2)
    ('+1.6', '−25', '0')
    """
    text = f"{value:+,.{decimals}f}"
    return Number(text.replace("-", "−") if float(text.replace(",", "")) else "0")


def _facts(found: Sequence[LevelDifference]) -> Iterator[Fact]:
    """Yield the differences as facts."""
    for difference in found:
        prefix, title, unit = (
            f"differences.{difference.name}", difference.quantity.title, difference.quantity.unit,
        )  # fmt: skip
        values = (difference.first, difference.second)
        for name, value in zip(VALUE_NAMES[difference.relation], values, strict=True):
            label = message("{title}, {which}", title=title, which=message(name))
            yield Fact(f"{prefix}.{name}", number(value), label, unit)
        label = message("{title}, differs as much by chance", title=title)
        yield Fact(f"{prefix}.by_chance", number(difference.chance), label, "fraction")
        yield Fact(f"{prefix}.verdict", difference.verdict, message("{title}, verdict", title=title))


DIFFERING: Final = "level-"
"""What the ids of findings on levels that differ begin with."""


def differing(findings: Sequence[Finding]) -> list[Finding]:
    """Return those of *findings* that say that a level differs by more than chance."""
    return [finding for finding in findings if finding.id.startswith(DIFFERING)]


def level_findings(
    found: Sequence[LevelDifference], names: tuple[str, str], section: str
) -> tuple[Finding, ...]:
    """Return what differs by more than chance and matters, as findings; or that nothing does."""
    rule = (
        "Said of quantities that differ by about a fifth (outcomes: 3 percentage points, utilization: 5) and"
        " by more than chance."
    )
    differing = sorted(
        (difference for difference in found if difference.verdict == "differs"),
        key=lambda difference: abs(difference.size) / difference.quantity.least,
        reverse=True,
    )
    if differing:
        return tuple(
            Finding(f"{DIFFERING}{difference.name}", _sentence(difference, names), section, rule, 1 / n)
            for n, difference in enumerate(differing, 1)
        )
    if any(difference.chance is not None for difference in found):
        return (Finding("no-level", _none_large(found, names), section, rule, 1.0),)
    return ()


APART_FROM_SIZE: Final = message(
    "Apart from what may be due to their sizes, {second} is not found to differ from {first} by more than"
    " chance."
)


def _none_large(found: Sequence[LevelDifference], names: tuple[str, str]) -> Message:
    """Return that no large difference is found, and what else is."""
    first, second = map(Verbatim, names)
    small = [one.quantity.title for one in found if one.verdict.startswith("differs")]
    if small:
        return message(
            "Apart from small differences ({what}), {second} is not found to differ from {first} by more than"
            " chance.",
            what=joined(", ", map(within_sentence, small)), second=second, first=first,
        )  # fmt: skip
    if any(one.verdict == SIZE for one in found):
        return message(APART_FROM_SIZE, second=second, first=first)
    return message(
        "{second} is not found to differ from {first} by more than chance in any quantity compared.",
        first=first,
        second=second,
    )


def _sentence(difference: LevelDifference, names: tuple[str, str]) -> Message:
    """Return that a value rises or falls between periods, or is higher in one of two systems."""
    values = [_shown(difference, value) for value in (difference.first, difference.second)]
    first, second = zip(map(Verbatim, names), values, strict=True)
    if difference.relation is not Relation.PERIODS:
        (high, value), (low, other) = (second, first) if difference.size > 0 else (first, second)
        return message(
            "{title} is higher in {high} ({value} against {other} in {low}), by more than chance.",
            title=difference.quantity.title,
            high=high,
            value=value,
            other=other,
            low=low,
        )
    template = (
        "{title} rises from {first} in {before} to {second} in {after}, by more than chance."
        if difference.size > 0
        else "{title} falls from {first} in {before} to {second} in {after}, by more than chance."
    )
    return message(
        template,
        title=difference.quantity.title,
        first=first[1],
        before=first[0],
        second=second[1],
        after=second[0],
    )
