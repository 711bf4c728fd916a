"""
The leaderboard of models: fitted to half of the weeks of each trace, scored on the other half, both ways.

For each trace, each half, each seed and each measure the models are ranked by their distance from the jobs
held out; who makes nothing that can be measured shares the last rank. The rank of an aspect is the mean over
its measures, and the mean rank that over aspects, so that none counts more for having more measures.
Replayed training weeks, and their jobs resampled, are references: they know no parameters, and are not
ranked.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from gwa.errors import ModelError
from gwa.models import Model, models
from gwa.models._streams import Extent
from gwa.models.workload import Order
from gwa.progress import SILENT, Progress
from gwa.store import Store
from gwa.studies.heldout import HALVES, held_out, training
from gwa.studies.score import Reference
from gwa.studies.workload import Workload, bootstrapped

REPLAY, RESAMPLED = "replay of the training weeks", "jobs resampled one by one"
REFERENCES: Final = (REPLAY, RESAMPLED)

Case: TypeAlias = tuple[str, str]
"""A trace by its name, and the weeks that models were fitted to."""

Numbers: TypeAlias = Mapping[str, float | None]
"""A number for each measure by its id; None where it cannot be told."""


@dataclass(frozen=True)
class Entry:
    """The *distances* of the jobs that *model* made with a *seed* in a *case*; none where it made none."""

    case: Case
    model: str
    seed: int
    distances: Numbers


@dataclass(frozen=True)
class Results:
    """All entries, the noise *floors* of each case, and in words what could not be done."""

    entries: tuple[Entry, ...]
    floors: Mapping[Case, Numbers]
    notes: tuple[str, ...]


def compete(
    traces: Iterable[tuple[str, Store]], names: Sequence[str], seeds: int, progress: Progress = SILENT
) -> Results:
    """
    Return how far the models called *names*, fitted and scored on all *traces*, are from jobs held out.

    A model that cannot be fitted to a trace has no distances there, and a note says why. Traces are taken
    one after another. Raise `TraceError` for one that is too short to hold half of it out.
    """
    entries: list[Entry] = []
    floors: dict[Case, Numbers] = {}
    notes: list[str] = []
    for trace, store in traces:
        with progress.step(trace, len(HALVES) * (len(names) + 1)) as bar:
            for parity, half in HALVES.items():
                case, reference = (trace, half), Reference.of(held_out(store, parity))
                floors[case] = {name: floor.height for name, floor in reference.floors.items()}
                with training(store, parity) as known:
                    contest = _Contest(case, reference, known, seeds)
                    entries += contest.references()
                    bar.advance()
                    for name in names:
                        entries += contest.entries(name, notes)
                        bar.advance()
    return Results(tuple(entries), floors, tuple(notes))


@dataclass(frozen=True)
class _Contest:
    """One case: models are fitted to the jobs *known*, and compared with a *reference*."""

    case: Case
    reference: Reference
    known: Store
    seeds: int

    def references(self) -> Iterator[Entry]:
        """Yield the entries of what is no model."""
        past = Workload.of(self.known)
        replayed = self._distances(past)
        for seed in range(1, self.seeds + 1):
            drawn = bootstrapped(past, np.random.default_rng(seed))
            yield Entry(self.case, REPLAY, seed, replayed)
            yield Entry(self.case, RESAMPLED, seed, self._distances(drawn))

    def entries(self, name: str, notes: list[str]) -> Iterator[Entry]:
        """Yield the entries of a model; a note where it cannot be fitted."""
        try:
            fitted = models()[name].fit(self.known)
        except ModelError as error:
            notes.append(f"{self.case[0]}, fitted to {self.case[1]} weeks: {error}")
            fitted = None
        for seed in range(1, self.seeds + 1):
            distances = self._distances(self._made(fitted, seed)) if fitted else {}
            yield Entry(self.case, name, seed, distances)

    def _made(self, fitted: Model, seed: int) -> Workload:
        """Return as many jobs as are held out."""
        order = Order(fitted, Extent(jobs=len(self.reference.workload)), seed)
        return Workload.made(order.blocks(), self.reference.workload.cpus)

    def _distances(self, made: Workload) -> Numbers:
        return {line.measure.id: line.distance for line in self.reference.score(made).lines}
