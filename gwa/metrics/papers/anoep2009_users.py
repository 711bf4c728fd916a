"""
The users of a trace by rank, as the thesis models them.

Source: S. D. Anoep, thesis (2009), section 4.3, tables 4.19 and 4.20.
"""

from dataclasses import dataclass

import numpy as np

from gwa.statistics.fit import Fits, measured
from gwa.statistics.sample import Sample
from gwa.statistics.zipf import Zipf, by_rank, rank_p_value
from gwa.store.store import Store


@dataclass(frozen=True)
class UserRanking:
    """
    Users ranked by tasks, and the Zipf distributions that describe their shares (tables 4.19, 4.20).

    *likely* is the maximum-likelihood fit; *least_squares*, on the probabilities, is the one that gives
    the thesis' numbers. *dominant* is the number of the first users who together have less than half of
    the tasks: the text says the first who have half, but its table counts one less.
    """

    ranks: Sample
    likely: Zipf
    least_squares: Zipf
    dominant: int

    def fits(self) -> Fits:
        """Return both fits with their likelihoods and distances, the likelier first."""
        return Fits(tuple(measured(fit, self.ranks) for fit in (self.likely, self.least_squares)))

    def p_value(self, n: int, replicates: int, seed: int) -> float:
        """Return the bootstrap p-value of the likelier on *n* jobs, see `rank_p_value`."""
        return rank_p_value(self.ranks, np.random.default_rng(seed), n, replicates)


def ranked_users(store: Store) -> UserRanking:
    """Return the ranking of users; a `FitError` where there are fewer than two."""
    counts = store.sample("n", "(select count(*) as n from jobs where user_id is not null group by user_id)")
    ranks = by_rank(counts.expand())
    below = int(np.searchsorted(ranks.cumulative, ranks.n / 2, side="left"))
    return UserRanking(ranks, Zipf.fit(ranks), Zipf.least_squares(ranks), below)
