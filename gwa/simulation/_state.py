"""What the event loop reads and writes: tables of records, which numba compiles."""

from typing import Any, Final, NamedTuple

import numpy as np

from gwa.simulation._heaps import Table
from gwa.simulation.grid import Grid
from gwa.simulation.jobs import NONE, Floats, Integers
from gwa.util.compiled import can_compile, jit

_LINKS: Final = [("key", "f8"), ("child", "i8"), ("sibling", "i8")]

TASK: Final = np.dtype(
    [
        ("submit", "f8"),
        ("run", "f8"),
        ("bag", "i8"),  # the bag's first task
        ("user", "i8"),  # counted from 0
        ("site", "i8"),
        ("believed", "f8"),  # what the manager takes for the run time
        ("order", "f8"),  # eligible tasks are taken by this
        ("start", "f8"),
        ("end", "f8"),
        ("cluster", "i8"),
        ("processor", "i8"),
        ("consumed", "f8"),
        ("copies", "i8"),  # made so far
        ("newest", "i8"),  # the processor where the newest copy runs
        *_LINKS,
    ]
)
"""A task: what it is, and what becomes of it, as `gwa.simulation.engine.Run` says."""

PROCESSOR: Final = np.dtype(
    [
        ("cluster", "i8"),
        ("task", "i8"),
        ("since", "f8"),
        ("until", "f8"),
        ("next_copy", "i8"),  # the next processor with a copy of the task
        ("ready", "f8"),  # until when it is planned to be busy
        *_LINKS,
    ]
)
"""A processor: the task that runs on it, and since and until when."""

CLUSTER: Final = np.dtype(
    [
        ("manager", "i8"),
        ("first", "i8"),  # its processors stand from here
        ("processors", "i8"),
        ("speed", "f8"),
        ("believed", "f8"),  # what the manager takes for the speed
        ("free", "i8"),
        ("seen", "i8"),  # how many of the free ones the manager knows of
        ("idle", "i8"),  # heap of processors
        ("sent", "i8"),  # heap of tasks that wait here for a processor
        ("row", "i8"),  # the processor that is expected to be free next, if that has been looked up
        ("ready", "f8"),  # when a task sent here is expected to start
    ]
)
"""A cluster: what it is, what happens there, and what its manager knows of it."""

MANAGER: Final = np.dtype(
    [
        ("low", "i8"),  # its clusters stand from here
        ("high", "i8"),  # up to here
        ("eligible", "i8"),  # heap of tasks
        ("spare", "i8"),  # heap of running tasks that may be replicated
        ("active_users", "i8"),  # users with waiting tasks
        ("last_user", "i8"),  # who was served last
        ("last_cluster", "i8"),  # which got the last task, counted from *low*
        ("ticket", "i8"),  # a number that grows
    ]
)
"""A resource manager."""

ACCOUNT: Final = np.dtype(
    [
        ("waiting", "i8"),  # heap of the user's tasks that wait to be selected
        ("spent", "f8"),  # processor seconds of copies that are over
        ("running", "i8"),  # copies that run
        ("began", "f8"),  # the sum of their starts
    ]
)
"""What a manager knows of a user."""


class Rules(NamedTuple):
    """What architecture and policies say, as numbers of their enumerations."""

    flocks: bool
    whose: int
    which: int
    place: int
    replicas: int
    learns: bool


class State(NamedTuple):
    """
    All tables: *accounts* by manager and user.

    A manager's *members* are the users with waiting tasks. Users have a *priority*, and submit *at* a
    manager.
    """

    tasks: Table
    processors: Table
    clusters: Table
    managers: Table
    accounts: Table
    members: Integers
    priority: Integers
    at: Integers


def _borrow(_: Any, array: Any) -> Any:  # noqa: ANN401 - as numba has it
    """Tell numba how to make an array without a reference count; its owner must outlive it."""

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        result = context.make_array(signature.args[0])(context, builder, arguments[0])
        result.meminfo = result.meminfo.type(None)
        result.parent = result.parent.type(None)
        return result._getvalue()  # noqa: SLF001

    return array(array), generated


def _without_counts() -> Any:  # noqa: ANN401 - as numba has it
    """Return what makes an array one without a reference count; without numba there is none to do without."""
    if not can_compile():
        return lambda array: array
    from numba.extending import intrinsic

    return intrinsic(_borrow)


_borrowed: Final[Any] = _without_counts()


@jit()
def borrowed(state: State) -> State:
    """
    Return the tables without reference counts, which doubles the speed of the event loop.

    Each of its functions takes all tables, and numba would count each up and down again, atomically.
    """
    return State(
        _borrowed(state.tasks),
        _borrowed(state.processors),
        _borrowed(state.clusters),
        _borrowed(state.managers),
        _borrowed(state.accounts),
        _borrowed(state.members),
        _borrowed(state.priority),
        _borrowed(state.at),
    )


def new_state(tasks: Table, grid: Grid, believed: Floats, priority: Integers, *, central: bool) -> State:
    """Return the state before anything has happened; the columns that say what tasks are must be filled."""
    managers = 1 if central else len(grid)
    for name in ("start", "end"):
        tasks[name] = np.nan
    for name in ("cluster", "processor", "newest"):
        tasks[name] = NONE

    clusters = _table(len(grid), CLUSTER, sent=NONE, row=NONE, first=grid.first[:-1])
    clusters.manager = 0 if central else np.arange(len(grid))
    clusters.processors = clusters.free = clusters.seen = grid.processors
    clusters.speed, clusters.believed = grid.speeds, believed
    # Idle processors in order of their numbers are a heap: each is the child of the one before.
    clusters.idle = clusters.first
    processors = _table(grid.first[-1], PROCESSOR, task=NONE, until=np.inf, sibling=NONE)
    processors.cluster = np.repeat(np.arange(len(grid)), grid.processors)
    processors.child = np.arange(1, len(processors) + 1)
    processors.child[grid.first[1:] - 1] = NONE

    heads = _table(managers, MANAGER, eligible=NONE, spare=NONE, last_user=NONE, last_cluster=NONE)
    heads.low = np.arange(managers)
    heads.high = len(grid) if central else heads.low + 1
    accounts = _table((managers, len(priority)), ACCOUNT, waiting=NONE)
    members = np.empty((managers, len(priority)), np.int64)
    no_manager = np.full(len(priority), NONE)
    return State(tasks, processors, clusters, heads, accounts, members, priority, no_manager)


def _table(shape: int | tuple[int, int], kind: np.dtype[np.void], **columns: float | Integers) -> Table:
    """Return records of a *kind*, zero but for the *columns*."""
    table = np.zeros(shape, kind).view(np.recarray)
    for name, values in columns.items():
        table[name] = values
    return table
