"""What the event loop reads, and what it writes down: named tuples of arrays, which numba compiles."""

from typing import NamedTuple

import numpy as np
from numba import njit

from gwa.simulation._heaps import NOBODY, Heaps, empty_heaps, put
from gwa.simulation.jobs import Floats, Integers


class Rules(NamedTuple):
    """What architecture and policies say, as numbers of their enumerations."""

    flocks: bool
    whose: int
    which: int
    place: int
    replicas: int
    learns: bool


class Work(NamedTuple):
    """
    What the tasks are.

    Users are counted from 0, and a *bag* is named by its first task. The manager believes run times to be
    *believed*, and takes tasks by rising *order*.
    """

    submit: Floats
    run: Floats
    bag: Integers
    user: Integers
    site: Integers
    believed: Floats
    order: Floats


class System(NamedTuple):
    """
    The clusters: the *first* processor of each, its true *speed* and what managers *believe* of it.

    Manager m has the clusters from ``reach[m]`` up to ``reach[m + 1]``.
    """

    reach: Integers
    first: Integers
    speed: Floats
    believed: Floats


class Clusters(NamedTuple):
    """
    What the clusters are, and what is known of them.

    Manager m has the clusters from ``reach[m]`` up to ``reach[m + 1]`` and sees *seen* of the *free*
    processors. In a cluster, tasks of *queued* seconds in all have been sent and wait, and the next
    processor is expected to be free at *soonest*, which has to be worked out anew if it is past.
    """

    reach: Integers
    manager: Integers
    first: Integers
    speed: Floats
    believed: Floats
    free: Integers
    seen: Integers
    queued: Floats
    soonest: Floats


class Processors(NamedTuple):
    """
    What each processor does: which *task*, *since* and *until* when; the next processor with a copy of it.

    The *idle* ones of a cluster are a heap.
    """

    cluster: Integers
    task: Integers
    since: Floats
    until: Floats
    beside: Integers
    idle: Heaps


class Queues(NamedTuple):
    """
    Where the tasks stand: in one of these heaps, or in none.

    Tasks that arrived are *waiting*, by manager and user, and become *eligible*, by manager. They start, or
    are *sent* to a cluster and wait there. Those that run and may be replicated are *spare*. The first *many*
    of *members* are the users with waiting tasks. The manager last served *last_user* and *last_cluster*.
    """

    waiting: Heaps
    eligible: Heaps
    sent: Heaps
    spare: Heaps
    ticket: Integers
    members: Integers
    many: Integers
    last_user: Integers
    last_cluster: Integers


class Users(NamedTuple):
    """
    Who they are: *priority*, and the manager to whom they submit.

    By manager and user: processor seconds *spent* on copies that are over, and on those *running* since
    moments that add up to *began*.
    """

    priority: Integers
    at: Integers
    spent: Floats
    began: Floats
    running: Integers


class Outcome(NamedTuple):
    """What became of each task: see `gwa.simulation.engine.Run`; *copy* is a processor where it runs."""

    start: Floats
    end: Floats
    cluster: Integers
    processor: Integers
    consumed: Floats
    copy: Integers
    copies: Integers


class State(NamedTuple):
    """All of it."""

    work: Work
    clusters: Clusters
    processors: Processors
    queues: Queues
    users: Users
    outcome: Outcome


@njit()
def new_state(work: Work, system: System, priority: Integers) -> State:
    """Return the state before anything has happened."""
    reach, first, speed, believed = system
    managers, clusters, users, tasks = len(reach) - 1, len(speed), len(priority), len(work.submit)
    manager, sizes = np.empty(clusters, np.int64), np.diff(first)
    for one in range(managers):
        manager[reach[one] : reach[one + 1]] = one
    return State(
        work,
        Clusters(
            reach,
            manager,
            first,
            speed,
            believed,
            sizes,
            sizes.copy(),
            np.zeros(clusters),
            np.full(clusters, -np.inf),
        ),
        _processors(first),
        _queues(managers, clusters, users, tasks),
        Users(
            priority,
            np.full(users, NOBODY),
            np.zeros((managers, users)),
            np.zeros((managers, users)),
            np.zeros((managers, users), np.int64),
        ),
        Outcome(
            np.full(tasks, np.nan),
            np.full(tasks, np.nan),
            np.full(tasks, NOBODY),
            np.full(tasks, NOBODY),
            np.zeros(tasks),
            np.full(tasks, NOBODY),
            np.zeros(tasks, np.int64),
        ),
    )


@njit()
def _queues(managers: int, clusters: int, users: int, tasks: int) -> Queues:
    """Return empty queues; a task stands in one heap at most, so that all share their links."""
    waiting = empty_heaps(managers * users, tasks)
    links = (waiting.key, waiting.child, waiting.sibling)
    return Queues(
        waiting,
        Heaps(np.full(managers, NOBODY), *links),
        Heaps(np.full(clusters, NOBODY), *links),
        Heaps(np.full(managers, NOBODY), *links),
        np.zeros(1, np.int64),
        np.empty((managers, users), np.int64),
        np.zeros(managers, np.int64),
        np.full(managers, NOBODY),
        np.full(managers, NOBODY),
    )


@njit()
def _processors(first: Integers) -> Processors:
    """Return idle processors."""
    count = first[-1]
    cluster, idle = np.empty(count, np.int64), empty_heaps(len(first) - 1, count)
    for one in range(len(first) - 1):
        for processor in range(first[one], first[one + 1]):
            cluster[processor] = one
            put(idle, one, processor, 0.0)
    return Processors(
        cluster,
        np.full(count, NOBODY),
        np.zeros(count),
        np.full(count, np.inf),
        np.full(count, NOBODY),
        idle,
    )
