"""
The environments: a cluster whose jobs are started by who plays.

Both have the same observations, rewards and episodes, and differ in what may be chosen. An episode is a
sequence of consecutive jobs of the workload, drawn by the seed, on a machine that is empty at first. It ends
when all have started. A step is a choice: an instant at which nothing could be chosen is passed over, and at
one instant there may be several. Run times are the log's; a player knows requested times only.
"""

from abc import abstractmethod
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces

from gwa.errors import ArgumentError, SimulationError
from gwa.gym.policies import Info
from gwa.gym.rewards import reward_called
from gwa.gym.window import FEATURES, Flags, JobWindow, Observation
from gwa.gym.workload import GENERATED, Source, Workload
from gwa.simulation import metrics
from gwa.simulation.backfilling import schedule
from gwa.simulation.jobs import NONE, Floats, Integers, Jobs
from gwa.simulation.stepwise import Stepwise

MINIMUM_ROWS: Final = 2
"""Rows of a window: with fewer there is nothing to choose."""


class Cluster(gymnasium.Env[Observation, Any]):
    """
    A cluster whose jobs are started by who plays; what is common to `Backfill` and `Schedule`.

    Parameters
    ----------
    workload
        A trace or its path; what `gwa.fit` returns, a file of a model or the name of a preset; or a
        `Workload`, to read it once for several environments.
    jobs
        Consecutive jobs of an episode. None are all of the workload.
    window
        Rows of an observation, at least 2. Of more waiting jobs the first one is seen, then those that may
        start without delaying it, then others, in the order of submission in any case.
    cpus, load, seed, generated
        The machine, and the jobs of a model, as `Workload.of` takes them. The *seed* also draws the episodes
        of an environment that is reset without one.
    reward
        A name in `REWARDS`.
    render_mode
        None: there is nothing to see.

    Notes
    -----
    The observation is a float32 array of shape (*window*, 10) of numbers from 0 to 1, without a unit, with a
    row for each waiting job that is seen and the columns of `FEATURES`. The action is the number of a row,
    from 0: a job that fits starts; if it does not fit, all wait until a job ends or is submitted. An action
    that the mask forbids is taken as 0, and counted. ``info`` has

    - ``action_mask``: int8, (*window*,): 1 for the rows that may be chosen. Row 0 always may.
    - ``may_start``: bool, (*window*,): the column of that name.
    - ``requested``: float64, (*window*,): seconds; inf in a row without a job.
    - ``job``: int64, (*window*,): numbers of the jobs in the episode, from 0; -1 in a row without a job.
    - ``time``: float: seconds since the first submission of the episode.
    - ``first_job``: int: which job of the workload is the first of the episode, from 0.
    - ``masked_actions``: int: actions of this episode so far that were forbidden, and taken as 0.

    and at the end ``start`` (float64, (*jobs*,): seconds since the first submission), ``mean_wait`` (seconds)
    and ``mean_bounded_slowdown`` (Feitelson 2001). An episode ends, and is never truncated.

    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as gymnasium declares it

    def __init__(  # noqa: PLR0913 - all but the workload go by name
        self,
        workload: Source | Workload,
        *,
        jobs: int | None = 256,
        window: int = 32,
        cpus: int | None = None,
        load: float | None = None,
        seed: int = 0,
        generated: int = GENERATED,
        reward: str = "bounded_slowdown",
        render_mode: str | None = None,
    ) -> None:
        """Read the *workload*; raise `GwaError` for arguments that cannot be met."""
        if render_mode is not None:
            raise ArgumentError(f"render_mode is '{render_mode}', expected None: there is nothing to see")
        if window < MINIMUM_ROWS:
            raise ArgumentError(f"window is {window}, expected at least {MINIMUM_ROWS} rows")
        if isinstance(workload, Workload):
            if (cpus, load) != (None, None):
                raise ArgumentError(
                    "a Workload has its machine and load, expected no cpus and no load with it"
                )
            self.workload = workload
        else:
            self.workload = Workload.of(workload, cpus=cpus, load=load, seed=seed, generated=generated)
        self._count = len(self.workload.jobs) if jobs is None else jobs
        if not 1 <= self._count <= len(self.workload.jobs):
            message = f"{self.workload.name}: an episode of {self._count} jobs"
            raise SimulationError(f"{message}, expected 1 to {len(self.workload.jobs)}")
        self._rows, self._reward, self._seed = window, reward_called(reward), seed
        self._has_seed = False
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0.0, 1.0, (window, len(FEATURES)), np.float32)
        self.action_space = spaces.Discrete(window)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """
        Begin an episode, drawn by the *seed* or the next one; return its observation and info.

        *options* may hold ``first_job``, to begin with that job of the workload instead.
        """
        super().reset(seed=self._seed if seed is None and not self._has_seed else seed)
        self._has_seed = True
        last = len(self.workload.jobs) - self._count
        drawn = int(self.np_random.integers(0, last, endpoint=True))
        self._first = drawn if options is None else int(options.get("first_job", drawn))
        if not 0 <= self._first <= last:
            raise ArgumentError(f"first_job is {self._first}, expected 0 to {last}")
        self._jobs = self.workload.episode(self._first, self._count)
        self._cluster = Stepwise(self._jobs, self.workload.cpus)
        self._settled = self._cost = 0.0
        self._started: list[tuple[int, float]] = []
        self._masked = 0
        self._window: JobWindow | None = None
        self._go_on()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:  # noqa: ANN401 - a number
        """Choose a row; return what is seen at the next choice, the reward, and whether that was the last."""
        if self._window is not None:
            row = int(action)
            if not (row < len(self._window.rows) and self._allowed(self._window)[row]):
                self._masked += 1
                row = 0
            if self._window.fits[row]:
                self._start(int(self._window.rows[row]))
            else:
                self._cluster.advance()
            self._go_on()
        return self._observation(), self._earned(), self._window is None, False, self._info()

    def action_masks(self) -> Flags:
        """Return which actions may be chosen, bool of shape (window,), as MaskablePPO of sb3-contrib asks."""
        mask: Flags = np.zeros(self._rows, np.bool_)
        mask[0] = True
        if self._window is not None:
            mask[: len(self._window.rows)] = self._allowed(self._window)
        return mask

    def scheduled(self, policy: str) -> Info:
        """
        Return what the episode is at its end if a *policy* of the simulator schedules all of its jobs.

        Raise `SimulationError` for an unknown policy, and for what one of one's own does wrong.
        """
        return {"first_job": self._first, **self._outcome(schedule(self._jobs, self.workload.cpus, policy))}

    @abstractmethod
    def _look(self) -> JobWindow | None:
        """Return what is to be chosen from at this instant, where something waits; None for no choice."""

    @abstractmethod
    def _allowed(self, window: JobWindow) -> Flags:
        """Return which rows may be chosen."""

    def _go_on(self) -> None:
        """Go to the next choice, or to the last start."""
        self._window = None
        while not self._cluster.is_over:
            if self._cluster.is_waiting:
                self._window = self._look()
            if self._window is not None or self._cluster.is_over:
                break
            self._cluster.advance()

    def _start(self, job: int) -> None:
        self._cluster.start(job)
        self._started.append((job, self._cluster.now))

    def _earned(self) -> float:
        """Return the reward since it was last asked for."""
        before = self._cost
        if self._started:
            rows, begun = zip(*self._started, strict=True)
            self._settled += self._cost_of(np.array(rows), np.array(begun))
            self._started = []
        cost = self._settled
        if self._window is not None:
            waiting = self._window.waiting
            cost += self._cost_of(waiting, np.full(len(waiting), self._cluster.now))
        # It never falls, but the same sum in another order may, by a rounding.
        self._cost = max(cost, before)
        return (before - self._cost) / self._count

    def _cost_of(self, rows: Integers, begun: Floats) -> float:
        """Return what jobs cost that have *begun* at those times, or else wait until then."""
        jobs = self._jobs
        part = Jobs(jobs.submit[rows], jobs.run[rows], jobs.procs[rows], jobs.estimate[rows])
        return float(self._reward.cost(part, begun).sum())

    def _observation(self) -> Observation:
        if self._window is None:
            return np.zeros((self._rows, len(FEATURES)), np.float32)
        return self._window.observed(self._jobs, self._cluster.now, self.workload.cpus, self._rows)

    def _info(self) -> Info:
        may_start, requested = np.zeros(self._rows, np.bool_), np.full(self._rows, np.inf)
        numbers = np.full(self._rows, NONE, np.int64)
        if self._window is not None:
            rows = self._window.rows
            may_start[: len(rows)] = self._window.may_start
            requested[: len(rows)] = self._jobs.estimate[rows]
            numbers[: len(rows)] = rows
        info: Info = {
            "action_mask": self.action_masks().astype(np.int8),
            "may_start": may_start,
            "requested": requested,
            "job": numbers,
            "time": self._cluster.now,
            "first_job": self._first,
            "masked_actions": self._masked,
        }
        return info if self._window is not None else info | self._outcome(self._cluster.starts)

    def _outcome(self, start: Floats) -> Info:
        """Return what an episode that is over adds to its info: the *start* of each job, and what follows."""
        return {
            "start": start,
            "mean_wait": float(metrics.wait(self._jobs, start).mean()),
            "mean_bounded_slowdown": float(metrics.bounded_slowdown(self._jobs, start).mean()),
        }


class Backfill(Cluster):
    """
    EASY backfilling with the choice left open: ``gwa/Backfill-v0``.

    The first waiting job starts as soon as it fits. While it does not, it has a reservation by the requested
    times, and there is a choice whenever other jobs may start without delaying that: row 0, the first job,
    means that none starts until a job ends or is submitted, and any other row starts that job now. Jobs
    that would delay the reservation are masked. `policies.easy` always takes the first that may start.

    Sources: Lifka, The ANL/IBM SP scheduling system (1995); Mu'alem and Feitelson, Utilization,
    predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling (2001).
    """

    def _look(self) -> JobWindow | None:
        cluster, procs = self._cluster, self._jobs.procs
        while cluster.is_waiting and procs[cluster.first] <= cluster.free:
            self._start(cluster.first)
        if not cluster.is_waiting or not cluster.free:
            return None
        window = JobWindow.of(cluster, self._jobs, self._rows)
        return window if window.may_start.any() else None

    def _allowed(self, window: JobWindow) -> Flags:
        allowed = window.may_start.copy()
        allowed[0] = True
        return allowed


class Schedule(Cluster):
    """
    The next job to start, from a window of those that wait: ``gwa/Schedule-v0``.

    There is a choice whenever a job of the window fits. A row whose job fits starts it, though it may delay
    those before it; a row whose job does not fit means that all wait until a job ends or is submitted, after
    which there is another choice. No row with a job is masked.
    """

    def _look(self) -> JobWindow | None:
        if not self._cluster.free:
            return None
        window = JobWindow.of(self._cluster, self._jobs, self._rows)
        return window if window.fits.any() else None

    def _allowed(self, window: JobWindow) -> Flags:
        return np.ones(len(window.rows), np.bool_)
