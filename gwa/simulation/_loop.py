"""
The event loop of resource managers.

At one instant tasks end first; then processors are seen to be free, tasks arrive, managers give tasks to
processors, and last replicas take what is left.
"""

from heapq import heappop

import numpy as np
from numba import njit

from gwa.simulation._copies import Events, end, ready, send, start, start_sent
from gwa.simulation._heaps import NOBODY, put, take
from gwa.simulation._state import Rules, State
from gwa.simulation.scheduling import Place, earliest, fastest, in_turn
from gwa.simulation.selection import Which, Whose, choose


@njit()
def happen(state: State, rules: Rules, period: float, horizon: float) -> None:
    """Let all happen up to the *horizon*; free processors are seen each *period*, or at once if it is 0."""
    submit = state.work.submit
    events = [(np.inf, NOBODY)]
    arrived, look = 0, np.inf
    while True:
        now = min(events[0][0], look)
        if arrived < len(submit):
            now = min(now, submit[arrived])
        if now > horizon or now == np.inf:
            break
        _end_due(state, rules, now, events)
        if rules.place == Place.EARLIEST:
            start_sent(state, rules, now, events)
        look = _look(state, period, look, now)
        if rules.flocks:
            _serve_all(state, rules, now, events)
        while arrived < len(submit) and submit[arrived] <= now:
            _arrive(state, rules, arrived, now, events)
            arrived += 1
        _serve_all(state, rules, now, events)
        _replicate(state, rules, now, events)


@njit()
def _end_due(state: State, rules: Rules, now: float, events: Events) -> None:
    """End the tasks that are done; an event tells of a copy that may have been cancelled meanwhile."""
    while events[0][0] <= now:
        processor = heappop(events)[1]
        if state.processors.until[processor] == now:
            end(state, rules, processor, now)


@njit()
def _look(state: State, period: float, look: float, now: float) -> float:
    """Count the free processors if it is time to, and return when to do so next."""
    clusters = state.clusters
    if period > 0 and look == np.inf and (clusters.seen < clusters.free).any():
        look = max(now, np.ceil(now / period) * period)
    if period == 0 or look <= now:
        clusters.seen[:] = clusters.free
        return np.inf
    return look


@njit()
def _arrive(state: State, rules: Rules, task: int, now: float, events: Events) -> None:
    """Put *task* in the queue of a manager; with flocking, watch whether it starts at once."""
    users, user, managers = state.users, state.work.user[task], len(state.clusters.reach) - 1
    manager = state.work.site[task] if managers > 1 else 0
    if rules.flocks and users.at[user] != NOBODY:
        manager = users.at[user]
    _enqueue(state, rules, manager, task)
    if rules.flocks:
        _serve(state, rules, manager, now, events)
        queued = np.isnan(state.outcome.start[task])
        users.at[user] = (manager + 1) % managers if queued else manager


@njit()
def _enqueue(state: State, rules: Rules, manager: int, task: int) -> None:
    """Put *task* in the queue of *manager*."""
    work, queues = state.work, state.queues
    if rules.which == Which.EVER:
        put(queues.eligible, manager, task, work.order[task])
        return
    user = 0 if rules.whose == Whose.ANYBODY else work.user[task]
    heap = manager * len(state.users.priority) + user
    if queues.waiting.root[heap] == NOBODY:
        queues.members[manager, queues.many[manager]] = user
        queues.many[manager] += 1
    put(queues.waiting, heap, task, work.bag[task] if rules.which == Which.BAG else 0)


@njit()
def _serve_all(state: State, rules: Rules, now: float, events: Events) -> None:
    """Let each manager give tasks away."""
    for manager in range(len(state.clusters.reach) - 1):
        _serve(state, rules, manager, now, events)


@njit()
def _serve(state: State, rules: Rules, manager: int, now: float, events: Events) -> None:
    """Give eligible tasks away while there are some, and somewhere for them."""
    eligible = state.queues.eligible
    while rules.place == Place.EARLIEST or _sees_idle(state, manager):
        if eligible.root[manager] == NOBODY:
            _select(state, rules, manager, now)
        if eligible.root[manager] == NOBODY:
            break
        task = take(eligible, manager)
        send(state, rules, task, _place(state, rules, manager, task, now), now, events)


@njit()
def _sees_idle(state: State, manager: int) -> bool:
    """Whether *manager* knows of an idle processor."""
    reach = state.clusters.reach
    return bool((state.clusters.seen[reach[manager] : reach[manager + 1]] > 0).any())


@njit()
def _select(state: State, rules: Rules, manager: int, now: float) -> None:
    """Make tasks of the queue eligible, if there are any."""
    queues, users, work = state.queues, state.users, state.work
    many = queues.many[manager]
    if not many:
        return
    waiting = queues.members[manager, :many]
    consumed = np.empty(many)
    for place in range(many):
        user = waiting[place]
        running = users.running[manager, user] * now - users.began[manager, user]
        consumed[place] = users.spent[manager, user] + running
    chosen = choose(rules.whose, waiting, users.priority, consumed, queues.last_user[manager])
    user = waiting[chosen]
    queues.last_user[manager] = user

    heap = manager * len(users.priority) + user
    bag = work.bag[queues.waiting.root[heap]]
    while queues.waiting.root[heap] != NOBODY:
        if rules.which == Which.BAG and work.bag[queues.waiting.root[heap]] != bag:
            break
        task = take(queues.waiting, heap)
        put(queues.eligible, manager, task, work.order[task])
        if rules.which == Which.ONE:
            break
    if queues.waiting.root[heap] == NOBODY:
        queues.many[manager] -= 1
        waiting[chosen] = waiting[many - 1]


@njit()
def _place(state: State, rules: Rules, manager: int, task: int, now: float) -> int:
    """Return the cluster for *task*."""
    clusters, last = state.clusters, state.queues.last_cluster
    low, high = clusters.reach[manager], clusters.reach[manager + 1]
    idle, speeds = clusters.seen[low:high], clusters.believed[low:high]
    if rules.place == Place.FASTEST:
        return int(low + fastest(idle, speeds))
    if rules.place == Place.IN_TURN:
        last[manager] = in_turn(idle, last[manager])
        return int(low + last[manager])
    when = np.array([ready(state, cluster, now) for cluster in range(low, high)])
    return int(low + earliest(when, state.work.believed[task], speeds))


@njit()
def _replicate(state: State, rules: Rules, now: float, events: Events) -> None:
    """Start replicas of tasks that run on processors for which nobody waits."""
    queues = state.queues
    for manager in range(len(queues.many)):
        if queues.many[manager] or queues.eligible.root[manager] != NOBODY:
            continue
        while queues.spare.root[manager] != NOBODY and _sees_idle(state, manager):
            task = take(queues.spare, manager)
            if np.isnan(state.outcome.end[task]):
                start(state, rules, task, _place(state, rules, manager, task, now), now, events)
