"""
The scorecard of realism: how far a synthetic workload is from a real one, beside what chance does.

The noise floor of a measure is the mean distance of two halves of the real workload, its weeks taken in
turns by one, two and four; or the distance of jobs drawn from it one by one from itself, if that is
greater. Where order matters, only the former counts.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import MOST, JobArrays, bootstrapped, halves, period
from gwa.evaluation.measure import Measure, Statistic, Statistics, measured, measures
from gwa.report.document import Block, Column, Fact, Facts, Note, Table, Value
from gwa.report.facts import number
from gwa.statistics.sample import Sample
from gwa.util.units import DAY, HOUR, WEEK

SEED: Final = 2009
BLOCKS: Final = (1, 2, 4)
"""How many weeks in a row each half gets, in the three ways to cut a workload in halves."""

NEAR: Final = 2.0
"""How many noise floors away a synthetic workload is still called near."""

ALIKE: Final = 2.0
"""How many times more jobs one trace may have before that is said."""

NAMES: Final[dict[float, str]] = {WEEK: "weeks", DAY: "days", HOUR: "hours"}

EQUAL, NOISE, CLOSE, OFF, MISSING, UNKNOWN = (
    "equal", "within noise", "near", "off", "missing", "not measured",
)  # fmt: skip
VERDICTS: Final = {
    EQUAL: "no distance at all",
    NOISE: "at most the noise floor",
    CLOSE: f"at most {NEAR:g} noise floors",
    OFF: "farther",
    MISSING: "real jobs have it, synthetic ones do not",
    UNKNOWN: "the real trace does not tell, or is too small",
}


@dataclass(frozen=True)
class Floor:
    """What chance does to a measure: the distance of the two *halves*, and that of a *bootstrap*."""

    halves: float | None
    bootstrap: float | None
    orderly: bool

    @property
    def height(self) -> float | None:
        """The noise floor; None where none could be measured."""
        known = [one for one in (self.halves, None if self.orderly else self.bootstrap) if one is not None]
        return max(known) if known else None


@dataclass(frozen=True)
class ScoreLine:
    """One measure of the *real* and the *synthetic* workload, their *distance*, and the noise *floor*."""

    measure: Measure
    real: Statistic | None
    synthetic: Statistic | None
    floor: Floor

    @cached_property
    def distance(self) -> float | None:
        """How far the two are apart; None where one of them is not known."""
        return self.measure.between(self.real, self.synthetic)

    @property
    def verdict(self) -> str:
        """The distance in a word, see `VERDICTS`."""
        if self.distance is None:
            return UNKNOWN if self.real is None else MISSING
        if self.distance == 0:
            return EQUAL
        height = self.floor.height
        if height is None:
            return UNKNOWN
        return NOISE if self.distance <= height else CLOSE if self.distance <= NEAR * height else OFF


@dataclass(frozen=True)
class Scorecard:
    """All measures of two workloads, and *notes* for the reader."""

    lines: tuple[ScoreLine, ...]
    notes: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return how many lines have each verdict."""
        return {one: sum(line.verdict == one for line in self.lines) for one in VERDICTS}

    def summary(self) -> str:
        """Return the verdicts in a sentence."""
        counts = self.counts()
        if counts[EQUAL] and counts[EQUAL] + counts[UNKNOWN] == len(self.lines):
            return "The two are equal in all that is measured: this is the trace itself, or a copy."
        said = [f"{count} {verdict}" for verdict, count in counts.items() if count]
        return f"Of {len(self.lines)} measures: {', '.join(said)}."

    def blocks(self) -> Iterator[Block]:
        """Yield the scorecard as blocks of a report."""
        yield Note(self.summary())
        for note in self.notes:
            yield Note(note)
        yield Table("scorecard", "Realism scorecard", COLUMNS, tuple(map(row, self.lines)), LEGEND)

    def facts(self, prefix: str) -> Facts:
        """Return the distances as facts whose ids begin with *prefix*, with the verdict of each in words."""
        return Facts(
            tuple(
                Fact(f"{prefix}.{line.measure.id}", _number(line.distance), title(line.measure),
                     help=line.measure.help)
                for line in self.lines
            ),
            listed=False,
        )  # fmt: skip


COLUMNS: Final = (
    Column("aspect", "Aspect"),
    Column("measure", "Measure"),
    Column("verdict", "Verdict"),
    Column("real", "Real"),
    Column("synthetic", "Synthetic"),
    Column("by", "Compared by"),
    Column("distance", "Distance"),
    Column("halves", "Two halves"),
    Column("bootstrap", "Resampled"),
)

LEGEND: Final = (
    "Real and synthetic are the median of a sample, or the number itself. Two halves: half of the weeks of"
    " the real trace against the other, in the mean of three ways to cut it. Resampled: jobs and gaps drawn"
    " from it one by one, so that no order is left. The noise floor is the former, or the greater of both"
    f" where order does not matter. {'; '.join(f'{name}: {says}' for name, says in VERDICTS.items())}."
)


def title(one: Measure) -> str:
    """Return what a measure is called where its distance is not beside it."""
    return f"{one.title}, {one.distance.name}"


def row(line: ScoreLine) -> tuple[Value, ...]:
    """Return a line as the cells of `COLUMNS`."""
    return (
        line.measure.aspect.value,
        line.measure.title,
        line.verdict,
        _number(_shown(line.real)),
        _number(_shown(line.synthetic)),
        line.measure.distance.name,
        _number(line.distance),
        _number(line.floor.halves),
        _number(line.floor.bootstrap),
    )


def _shown(found: Statistic | None) -> float | None:
    return found.median() if isinstance(found, Sample) else found


def _number(value: float | None) -> float | int | None:
    return None if value is None else number(value)


@dataclass(frozen=True)
class Reference:
    """A real workload as the measures see it: its *statistics* and what chance does to them."""

    workload: JobArrays
    statistics: Statistics
    floors: dict[str, Floor]

    @classmethod
    def of(cls, real: JobArrays, seed: int = SEED) -> "Reference":
        """Return the reference; the resampled jobs are those of *seed*."""
        own = measured(real)
        pairs = [(measured(pair[0]), measured(pair[1])) for block in BLOCKS if (pair := halves(real, block))]
        drawn = measured(bootstrapped(real, np.random.default_rng(seed)))
        floors = {
            one.id: Floor(
                _mean([one.between(even[one.id], odd[one.id]) for even, odd in pairs]),
                one.between(own[one.id], drawn[one.id]),
                one.orderly,
            )
            for one in measures()
        }
        return cls(real, own, floors)

    def score(self, synthetic: JobArrays) -> Scorecard:
        """Return the scorecard of a *synthetic* workload, scheduled on the system of the real one."""
        made = measured(synthetic.on(self.workload.cpus))
        lines = tuple(
            ScoreLine(one, self.statistics[one.id], made[one.id], self.floors[one.id]) for one in measures()
        )
        return Scorecard(lines, tuple(_notes(self.workload, synthetic)))


def _mean(distances: list[float | None]) -> float | None:
    known = [one for one in distances if one is not None and math.isfinite(one)]
    return math.fsum(known) / len(known) if known else None


def _notes(real: JobArrays, synthetic: JobArrays) -> Iterator[str]:
    """Yield what a reader of the scorecard should know."""
    for name, one in (("real", real), ("synthetic", synthetic)):
        if not len(one):
            yield f"No job of the {name} trace ran at a known time."
        if len(one) == MOST:
            yield f"Of the {name} trace, the first {MOST:,} jobs are looked at."
    length = period(real.submit[0], real.submit[-1]) if len(real) else None
    if length is None:
        yield "The real trace is too short to be cut in halves: there is no noise floor where order matters."
    elif length < max(NAMES):
        yield f"The real trace is short: its halves are {NAMES[length]} in turns."
    fewer, more = sorted((len(real), len(synthetic)))
    if 0 < fewer < more / ALIKE:
        yield f"One trace has {more / fewer:.1f} times as many jobs as the other; entropies depend on that."
