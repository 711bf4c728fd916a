"""
What a schedule does to tasks, to their users, and to the grid.

Waits and ends are those of the copy that ended first; a task without start or end has NaN.
"""

import numpy as np

from gwa.simulation.engine import Run
from gwa.simulation.grid import Grid
from gwa.simulation.jobs import Floats
from gwa.simulation.metrics import TAU
from gwa.simulation.tasks import Tasks


def wait(tasks: Tasks, run: Run) -> Floats:
    """Return seconds from submission to start."""
    return run.start - tasks.submit


def response(tasks: Tasks, run: Run) -> Floats:
    """Return seconds from submission to end."""
    return run.end - tasks.submit


def slowdown(tasks: Tasks, run: Run) -> Floats:
    """Return response time over the run time on a processor of speed 1; NaN for a task that takes no time."""
    slowdowns: Floats = np.full(len(tasks), np.nan)
    np.divide(response(tasks, run), tasks.run, out=slowdowns, where=tasks.run > 0)
    return slowdowns


def bounded_slowdown(tasks: Tasks, run: Run, tau: float = TAU) -> Floats:
    """Return response time over run time, of at least *tau* seconds; never below 1 (Feitelson 2001)."""
    return np.maximum(response(tasks, run) / np.maximum(tasks.run, tau), 1.0)


def span(tasks: Tasks, run: Run, horizon: float = np.inf) -> float:
    """Return seconds from the first submission to the *horizon*, or without one to the last end."""
    if not len(tasks):
        return 0.0
    last = horizon if np.isfinite(horizon) else float(np.nanmax(run.end))
    return last - float(tasks.submit[0])


def utilization(tasks: Tasks, run: Run, grid: Grid, horizon: float = np.inf) -> float:
    """Return the fraction of processor time spent on tasks, replicas included; 0 where there is no time."""
    time = span(tasks, run, horizon) * float(grid.processors.sum())
    return float(run.consumed.sum()) / time if time > 0 else 0.0


def jain(values: Floats) -> float:
    """
    Return how equal *values* are: from 1/n, where one has all, to 1; NaN where there are none.

    (Σx)² / (n Σx²), over values that are known. Source: Jain, Chiu and Hawe, A quantitative measure of
    fairness and discrimination (1984).
    """
    known = values[np.isfinite(values)]
    largest = known.max(initial=0.0)
    shares = known / largest if largest > 0 else np.ones(len(known))
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum())) if len(shares) else np.nan


def by_user(tasks: Tasks, values: Floats) -> Floats:
    """Return the mean of each user's known *values*, by rising number of the user; NaN for who has none."""
    users, _, user = tasks.users
    known = np.isfinite(values)
    total = np.bincount(user[known], values[known], len(users))
    count = np.bincount(user[known], minlength=len(users))
    means: Floats = np.full(len(users), np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means


def fairness(tasks: Tasks, run: Run) -> float:
    """Return Jain's index of the users' mean bounded slowdowns."""
    return jain(by_user(tasks, bounded_slowdown(tasks, run)))
