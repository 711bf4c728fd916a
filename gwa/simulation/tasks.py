"""Sequential tasks in bags, as a grid's schedulers see them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from gwa.errors import SimulationError
from gwa.simulation.jobs import Floats, Integers
from gwa.util.compiled import jit

DEFAULT_PREDICTION: Final = 1.0
"""Seconds predicted before any task has ended."""


class Groups(NamedTuple):
    """Tasks by a number: the *numbers*, rising, the *first* task of each, the place *of* each task's own."""

    numbers: Integers
    first: Integers
    of: Integers


@dataclass(frozen=True)
class Tasks:
    """
    Tasks in order of submission, in columns of one length.

    *submit* is in seconds; *run* in seconds on a processor of speed 1. Tasks of one *bag* were submitted
    together by a *user*. *site* is the cluster where the user submits them: the only one that they ever
    see under sep-c, the first one that the user turns to under fcondor. *predicted* is the run time as
    history has it, in the unit of *run*.
    """

    submit: Floats
    run: Floats
    bag: Integers
    user: Integers
    site: Integers
    predicted: Floats

    @classmethod
    def of(
        cls,
        submit: ArrayLike,
        run: ArrayLike,
        bag: ArrayLike | None = None,
        user: ArrayLike | None = None,
        site: ArrayLike | None = None,
        predicted: ArrayLike | None = None,
    ) -> Self:
        """
        Return the tasks that the columns describe, in order of submission and, at one instant, as given.

        Without *bag* each task is a bag of its own; without *user* or *site* all have the same. A run time
        is predicted as the mean of the last two that had ended for the same user, or else of all that had
        ended, or else as a second: Tsafrir, Etsion and Feitelson (2007), except that who has ended is
        judged without a schedule, by *submit* + *run*. Raise `SimulationError` for what is not a task.
        """
        times, runs = _column("submit", submit), _column("run", run, minimum=0)
        count = len(times)
        zeros = np.zeros(count, np.int64)
        numbers = (
            np.arange(count) if bag is None else _numbers("bag", bag),
            zeros if user is None else _numbers("user", user),
            zeros if site is None else _numbers("site", site),
        )
        given = None if predicted is None else _column("predicted", predicted, minimum=0)
        columns = (runs, *numbers, times if given is None else given)
        if any(len(column) != count for column in columns):
            raise SimulationError("the columns of the tasks differ in their length")
        order = np.argsort(times, kind="stable")
        times, runs = times[order], runs[order]
        bags, users, sites = (column[order] for column in numbers)
        expected = predictions(times, runs, users) if given is None else given[order]
        return cls(times, runs, bags, users, sites, expected)

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self.submit)

    @cached_property
    def bags(self) -> Groups:
        """The tasks by bag; what many runs of the same tasks need is worked out once."""
        return Groups(*np.unique(self.bag, return_index=True, return_inverse=True))

    @cached_property
    def users(self) -> Groups:
        """The tasks by user."""
        return Groups(*np.unique(self.user, return_index=True, return_inverse=True))


def _column(name: str, values: ArrayLike, *, minimum: float = -np.inf, whole: bool = False) -> Floats:
    """Return a column of numbers, which must be finite and at least *minimum*."""
    column = np.asarray(values, np.float64)
    if column.ndim != 1:
        raise SimulationError(f"the tasks' {name} is not a column")
    bad = ~(np.isfinite(column) & (column >= minimum) & (not whole or column == np.floor(column)))
    if bad.any():
        row = int(np.argmax(bad))
        raise SimulationError(f"task {row}: its {name} is {column[row]:g}")
    return column


def _numbers(name: str, values: ArrayLike) -> Integers:
    """Return a column of whole numbers from 0 on."""
    return _column(name, values, minimum=0, whole=True).astype(np.int64)


def predictions(submit: Floats, run: Floats, user: Integers) -> Floats:
    """Return the run time that history predicts for each task, as `Tasks.of` says."""
    end = submit + run
    _, users = np.unique(user, return_inverse=True)
    return _predict(submit, run, users.astype(np.int64), end, np.argsort(end, kind="stable"))


@jit(cache=True)
def _predict(submit: Floats, run: Floats, user: Integers, end: Floats, ended: Integers) -> Floats:
    """Merge submissions with ends, which come in the order *ended*."""
    predicted = np.empty(len(submit))
    latest = np.full((len(submit) + 1, 2), np.nan)
    total, count = 0.0, 0
    for task in range(len(submit)):
        while count < len(end) and end[ended[count]] <= submit[task] and ended[count] < task:
            finished = ended[count]
            latest[user[finished], 0], latest[user[finished], 1] = latest[user[finished], 1], run[finished]
            total += run[finished]
            count += 1
        before, last = latest[user[task]]
        if not np.isnan(before):
            predicted[task] = (before + last) / 2
        elif not np.isnan(last):
            predicted[task] = last
        else:
            predicted[task] = total / count if count else DEFAULT_PREDICTION
    return predicted
