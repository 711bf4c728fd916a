"""
The model of this project: users, their sessions, bags of tasks in sessions, and jobs that repeat each other.

`sessions` splits a trace into sessions, `rhythm` models their structure, `contents` the jobs in them,
`similarity` and `hierarchy` what jobs of a user, session and bag have in common, and `regulation` the order
of sessions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.arrival_process import MINIMUM_GAPS
from gwa.models.arrivals.modulated import SLOT, Modulated
from gwa.models.bag_streams import order_tasks, split_blocks
from gwa.models.base import Model
from gwa.models.families.gwa.contents import Contents
from gwa.models.families.gwa.hierarchy import UserScores
from gwa.models.families.gwa.regulation import (
    WAITING_SESSIONS,
    choose_sessions,
    fit_regulation,
    initial_state,
    is_regulated,
    mean_backlog,
)
from gwa.models.families.gwa.rhythm import Rhythm
from gwa.models.families.gwa.sessions import Sessions
from gwa.models.families.gwa.similarity import Repetition
from gwa.models.knots import Knots
from gwa.models.parameters import Quantity, share
from gwa.models.streams import Block, concatenate
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store.store import Store
from gwa.words.message import message

SEED: Final = 2009
"""Seed of the draws by which a fit is calibrated."""

REPETITION_DRAWS: Final = 3
"""Number of draws to calibrate repetition."""

REGULATION_DRAWS: Final = 5
"""Number of draws to fit regulation."""

SESSIONS_PER_DRAW: Final = 30_000
"""Maximum number of sessions in a draw."""

PILOT_SESSIONS: Final = 1 << 13
"""Sessions of the drawn users by which their quantities are made even."""

WARM_UP_SESSIONS: Final = 4 * WAITING_SESSIONS
"""Sessions before the first one: those that wait at the start are those that others were preferred to."""

LOAD_DRAWS: Final = 24
"""Draws of users by which the load is calibrated: over 8 of them, jobs a session are off by 3 %."""

LOAD_SESSIONS: Final = 1 << 12
"""Sessions of each of these draws."""

LOAD_STEPS: Final = 3
"""Tilts that are tried."""

FIRST_TILT, MAXIMUM_TILT = 0.05, 0.5
"""The second tilt that is tried, and the greatest."""

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

    The users of a workload are drawn once, and a few of them submit most jobs: what these run would decide
    the load. Each workload therefore learns, from a first draw of its users, which share of jobs has which
    score, and gives the quantiles of the log to equal shares of jobs. What is still lost of the load, as much
    as the model's own draws say, a *tilt* of the scores of run times and the gap of sessions make up for.
    """

    arrivals: Modulated
    users: Annotated[int, Quantity("how many users there are; 0 if unknown", "", 0.0, 1e7)]
    popularity: Knots
    rhythm: Rhythm
    contents: Contents
    work: Annotated[float, Quantity("mean processors times run time of a session", "s", 0.0)] = 0.0
    regulation: Annotated[float, share("of sessions that come when there is room for them")] = 0.0

    name = "gwa"
    title = "Users, sessions, bags and jobs"
    source = "This project: what the other models lack, after the measures of 'gwa model score'"

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """Fit the model to the jobs that ran, then calibrate it by its own draws."""
        trace = Sessions.of(store)
        users, popularity = _fit_popularity(trace)
        contents = Contents.fit(trace)
        model = cls(_fit_arrivals(trace), users, popularity, Rhythm.fit(trace), contents)
        rng = np.random.default_rng(SEED)
        return model.calibrate_repetition(trace, rng).calibrate_load(trace).calibrate_regulation(trace, rng)

    def calibrate_load(self, trace: Sessions) -> Self:
        """
        Return the model with the jobs a day and the work a job of the *trace*.

        Jobs and work of `LOAD_DRAWS` draws of users decide; the tilt is found by two steps of the secant
        method on the logarithm of the work, with the same random numbers.
        """
        jobs, work = float(trace.submit.size), float(trace.run @ trace.procs)
        tilts, errors = [0.0, FIRST_TILT], []
        for step in range(LOAD_STEPS):
            model = replace(self, contents=replace(self.contents, tilt=tilts[step]))
            drawn_jobs, drawn_work = model.draw_amounts()
            errors.append(math.log(max(drawn_work / drawn_jobs, 1e-9) / max(work / jobs, 1e-9)))
            if step:
                slope = (errors[-1] - errors[-2]) / ((tilts[step] - tilts[step - 1]) or math.inf)
                tilt = tilts[step] - errors[-1] / slope if slope > 0 else tilts[step]
                tilts.append(min(max(tilt, -MAXIMUM_TILT), MAXIMUM_TILT))
        sessions = trace.first_jobs(trace.session).size
        arrivals = self.arrivals.scale_mean(drawn_jobs * sessions / jobs)
        return replace(self, contents=replace(self.contents, tilt=tilts[-1]), arrivals=arrivals)

    def draw_amounts(self) -> tuple[float, float]:
        """Return the mean number of jobs and the mean work of a session, over several draws of users."""
        jobs, work = [], []
        for seed in range(LOAD_DRAWS):
            drawn = _SessionStream(self, np.random.default_rng(seed)).draw(LOAD_SESSIONS)
            jobs.append(drawn["n_procs"].size / LOAD_SESSIONS)
            work.append(float(drawn["run_time"] @ drawn["n_procs"]) / LOAD_SESSIONS)
        return float(np.mean(jobs)), float(np.mean(work))

    def calibrate_repetition(self, trace: Sessions, rng: np.random.Generator) -> Self:
        """Return the model whose jobs repeat each other as much as those of the *trace*."""
        sessions = min(trace.first_jobs(trace.session).size, SESSIONS_PER_DRAW)
        target, model = Repetition.of(trace.session, trace.bag, trace.procs, trace.run), self
        for _ in range(REPETITION_DRAWS):
            jobs = _SessionStream(model, rng).draw(sessions)
            drawn = Repetition.of(jobs["session"], jobs["bag"], jobs["n_procs"], jobs["run_time"])
            model = replace(model, contents=model.contents.calibrate(drawn, target))
        return model

    def calibrate_regulation(self, trace: Sessions, rng: np.random.Generator) -> Self:
        """Return the model with the mean backlog of the *trace*."""
        first_jobs = trace.first_jobs(trace.session)
        order = np.argsort(trace.submit[first_jobs], kind="stable")
        starts = trace.submit[first_jobs][order]
        target = mean_backlog(starts, _sum_groups(trace.session, trace.run * trace.procs)[order])
        sessions = min(starts.size, SESSIONS_PER_DRAW)
        draws = []
        for _ in range(REGULATION_DRAWS):
            jobs = _SessionStream(self, rng).draw(sessions)
            times = self.arrivals.first_times(rng, sessions)
            draws.append((times, _sum_groups(jobs["session"], jobs["run_time"] * jobs["n_procs"])))
        work = float(np.mean([work.mean() for _, work in draws]))
        return replace(self, work=work, regulation=fit_regulation(draws, target, rng))

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of jobs in the order of submission."""
        return order_tasks(self._sessions(*rng.spawn(3)))

    def _sessions(
        self, when: np.random.Generator, what: np.random.Generator, who: np.random.Generator
    ) -> Iterator[tuple[float, Block]]:
        """Yield the arrival of the last session of a block, and the jobs of its sessions."""
        sessions, gap = _SessionStream(self, what), self.arrivals.gap * self.arrivals.pace
        state, waiting = initial_state(gap), sessions.draw(WAITING_SESSIONS)
        earlier: Floats = (np.arange(WARM_UP_SESSIONS, dtype=np.float64) - WARM_UP_SESSIONS) * gap
        state[0] = earlier[0]
        for starts in chain([earlier], split_blocks(self.arrivals.times(when))):
            queue = _join_queue(waiting, sessions.draw(starts.size))
            work = _sum_groups(queue["session"], queue["run_time"] * queue["n_procs"])
            regulated = is_regulated(who.random(starts.size), self.regulation)
            chosen = choose_sessions(starts, work, self.work, state, regulated)
            start = np.full(work.size, np.nan)
            start[chosen] = starts
            started = ~np.isnan(start[queue["session"]])
            waiting = {name: column[~started] for name, column in queue.items()}
            jobs = {name: column[started] for name, column in queue.items() if name not in {"session", "bag"}}
            jobs["submit_time"] = jobs["submit_time"] + start[queue["session"][started]]
            if starts is not earlier:
                yield float(starts[-1]), jobs

    def limit_processors(self, cpus: int) -> Self:
        """Return the model for a system of *cpus* processors: larger jobs get all of them."""
        return replace(self, contents=self.contents.limit_processors(cpus))


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


def _sum_groups(group: Ints, amounts: Floats) -> Floats:
    """Return the sum of the *amounts* of each group."""
    return np.bincount(group, amounts).astype(np.float64)


def _join_queue(waiting: Block, new: Block) -> Block:
    """Append the jobs of new sessions to those of waiting ones, sessions numbered in that order."""
    _, first = np.unique(waiting["session"], return_inverse=True)
    return concatenate([waiting | {"session": first}, new | {"session": new["session"] + WAITING_SESSIONS}])


def _fit_arrivals(trace: Sessions) -> Modulated:
    """
    Fit the arrivals of sessions; raise `ModelError` for too few.

    The cycles are those of jobs, for sessions in busy hours also have more jobs.
    """
    starts = trace.submit[trace.first_jobs(trace.session)]
    if np.unique(starts).size < MINIMUM_GAPS:
        raise ModelError(
            message(
                "arrivals: {sessions} sessions, expected at least {least} at different moments",
                sessions=starts.size,
                least=MINIMUM_GAPS,
            )
        )
    sessions, jobs = (
        Modulated.fit_slots(Sample.of(np.floor(times / SLOT))) for times in (starts, trace.submit)
    )
    return replace(sessions, hours=jobs.hours, days=jobs.days)


def _fit_popularity(trace: Sessions) -> tuple[int, Knots]:
    """Return the number of users, 0 if they are unknown, and the distribution of sessions over them."""
    if not trace.has_users:
        return 0, Knots((1.0, 1.0), (0.0, 1.0))
    sessions = np.bincount(trace.user[trace.first_jobs(trace.session)])
    return sessions.size, Knots.fit(Sample.of(sessions))
