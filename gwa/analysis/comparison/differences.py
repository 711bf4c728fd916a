"""What differs between traces, by measure: the greatest distance of any two, and what chance does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.evaluation.measure import WASSERSTEIN, Aspect, Measure, Statistic, measures
from gwa.report.document import Block, Column, Finding, Note, Table, Unit, Value
from gwa.report.facts import number
from gwa.report.formatting import show
from gwa.statistics.sample import Sample

COLUMNS_SHOWN: Final = 6
"""The values of so many traces stand in the table; of more, only the two that differ most are named."""

FEW: Final = 3
"""So many differences are said in the summary."""

UNITS: Final[dict[str, Unit]] = {"run-time": "seconds", "requested": "seconds", "gaps": "seconds"}
"""What has a unit; the table says it beside the name, since its columns hold all kinds of values."""


@dataclass(frozen=True)
class Difference:
    """
    How a *measure* differs between traces: most between *one* and *other*.

    *floor* is the mean distance of two halves of each of the two; None where they are too short.
    """

    measure: Measure
    one: TraceSummary
    other: TraceSummary
    distance: float
    floor: float | None

    @property
    def times(self) -> float | None:
        """How many times what chance does the distance is; None where that is not known or nothing."""
        return self.distance / self.floor if self.floor else None

    @property
    def verdict(self) -> str:
        """What that means."""
        if self.distance == 0:
            return "equal"
        if self.times is None:
            return "not known"
        return "no more than chance" if self.times <= 1 else "a little" if self.times <= 2 else "differs"  # noqa: PLR2004


def compared() -> list[Measure]:
    """Return what traces are compared by: all measures but those of a schedule, since systems differ."""
    return [
        one for one in measures() if one.aspect is not Aspect.SCHEDULE and one.distance is not WASSERSTEIN
    ]


def differences(sides: Sequence[TraceSummary]) -> list[Difference]:
    """Return for each measure the two traces that differ most; that farthest above chance comes first."""
    found = []
    for one in compared():
        pairs = [_between(one, *pair) for pair in combinations(sides, 2)]
        known = [pair for pair in pairs if pair is not None]
        if known:
            found.append(max(known, key=_height))
    return sorted(found, key=_height, reverse=True)


def _between(measure: Measure, one: TraceSummary, other: TraceSummary) -> Difference | None:
    distance = measure.between(one.statistics[measure.id], other.statistics[measure.id])
    if distance is None:
        return None
    halves = [side.floors[measure.id].halves for side in (one, other)]
    known = [height for height in halves if height is not None]
    return Difference(measure, one, other, distance, sum(known) / len(known) if known else None)


def _height(found: Difference) -> tuple[float, float]:
    return (-1.0 if found.times is None else found.times, found.distance)


def table(
    sides: Sequence[TraceSummary], found: Sequence[Difference], remarks: Sequence[str]
) -> Iterator[Block]:
    """
    Every measure of the workload, the farthest above chance first.

    Chance is the distance of one half of a trace from the other, its weeks taken in turns: two traces of
    one system would differ by as much. Times tells how often that fits into the distance of the two
    traces; from two times on they are said to differ. Distributions are compared by their greatest
    distance (KS), other numbers by their difference or the logarithm of their ratio.
    """
    yield from (Note(text) for text in remarks)
    few = len(sides) <= COLUMNS_SHOWN
    columns = [
        Column("measure", "Measure"),
        *(Column(f"trace_{n}", side.name) for n, side in enumerate(sides, 1) if few),
    ]
    if len(sides) > 2:  # noqa: PLR2004 - of two it is clear which
        columns.append(Column("between", "Most between"))
    columns += [
        Column("by", "Compared by"),
        Column("distance", "Distance"),
        Column("chance", "By chance"),
        Column("times", "Times"),
        Column("verdict", "Verdict"),
    ]
    rows = tuple(tuple(_cells(one, sides, few=few)) for one in found)
    said = dict.fromkeys(f"{one.measure.distance.name}: {one.measure.distance.description}" for one in found)
    note = f"Of a distribution the median is shown. {'; '.join(said)}."
    yield Table("differences", "Differences, the most remarkable first", tuple(columns), rows, note)


def _cells(one: Difference, sides: Sequence[TraceSummary], *, few: bool) -> Iterator[Value]:
    """Yield a row of the table."""
    unit = UNITS.get(one.measure.id)
    yield f"{one.measure.title}, {unit}" if unit else one.measure.title
    if few:
        yield from (_value(side.statistics[one.measure.id]) for side in sides)
    if len(sides) > 2:  # noqa: PLR2004 - as above
        yield f"{one.one.name} and {one.other.name}"
    yield one.measure.distance.name
    yield number(one.distance)
    yield None if one.floor is None else number(one.floor)
    yield None if one.times is None else number(one.times)
    yield one.verdict


def _value(found: Statistic | None) -> float | int | None:
    if found is None:
        return None
    return number(found.median() if isinstance(found, Sample) else found)


def sentences(found: Sequence[Difference]) -> tuple[Finding, ...]:
    """Return the greatest differences in words."""
    rule = "Said of the measures that differ farthest above chance, from two times on."
    told = [one for one in found if one.verdict == "differs"][:FEW]
    said = [
        Finding(f"differs-{one.measure.id}", _sentence(one), "differences", rule, 1 / n)
        for n, one in enumerate(told, 1)
    ]
    if found and not told:
        text = "The traces differ in nothing by more than two halves of one trace do."
        said = [Finding("no-difference", text, "differences", rule, 1.0)]
    return tuple(said)


def _sentence(one: Difference) -> str:
    values = [_value(side.statistics[one.measure.id]) for side in (one.one, one.other)]
    what = "median " if isinstance(one.one.statistics[one.measure.id], Sample) else ""
    beside = ", ".join(
        f"{what}{show(value, UNITS.get(one.measure.id, ''))} in {side.name}"
        for value, side in zip(values, (one.one, one.other), strict=True)
        if value is not None
    )
    by = f"{one.measure.distance.name} {show(round(one.distance, 3))}"
    return f"{one.measure.title}: {beside} ({by}, {show(round(one.times or 0, 1))} times what chance does)."
