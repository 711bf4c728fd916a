"""The tasks: what is to be foretold of a job, on which jobs, and which of these are for the test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.statistics.sample import Floats
from gwa.tasks.jobs import NEVER, SubmittedJobs
from gwa.util.units import MINUTE

TRAIN_OF_LEARNT: Final = 7 / 8
"""The share of the jobs before the test, in the order of submission, that are for training."""

SPLITS: Final = ("train", "gap", "valid", "test")

MINIMUM_ROWS: Final = 100
"""A task of fewer jobs would say nothing."""


@dataclass(frozen=True)
class Shares:
    """The shares of the jobs, by submission, at which *valid* and *test* begin and the test has its *end*."""

    valid: float
    test: float
    end: float = 1.0

    @property
    def rule(self) -> str:
        """What the splits are, in words."""
        last = "" if self.end == 1 else f"; the last {1 - self.end:.0%} are left for later folds"
        parts = (self.valid, self.test - self.valid, self.end - self.test)
        return "{:.0%}, {:.0%} and {:.0%} of the jobs, by submission".format(*parts) + last


WHOLE: Final = Shares(0.7, 0.8)


def folds(count: int) -> dict[str, Shares]:
    """
    Return *count* folds of a rolling origin by the names of their folders, or the whole log without a name.

    The jobs are in *count* + 1 equal parts by submission; fold k has part k + 1 as its test and all earlier
    parts to learn from, of which the last eighth is for validation (Tashman 2000: out-of-sample tests with
    a rolling origin).

    >>> [round(share.test, 2) for share in folds(4).values()]
    [0.2, 0.4, 0.6, 0.8]
    >>> folds(1) == {"": WHOLE}
    True
    """
    if count == 1:
        return {"": WHOLE}
    borders = [part / (count + 1) for part in range(1, count + 1)]
    return {
        f"fold-{number}": Shares(TRAIN_OF_LEARNT * test, test, (number + 1) / (count + 1))
        for number, test in enumerate(borders, start=1)
    }


@dataclass(frozen=True)
class Task:
    """
    What is to be foretold of jobs, called *name*: the *meaning* of its label, in *unit*.

    Errors are of log(label + *offset*). A failure has no offset: what is foretold is its probability. The
    label is known at the *start* of a job, else at its end.
    """

    name: str
    meaning: str
    unit: str
    offset: float | None
    at_start: bool = False

    def known(self, jobs: SubmittedJobs) -> Floats:
        """Return when the label of each job is known."""
        return jobs.start if self.at_start else jobs.end

    def log(self, values: Floats) -> Floats:
        """Return the logarithm of *values* that errors are measured in; a failure is 0 or 1 as it is."""
        return values if self.offset is None else np.log(values + self.offset)

    def back(self, logs: Floats) -> Floats:
        """Return the values, at least 0, of which *logs* are the logarithms."""
        return logs if self.offset is None else np.maximum(np.exp(logs) - self.offset, 0.0)


TASKS: Final = (
    Task("wait", "time that the job waited for the system", "s", MINUTE, at_start=True),
    Task("run_time", "time from start to end, wall clock", "s", MINUTE),
    Task("failure", "1 where the job did not complete, 0 where it did", "", None),
    Task("max_memory", "memory used by the whole job at its peak", "KB", 1024.0),
    Task("energy", "energy used by the whole job", "J", 3600.0),
)
BY_NAME: Final = {task.name: task for task in TASKS}


@dataclass(frozen=True, eq=False)
class Chosen:
    """The *rows* of jobs that a task is on, the *split* of each, and how many were left out, by reason."""

    rows: NDArray[np.int64]
    split: NDArray[np.str_]
    left_out: Mapping[str, int]
    borders: Sequence[float]
    shares: Shares = WHOLE

    def count(self, split: str) -> int:
        """Return the number of rows of a *split*."""
        return int((self.split == split).sum())


def choose(task: Task, jobs: SubmittedJobs, shares: Shares = WHOLE) -> Chosen:
    """Return the jobs of a *task*, and their splits by *shares*."""
    procs = jobs.asked["procs"]
    reasons = {
        "never started, as far as the log knows": jobs.start == NEVER,
        "had not ended when the log did": (jobs.end == NEVER) & (not task.at_start),
        "processors unknown or 0": ~(procs >= 1),
        "larger than the machine": procs > (jobs.cpus or np.inf),
        "label unknown, or a lower bound": np.isnan(jobs.outcomes[task.name]),
    }
    left, counts = np.ones(len(jobs), bool), {}
    for reason, holds in reasons.items():
        counts[reason] = int((left & holds).sum())
        left &= ~holds
    rows = np.flatnonzero(left)
    split, borders = splits(jobs.submit[rows], task.known(jobs)[rows], shares)
    return Chosen(rows[: split.size], split, counts, borders, shares)


def splits(submit: Floats, known: Floats, shares: Shares = WHOLE) -> tuple[NDArray[np.str_], Sequence[float]]:
    """
    Return the split of each row before the end of *shares*, by its submission, and the moments between them.

    Jobs that are submitted in one second are in one split. Those of an earlier part whose label is not
    *known* before a border are the gap: no one could have learnt from them.

    >>> submit = np.arange(10.0)
    >>> splits(submit, submit + 1.5)[0].tolist()
    ['train', 'train', 'train', 'train', 'train', 'train', 'gap', 'gap', 'test', 'test']
    """
    if not submit.size:
        return np.zeros(0, np.str_), ()
    valid, test = (float(submit[int(share * submit.size)]) for share in (shares.valid, shares.test))
    if shares.end < 1:
        end = int(np.searchsorted(submit, submit[int(shares.end * submit.size)]))
        submit, known = submit[:end], known[:end]
    split = np.select([submit < valid, submit < test], ["train", "valid"], "test")
    late = ((split == "train") & (known >= valid)) | ((split == "valid") & (known >= test))
    return np.where(late, "gap", split), (valid, test)
