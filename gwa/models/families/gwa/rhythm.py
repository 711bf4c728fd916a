"""The rhythm of sessions: how many bags they have, how many jobs those have, and the times between."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import ndtr

from gwa.models.families.gwa.likeness import Likeness, normal_scores
from gwa.models.families.gwa.places import Places, UserScores
from gwa.models.families.gwa.sessions import PAUSE, Sessions
from gwa.models.knots import Knots
from gwa.models.parameters import Parameters
from gwa.statistics.sample import Floats, Ints, Sample


@dataclass(frozen=True)
class Alike(Parameters):
    """A quantity: the distribution of its *values*, and how alike they are in a group (*likeness*)."""

    values: Knots
    likeness: Likeness

    @classmethod
    def fit(cls, values: Floats | Ints, *groups: Ints) -> Self:
        """Return the quantity of *values* and the groups that they are in; 0 where there are none."""
        if not values.size:
            return cls(Knots((0.0, 0.0), (0.0, 1.0)), Likeness())
        return cls(Knots.fit(Sample.of(np.floor(values))), Likeness.fit(normal_scores(values), *groups))

    def drawn(self, scores: Floats) -> Floats:
        """Return the values of normal *scores*."""
        return self.values.quantiles(ndtr(scores))


@dataclass(frozen=True)
class Rhythm(Parameters):
    """
    What sessions look like: *bags* in a session, *jobs* in a bag, and seconds between bags and between jobs.

    There is a *pause* of two minutes or more from the last job of a bag to the next bag, and a
    *gap* of less from one job of a bag to the next.
    """

    bags: Alike
    jobs: Alike
    pause: Alike
    gap: Alike

    @classmethod
    def fit(cls, found: Sessions) -> Self:
        """Return the rhythm of sessions."""
        sessions, bags = found.firsts(found.session), found.firsts(found.bag)
        jobs = np.bincount(found.bag)
        pauses = bags[~np.isnan(found.gap[bags])]
        inside = np.flatnonzero(found.gap < PAUSE)
        inside = inside[np.diff(found.bag, prepend=-1)[inside] == 0]
        return cls(
            Alike.fit(np.bincount(found.session[bags]), found.user[sessions]),
            Alike.fit(jobs, found.user[bags], found.session[bags]),
            Alike.fit(found.gap[pauses], found.user[pauses], found.session[pauses]),
            Alike.fit(found.gap[inside], found.user[inside], found.session[inside], found.bag[inside]),
        )

    def draw(self, rng: np.random.Generator, users: UserScores, user: Ints) -> tuple[Places, Floats]:
        """Return bags and jobs of the sessions of *user*, and the seconds from each session's first job."""
        none = np.zeros(0, np.int64)
        of_session = Places(users, user, none, none).scores_of_sessions(rng, self.bags.likeness, 0)
        bags = np.maximum(self.bags.drawn(of_session), 1).astype(np.int64)
        of_bag = Places(users, user, bags, none).scores_of_bags(rng, self.jobs.likeness, 1)
        jobs = np.maximum(self.jobs.drawn(of_bag), 1).astype(np.int64)
        places = Places(users, user, bags, jobs)
        gaps = self.gap.drawn(places.scores_of_jobs(rng, self.gap.likeness, 2))
        pauses = self.pause.drawn(places.scores_of_bags(rng, self.pause.likeness, 3))
        gaps[places.first_jobs] = pauses
        begins = places.first_jobs[places.first_bags]
        gaps[begins] = 0.0
        total = np.cumsum(gaps)
        return places, total - total[begins][places.session_of_job]
