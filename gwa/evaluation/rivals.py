"""
Tables of jobs made by any generators, scored against one log, beside what the log itself gives.

Tables of one name that differ in a number at its end, such as ``tvae-1`` and ``tvae-2``, are seeds of one
generator. The last rows are no generators: the log's other half, and jobs drawn from it one by one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean, pstdev
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import JobArrays, bootstrap, split_halves
from gwa.evaluation.memory import Memory, Split, memory, unknown_rows
from gwa.evaluation.queues.card import QueueCard, QueueReference, other_draws
from gwa.evaluation.queues.numbers import numbers
from gwa.evaluation.queues.words import HEADLINE, headline, scorecard_rows
from gwa.evaluation.scorecard import CLOSE, EQUAL, MISSING, NOISE, OFF, SEED, Reference, Scorecard, row
from gwa.report.columns import column
from gwa.report.document import Column
from gwa.report.facts import number
from gwa.words.unit import Value

BASELINE_SEEDS: Final = (1, 2, 3)
"""The seeds of jobs drawn from the log one by one."""

OTHER_HALF: Final = "the log's other half"
TRAINING: Final = "the jobs they were made from"
RESAMPLED: Final = "jobs drawn one by one"

NUMBERED: Final = re.compile(r"(.+)-(\d+)")

COLUMNS: Final = (
    Column("made", "Which jobs"),
    Column("seeds", "Seeds"),
    column("jobs"),
    Column("floors", "Noise floors away"),
    Column("deviation", "±"),
    *HEADLINE,
    Column("within", "Within noise", "count"),
    Column("near", "Near", "count"),
    Column("off", "Off", "count"),
    Column("missing", "Missing", "count"),
    Column("copied", "Rows of the log", "fraction"),
    Column("copied_expected", "Such rows expected", "fraction"),
    Column("closest", "Closest record"),
    Column("closest_expected", "Closest record expected"),
    Column("nearer", "Nearer to what it was made from", "fraction"),
)


@dataclass(frozen=True)
class Rival:
    """
    A generator by *name*, with the *cards* of its tables and what these have of the log.

    *seeds* are as they are known, empty where they are not; *jobs* are those of each table. *queues* are
    compared with the jobs that the tables were made from, unless these are no tables of a generator.
    """

    name: str
    seeds: tuple[str, ...]
    jobs: tuple[int, ...]
    cards: tuple[Scorecard, ...]
    memories: tuple[Memory, ...]
    queues: QueueCard | None = None

    @property
    def floors(self) -> float:
        """The distance in noise floors, the median over measures, in the mean over seeds."""
        return fmean(card.floors() for card in self.cards)

    def row(self) -> tuple[Value, ...]:
        """Return the generator under `COLUMNS`."""
        counts = [card.counts() for card in self.cards]
        within = fmean(count[EQUAL] + count[NOISE] for count in counts)
        several = [fmean(count[verdict] for count in counts) for verdict in (CLOSE, OFF, MISSING)]
        floors = [card.floors() for card in self.cards]
        deviation = pstdev(floors) if len(floors) > 1 and np.isfinite(floors).all() else None
        queues = (None,) * len(HEADLINE) if self.queues is None else headline(self.queues)
        return (
            self.name, " ".join(filter(None, self.seeds)), round(fmean(self.jobs)), number(self.floors),
            number(deviation), *queues, *map(number, (within, *several)), *self._memory(),
        )  # fmt: skip

    def _memory(self) -> tuple[Value, ...]:
        """Return the means of what the tables have of the log, None for what is not known."""
        names = ("copied", "expected_copied", "distance", "expected_distance", "nearer")
        values = [[getattr(one, name) for one in self.memories] for name in names]
        return tuple(number(fmean(column)) if column and None not in column else None for column in values)


@dataclass(frozen=True)
class Contest:
    """
    A *real* workload that made ones are compared with, and what they were made from (*training*), if known.

    Where it is, the real workload is what was held out. Where it is not, each half of the weeks of the real
    workload stands for what was held out of the other. Queues are compared under further *policies*, too.
    """

    real: JobArrays
    training: JobArrays | None = None
    policies: tuple[str, ...] = ()
    reference: Reference = field(init=False)

    def __post_init__(self) -> None:
        """Measure the real workload."""
        object.__setattr__(self, "reference", Reference.of(self.real))

    @property
    def fitted(self) -> JobArrays:
        """The jobs that made ones were made from, as far as is known."""
        return self.real if self.training is None else self.training

    @cached_property
    def queue_reference(self) -> QueueReference:
        """What the queues of made jobs are compared with."""
        held_out = None if self.training is None else self.real
        return QueueReference.of(self.fitted.with_cpus(self.real.cpus), held_out, self.policies)

    def queues(self, tables: Iterable[JobArrays]) -> QueueCard:
        """Return the comparison of the queues of *tables*, each a seed of one generator."""
        but = self.queue_reference.left_out
        made = tuple(numbers(jobs.with_cpus(self.real.cpus), self.policies, but) for jobs in tables)
        return QueueCard(self.queue_reference, made, self.policies)

    def own_weeks(self) -> QueueCard:
        """Return the comparison of queues of the log's own weeks: of other draws than those of the band."""
        reference = self.queue_reference
        draws = other_draws(self.fitted.with_cpus(self.real.cpus), self.policies, reference.left_out)
        return QueueCard(reference, tuple(draws), self.policies)

    @property
    def splits(self) -> tuple[Split, ...]:
        """What is held out of what; none where the real workload is too short."""
        if self.training is not None:
            return (Split(self.training, self.real),)
        halves = split_halves(self.real)
        return () if halves is None else (Split(*halves), Split(*halves[::-1]))

    def card(self, jobs: JobArrays) -> Scorecard:
        """Return the scorecard of made *jobs*."""
        return self.reference.score(jobs)

    def memory(self, jobs: JobArrays) -> Memory | None:
        """Return what made *jobs* have of recorded ones, None where the real workload is too short."""
        if not self.splits:
            return None
        return memory(jobs, self.splits, is_known=self.training is not None, seed=SEED)

    def rows(self, card: Scorecard, jobs: JobArrays, queues: QueueCard) -> list[tuple[Value, ...]]:
        """Return a *card* of made *jobs*, their *queues* and their memory under the columns of a card."""
        found = self.memory(jobs)
        remembered = unknown_rows() if found is None else found.rows()
        return [*map(row, card.lines), *scorecard_rows(queues), *remembered]

    def rival(self, name: str, tables: Iterable[tuple[str, JobArrays]]) -> Rival:
        """Return the scores of *tables*, each with its seed, of one generator."""
        seeds, several = zip(*tables, strict=True)
        memories = [found for jobs in several if (found := self.memory(jobs)) is not None]
        cards = tuple(map(self.card, several))
        return Rival(name, seeds, tuple(map(len, several)), cards, tuple(memories))

    def generator(self, name: str, tables: Sequence[tuple[str, JobArrays]]) -> Rival:
        """Return the same with the queues of the *tables*."""
        return replace(self.rival(name, tables), queues=self.queues(jobs for _, jobs in tables))

    def baselines(self) -> Iterator[Rival]:
        """Yield what the log itself gives: its other half, and its jobs drawn one by one."""
        if self.training is not None:
            yield self.rival(TRAINING, [("", self.training)])
        elif self.splits:
            yield self._other_half()
        resampled = [bootstrap(self.fitted, np.random.default_rng(seed)) for seed in BASELINE_SEEDS]
        yield self.generator(RESAMPLED, list(zip(map(str, BASELINE_SEEDS), resampled, strict=True)))

    def _other_half(self) -> Rival:
        """Return each half scored against the other, as one row."""
        found = [Contest(each.held_out, each.training) for each in self.splits]
        rivals = [one.rival(OTHER_HALF, [("", one.training)]) for one in found if one.training is not None]
        # That a half is none but its own rows says nothing; what it shares with the other does.
        memories = [self.memory_of(each) for each in self.splits]
        return Rival(
            OTHER_HALF,
            (),
            tuple(size for one in rivals for size in one.jobs),
            tuple(card for one in rivals for card in one.cards),
            tuple(memories),
        )

    @staticmethod
    def memory_of(split: Split) -> Memory:
        """Return what the jobs held out have of the training: what is expected of new ones."""
        return memory(split.held_out, [split], is_known=False, seed=SEED)


def by_generator(tables: Sequence[tuple[str, str]]) -> Mapping[str, list[tuple[int, str]]]:
    """
    Return the places of *tables*, each a name and the seed that it states, by generator, with their seeds.

    >>> dict(by_generator([("tvae-1", ""), ("lublin", "7"), ("tvae-2", "")]))
    {'tvae': [(0, '1'), (2, '2')], 'lublin': [(1, '7')]}
    """
    numbered = [NUMBERED.fullmatch(name) for name, _ in tables]
    stems = [found[1] for found in numbered if found]
    groups: dict[str, list[tuple[int, str]]] = {}
    for place, ((name, seed), found) in enumerate(zip(tables, numbered, strict=True)):
        is_one_of_several = found is not None and stems.count(found[1]) > 1
        key = found[1] if found and is_one_of_several else name
        groups.setdefault(key, []).append((place, seed or (found[2] if found and is_one_of_several else "")))
    return groups
