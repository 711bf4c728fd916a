"""
How often bounds on waits held for classes of jobs: a coverage of 95 % over all hides where they fail.

Classes are sizes, queues and users with at least `MINIMUM_JOBS` bounded jobs, and the jobs with the longest
waits, a tenth of all at most. Which these are is known afterwards only, but a bound matters most to them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from gwa.evaluation.prediction import UNKNOWN, Bounds, WaitingJobs
from gwa.statistics.sample import Ints
from gwa.words.formatting import fraction
from gwa.words.message import Message, Verbatim, joined, message, plural

MINIMUM_JOBS: Final = 100
"""A class of fewer bounded jobs is left out: the standard error of its coverage would exceed 2 points."""

LONGEST_SHARE: Final = 0.1
"""The maximum share of the bounded jobs whose waits are the longest."""

LONGEST_WAITS: Final = message("the jobs with the longest waits, a tenth of all at most")

Kind = Literal["size", "queue", "user", "wait"]
"""What the jobs of a class share: about as many processors, a queue, a user, or that they waited long."""


@dataclass(frozen=True)
class ClassCoverage:
    """The *coverage* of bounds on the waits of the *jobs* of a class called *name*, of a *kind*."""

    kind: Kind
    name: str
    jobs: int
    coverage: float


def coverage_by_class(jobs: WaitingJobs, bounds: Bounds) -> list[ClassCoverage]:
    """
    Return how often bounds held for each class of jobs, the worst class of each kind first.

    A size class holds the jobs of more than 2ᵏ and at most 2ᵏ⁺¹ processors. Where all jobs have one
    size, queue or user, the coverage over all says it.
    """
    known = np.flatnonzero(~np.isnan(bounds.bound))
    if not known.size:
        return []
    held = (jobs.wait <= bounds.bound)[known]
    sizes = np.ceil(np.log2(np.maximum(jobs.procs[known], 1))).astype(np.int64)
    # Jobs with the same wait are all among the longest, or none: so these are a tenth at most.
    waits = jobs.wait[known]
    last = waits.size - 1 - int(LONGEST_SHARE * waits.size)
    longest = np.where(waits > np.partition(waits, last)[last], 0, UNKNOWN)
    kinds: Sequence[tuple[Kind, Ints, Sequence[str]]] = (
        ("size", sizes, [_processors(power) for power in range(int(sizes.max()) + 1)]),
        ("queue", jobs.queue[known], jobs.queues),
        ("user", jobs.user[known], jobs.users),
        ("wait", longest, [LONGEST_WAITS]),
    )
    return [one for kind, numbers, names in kinds for one in _coverages(kind, numbers, names, held)]


def worst_of_each_kind(classes: Sequence[ClassCoverage], below: float) -> list[ClassCoverage]:
    """Return the worst class of each kind whose coverage is *below* a share."""
    worst: dict[Kind, ClassCoverage] = {}
    for one in classes:
        worst.setdefault(one.kind, one)
    return [one for one in worst.values() if one.coverage < below]


def in_words(worst: Sequence[ClassCoverage]) -> Message:
    """Return a sentence that says how often bounds held for each of the *worst* classes."""
    return message(
        "They held least often for {classes}.", classes=joined("; ", [_described(one) for one in worst])
    )


def _described(one: ClassCoverage) -> Message:
    count = plural("{n} job", "{n} jobs", one.jobs)
    share, name = fraction(one.coverage), Verbatim(one.name)
    if one.kind == "queue":
        return message("queue {name} ({share} of {jobs})", name=name, share=share, jobs=count)
    if one.kind == "user":
        return message("user {name} ({share} of {jobs})", name=name, share=share, jobs=count)
    return message("{name} ({share} of {jobs})", name=one.name, share=share, jobs=count)


def _coverages(
    kind: Kind, numbers: Ints, names: Sequence[str], held: NDArray[np.bool_]
) -> Iterator[ClassCoverage]:
    """Yield the coverage of each class with enough jobs, the worst first; *numbers* say whose a job is."""
    known = numbers != UNKNOWN
    jobs = np.bincount(numbers[known], minlength=len(names))
    within = np.bincount(numbers[known], weights=held[known], minlength=len(names))
    found = [
        ClassCoverage(kind, names[place], int(jobs[place]), float(within[place] / jobs[place]))
        for place in np.flatnonzero(jobs >= MINIMUM_JOBS).tolist()
    ]
    if len(found) > 1 or kind == "wait":
        yield from sorted(found, key=lambda one: (one.coverage, one.name))


def _processors(power: int) -> Message:
    """
    Return the name of the class of sizes up to 2 to a *power*.

    >>> [str(_processors(power)) for power in range(4)]
    ['jobs of 1 processor', 'jobs of 2 processors', 'jobs of 3 to 4 processors', 'jobs of 5 to 8 processors']
    """
    low, high = (1 << power >> 1) + 1 if power else 1, 1 << power
    if low == high:
        return plural("jobs of {n} processor", "jobs of {n} processors", high)
    return message("jobs of {low} to {high} processors", low=f"{low:,}", high=f"{high:,}")
