"""
The leaderboard of models: fitted to half of the weeks of each trace and scored on the rest, both ways.

The first half and the second one follow each other; jobs are generated for the time of the half.

For each trace, half, seed and measure the models are ranked by their distance from the held-out jobs; models
whose jobs cannot be measured share the last rank. The rank in an aspect is the mean over its measures, and
the mean rank that over aspects, so that no aspect counts more for having more measures. A second mean rank is
that on the measures that most models produce, for a field that few models have should not decide. Replayed
training weeks, and their jobs resampled, are references without parameters, and are not ranked.

Queues are compared with those of the half that models were fitted to, see `gwa.evaluation.queues`: they give
a rank of their own.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any, Final, TypeAlias

import numpy as np

from gwa.errors import ModelError
from gwa.evaluation.holdout import HALVES, held_out_half, training_half
from gwa.evaluation.job_arrays import JobArrays, bootstrap
from gwa.evaluation.queues.card import QueueReference
from gwa.evaluation.queues.numbers import Numbers as QueueNumbers
from gwa.evaluation.queues.numbers import numbers
from gwa.evaluation.queues.words import left_out
from gwa.evaluation.score_cache import ScoreCache, hash_jobs
from gwa.evaluation.scorecard import Reference
from gwa.models.base import Model, models
from gwa.models.generate import GenerationRequest
from gwa.models.streams import Extent
from gwa.store.store import Store
from gwa.util.progress import SILENT, Progress
from gwa.util.units import DAY

REPLAY, RESAMPLED = "replay of the training weeks", "jobs resampled one by one"
REFERENCES: Final = (REPLAY, RESAMPLED)

Case: TypeAlias = tuple[str, str]
"""A trace by its name, and the weeks that models were fitted to."""

Numbers: TypeAlias = Mapping[str, float | None]
"""A number for each measure by its id, None if it is unknown."""


@dataclass(frozen=True)
class LeaderboardEntry:
    """
    What *model* generates with a *seed* in a *case*; all is empty if it cannot.

    *distances* are those of the measures, *queues* the numbers of `gwa.evaluation.queues.numbers`.
    """

    case: Case
    model: str
    seed: int
    distances: Numbers
    queues: QueueNumbers = field(default_factory=dict)


@dataclass(frozen=True)
class LeaderboardResults:
    """
    All *entries*, and *notes* on models that could not be fitted and on policies that are not compared.

    Of each case there are the noise *floors* of measures, and what *queues* are compared with.
    """

    entries: tuple[LeaderboardEntry, ...]
    floors: Mapping[Case, Numbers]
    notes: tuple[str, ...]
    queues: Mapping[Case, QueueReference] = field(default_factory=dict)


def compete(
    traces: Iterable[tuple[str, Store]],
    names: Sequence[str],
    seeds: int,
    cache: ScoreCache | None = None,
    progress: Progress = SILENT,
) -> LeaderboardResults:
    """
    Fit the models called *names* to all *traces* and score them on held-out jobs.

    A model that cannot be fitted to a trace has no distances there, and a note says why. Traces are opened
    one after another, and scores in the *cache* are not computed again. Raise `TraceError` for a trace that
    is too short to hold half of it out.
    """
    cache = cache or ScoreCache()
    entries: list[LeaderboardEntry] = []
    floors: dict[Case, Numbers] = {}
    queues: dict[Case, QueueReference] = {}
    notes: dict[str, None] = {}
    for trace, store in traces:
        trace_hash = hash_jobs(store)
        with progress.step(trace, len(HALVES) * len(REFERENCES + tuple(names))) as bar:
            for half in HALVES:
                with closing(_Holdout(store, half)) as holdout:
                    floors[trace, half] = cache.get((trace_hash, half), holdout.floors)
                    known = cache.get((trace_hash, half, "queues"), holdout.queues)
                    reference = QueueReference.of_plain(known)
                    queues[trace, half] = reference
                    for sentence in left_out(reference.left_out):
                        notes[f"{trace}, fitted to the {half} half: {sentence}"] = None
                    for name in (*REFERENCES, *names):
                        for seed in range(1, seeds + 1):
                            key = (trace_hash, half, name, seed)
                            score = cache.get(key, partial(holdout.score, name, seed, reference.left_out))
                            found = score["distances"], score.get("queues", {})
                            entries.append(LeaderboardEntry((trace, half), name, seed, *found))
                            if "note" in score:
                                notes[f"{trace}, fitted to the {half} half: {score['note']}"] = None
                        bar.advance()
    return LeaderboardResults(tuple(entries), floors, tuple(notes), queues)


class _Holdout:
    """Models fitted to one *half* of a trace and scored on the other."""

    def __init__(self, store: Store, half: str) -> None:
        self._store, self._half = store, half
        self._fitted: tuple[str, Model | ModelError] | None = None

    def floors(self) -> Numbers:
        """Return the noise floors of all measures."""
        return {name: floor.height for name, floor in self._reference.floors.items()}

    def queues(self) -> dict[str, Any]:
        """Return the fields of what queues are compared with."""
        return asdict(QueueReference.of(self._training_jobs, self._reference.workload))

    def score(self, name: str, seed: int, but: Collection[str]) -> dict[str, Any]:
        """
        Return the fields of the entry of a model or reference, with a ``note`` if it has none.

        Queues have no numbers of policies that are left out of what they are compared with (*but*).
        """
        if name == REPLAY:
            return {"distances": self._replayed}
        if name == RESAMPLED:
            return self._scored(bootstrap(self._training_jobs, np.random.default_rng(seed)), but)
        fitted = self._fit(name)
        if isinstance(fitted, ModelError):
            return {"distances": {}, "note": str(fitted)}
        request = GenerationRequest(fitted, Extent(days=self._days), seed)
        return self._scored(JobArrays.from_blocks(request.blocks(), self._training_jobs.cpus), but)

    def close(self) -> None:
        """Close the store of the training weeks, if there is one."""
        if "_training" in vars(self):
            self._training.close()

    @cached_property
    def _reference(self) -> Reference:
        return Reference.of(held_out_half(self._store, self._half))

    @cached_property
    def _training(self) -> Store:
        return training_half(self._store, self._half)

    @cached_property
    def _training_jobs(self) -> JobArrays:
        return JobArrays.of(self._training).with_cpus(self._reference.workload.cpus)

    @property
    def _days(self) -> float:
        """The days of the half, by its first and last submission."""
        submit = self._training_jobs.submit
        return float(submit[-1] - submit[0]) / DAY

    @cached_property
    def _replayed(self) -> Numbers:
        return self._distances(self._training_jobs)

    def _fit(self, name: str) -> Model | ModelError:
        """Return the fitted model, or the error; the last result is cached for the next seed."""
        if self._fitted is None or self._fitted[0] != name:
            try:
                self._fitted = name, models()[name].fit(self._training)
            except ModelError as error:
                self._fitted = name, error
        return self._fitted[1]

    def _scored(self, jobs: JobArrays, but: Collection[str]) -> dict[str, Any]:
        of_the_system = jobs.with_cpus(self._training_jobs.cpus)
        return {"distances": self._distances(jobs), "queues": numbers(of_the_system, but=but)}

    def _distances(self, jobs: JobArrays) -> Numbers:
        return {line.measure.id: line.distance for line in self._reference.score(jobs).lines}
