"""
How unlikely it is that nothing happens for so long: empty hours, and jobs that wait though there is room.

Hours without a submission follow each other, and nights and Sundays have more of them: a Markov chain of
empty hours by the hour of the week knows both. Jobs that wait while nothing runs wait longer than jobs do
when there is room, each user on their own, or many of them are freed at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gwa.statistics.sample import Floats, Ints, Sample

Flags = NDArray[np.bool_]

HOURS_OF_WEEK: Final = 168

MAXIMUM_RUNS: Final = 60
"""Only the longest runs of empty hours are tested."""

_PRIOR: Final = 4.0
"""The weight, in hours, of the mean over the week in the probability of each hour of the week."""

_MINIMUM_PROBABILITY: Final = 1e-6
"""No single hour is taken to be less likely."""

_RELEASE: Final = 0.08
"""The share of waiting users of whom a job starts by chance within half an hour of any moment."""


class EmptyRun(NamedTuple):
    """Empty hours from *first* to *after*, which is not empty, and the *probability* of any such run."""

    first: int
    after: int
    probability: float


def unlikely_runs(
    is_empty: Flags, hour_of_week: Ints, *, level: float = 0.001, minimum: int = 2
) -> list[EmptyRun]:
    """
    Return the runs of empty hours that are too long for chance, in the order of time.

    *is_empty* says of consecutive hours whether each is, *hour_of_week* which of the week it is, from 0 to
    167. Returned are runs of a probability up to *level*, of *minimum* hours or more.

    In a Markov chain, an hour is empty with one probability after an hour that was not, and with one for its
    hour of the week after an empty one. The latter is that of three neighbouring hours of the week, drawn
    towards the mean by a prior of four hours. Both are estimated without the run itself, and without longer
    runs that were found. The probability of a run is the product over its hours, times the number of hours
    (Bonferroni).
    """
    chain = _Chain.of(is_empty, hour_of_week)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_empty, [False])).astype(np.int8)))
    runs = edges.reshape(-1, 2)
    longest = runs[np.argsort(runs[:, 0] - runs[:, 1], kind="stable")][:MAXIMUM_RUNS]
    unlikely = []
    for first, after in longest.tolist():
        if after - first < minimum:
            break
        others = chain.without(hour_of_week[first:after])
        probability = others.probability(hour_of_week[first:after]) * len(is_empty)
        if probability <= level:
            unlikely.append(EmptyRun(first, after, probability))
            chain = others
    return sorted(unlikely)


@dataclass(frozen=True)
class _Chain:
    """
    How often hours are empty, by what the hour before was.

    *stayed* and *could_stay* count hours after empty ones by the hour of the week, those that were empty and
    all; *entered* and *could_enter* count hours after those that were not empty.
    """

    stayed: Floats
    could_stay: Floats
    entered: int
    could_enter: int

    @classmethod
    def of(cls, is_empty: Flags, hour_of_week: Ints) -> "_Chain":
        before = np.concatenate(([False], is_empty[:-1]))
        return cls(
            _by_hour(hour_of_week[before & is_empty]),
            _by_hour(hour_of_week[before]),
            int(np.count_nonzero(~before & is_empty)),
            int(np.count_nonzero(~before)),
        )

    def without(self, run: Ints) -> "_Chain":
        """Return the chain without a *run*, which has these hours of the week."""
        stayed = _by_hour(run[1:])
        return _Chain(self.stayed - stayed, self.could_stay - stayed, self.entered - 1, self.could_enter)

    def probability(self, run: Ints) -> float:
        """Return the probability that a run begins and lasts for these hours of the week."""
        mean = (self.stayed.sum() + 1) / (self.could_stay.sum() + 2)
        stays = (_pooled(self.stayed) + _PRIOR * mean) / (_pooled(self.could_stay) + _PRIOR)
        enters = max((self.entered + 1) / (self.could_enter + 2), _MINIMUM_PROBABILITY)
        return float(np.exp(np.log(enters) + np.log(np.maximum(stays[run[1:]], _MINIMUM_PROBABILITY)).sum()))


def _by_hour(hour_of_week: Ints) -> Floats:
    return np.bincount(hour_of_week, minlength=HOURS_OF_WEEK).astype(np.float64)


def _pooled(counts: Floats) -> Floats:
    """Return the counts of each hour of the week and of its two neighbours."""
    return counts + np.roll(counts, 1) + np.roll(counts, -1)


def survival(waits: Sample, seconds: ArrayLike) -> Floats:
    """
    Return how likely jobs are to wait for *seconds* or longer when there is room, from *waits* of such jobs.

    It is never 0: the wait in question counts as one more.

    >>> survival(Sample.of([0, 0, 60]), [0, 60, 61]).tolist()
    [1.0, 0.5, 0.25]
    """
    below = np.concatenate(([0], np.cumsum(waits.counts)))
    longer = waits.n - below[np.searchsorted(waits.values, np.asarray(seconds), side="left")]
    return (1 + longer) / (1 + waits.n)


def freed_together(waiting: int, freed: int) -> float:
    """
    Return how likely it is that *freed* or more of *waiting* users start jobs within half an hour by chance.

    One of them is certain, since the half hour begins with a start; the others are Poisson, of .08 a waiting
    user.

    >>> freed_together(5, 1), round(freed_together(5, 3), 3)
    (1.0, 0.062)
    """
    # What reads logs, and tests nothing, does not wait for it.
    from scipy.special import pdtrc

    return float(pdtrc(freed - 2, _RELEASE * waiting)) if freed > 1 else 1.0


def smallest_of(probabilities: Iterator[float] | tuple[float, ...], tries: int) -> float:
    """
    Return the smallest of *probabilities*, times their number and that of *tries* (Bonferroni), at most 1.

    >>> smallest_of((0.001, 0.5), 10)
    0.02
    """
    values = tuple(probabilities)
    return min(min(values) * len(values) * tries, 1.0)
