"""What differs between traces, by measure: the largest distance of any two, and what chance does."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Final

from gwa.analysis.comparison.trace_summary import TraceSummary, compared_measures
from gwa.evaluation.measure import RealismMeasure, Statistic
from gwa.report.columns import table_of
from gwa.report.document import Block, Column, Finding, Note
from gwa.report.facts import number
from gwa.statistics.sample import Sample
from gwa.words.formatting import show, significant
from gwa.words.message import message
from gwa.words.unit import Unit, Value

COLUMNS_SHOWN: Final = 6
"""With more traces, the table only names the two that differ most instead of all values."""

MAXIMUM_FINDINGS: Final = 3

WAITS: Final = "wait"

UNITS: Final[dict[str, Unit]] = {
    WAITS: "seconds",
    "run-time": "seconds",
    "requested": "seconds",
    "gaps": "seconds",
}
"""Units by measure; the table shows them beside the name, since a column holds all kinds of values."""

SHARES: Final[dict[str, Unit]] = dict.fromkeys(("bag-share", "bag-uniformity", "next-size"), "fraction")
"""Measures that are shares of jobs, which a sentence gives in percent."""

OF_SIZE: Final = frozenset(
    (
        "size", "gaps", "squashed-area", "run-time-repetitions", "size-repetitions", "hourly-entropy",
        "daily-entropy", "hurst", "after-an-hour", "after-a-day", "after-a-week", "user-skew",
        "user-work-skew",
    )
)  # fmt: skip
"""
Measures that depend on how large a system is, or how long its log.

Of twice as many jobs, gaps are half as long, counts per hour are smoother, and jobs of users are mixed more.
"""


@dataclass(frozen=True)
class Difference:
    """
    How a *measure* differs between traces: most between *first* and *second*.

    *floor* is the mean distance of two halves of each of the two; None where they are too short.
    """

    measure: RealismMeasure
    first: TraceSummary
    second: TraceSummary
    distance: float
    floor: float | None

    @property
    def is_of_size(self) -> bool:
        """Whether the measure depends on the sizes of the systems, and these may not be one system."""
        return self.measure.id in OF_SIZE and not self.first.is_of_one_system_with(self.second)

    @property
    def times(self) -> float | None:
        """The distance as a multiple of the noise floor; None where that is unknown or zero."""
        return self.distance / self.floor if self.floor else None

    @property
    def verdict(self) -> str:
        """What the distance means, in words."""
        if self.distance == 0:
            return "equal"
        if self.times is None:
            return "not known"
        if self.times <= 1:
            return "no more than chance"
        if self.is_of_size:
            return "may be due to size"
        return "a little" if self.times <= 2 else "differs"  # noqa: PLR2004 - as the help says


def rank_differences(summaries: Sequence[TraceSummary]) -> list[Difference]:
    """Return for each measure the two traces that differ most; that farthest above chance comes first."""
    largest = []
    for measure in compared_measures():
        pairs = [_difference(measure, *pair) for pair in combinations(summaries, 2)]
        differing = [pair for pair in pairs if pair is not None]
        if differing:
            largest.append(max(differing, key=_remarkableness))
    return sorted(largest, key=_remarkableness, reverse=True)


def _difference(measure: RealismMeasure, first: TraceSummary, second: TraceSummary) -> Difference | None:
    distance = measure.between(first.statistics[measure.id], second.statistics[measure.id])
    if distance is None:
        return None
    halves = [summary.floors[measure.id].halves for summary in (first, second)]
    floors = [floor for floor in halves if floor is not None]
    return Difference(measure, first, second, distance, sum(floors) / len(floors) if floors else None)


def _remarkableness(difference: Difference) -> tuple[float, float]:
    return (-1.0 if difference.times is None else difference.times, difference.distance)


def difference_table(
    summaries: Sequence[TraceSummary], ranked: Sequence[Difference], remarks: Sequence[str] = ()
) -> Iterator[Block]:
    """
    Every measure of the workload, the farthest above chance first.

    Chance is the distance of one half of a trace from the other, its weeks taken in turns: two traces of
    one system would differ by as much. Times tells how often that fits into the distance of the two
    traces; from two times on they are said to differ. Between two systems this is not said of measures that
    depend on the size of a system or on the length of its log, such as the gaps between jobs. Distributions
    are compared by their maximum distance (KS), other numbers by their difference or the logarithm of their
    ratio.
    """
    yield from (Note(text) for text in remarks)
    show_values = len(summaries) <= COLUMNS_SHOWN
    cells: dict[Column, Callable[[Difference], Value]] = {Column("measure", "Measure"): _title}
    for n, summary in enumerate(summaries if show_values else (), 1):
        cells[Column(f"trace_{n}", summary.name)] = partial(_value_in, summary)
    if len(summaries) > 2:  # noqa: PLR2004 - of two it is clear which
        cells[Column("between", "Most between")] = lambda one: f"{one.first.name} and {one.second.name}"
    cells |= {
        Column("by", "Compared by"): lambda one: one.measure.distance.name,
        Column("distance", "Distance"): lambda one: number(one.distance),
        Column("chance", "By chance"): lambda one: number(one.floor),
        Column("times", "Times"): lambda one: number(one.times),
        Column("verdict", "Verdict"): lambda one: one.verdict,
    }
    explanations = dict.fromkeys(
        f"{difference.measure.distance.name}: {difference.measure.distance.description}"
        for difference in ranked
    )
    note = f"Of a distribution the median is shown. {'; '.join(explanations)}."
    yield table_of("differences", "Differences, the most remarkable first", ranked, cells, note)


def _title(difference: Difference) -> str:
    """Return the title of a measure with its unit."""
    unit = UNITS.get(difference.measure.id)
    return f"{difference.measure.title}, {unit}" if unit else difference.measure.title


def _value_in(summary: TraceSummary, difference: Difference) -> Value:
    return _value(summary.statistics[difference.measure.id])


def _value(statistic: Statistic | None) -> float | int | None:
    if statistic is None:
        return None
    return number(statistic.median() if isinstance(statistic, Sample) else statistic)


def difference_findings(ranked: Sequence[Difference]) -> tuple[Finding, ...]:
    """Return the largest differences as findings."""
    rule = "Said of the measures that differ farthest above chance, from two times on."
    shown = [difference for difference in ranked if difference.verdict == "differs"][:MAXIMUM_FINDINGS]
    findings = [
        Finding(f"differs-{difference.measure.id}", _sentence(difference), "differences", rule, 1 / n)
        for n, difference in enumerate(shown, 1)
    ]
    if ranked and not shown:
        text = "The traces differ in nothing by more than two halves of one trace do."
        findings = [Finding("no-difference", text, "differences", rule, 1.0)]
    return tuple(findings)


def _sentence(difference: Difference) -> str:
    measure, traces = difference.measure, (difference.first, difference.second)
    prefix = "median " if isinstance(difference.first.statistics[measure.id], Sample) else ""
    values = ", ".join(
        f"{prefix}{show(value, UNITS.get(measure.id) or SHARES.get(measure.id, ''))} in {trace.name}"
        for trace in traces
        if (value := _value(trace.statistics[measure.id])) is not None
    )
    return message(
        "{title}: {values}; {times} times as far apart as two halves of one trace.",
        title=measure.title, values=values, times=significant(difference.times or 0.0, 2),
    )  # fmt: skip
