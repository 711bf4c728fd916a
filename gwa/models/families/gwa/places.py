"""Where jobs belong: to bags, sessions and users, each with normal scores of its own for each quantity."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from gwa.models.families.gwa.likeness import Likeness
from gwa.statistics.sample import Floats


@dataclass(frozen=True, eq=False)
class UserScores:
    """The normal *scores* of users, a row for each quantity."""

    scores: Floats

    @classmethod
    def drawn(cls, rng: np.random.Generator, share: Floats, quantities: int) -> Self:
        """
        Return scores that are standard normal over all sessions, of which users have their *share*.

        The users stand in line in an order drawn for each quantity, each as broad as their share of the
        sessions; the score is that of their middle. So one heavy user is ordinary, and light ones
        are extreme on either side.
        """
        rows = np.empty((quantities, share.size))
        for row in rows:
            order = rng.permutation(share.size)
            row[order] = ndtri(np.cumsum(share[order]) - share[order] / 2)
        return cls(rows)


@dataclass(frozen=True, eq=False)
class Places:
    """The user of each session, and how many bags it has; and how many jobs each bag has."""

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
        """The place of the first job of each bag."""
        return np.cumsum(self.jobs) - self.jobs

    @cached_property
    def first_bags(self) -> NDArray[np.int64]:
        """The place of the first bag of each session."""
        return np.cumsum(self.bags) - self.bags

    def scores_of_sessions(self, rng: np.random.Generator, likeness: Likeness, quantity: int) -> Floats:
        """Return a normal score for each session, alike by user."""
        return likeness.score(rng, self.user.size, (self.users.scores[quantity], self.user))

    def scores_of_bags(self, rng: np.random.Generator, likeness: Likeness, quantity: int) -> Floats:
        """Return a normal score for each bag, alike by user and session."""
        of_session = rng.standard_normal(self.user.size)
        by_user = (self.users.scores[quantity], self.user[self.session_of_bag])
        return likeness.score(rng, self.session_of_bag.size, by_user, (of_session, self.session_of_bag))

    def scores_of_jobs(self, rng: np.random.Generator, likeness: Likeness, quantity: int) -> Floats:
        """Return a normal score for each job, alike by user, session and bag."""
        of_session, of_bag = rng.standard_normal(self.user.size), rng.standard_normal(self.jobs.size)
        by_user = (self.users.scores[quantity], self.user[self.session_of_job])
        by_session, by_bag = (of_session, self.session_of_job), (of_bag, self.bag_of_job)
        return likeness.score(rng, self.bag_of_job.size, by_user, by_session, by_bag)
