"""
The model of this project: users, their sessions, bags of tasks in sessions, and jobs that repeat each other.

`sessions` splits a trace into sessions, `rhythm` models their structure, `contents` the jobs in them,
`similarity` and `hierarchy` what jobs of a user, session and bag have in common. `ledger` counts when
sessions of which work start, and `filling` lays those that are drawn accordingly.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.arrival_process import MINIMUM_GAPS
from gwa.models.bag_streams import order_tasks
from gwa.models.base import Model
from gwa.models.families.gwa.contents import Contents
from gwa.models.families.gwa.filling import Filling
from gwa.models.families.gwa.hierarchy import UserScores
from gwa.models.families.gwa.ledger import Ledger
from gwa.models.families.gwa.rhythm import Rhythm
from gwa.models.families.gwa.sessions import Sessions
from gwa.models.families.gwa.similarity import Repetition
from gwa.models.knots import Knots
from gwa.models.parameters import Quantity
from gwa.models.streams import Block
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.words.message import message

SEED: Final = 2009
"""Seed of the draws by which a fit is calibrated."""

REPETITION_DRAWS: Final = 3
"""Number of draws to calibrate repetition."""

SESSIONS_PER_DRAW: Final = 30_000
"""Maximum number of sessions in a draw."""

PILOT_SESSIONS: Final = 1 << 13
"""Sessions of the drawn users by which their quantities are made even."""

QUANTITIES: Final = 7
"""Quantities in which users differ: four of the rhythm of sessions, three of the contents of jobs."""


@dataclass(frozen=True)
class Gwa(Model):
    """
    Users come in sessions, which have bags of jobs that are alike, when and as large as a ledger says.

    A session is what a user submits without an hour's break, a bag in it what comes without a break of two
    minutes. Each quantity has a distribution, described by a few knots, and a likeness: how much of it is
    common to the jobs of one user, one session and one bag. Processors depend on the number of jobs in the
    session, run times and requested times on both. The ledger counts the sessions of the log by week, block
    of six hours and class of their work: weeks of it are drawn, and filled with sessions of these classes. No
    job of the trace is kept, and no user.

    The users of a workload are drawn once, and a few of them submit most jobs: what these run would decide
    the run times. Each workload therefore learns, from a first draw of its users, which share of jobs has
    which score, and gives the quantiles of the log to equal shares of jobs.
    """

    ledger: Ledger
    users: Annotated[int, Quantity("how many users there are; 0 if unknown", "", 0.0, 1e7)]
    popularity: Knots
    rhythm: Rhythm
    contents: Contents
    largest: Annotated[int | None, Quantity("maximum number of processors of a job", "", 1.0)] = None

    name = "gwa"
    title = "Users, sessions, bags and jobs"
    source = "This project: what the other models lack, after the measures of 'gwa model score'"

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """Fit the model to the jobs that ran, then calibrate it by its own draws."""
        trace = Sessions.of(store)
        ledger = _fit_ledger(trace)
        users, popularity = _fit_popularity(trace)
        model = cls(ledger, users, popularity, Rhythm.fit(trace), Contents.fit(trace))
        return model.calibrate_repetition(trace, np.random.default_rng(SEED))

    def calibrate_repetition(self, trace: Sessions, rng: np.random.Generator) -> Self:
        """Return the model whose jobs repeat each other as much as those of the *trace*."""
        sessions = min(trace.first_jobs(trace.session).size, SESSIONS_PER_DRAW)
        target, model = Repetition.of(trace.session, trace.bag, trace.procs, trace.run), self
        for _ in range(REPETITION_DRAWS):
            jobs = _SessionStream(model, rng).draw(sessions)
            drawn = Repetition.of(jobs["session"], jobs["bag"], jobs["n_procs"], jobs["run_time"])
            model = replace(model, contents=model.contents.calibrate(drawn, target))
        return model

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of jobs in the order of submission."""
        return order_tasks(self._periods(*rng.spawn(2)))

    def _periods(self, when: np.random.Generator, what: np.random.Generator) -> Iterator[tuple[float, Block]]:
        """Yield the end of a period, and the jobs of the sessions that start in it."""
        filling = Filling(self.ledger, _SessionStream(self, what).draw)
        for number, (starts, classes) in enumerate(self.ledger.draw(when), 1):
            jobs = filling.fill(starts, classes)
            jobs = {name: column for name, column in jobs.items() if name not in {"session", "bag"}}
            if self.largest:
                jobs["n_procs"] = np.minimum(jobs["n_procs"], self.largest)
            yield number * self.ledger.period * self.ledger.pace, jobs

    def scale_gaps(self, factor: float) -> Self:
        """Return the model with the time between sessions multiplied by *factor*."""
        return replace(self, ledger=replace(self.ledger, pace=self.ledger.pace * factor))

    def coarsened(self, least: int, block: float | None) -> Self:
        """Return the model with blocks of *block* seconds, if stated, and *least* sessions in each cell."""
        return replace(self, ledger=self.ledger.coarsened(least, block))

    @property
    def holds(self) -> str:
        """What of its log is in the model, in a sentence."""
        return self.ledger.holds

    def limit_processors(self, cpus: int) -> Self:
        """Return the model for a system of *cpus* processors: larger jobs get all of them."""
        return replace(self, largest=min(cpus, self.largest or cpus))


class _SessionStream:
    """An endless stream of sessions, whose users are drawn once."""

    def __init__(self, model: Gwa, rng: np.random.Generator) -> None:
        ranks = np.arange(max(model.users, 1))
        shares = np.maximum(model.popularity.quantiles((ranks + 0.5) / ranks.size), 1.0)
        self.model, self.rng, self.shares = model, rng, shares / shares.sum()
        self.scores = UserScores.draw(rng, self.shares, QUANTITIES)
        self.scores.even.learn(lambda: self.draw(PILOT_SESSIONS))

    def draw(self, sessions: int) -> Block:
        """Draw the jobs of a number of *sessions*, submitted from second 0 of each, with session and bag."""
        user = self.rng.choice(self.shares.size, sessions, p=self.shares)
        hierarchy, elapsed = self.model.rhythm.draw(self.rng, self.scores, user)
        jobs: Block = {"submit_time": elapsed} | self.model.contents.draw(self.rng, hierarchy)
        if self.model.users:
            jobs["user_id"] = user[hierarchy.session_of_job] + 1
        return jobs | {"session": hierarchy.session_of_job, "bag": hierarchy.bag_of_job}


def _fit_ledger(trace: Sessions) -> Ledger:
    """Count the sessions of a *trace*; raise `ModelError` for too few."""
    starts = trace.submit[trace.first_jobs(trace.session)]
    if np.unique(starts).size < MINIMUM_GAPS:
        raise ModelError(
            message(
                "arrivals: {sessions} sessions, expected at least {least} at different moments",
                sessions=starts.size,
                least=MINIMUM_GAPS,
            )
        )
    work = np.bincount(trace.session, trace.run * trace.procs).astype(np.float64)
    return Ledger.fit(starts, work)


def _fit_popularity(trace: Sessions) -> tuple[int, Knots]:
    """Return the number of users, 0 if they are unknown, and the distribution of sessions over them."""
    if not trace.has_users:
        return 0, Knots((1.0, 1.0), (0.0, 1.0))
    sessions = np.bincount(trace.user[trace.first_jobs(trace.session)])
    return sessions.size, Knots.fit(Sample.of(sessions))
