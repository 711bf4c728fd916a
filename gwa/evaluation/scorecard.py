"""
The scorecard of realism: the distance of a synthetic workload from a real one, compared to noise floors.

The noise floor of a measure is the mean distance between two halves of the real workload, split by blocks of
one, two and four weeks; or the distance of the workload from its jobs resampled, if that is larger and the
measure does not depend on order.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import MAXIMUM_JOBS, JobArrays, bootstrap, choose_period, split_halves
from gwa.evaluation.measure import Aspect, RealismMeasure, Statistic, Statistics, measure_all, measures
from gwa.report.columns import Cells, table_of
from gwa.report.document import Block, Column, Fact, Facts, Note
from gwa.report.facts import number
from gwa.statistics.sample import Sample
from gwa.util.units import DAY, HOUR, WEEK
from gwa.words.unit import Value

SEED: Final = 2009
BLOCKS: Final = (1, 2, 4)
"""Consecutive weeks that stay together, in the three ways to split a workload into halves."""

MAXIMUM_NEAR: Final = 2.0
"""Maximum distance, in noise floors, of a synthetic workload that is called near."""

MAXIMUM_JOB_RATIO: Final = 2.0
"""Ratio of numbers of jobs above which a note is added."""

PERIOD_NAMES: Final[dict[float, str]] = {WEEK: "weeks", DAY: "days", HOUR: "hours"}

EQUAL, NOISE, CLOSE, OFF, MISSING, UNKNOWN = (
    "equal", "within noise", "near", "off", "missing", "not measured",
)  # fmt: skip
VERDICTS: Final = {
    EQUAL: "no distance at all",
    NOISE: "at most the noise floor",
    CLOSE: f"at most {MAXIMUM_NEAR:g} noise floors",
    OFF: "farther",
    MISSING: "real jobs have it, synthetic ones do not",
    UNKNOWN: "the real trace does not tell, or is too small",
}


@dataclass(frozen=True)
class Floor:
    """The noise of a measure: the distance between *halves*, and that from a *bootstrap*."""

    halves: float | None
    bootstrap: float | None
    orderly: bool

    @property
    def height(self) -> float | None:
        """The noise floor, None if it is unknown."""
        distances = (self.halves, None if self.orderly else self.bootstrap)
        return max((distance for distance in distances if distance is not None), default=None)


@dataclass(frozen=True)
class ScoreLine:
    """One measure of the *real* and the *synthetic* workload, their *distance*, and the noise *floor*."""

    measure: RealismMeasure
    real: Statistic | None
    synthetic: Statistic | None
    floor: Floor

    @cached_property
    def distance(self) -> float | None:
        """The distance between the two, None if either is unknown."""
        return self.measure.between(self.real, self.synthetic)

    @property
    def verdict(self) -> str:
        """The classification of the distance, see `VERDICTS`."""
        if self.distance is None:
            return UNKNOWN if self.real is None else MISSING
        if self.distance == 0:
            return EQUAL
        height = self.floor.height
        if height is None:
            return UNKNOWN
        return NOISE if self.distance <= height else CLOSE if self.distance <= MAXIMUM_NEAR * height else OFF


@dataclass(frozen=True)
class Scorecard:
    """All measures of two workloads, and *notes* for the reader."""

    lines: tuple[ScoreLine, ...]
    notes: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return how many lines have each verdict."""
        return {verdict: sum(line.verdict == verdict for line in self.lines) for verdict in VERDICTS}

    def floors(self, aspect: Aspect | None = None) -> float:
        """
        Return the distance in noise floors, the median over measures, or over those of an *aspect*.

        A measure that synthetic jobs do not have is infinitely far; one without a noise floor does not count,
        and nan is returned where none counts.
        """
        ratios = [
            math.inf if line.distance is None else line.distance / line.floor.height
            for line in self.lines
            if line.real is not None and line.floor.height and aspect in {None, line.measure.aspect}
        ]
        return median(ratios) if ratios else math.nan

    def summary(self) -> str:
        """Return the verdicts in a sentence."""
        counts = self.counts()
        if counts[EQUAL] and counts[EQUAL] + counts[UNKNOWN] == len(self.lines):
            return "The two are equal in all that is measured: this is the trace itself, or a copy."
        verdicts = [f"{count} {verdict}" for verdict, count in counts.items() if count]
        return f"Of {len(self.lines)} measures: {', '.join(verdicts)}."

    def blocks(self) -> Iterator[Block]:
        """Yield the scorecard as blocks of a report."""
        yield Note(self.summary())
        for note in self.notes:
            yield Note(note)
        yield table_of("scorecard", "Realism scorecard", self.lines, CELLS, LEGEND)

    def facts(self, prefix: str) -> Facts:
        """Return the distances as facts whose ids begin with *prefix*, with the verdict of each in words."""
        return Facts(
            tuple(
                Fact(f"{prefix}.{line.measure.id}", number(line.distance), title(line.measure),
                     help=line.measure.help)
                for line in self.lines
            ),
            listed=False,
        )  # fmt: skip


CELLS: Final[Cells[ScoreLine]] = {
    Column("aspect", "Aspect"): lambda line: line.measure.aspect.value,
    Column("measure", "Measure"): lambda line: line.measure.title,
    Column("verdict", "Verdict"): lambda line: line.verdict,
    Column("real", "Real"): lambda line: number(_as_number(line.real)),
    Column("synthetic", "Synthetic"): lambda line: number(_as_number(line.synthetic)),
    Column("by", "Compared by"): lambda line: line.measure.distance.name,
    Column("distance", "Distance"): lambda line: number(line.distance),
    Column("halves", "Two halves"): lambda line: number(line.floor.halves),
    Column("bootstrap", "Resampled"): lambda line: number(line.floor.bootstrap),
}
COLUMNS: Final = tuple(CELLS)

LEGEND: Final = (
    "Real and synthetic are the median of a sample, or the number itself. Two halves: half of the weeks of"
    " the real trace against the other, in the mean of three ways to cut it. Resampled: jobs and gaps drawn"
    " from it one by one, so that no order is left. The noise floor is the former, or the greater of both"
    f" where order does not matter. {'; '.join(f'{name}: {meaning}' for name, meaning in VERDICTS.items())}."
)


def title(measure: RealismMeasure) -> str:
    """Return the title of a measure with the name of its distance."""
    return f"{measure.title}, {measure.distance.name}"


def row(line: ScoreLine) -> tuple[Value, ...]:
    """Return a line as the cells of `COLUMNS`."""
    return tuple(cell(line) for cell in CELLS.values())


def _as_number(statistic: Statistic | None) -> float | None:
    return statistic.median() if isinstance(statistic, Sample) else statistic


@dataclass(frozen=True)
class Reference:
    """A real *workload* with its *statistics* and the noise *floors* of these."""

    workload: JobArrays
    statistics: Statistics
    floors: dict[str, Floor]

    @classmethod
    def of(
        cls, real: JobArrays, seed: int = SEED, wanted: Sequence[RealismMeasure] | None = None
    ) -> "Reference":
        """
        Measure a workload and its noise floors; *seed* is that of the resampled jobs.

        Only the measures *wanted* are taken, where they are given: a score takes all.
        """
        statistics = measure_all(real, wanted)
        pairs = [
            (measure_all(split[0], wanted), measure_all(split[1], wanted))
            for block in BLOCKS
            if (split := split_halves(real, block))
        ]
        resampled = measure_all(bootstrap(real, np.random.default_rng(seed)), wanted)
        floors = {
            measure.id: Floor(
                _mean([measure.between(even[measure.id], odd[measure.id]) for even, odd in pairs]),
                measure.between(statistics[measure.id], resampled[measure.id]),
                measure.orderly,
            )
            for measure in (measures() if wanted is None else wanted)
        }
        return cls(real, statistics, floors)

    def score(self, synthetic: JobArrays) -> Scorecard:
        """Return the scorecard of a *synthetic* workload, scheduled on the system of the real one."""
        scored = measure_all(synthetic.with_cpus(self.workload.cpus))
        lines = tuple(
            ScoreLine(measure, self.statistics[measure.id], scored[measure.id], self.floors[measure.id])
            for measure in measures()
        )
        return Scorecard(lines, tuple(_notes(self.workload, synthetic)))


def _mean(distances: list[float | None]) -> float | None:
    known = [distance for distance in distances if distance is not None and math.isfinite(distance)]
    return math.fsum(known) / len(known) if known else None


def _notes(real: JobArrays, synthetic: JobArrays) -> Iterator[str]:
    """Yield notes for the reader of the scorecard."""
    for name, workload in (("real", real), ("synthetic", synthetic)):
        if not len(workload):
            yield f"No job of the {name} trace ran at a known time."
        if len(workload) == MAXIMUM_JOBS:
            yield f"Of the {name} trace, the first {MAXIMUM_JOBS:,} jobs are looked at."
    length = choose_period(real.submit[0], real.submit[-1]) if len(real) else None
    if length is None:
        yield "The real trace is too short to be cut in halves: there is no noise floor where order matters."
    elif length < max(PERIOD_NAMES):
        yield f"The real trace is short: its halves are {PERIOD_NAMES[length]} in turns."
    fewer, more = sorted((len(real), len(synthetic)))
    if 0 < fewer < more / MAXIMUM_JOB_RATIO:
        yield f"One trace has {more / fewer:.1f} times as many jobs as the other; entropies depend on that."
