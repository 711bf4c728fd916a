"""The tasks: what is to be foretold of a job, on which jobs, and which of these are for the test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.statistics.sample import Floats
from gwa.tasks.jobs import NEVER, SubmittedJobs
from gwa.util.units import MINUTE

TRAIN: Final = 0.7
"""The share of the jobs, in the order of submission, before the first border."""

TRAIN_AND_VALID: Final = 0.8
"""The share before the second border, after which the test begins."""

SPLITS: Final = ("train", "gap", "valid", "test")

MINIMUM_ROWS: Final = 100
"""A task of fewer jobs would say nothing."""


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

    def count(self, split: str) -> int:
        """Return the number of rows of a *split*."""
        return int((self.split == split).sum())


def choose(task: Task, jobs: SubmittedJobs) -> Chosen:
    """Return the jobs of a *task*, and their splits."""
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
    split, borders = splits(jobs.submit[rows], task.known(jobs)[rows])
    return Chosen(rows, split, counts, borders)


def splits(submit: Floats, known: Floats) -> tuple[NDArray[np.str_], Sequence[float]]:
    """
    Return the split of each row, by its submission, and the moments between them.

    Jobs that are submitted in one second are in one split. Those of an earlier part whose label is not
    *known* before a border are the gap: no one could have learnt from them.

    >>> submit = np.arange(10.0)
    >>> splits(submit, submit + 1.5)[0].tolist()
    ['train', 'train', 'train', 'train', 'train', 'train', 'gap', 'gap', 'test', 'test']
    """
    if not submit.size:
        return np.zeros(0, np.str_), ()
    valid, test = (float(submit[int(share * submit.size)]) for share in (TRAIN, TRAIN_AND_VALID))
    split = np.select([submit < valid, submit < test], ["train", "valid"], "test")
    late = ((split == "train") & (known >= valid)) | ((split == "valid") & (known >= test))
    return np.where(late, "gap", split), (valid, test)
