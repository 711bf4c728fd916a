"""How copies of tasks start and end on processors, and what is then known of them."""

from heapq import heappush

import numpy as np

from gwa.simulation._chart import learn, plan, show_running
from gwa.simulation._heaps import pop, push
from gwa.simulation._state import Rules, State
from gwa.simulation.jobs import NONE
from gwa.simulation.scheduling import Placement
from gwa.util.compiled import jit

Events = list[tuple[float, int]]
"""When to look at which processor; it may have got another task meanwhile."""


@jit()
def start(state: State, rules: Rules, number: int, place: int, now: float, events: Events) -> None:
    """Start a copy of a task on the idle processor of lowest number in the cluster at *place*."""
    task, cluster = state.tasks[number], state.clusters[place]
    chosen = cluster.idle
    processor = state.processors[chosen]
    cluster.idle = pop(state.processors, chosen)
    cluster.free -= 1
    cluster.seen = max(cluster.seen - 1, 0)
    processor.task = number
    processor.since = now
    processor.until = now + task.run / cluster.speed
    processor.next_copy = task.newest
    heappush(events, (processor.until, chosen))

    account = state.accounts[cluster.manager, task.user]
    account.running += 1
    account.began += now
    if task.newest == NONE:
        task.start, task.cluster, task.processor = now, place, chosen
    task.newest = chosen
    task.copies += 1
    if task.copies <= rules.replicas:
        manager = state.managers[cluster.manager]
        manager.ticket += 1
        manager.spare = push(state.tasks, manager.spare, number, manager.ticket)


@jit()
def end(state: State, rules: Rules, place: int, now: float) -> None:
    """End the task on the processor at *place*, and with it all its copies."""
    processor = state.processors[place]
    task, cluster = state.tasks[processor.task], state.clusters[processor.cluster]
    task.start, task.end = processor.since, now
    task.cluster, task.processor = processor.cluster, place
    if rules.learns and now > processor.since:
        cluster.believed = task.run / (now - processor.since)
    if rules.place == Placement.EARLIEST:
        learn(state, place)
    copy, task.newest = task.newest, NONE
    while copy != NONE:
        after = state.processors[copy].next_copy
        _leave(state, copy, now)
        copy = after


@jit()
def _leave(state: State, place: int, now: float) -> None:
    """Make the processor at *place* idle."""
    processor = state.processors[place]
    task, cluster = state.tasks[processor.task], state.clusters[processor.cluster]
    account = state.accounts[cluster.manager, task.user]
    task.consumed += now - processor.since
    account.spent += now - processor.since
    account.began -= processor.since
    account.running -= 1

    processor.task = NONE
    processor.until = np.inf
    cluster.idle = push(state.processors, cluster.idle, place, 0.0)
    cluster.free += 1


@jit()
def charge_the_rest(state: State, horizon: float) -> None:
    """Count what the copies consumed that still run at the *horizon*."""
    for processor in state.processors:
        if processor.task != NONE:
            state.tasks[processor.task].consumed += horizon - processor.since


@jit()
def send(state: State, rules: Rules, number: int, place: int, now: float, events: Events) -> None:
    """Send a task to the cluster at *place*, where it starts if a processor is free and else waits."""
    task, cluster = state.tasks[number], state.clusters[place]
    if cluster.free > 0:
        start(state, rules, number, place, now, events)
        if rules.place == Placement.EARLIEST:
            state.processors[task.processor].ready = now + task.believed / cluster.believed
            cluster.row = NONE
        return
    manager = state.managers[cluster.manager]
    manager.ticket += 1
    cluster.sent = push(state.tasks, cluster.sent, number, manager.ticket)
    plan(state, number, place, now)


@jit()
def start_sent(state: State, rules: Rules, now: float, events: Events) -> None:
    """Start, first come first served, tasks that were sent to clusters with free processors."""
    for place in range(len(state.clusters)):
        cluster = state.clusters[place]
        if cluster.sent != NONE:
            while cluster.free > 0 and cluster.sent != NONE:
                number = cluster.sent
                cluster.sent = pop(state.tasks, number)
                start(state, rules, number, place, now, events)
            if cluster.sent == NONE:
                show_running(state, place)
