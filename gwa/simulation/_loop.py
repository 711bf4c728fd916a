"""
The event loop of resource managers.

At one instant tasks end first; then processors are seen to be free, tasks arrive, managers give tasks to
processors, and last replicas take what is left.
"""

from heapq import heappop
from typing import Any

import numpy as np

from gwa.simulation._chart import expect
from gwa.simulation._copies import Events, end, send, start, start_sent
from gwa.simulation._heaps import pop, push
from gwa.simulation._state import Rules, State
from gwa.simulation.jobs import NONE
from gwa.simulation.scheduling import Placement, earliest, fastest, in_turn
from gwa.simulation.selection import Which, Whose, choose
from gwa.util.compiled import jit


@jit()
def run_events(state: State, rules: Rules, period: float, horizon: float) -> None:
    """Process events up to the *horizon*; managers see free processors each *period*, at once if it is 0."""
    tasks = state.tasks
    events = [(np.inf, NONE)]
    arrived, next_look = 0, np.inf
    while True:
        now = min(events[0][0], next_look)
        if arrived < len(tasks):
            now = min(now, tasks[arrived].submit)
        if now > horizon or now == np.inf:
            break
        _end_due(state, rules, now, events)
        if rules.place == Placement.EARLIEST:
            start_sent(state, rules, now, events)
        next_look = _monitor(state, period, next_look, now)
        first_new = arrived
        while arrived < len(tasks) and tasks[arrived].submit <= now:
            _arrive(state, rules, arrived)
            arrived += 1
        _serve_all(state, rules, now, events)
        if rules.flocks:
            _flock(state, first_new, arrived)
        if rules.replicas:
            _replicate(state, rules, now, events)


@jit()
def _end_due(state: State, rules: Rules, now: float, events: Events) -> None:
    """End the tasks that are done; the copy of an event may have been cancelled meanwhile."""
    while events[0][0] <= now:
        processor = heappop(events)[1]
        if state.processors[processor].until == now:
            end(state, rules, processor, now)


@jit()
def _monitor(state: State, period: float, next_look: float, now: float) -> float:
    """Count the free processors if it is time to, and return when to do so next."""
    if period > 0 and next_look == np.inf:
        for cluster in state.clusters:
            if cluster.seen < cluster.free:
                next_look = max(now, np.ceil(now / period) * period)
    if period == 0 or next_look <= now:
        for cluster in state.clusters:
            cluster.seen = cluster.free
        return np.inf
    return next_look


@jit()
def _arrive(state: State, rules: Rules, number: int) -> None:
    """Put a task in the queue of a manager: its site's, or the one to which its user has turned."""
    task = state.tasks[number]
    if rules.flocks:
        if state.at[task.user] == NONE:
            state.at[task.user] = task.site
        task.site = state.at[task.user]
    chosen = task.site if len(state.managers) > 1 else 0
    manager = state.managers[chosen]
    if rules.which == Which.EVER:
        manager.eligible = push(state.tasks, manager.eligible, number, task.order)
        return
    user = 0 if rules.whose == Whose.ANYBODY else task.user
    account = state.accounts[chosen, user]
    if account.waiting == NONE:
        state.members[chosen, manager.active_users] = user
        manager.active_users += 1
    account.waiting = push(state.tasks, account.waiting, number, task.bag if rules.which == Which.BAG else 0)


@jit()
def _flock(state: State, first: int, last: int) -> None:
    """Let users turn to the next manager if one of their tasks from *first* up to *last* was queued."""
    for number in range(first, last):
        task = state.tasks[number]
        if np.isnan(task.start):
            state.at[task.user] = (task.site + 1) % len(state.managers)


@jit()
def _serve_all(state: State, rules: Rules, now: float, events: Events) -> None:
    """Let each manager with a queue give tasks away."""
    for chosen in range(len(state.managers)):
        manager = state.managers[chosen]
        if manager.active_users or manager.eligible != NONE:
            _serve(state, rules, chosen, now, events)


@jit()
def _serve(state: State, rules: Rules, chosen: int, now: float, events: Events) -> None:
    """Give eligible tasks away while there are some, and somewhere for them."""
    manager = state.managers[chosen]
    while rules.place == Placement.EARLIEST or _sees_idle(state, chosen):
        if manager.eligible == NONE:
            _select(state, rules, chosen, now)
        if manager.eligible == NONE:
            break
        number = manager.eligible
        manager.eligible = pop(state.tasks, number)
        send(state, rules, number, _place(state, rules, chosen, number, now), now, events)


@jit()
def _sees_idle(state: State, chosen: int) -> bool:
    """Whether the *chosen* manager knows of an idle processor."""
    manager = state.managers[chosen]
    idle = False
    for place in range(manager.low, manager.high):
        idle |= state.clusters[place].seen > 0
    return idle


@jit()
def _select(state: State, rules: Rules, chosen: int, now: float) -> None:
    """Make tasks of the queue eligible, if there are any."""
    tasks, manager = state.tasks, state.managers[chosen]
    if not manager.active_users:
        return
    waiting = state.members[chosen, : manager.active_users]
    consumed = np.empty(len(waiting))
    for place in range(len(waiting)):
        account = state.accounts[chosen, waiting[place]]
        consumed[place] = account.spent + (account.running * now - account.began)
    turn = choose(rules.whose, waiting, state.priority, consumed, manager.last_user)
    manager.last_user = waiting[turn]

    account = state.accounts[chosen, waiting[turn]]
    bag = tasks[account.waiting].bag
    while account.waiting != NONE and (rules.which != Which.BAG or tasks[account.waiting].bag == bag):
        number = account.waiting
        account.waiting = pop(tasks, number)
        manager.eligible = push(tasks, manager.eligible, number, tasks[number].order)
        if rules.which == Which.ONE:
            break
    if account.waiting == NONE:
        manager.active_users -= 1
        waiting[turn] = waiting[-1]


@jit()
def _place(state: State, rules: Rules, chosen: int, number: int, now: float) -> int:
    """Return the cluster for a task."""
    manager = state.managers[chosen]
    clusters: Any = state.clusters[manager.low : manager.high]
    if rules.place == Placement.FASTEST:
        return int(manager.low + fastest(clusters.seen, clusters.believed))
    if rules.place == Placement.IN_TURN:
        manager.last_cluster = in_turn(clusters.seen, manager.last_cluster)
        return int(manager.low + manager.last_cluster)
    for place in range(manager.low, manager.high):
        expect(state, place, now)
    return int(manager.low + earliest(clusters.ready, state.tasks[number].believed, clusters.believed))


@jit()
def _replicate(state: State, rules: Rules, now: float, events: Events) -> None:
    """Start replicas of tasks that run on processors for which no task waits."""
    for chosen in range(len(state.managers)):
        manager = state.managers[chosen]
        while manager.spare != NONE and not manager.active_users and manager.eligible == NONE:
            if not _sees_idle(state, chosen):
                break
            number = manager.spare
            manager.spare = pop(state.tasks, number)
            if np.isnan(state.tasks[number].end):
                start(state, rules, number, _place(state, rules, chosen, number, now), now, events)
