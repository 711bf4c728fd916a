"""How copies of tasks start and end on processors, and what is then known of them."""

from heapq import heappush

import numpy as np
from numba import njit

from gwa.simulation._heaps import NOBODY, put, take
from gwa.simulation._state import Rules, State

Events = list[tuple[float, int]]
"""When to look at which processor; it may have got another task meanwhile."""


@njit()
def start(state: State, rules: Rules, task: int, cluster: int, now: float, events: Events) -> None:
    """Start a copy of *task* on the idle processor with the lowest number in *cluster*."""
    work, clusters, processors, out = state.work, state.clusters, state.processors, state.outcome
    processor = take(processors.idle, cluster)
    clusters.free[cluster] -= 1
    clusters.seen[cluster] = max(clusters.seen[cluster] - 1, 0)
    processors.task[processor] = task
    processors.since[processor] = now
    processors.until[processor] = now + work.run[task] / clusters.speed[cluster]
    processors.beside[processor] = out.copy[task]
    heappush(events, (processors.until[processor], processor))
    if clusters.soonest[cluster] > now:
        clusters.soonest[cluster] = min(clusters.soonest[cluster], _expected(state, processor))

    manager, user = clusters.manager[cluster], work.user[task]
    state.users.running[manager, user] += 1
    state.users.began[manager, user] += now
    if out.copy[task] == NOBODY:
        out.start[task], out.cluster[task], out.processor[task] = now, cluster, processor
    out.copy[task] = processor
    out.copies[task] += 1
    if out.copies[task] <= rules.replicas:
        put(state.queues.spare, manager, task, next_ticket(state))


@njit()
def end(state: State, rules: Rules, processor: int, now: float) -> None:
    """End the task on *processor*, and with it all its copies."""
    clusters, processors, out = state.clusters, state.processors, state.outcome
    task, since, cluster = (
        processors.task[processor],
        processors.since[processor],
        processors.cluster[processor],
    )
    out.start[task], out.end[task] = since, now
    out.cluster[task], out.processor[task] = cluster, processor
    if rules.learns and now > since:
        clusters.believed[cluster] = state.work.run[task] / (now - since)
    copy = out.copy[task]
    while copy != NOBODY:
        after = processors.beside[copy]
        _leave(state, copy, now)
        copy = after
    out.copy[task] = NOBODY


@njit()
def _leave(state: State, processor: int, now: float) -> None:
    """Make *processor* idle."""
    clusters, processors, users = state.clusters, state.processors, state.users
    task, cluster = processors.task[processor], processors.cluster[processor]
    since = processors.since[processor]
    clusters.soonest[cluster] = -np.inf
    processors.task[processor] = NOBODY
    processors.until[processor] = np.inf
    put(processors.idle, cluster, processor, 0.0)
    clusters.free[cluster] += 1

    manager, user = clusters.manager[cluster], state.work.user[task]
    state.outcome.consumed[task] += now - since
    users.spent[manager, user] += now - since
    users.began[manager, user] -= since
    users.running[manager, user] -= 1


@njit()
def charge_the_rest(state: State, horizon: float) -> None:
    """Count what the copies consumed that still run at the *horizon*."""
    for processor in range(len(state.processors.task)):
        task = state.processors.task[processor]
        if task != NOBODY:
            state.outcome.consumed[task] += horizon - state.processors.since[processor]


@njit()
def send(state: State, rules: Rules, task: int, cluster: int, now: float, events: Events) -> None:
    """Send *task* to a *cluster*, where it starts if a processor is free and else waits."""
    if state.clusters.free[cluster] > 0:
        start(state, rules, task, cluster, now, events)
    else:
        put(state.queues.sent, cluster, task, next_ticket(state))
        state.clusters.queued[cluster] += state.work.believed[task]


@njit()
def start_sent(state: State, rules: Rules, now: float, events: Events) -> None:
    """Start, first come first served, tasks that were sent to clusters with free processors."""
    clusters, sent = state.clusters, state.queues.sent
    for cluster in range(len(clusters.free)):
        while clusters.free[cluster] > 0 and sent.root[cluster] != NOBODY:
            task = take(sent, cluster)
            clusters.queued[cluster] -= state.work.believed[task]
            start(state, rules, task, cluster, now, events)
        if sent.root[cluster] == NOBODY:
            clusters.queued[cluster] = 0.0


@njit()
def ready(state: State, cluster: int, now: float) -> float:
    """
    Return when a task sent to *cluster* is expected to start.

    That is now if a processor is idle. Else it is when the next running task is expected to end (one that
    outlived its prediction tells nothing), after which all processors share what has been sent before.
    """
    clusters = state.clusters
    if clusters.seen[cluster] > 0:
        return now
    if clusters.soonest[cluster] <= now:
        clusters.soonest[cluster] = np.inf
        for processor in range(clusters.first[cluster], clusters.first[cluster + 1]):
            if state.processors.task[processor] != NOBODY:
                expected = _expected(state, processor)
                if expected > now:
                    clusters.soonest[cluster] = min(clusters.soonest[cluster], expected)
    soonest = now if clusters.soonest[cluster] == np.inf else clusters.soonest[cluster]
    size = clusters.first[cluster + 1] - clusters.first[cluster]
    start_time: float = soonest + clusters.queued[cluster] / (size * clusters.believed[cluster])
    return start_time


@njit()
def _expected(state: State, processor: int) -> float:
    """Return when the task on *processor* is expected to end."""
    task, cluster = state.processors.task[processor], state.processors.cluster[processor]
    time: float = state.work.believed[task] / state.clusters.believed[cluster]
    return float(state.processors.since[processor] + time)


@njit()
def next_ticket(state: State) -> float:
    """Return a key higher than all before."""
    state.queues.ticket[0] += 1
    return float(state.queues.ticket[0])
