"""How alike jobs are that a user submits: shares of the variance of normal scores, nested."""

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from gwa.errors import ModelError
from gwa.models.parameters import Parameters, share
from gwa.statistics.sample import Floats, Ints


@dataclass(frozen=True)
class Likeness(Parameters):
    """
    How much of the variance of a normal score is common to a *user*, to a *session*, and to a *bag*.

    What is left is each one's own. A normal score is the quantile of the standard normal distribution that
    has the same rank, so that likeness says nothing of the quantity's distribution (a Gaussian copula).
    """

    user: Annotated[float, share("of the variance that is a user's")] = 0.0
    session: Annotated[float, share("that is a session's")] = 0.0
    bag: Annotated[float, share("that is a bag's")] = 0.0

    def check(self) -> None:
        """Refuse shares that are more than all."""
        if self.user + self.session + self.bag > 1 + 1e-9:
            raise ModelError("user, session, bag: add up to more than 1")

    @classmethod
    def fit(cls, scores: Floats, *groups: Ints) -> Self:
        """
        Return the likeness of *scores* that have mean 0 and variance 1.

        *groups* number the user, the session and the bag of each, as far as there are such, the later within
        the earlier. What is common is the mean product of a score with those of others in its group that are
        in no smaller one.
        """
        found: list[float] = []
        for place, group in enumerate(groups):
            inner = groups[place + 1] if place + 1 < len(groups) else None
            found.append(max(_common(scores, group, inner), *found, 0.0))
        levels = np.diff(np.minimum(np.concatenate(([0.0], found)), 1.0))
        return cls(*(float(level) for level in levels))

    def score(self, rng: np.random.Generator, n: int, *levels: tuple[Floats, NDArray[np.int64]]) -> Floats:
        """
        Return *n* normal scores; *levels* are those of groups, and the group of each.

        They are those of users, sessions and bags, as far as there are such.
        """
        parts = (self.user, self.session, self.bag)[: len(levels)]
        total: Floats = np.sqrt(max(1 - sum(parts), 0.0)) * rng.standard_normal(n)
        for part, (scores, group) in zip(parts, levels, strict=True):
            total += np.sqrt(part) * scores[group]
        return total


@dataclass(frozen=True)
class Repetition:
    """
    How alike the jobs of sessions are, one after another.

    A share of the bags of several jobs is *uniform*, all of one number of processors; in the others a job
    *keeps* that of the one before with such a frequency, and from bag to bag of a session it *stays*.
    *spread* is the mean square deviation of ln(1 + run time) in bags.
    """

    uniform: float
    keeps: float
    stays: float
    spread: float

    @classmethod
    def of(cls, session: Ints, bag: Ints, procs: Ints, run: Floats) -> Self:
        """Return how alike jobs are, bag by bag and session by session in a row."""
        same, within = np.diff(procs) == 0, np.diff(bag) == 0
        between = ~within & (np.diff(session) == 0)
        sizes = np.bincount(bag)
        changes = np.bincount(bag[1:], within & ~same, sizes.size)
        mixed = (changes > 0)[bag[1:]]
        x = np.log1p(run)
        deviation = x - (np.bincount(bag, x) / np.maximum(sizes, 1))[bag]
        return cls(
            _mean(changes[sizes > 1] == 0, 1.0),
            _mean(same[within & mixed]),
            _mean(same[between]),
            _mean(deviation[(sizes > 1)[bag]] ** 2),
        )


def _mean(values: NDArray[Any], otherwise: float = 0.0) -> float:
    return float(values.mean()) if values.size else otherwise


def _common(scores: Floats, group: Ints, inner: Ints | None) -> float:
    """Return the mean over jobs of the product with the mean of others in the group, but not in *inner*."""
    sums: Floats = np.bincount(group, scores)[group].astype(np.float64)
    sizes = np.bincount(group)[group]
    if inner is None:
        sums, sizes = sums - scores, sizes - 1
    else:
        sums, sizes = sums - np.bincount(inner, scores)[inner], sizes - np.bincount(inner)[inner]
    several = sizes > 0
    return float((scores[several] * sums[several] / sizes[several]).mean()) if several.any() else 0.0


def normal_scores(values: Floats | Ints) -> Floats:
    """Return the normal scores of *values*, equal ones at their middle rank, of mean 0 and variance 1."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1)
    return standard(ndtri(middle)[place])


def standard(values: Floats) -> Floats:
    """Return *values* brought to mean 0 and variance 1; all 0 where they do not differ."""
    spread = values.std() if values.size else 0.0
    found: Floats = (values - values.mean()) / spread if spread > 0 else np.zeros(values.size)
    return found
