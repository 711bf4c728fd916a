"""Simulate a grid that schedules bags of tasks."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from math import inf, isnan
from pathlib import Path
from typing import Final

import numpy as np

from gwa.errors import SimulationError
from gwa.simulation._copies import charge_the_rest
from gwa.simulation._heaps import Table
from gwa.simulation._loop import run_events
from gwa.simulation._state import TASK, Rules, State, borrowed, new_state
from gwa.simulation.architectures import architecture as architecture_called
from gwa.simulation.grid import Grid
from gwa.simulation.jobs import Floats, Integers
from gwa.simulation.scheduling import Information, Placement, Scheduler, scheduler
from gwa.simulation.selection import selection as selection_called
from gwa.simulation.tasks import Tasks
from gwa.util.compiled import is_worth_compiling, jit

MAXIMUM_UNCOMPILED: Final = 10_000
"""More tasks are not simulated without numba: they would take a minute or more for each policy."""


@dataclass(frozen=True)
class Run:
    """
    What became of each task.

    *start*, *end*, *cluster* and *processor* are those of the copy that ended first. A task that did not
    end before the horizon has no end (NaN), and one that did not start has no start and -1 for where.
    *consumed* are the processor seconds spent on all copies.
    """

    start: Floats
    end: Floats
    cluster: Integers
    processor: Integers
    consumed: Floats


def simulate(  # noqa: PLR0913 - what an experiment varies
    tasks: Tasks,
    grid: Grid,
    architecture: str = "csp",
    selection: str = "S-T",
    scheduling: str = "FPLT",
    *,
    horizon: float = inf,
    seed: int = 0,
    period: float = 0.0,
) -> Run:
    """
    Return what becomes of *tasks* in a *grid* up to the *horizon*, in seconds.

    Policies are named as in `ARCHITECTURES`, `SELECTIONS` and `SCHEDULERS`. Under csp and pull the manager
    sees the processors that became free at multiples of a *period* of seconds, or at once if it is 0; a
    local manager always sees them at once. The *seed* draws the priorities of the users for S-U-Prio: nothing
    else is left to chance. Raise `SimulationError` for what is unknown or impossible.

    >>> tasks = Tasks.of(submit=[0, 0, 0], run=[4, 8, 6])
    >>> run = simulate(tasks, Grid.of([1, 1], speeds=[1, 2]))
    >>> run.cluster.tolist(), run.end.tolist()
    ([1, 1, 0], [6.0, 4.0, 6.0])
    """
    structure, choice = architecture_called(architecture), selection_called(selection)
    policy = scheduler(scheduling)
    if not period >= 0 or period == inf:
        raise SimulationError(f"the period of monitoring is {period:g} seconds")
    if isnan(horizon):
        raise SimulationError("the horizon is not a time")
    if len(tasks) and not structure.central and tasks.site.max() >= len(grid):
        raise SimulationError(f"there is no cluster {tasks.site.max()}, where a task is submitted")
    is_worth_compiling(len(tasks), 0, MAXIMUM_UNCOMPILED, "tasks")
    table, speeds = _table(tasks, policy), _visible(policy.resources, grid.speeds, np.zeros(len(grid)), 1.0)
    priority = np.random.default_rng(seed).permutation(int(table.user.max(initial=0)) + 1)
    rules = Rules(
        structure.flocks,
        int(choice.whose),
        int(choice.which),
        int(Placement.IN_TURN if structure.pulls else policy.place),
        policy.replicas,
        policy.resources is Information.HISTORICAL,
    )
    state = new_state(table, grid, speeds, priority, central=structure.central)
    _simulate(state, rules, float(period) if structure.central else 0.0, float(horizon))
    return Run(*(table[name].copy() for name in ("start", "end", "cluster", "processor", "consumed")))


def _table(tasks: Tasks, policy: Scheduler) -> Table:
    """Return the tasks as a manager with a *policy* sees them."""
    table = np.zeros(len(tasks), TASK).view(np.recarray)
    table.submit, table.run, table.site = tasks.submit, tasks.run, tasks.site
    table.bag, table.user = tasks.bags.first[tasks.bags.of], tasks.users.of
    table.believed = _visible(policy.tasks, tasks.run, tasks.predicted, 0.0)
    table.order = policy.order(table.believed.copy())
    return table


def _compiled(sources: str) -> Callable[[State, Rules, float, float], None]:
    """
    Return the simulation, compiled when it first runs, and kept.

    numba compiles again when the file of the function that it keeps has changed, but does not look at the
    files of others that it calls, as those of the policies. It does look at what a function closes over.
    """

    @jit(cache=True)
    def simulated(state: State, rules: Rules, period: float, horizon: float) -> None:
        sources  # noqa: B018
        tables = borrowed(state)
        run_events(tables, rules, period, horizon)
        charge_the_rest(tables, horizon)

    return simulated


_HERE: Final = Path(__file__).parent
_simulate = _compiled(sha256(b"".join(path.read_bytes() for path in sorted(_HERE.glob("*.py")))).hexdigest())


def _visible(information: Information, truth: Floats, history: Floats, unknown: float) -> Floats:
    """Return what a policy with some *information* sees."""
    visible = {Information.KNOWN: truth, Information.HISTORICAL: history}
    return visible.get(information, np.full(len(truth), unknown)).copy()
