"""The model of this project: users, their sessions, bags of tasks in them, and jobs that are alike."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.arrival_process import FEWEST
from gwa.models.arrivals.modulated import SLOT, Modulated
from gwa.models.bag_streams import in_time, pieces
from gwa.models.base import Model
from gwa.models.families.gwa.contents import Contents
from gwa.models.families.gwa.likeness import Repetition
from gwa.models.families.gwa.places import Places, UserScores
from gwa.models.families.gwa.regulation import CROWD, backlog, beginning, by_fit, picked, strength
from gwa.models.families.gwa.rhythm import Rhythm
from gwa.models.families.gwa.sessions import Sessions
from gwa.models.knots import Knots
from gwa.models.parameters import Quantity, share
from gwa.models.streams import Block, joined
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store.store import Store

SEED: Final = 2009
"""Seed of the draw that a fit is calibrated by."""

ROUNDS: Final = 3
"""How often a fit draws jobs, to see how alike they are."""

DRAWS: Final = 5
"""How often it draws them to see how much work comes at once."""

MOST: Final = 30_000
"""Sessions of such a draw."""

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

    Most numbers are knots of curves: 2346, 1540 and 1183 for the logs of KTH, SDSC's Paragon and NASA.
    Fitted to half of the weeks and scored on the others, half as many, by two classes of sessions instead of
    five, come nearly as close; what a scheduler sees is then within noise on one log less of eight.
    Of fewer knots a curve, 12 cost 6 % of the mean distance and 8 cost 22 %.
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
        rng = np.random.default_rng(SEED)
        size = found.firsts(found.session).size
        wanted, nearer = Repetition.of(found.session, found.bag, found.procs, found.run), self
        for _ in range(ROUNDS):
            places, drawn = _Crowd(nearer, rng).draw(min(size, MOST))
            got = Repetition.of(places.session_of_job, places.bag_of_job, drawn["n_procs"], drawn["run_time"])
            nearer = replace(nearer, contents=nearer.contents.nearer(got, wanted))
        return nearer.regulated(found, rng)

    def regulated(self, found: Sessions, rng: np.random.Generator) -> Self:
        """Return the model that has as much work before it as those *found*, in the mean over draws."""
        begins = found.firsts(found.session)
        order = np.argsort(found.submit[begins], kind="stable")
        starts = found.submit[begins][order]
        real = _sums(found.session, found.run * found.procs)[order]
        lines = []
        for _ in range(DRAWS):
            places, drawn = _Crowd(self, rng).draw(min(starts.size, MOST))
            times = np.concatenate(list(_first(self.arrivals.times(rng), min(starts.size, MOST))))
            lines.append((times, _sums(places.session_of_job, drawn["run_time"] * drawn["n_procs"])))
        work = float(np.mean([work.mean() for _, work in lines]))
        return replace(self, work=work, regulation=strength(lines, backlog(starts, real), rng))

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield jobs in the order of submission, without end."""
        return in_time(self._sessions(*rng.spawn(3)))

    def _sessions(
        self, when: np.random.Generator, what: np.random.Generator, who: np.random.Generator
    ) -> Iterator[tuple[float, Block]]:
        """Yield the jobs of some sessions at a time, with the arrival of the last one."""
        crowd, known = _Crowd(self, what), beginning(self.arrivals.gap * self.arrivals.pace)
        waiting = crowd.jobs(CROWD)
        for starts in pieces(self.arrivals.times(when)):
            line = _line(waiting, crowd.jobs(starts.size))
            work = _sums(line["session"], line["run_time"] * line["n_procs"])
            chosen = picked(starts, work, self.work, known, by_fit(who.random(starts.size), self.regulation))
            come = np.full(work.size, np.nan)
            come[chosen] = starts
            now = ~np.isnan(come[line["session"]])
            waiting = {name: column[~now] for name, column in line.items()}
            jobs = {name: column[now] for name, column in line.items() if name != "session"}
            jobs["submit_time"] = jobs["submit_time"] + come[line["session"][now]]
            yield float(starts[-1]), jobs

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


def _first(blocks: Iterator[Floats], n: int) -> Iterator[Floats]:
    """Yield the first *n* numbers of an endless stream."""
    while n:
        block = next(blocks)[:n]
        n -= block.size
        yield block


def _sums(group: Ints, amounts: Floats) -> Floats:
    """Return the sum of the *amounts* of each group; none is empty."""
    return np.bincount(group, amounts).astype(np.float64)


def _line(waiting: Block, new: Block) -> Block:
    """Return the jobs of sessions that wait before those of new ones; sessions are numbered in that order."""
    _, first = np.unique(waiting["session"], return_inverse=True)
    return joined([waiting | {"session": first}, new | {"session": new["session"] + CROWD}])


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
