"""The hierarchy of users, sessions, bags and jobs, and normal scores that are common within its levels."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from gwa.models.families.gwa.similarity import Likeness
from gwa.statistics.sample import Floats

CURVE: Final = 1024
"""Maximum number of scores of a curve."""

MINIMUM_SCORES: Final = 50
"""Minimum number of scores for a curve."""


class EvenScores:
    """
    The distributions of scores over the jobs of the users that were drawn, so that shares are uniform.

    Scores are standard normal over many draws of users. In one workload a few users have most of the jobs,
    and each of their quantities is theirs by chance: over its jobs, shares of a normal distribution are not
    even, nor is the load from seed to seed. The draw in `learn` gives the curves by which shares are even.
    """

    def __init__(self) -> None:
        self._curves: dict[tuple[int, ...], Floats] = {}
        self._learning = False

    def learn(self, draw: Callable[[], object]) -> None:
        """Learn the curves of the scores that are converted while *draw* runs."""
        self._learning = True
        draw()
        self._learning = False

    def shares(self, key: tuple[int, ...], scores: Floats) -> Floats:
        """Return the shares of *scores* of the quantity and class *key*, normal ones if it has no curve."""
        if self._learning and scores.size >= MINIMUM_SCORES:
            m = min(scores.size, CURVE)
            middle = (np.arange(m) + 0.5) / m * scores.size
            self._curves[key] = np.sort(scores)[middle.astype(np.int64)]
        normal: Floats = ndtr(scores)
        if key not in self._curves:
            return normal
        curve = self._curves[key]
        low, high = ndtr(curve[0]), ndtr(curve[-1])
        edge = 0.5 / curve.size
        inside = np.interp(scores, curve, (np.arange(curve.size) + 0.5) / curve.size)
        below = np.where(scores < curve[0], edge * normal / max(low, 1e-300), inside)
        return np.where(scores > curve[-1], 1 - edge * (1 - normal) / max(1 - high, 1e-300), below)


@dataclass(frozen=True, eq=False)
class UserScores:
    """The normal *scores* of users, one row for each quantity, and how shares come from scores (*even*)."""

    scores: Floats
    even: EvenScores = field(default_factory=EvenScores)

    @classmethod
    def draw(cls, rng: np.random.Generator, share: Floats, quantities: int) -> Self:
        """
        Draw scores that are standard normal over all sessions, of which each user has a *share*.

        For each quantity the users divide the unit interval in random order, each by the share of the
        sessions; the score is that of the middle of a user's part. Thus a single heavy user is ordinary, and
        light users are extreme in either direction.
        """
        rows = np.empty((quantities, share.size))
        for row in rows:
            order = rng.permutation(share.size)
            row[order] = ndtri(np.cumsum(share[order]) - share[order] / 2)
        return cls(rows)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The *user* of each session, the number of *bags* of each session, and of *jobs* of each bag."""

    users: UserScores
    user: NDArray[np.int64]
    bags: NDArray[np.int64]
    jobs: NDArray[np.int64]

    @cached_property
    def session_of_bag(self) -> NDArray[np.int64]:
        """The session of each bag."""
        return np.repeat(np.arange(self.bags.size), self.bags)

    @cached_property
    def bag_of_job(self) -> NDArray[np.int64]:
        """The bag of each job."""
        return np.repeat(np.arange(self.jobs.size), self.jobs)

    @cached_property
    def session_of_job(self) -> NDArray[np.int64]:
        """The session of each job."""
        return self.session_of_bag[self.bag_of_job]

    @cached_property
    def first_jobs(self) -> NDArray[np.int64]:
        """The index of the first job of each bag."""
        return np.cumsum(self.jobs) - self.jobs

    @cached_property
    def first_bags(self) -> NDArray[np.int64]:
        """The index of the first bag of each session."""
        return np.cumsum(self.bags) - self.bags

    def draw_session_scores(self, rng: np.random.Generator, likeness: Likeness, quantity: int) -> Floats:
        """Draw a normal score for each session, correlated by user."""
        return likeness.draw(rng, self.user.size, (self.users.scores[quantity], self.user))

    def draw_bag_scores(self, rng: np.random.Generator, likeness: Likeness, quantity: int) -> Floats:
        """Draw a normal score for each bag, correlated by user and session."""
        of_session = rng.standard_normal(self.user.size)
        by_user = (self.users.scores[quantity], self.user[self.session_of_bag])
        return likeness.draw(rng, self.session_of_bag.size, by_user, (of_session, self.session_of_bag))

    def draw_job_scores(self, rng: np.random.Generator, likeness: Likeness, quantity: int) -> Floats:
        """Draw a normal score for each job, correlated by user, session and bag."""
        of_session, of_bag = rng.standard_normal(self.user.size), rng.standard_normal(self.jobs.size)
        by_user = (self.users.scores[quantity], self.user[self.session_of_job])
        by_session, by_bag = (of_session, self.session_of_job), (of_bag, self.bag_of_job)
        return likeness.draw(rng, self.bag_of_job.size, by_user, by_session, by_bag)
