"""The model of this project: users, their sessions, bags of tasks in them, and jobs that are alike."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models import Model
from gwa.models._bags import in_time, pieces
from gwa.models._contents import Contents
from gwa.models._knots import Knots
from gwa.models._likeness import InBags
from gwa.models._parameters import Quantity, share
from gwa.models._places import Places, UserScores
from gwa.models._regulation import CROWD, MEMORY, backlog, picked, strength
from gwa.models._rhythm import Rhythm
from gwa.models._sessions import Sessions
from gwa.models._streams import Block, joined
from gwa.models.arrivals import FEWEST
from gwa.models.arrivals.modulated import SLOT, Modulated
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store import Store

SEED: Final = 2009
"""Seed of the draw that a fit is calibrated by."""

QUANTITIES: Final = 7
"""Quantities in which users differ: four of the rhythm of sessions, three of the contents of jobs."""


@dataclass(frozen=True)
class Gwa(Model):
    """
    Users come in sessions, which have bags of jobs that are alike, around the clock and in long waves.

    Sessions arrive by the hour and the day, at a rate that remembers; each belongs to a user, some of whom
    come more often. A session is what a user submits without an hour's break, a bag in it what comes without
    a break of two minutes. Each quantity has a distribution, described by a few knots, and a likeness: how
    much of it is common to the jobs of one user, one session and one bag. Processors depend on the number of
    jobs in the session, run times and requested times on both. Users hold back large sessions while much is
    submitted: who comes next is often the one there is room for. No job of the trace is kept.
    """

    arrivals: Modulated
    users: Annotated[int, Quantity("how many users there are; 0 where nobody knows", "", 0.0, 1e7)]
    popularity: Knots
    rhythm: Rhythm
    contents: Contents
    work: Annotated[float, Quantity("mean processors times run time of a session", "s", 0.0)] = 0.0
    regulation: Annotated[float, share("of sessions that come when there is room for them")] = 0.0

    name = "gwa"
    title = "Users, sessions, bags and jobs"
    source = "This project: what the other models lack, after the measures of 'gwa score'"

    @classmethod
    def fitted(cls, store: Store) -> Self:
        """Return the model of the jobs that ran."""
        found = Sessions.of(store)
        users, popularity = _popularity(found)
        contents = Contents.fit(found)
        return cls(_arrivals(found), users, popularity, Rhythm.fit(found), contents).calibrated(found)

    def calibrated(self, found: Sessions) -> Self:
        """Return the model whose draw of as many sessions is like those *found*."""
        begins = found.firsts(found.session)
        order = np.argsort(found.submit[begins], kind="stable")
        starts = found.submit[begins][order]
        real = _sums(found.session, found.run * found.procs)[order]
        rng = np.random.default_rng(SEED)
        places, drawn = _Crowd(self, rng).draw(starts.size)
        own = InBags.of(places.bag_of_job, drawn["n_procs"], drawn["run_time"])
        contents = self.contents.nearer(own, InBags.of(found.bag, found.procs, found.run))
        nearer = replace(self, contents=contents)
        places, drawn = _Crowd(nearer, rng).draw(starts.size)
        work = _sums(places.session_of_job, drawn["run_time"] * drawn["n_procs"])
        regulation = strength(starts, work, backlog(starts, real), rng)
        return replace(nearer, work=float(work.mean()), regulation=regulation)

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield jobs in the order of submission, without end."""
        return in_time(self._sessions(*rng.spawn(3)))

    def _sessions(
        self, when: np.random.Generator, what: np.random.Generator, who: np.random.Generator
    ) -> Iterator[tuple[float, Block]]:
        """Yield the jobs of some sessions at a time, with the arrival of the last one."""
        crowd, excess, last = _Crowd(self, what), 0.0, 0.0
        waiting = crowd.jobs(CROWD)
        rate = self.work / (self.arrivals.gap * self.arrivals.pace)
        for starts in pieces(self.arrivals.times(when)):
            line = _line(waiting, crowd.jobs(starts.size))
            work = _sums(line["session"], line["run_time"] * line["n_procs"])
            excess = (excess - rate * (starts[0] - last)) * np.exp((last - starts[0]) / MEMORY)
            chosen = picked(starts, work, rate, excess, _chosen(who, starts.size, self.regulation))
            excess = _after(starts, work[chosen], rate, excess)
            come = np.full(work.size, np.nan)
            come[chosen] = starts
            now = ~np.isnan(come[line["session"]])
            waiting = {name: column[~now] for name, column in line.items()}
            jobs = {name: column[now] for name, column in line.items() if name != "session"}
            jobs["submit_time"] = jobs["submit_time"] + come[line["session"][now]]
            last = float(starts[-1])
            yield last, jobs

    def paced(self, factor: float) -> Self:
        """Return the model with times between sessions that are *factor* times as long."""
        return replace(self, arrivals=self.arrivals.paced(factor))

    def within(self, cpus: int) -> Self:
        """Return the model for a system of *cpus* processors: larger jobs get all of them."""
        return replace(self, contents=self.contents.within(cpus))


class _Crowd:
    """Sessions without end, drawn one after another, their users once and for all."""

    def __init__(self, model: Gwa, rng: np.random.Generator) -> None:
        ranks = np.arange(max(model.users, 1))
        shares = np.maximum(model.popularity.quantiles((ranks + 0.5) / ranks.size), 1.0)
        self.model, self.rng, self.shares = model, rng, shares / shares.sum()
        self.scores = UserScores.drawn(rng, self.shares, QUANTITIES)

    def jobs(self, sessions: int) -> Block:
        """Return the jobs of so many sessions; *session* numbers them."""
        places, found = self.draw(sessions)
        return found | {"session": places.session_of_job}

    def draw(self, sessions: int) -> tuple[Places, Block]:
        """Return the jobs of so many sessions and their places, submitted from second 0 of each session."""
        user = self.rng.choice(self.shares.size, sessions, p=self.shares)
        places, since = self.model.rhythm.draw(self.rng, self.scores, user)
        found: Block = {"submit_time": since} | self.model.contents.draw(self.rng, places)
        if self.model.users:
            found["user_id"] = user[places.session_of_job] + 1
        return places, found


def _sums(group: Ints, amounts: Floats) -> Floats:
    """Return the sum of the *amounts* of each group; none is empty."""
    return np.bincount(group, amounts).astype(np.float64)


def _line(waiting: Block, new: Block) -> Block:
    """Return the jobs of sessions that wait before those of new ones; sessions are numbered in that order."""
    _, first = np.unique(waiting["session"], return_inverse=True)
    return joined([waiting | {"session": first}, new | {"session": new["session"] + CROWD}])


def _chosen(rng: np.random.Generator, n: int, part: float) -> Ints:
    """Return 1 for a *part* of *n*, and 0 for the others."""
    found: Ints = (rng.random(n) < part).astype(np.int64)
    return found


def _after(starts: Floats, work: Floats, rate: float, excess: float) -> float:
    """Return what is submitted beyond the *rate* after the last of *starts*."""
    passed = starts[-1] - starts
    ages = np.exp(-passed / MEMORY)
    steps = np.diff(starts) * rate
    return float(excess * ages[0] + (work * ages).sum() - (steps * ages[:-1]).sum())


def _arrivals(found: Sessions) -> Modulated:
    """
    Return the arrivals of sessions; raise `ModelError` where they are too few.

    Hours and days are those of jobs: sessions in busy hours have more of them, too.
    """
    starts = found.submit[found.firsts(found.session)]
    if np.unique(starts).size < FEWEST:
        raise ModelError(f"arrivals: {starts.size} sessions, expected at least {FEWEST} at different moments")
    sessions, jobs = (Modulated.of(Sample.of(np.floor(times / SLOT))) for times in (starts, found.submit))
    return replace(sessions, hours=jobs.hours, days=jobs.days)


def _popularity(found: Sessions) -> tuple[int, Knots]:
    """Return the number of users, 0 where nobody is known, and how many sessions they have."""
    if not found.has_users:
        return 0, Knots((1.0, 1.0), (0.0, 1.0))
    sessions = np.bincount(found.user[found.firsts(found.session)])
    return sessions.size, Knots.fit(Sample.of(sessions))
