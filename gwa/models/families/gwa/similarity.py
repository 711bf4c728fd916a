"""The similarity of jobs of a user, session and bag: nested shares of the variance of normal scores."""

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
    The shares of the variance of a normal score that are common to a *user*, a *session*, and a *bag*.

    The remainder is independent. A normal score is the quantile of the standard normal distribution with the
    same rank, so that likeness is independent of the distribution of the quantity (a Gaussian copula).
    """

    user: Annotated[float, share("of the variance that is a user's")] = 0.0
    session: Annotated[float, share("that is a session's")] = 0.0
    bag: Annotated[float, share("that is a bag's")] = 0.0

    def check(self) -> None:
        """Refuse shares that add up to more than 1."""
        if self.user + self.session + self.bag > 1 + 1e-9:
            raise ModelError("user, session, bag: add up to more than 1")

    @classmethod
    def fit(cls, scores: Floats, *groups: Ints) -> Self:
        """
        Fit the likeness to *scores* of mean 0 and variance 1.

        *groups* number the user, the session and the bag of each score, as far as they apply, from the
        outermost on. The common variance of a level is the mean product of a score with those of other
        members of its group that are in no inner group.
        """
        common: list[float] = []
        for level, group in enumerate(groups):
            inner = groups[level + 1] if level + 1 < len(groups) else None
            common.append(max(_common_variance(scores, group, inner), *common, 0.0))
        shares = np.diff(np.minimum(np.concatenate(([0.0], common)), 1.0))
        return cls(*(float(fraction) for fraction in shares))

    def draw(self, rng: np.random.Generator, n: int, *levels: tuple[Floats, NDArray[np.int64]]) -> Floats:
        """
        Draw *n* normal scores.

        Each of *levels* has the scores of groups, and the group of each of the *n*; the levels are users,
        sessions and bags, as far as they apply.
        """
        shares = (self.user, self.session, self.bag)[: len(levels)]
        total: Floats = np.sqrt(max(1 - sum(shares), 0.0)) * rng.standard_normal(n)
        for fraction, (scores, group) in zip(shares, levels, strict=True):
            total += np.sqrt(fraction) * scores[group]
        return total


@dataclass(frozen=True)
class Repetition:
    """
    How much consecutive jobs of sessions repeat each other.

    *uniform* is the share of bags of two or more jobs with one number of processors; *keeps* is the share of
    jobs in other bags with the processors of the job before, and *stays* that of bags which start with those
    of the bag before in the session. *spread* is the mean square deviation of ln(1 + run time) in bags.
    """

    uniform: float
    keeps: float
    stays: float
    spread: float

    @classmethod
    def of(cls, session: Ints, bag: Ints, procs: Ints, run: Floats) -> Self:
        """Measure the repetition of jobs that are sorted by session and bag."""
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


def _mean(values: NDArray[Any], default: float = 0.0) -> float:
    return float(values.mean()) if values.size else default


def _common_variance(scores: Floats, group: Ints, inner: Ints | None) -> float:
    """Return the mean product of a score with the mean of its *group*, its *inner* group left out."""
    sums: Floats = np.bincount(group, scores)[group].astype(np.float64)
    sizes = np.bincount(group)[group]
    if inner is None:
        sums, sizes = sums - scores, sizes - 1
    else:
        sums, sizes = sums - np.bincount(inner, scores)[inner], sizes - np.bincount(inner)[inner]
    shared = sizes > 0
    return _mean(scores[shared] * sums[shared] / sizes[shared])


def normal_scores(values: Floats | Ints) -> Floats:
    """Return the normal scores of *values*, equal ones at their middle rank, with mean 0 and variance 1."""
    _, rank, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1)
    return standardize(ndtri(middle)[rank])


def standardize(values: Floats) -> Floats:
    """Scale *values* to mean 0 and variance 1; all 0 if they are equal."""
    deviation = values.std() if values.size else 0.0
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros(values.size)
