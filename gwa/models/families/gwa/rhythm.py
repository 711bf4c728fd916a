"""The rhythm of sessions: numbers of bags and jobs, and the think times and gaps between them."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import ndtr

from gwa.models.families.gwa.hierarchy import Hierarchy, UserScores
from gwa.models.families.gwa.sessions import PAUSE, Sessions
from gwa.models.families.gwa.similarity import Likeness, normal_scores
from gwa.models.knots import Knots
from gwa.models.parameters import Parameters
from gwa.statistics.sample import Floats, Ints, Sample


@dataclass(frozen=True)
class GroupedQuantity(Parameters):
    """A quantity: the distribution of its *values*, and their similarity within groups (*likeness*)."""

    values: Knots
    likeness: Likeness

    @classmethod
    def fit(cls, values: Floats | Ints, *groups: Ints) -> Self:
        """Fit the quantity to *values* and their *groups*; without values it is 0."""
        if not values.size:
            return cls(Knots((0.0, 0.0), (0.0, 1.0)), Likeness())
        return cls(Knots.fit(Sample.of(np.floor(values))), Likeness.fit(normal_scores(values), *groups))

    def from_scores(self, scores: Floats, users: UserScores, quantity: int) -> Floats:
        """Convert normal *scores* of a *quantity* to values."""
        return self.values.quantiles(users.even.shares((quantity,), scores))


@dataclass(frozen=True)
class Rhythm(Parameters):
    """
    The structure of sessions: *bags* in a session, *jobs* in a bag, and the seconds between them.

    A *pause* of two minutes or more separates the last job of a bag from the next bag, and a shorter *gap*
    the jobs of a bag.
    """

    bags: GroupedQuantity
    jobs: GroupedQuantity
    pause: GroupedQuantity
    gap: GroupedQuantity

    @classmethod
    def fit(cls, trace: Sessions) -> Self:
        """Fit the rhythm to the sessions of a *trace*."""
        sessions, bags = trace.first_jobs(trace.session), trace.first_jobs(trace.bag)
        jobs = np.bincount(trace.bag)
        pauses = bags[~np.isnan(trace.gap[bags])]
        inside = np.flatnonzero(trace.gap < PAUSE)
        inside = inside[np.diff(trace.bag, prepend=-1)[inside] == 0]
        return cls(
            GroupedQuantity.fit(np.bincount(trace.session[bags]), trace.user[sessions]),
            GroupedQuantity.fit(jobs, trace.user[bags], trace.session[bags]),
            GroupedQuantity.fit(trace.gap[pauses], trace.user[pauses], trace.session[pauses]),
            GroupedQuantity.fit(
                trace.gap[inside], trace.user[inside], trace.session[inside], trace.bag[inside]
            ),
        )

    def draw(self, rng: np.random.Generator, users: UserScores, user: Ints) -> tuple[Hierarchy, Floats]:
        """Draw the bags and jobs of a session for each *user*, and the seconds since its first job."""
        none = np.zeros(0, np.int64)
        session_scores = Hierarchy(users, user, none, none).draw_session_scores(rng, self.bags.likeness, 0)
        bags = np.maximum(self.bags.from_scores(session_scores, users, 0), 1).astype(np.int64)
        bag_scores = Hierarchy(users, user, bags, none).draw_bag_scores(rng, self.jobs.likeness, 1)
        jobs = np.maximum(self.jobs.from_scores(bag_scores, users, 1), 1).astype(np.int64)
        hierarchy = Hierarchy(users, user, bags, jobs)
        gaps = self.gap.values.quantiles(ndtr(hierarchy.draw_job_scores(rng, self.gap.likeness, 2)))
        pauses = self.pause.values.quantiles(ndtr(hierarchy.draw_bag_scores(rng, self.pause.likeness, 3)))
        gaps[hierarchy.first_jobs] = pauses
        first_jobs = hierarchy.first_jobs[hierarchy.first_bags]
        gaps[first_jobs] = 0.0
        elapsed = np.cumsum(gaps)
        return hierarchy, elapsed - elapsed[first_jobs][hierarchy.session_of_job]
