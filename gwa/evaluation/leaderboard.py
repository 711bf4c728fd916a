"""
The leaderboard of models: fitted to half of the weeks of each trace, scored on the other half, both ways.

For each trace, each half, each seed and each measure the models are ranked by their distance from the jobs
held out; who makes nothing that can be measured shares the last rank. The rank of an aspect is the mean over
its measures, and the mean rank that over aspects, so that none counts more for having more measures.
Replayed training weeks, and their jobs resampled, are references: they know no parameters, and are not
ranked.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, TypeAlias

import numpy as np

from gwa.errors import ModelError
from gwa.evaluation.holdout import HALVES, held_out, training
from gwa.evaluation.job_arrays import JobArrays, bootstrapped
from gwa.evaluation.score_cache import ScoreCache, content
from gwa.evaluation.scorecard import Reference
from gwa.models.base import Model, models
from gwa.models.generate import GenerationRequest
from gwa.models.streams import Extent
from gwa.store.store import Store
from gwa.util.progress import SILENT, Progress

REPLAY, RESAMPLED = "replay of the training weeks", "jobs resampled one by one"
REFERENCES: Final = (REPLAY, RESAMPLED)

Case: TypeAlias = tuple[str, str]
"""A trace by its name, and the weeks that models were fitted to."""

Numbers: TypeAlias = Mapping[str, float | None]
"""A number for each measure by its id; None where it cannot be told."""


@dataclass(frozen=True)
class LeaderboardEntry:
    """The *distances* of the jobs that *model* made with a *seed* in a *case*; none where it made none."""

    case: Case
    model: str
    seed: int
    distances: Numbers


@dataclass(frozen=True)
class LeaderboardResults:
    """All entries, the noise *floors* of each case, and in words what could not be done."""

    entries: tuple[LeaderboardEntry, ...]
    floors: Mapping[Case, Numbers]
    notes: tuple[str, ...]


def compete(
    traces: Iterable[tuple[str, Store]],
    names: Sequence[str],
    seeds: int,
    kept: ScoreCache | None = None,
    progress: Progress = SILENT,
) -> LeaderboardResults:
    """
    Return how far the models called *names*, fitted and scored on all *traces*, are from jobs held out.

    A model that cannot be fitted to a trace has no distances there, and a note says why. Traces are taken
    one after another; what is *kept* is not found out again. Raise `TraceError` for a trace that is too short
    to hold half of it out.
    """
    kept = kept or ScoreCache()
    entries: list[LeaderboardEntry] = []
    floors: dict[Case, Numbers] = {}
    notes: dict[str, None] = {}
    for trace, store in traces:
        jobs = content(store)
        with progress.step(trace, len(HALVES) * len(REFERENCES + tuple(names))) as bar:
            for parity, half in HALVES.items():
                with closing(_Contest(store, parity)) as contest:
                    floors[trace, half] = kept.answer((jobs, half), contest.floors)
                    for name in (*REFERENCES, *names):
                        for seed in range(1, seeds + 1):
                            ask = (jobs, half, name, seed)
                            found = kept.answer(ask, partial(contest.score, name, seed))
                            entries.append(LeaderboardEntry((trace, half), name, seed, found["distances"]))
                            if "note" in found:
                                notes[f"{trace}, fitted to {half} weeks: {found['note']}"] = None
                        bar.advance()
    return LeaderboardResults(tuple(entries), floors, tuple(notes))


class _Contest:
    """Models that are fitted to the weeks of one *parity* of a trace, and scored on the others."""

    def __init__(self, store: Store, parity: int) -> None:
        self._store, self._parity = store, parity
        self._fitted: tuple[str, Model | ModelError] | None = None

    def floors(self) -> Numbers:
        """Return the noise floors of all measures."""
        return {name: floor.height for name, floor in self._reference.floors.items()}

    def score(self, name: str, seed: int) -> dict[str, Any]:
        """Return the *distances* of the jobs that a model or reference makes; a *note*, if it makes none."""
        if name == REPLAY:
            return {"distances": self._replayed}
        if name == RESAMPLED:
            return {"distances": self._distances(bootstrapped(self._past, np.random.default_rng(seed)))}
        fitted = self._fit(name)
        if isinstance(fitted, ModelError):
            return {"distances": {}, "note": str(fitted)}
        real = self._reference.workload
        order = GenerationRequest(fitted, Extent(jobs=len(real)), seed)
        return {"distances": self._distances(JobArrays.made(order.blocks(), real.cpus))}

    def close(self) -> None:
        """Close the store of the weeks that models are fitted to, if there is one."""
        if "_known" in vars(self):
            self._known.close()

    @cached_property
    def _reference(self) -> Reference:
        return Reference.of(held_out(self._store, self._parity))

    @cached_property
    def _known(self) -> Store:
        return training(self._store, self._parity)

    @cached_property
    def _past(self) -> JobArrays:
        return JobArrays.of(self._known)

    @cached_property
    def _replayed(self) -> Numbers:
        return self._distances(self._past)

    def _fit(self, name: str) -> Model | ModelError:
        """Return the model fitted, or why it cannot be; the last one is kept for the next seed."""
        if self._fitted is None or self._fitted[0] != name:
            try:
                self._fitted = name, models()[name].fit(self._known)
            except ModelError as error:
                self._fitted = name, error
        return self._fitted[1]

    def _distances(self, made: JobArrays) -> Numbers:
        return {line.measure.id: line.distance for line in self._reference.score(made).lines}
