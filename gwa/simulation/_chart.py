"""
The Gantt chart of a manager that sends tasks to busy clusters: when each processor is expected to be free.

A processor's row says so in its field *ready*. A task that has to wait in a cluster is planned in the row
that is ready first. The cluster starts what was sent first come first served, on whichever processor is
free, so with the true run times all comes as planned. With predictions it does not: what a task took more
or less than believed moves its row, a row that is past tells nothing, since its task has outlived its
prediction, and when no task waits in the cluster any more, the rows are those of the tasks that run.
"""

from gwa.simulation._state import State
from gwa.simulation.jobs import NONE
from gwa.util.compiled import jit


@jit()
def expect(state: State, place: int, now: float) -> None:
    """Work out when a task sent to the cluster at *place* would start; if a processor is idle, now."""
    cluster, processors = state.clusters[place], state.processors
    cluster.ready = now
    if cluster.seen > 0:
        return
    if cluster.row == NONE or processors[cluster.row].ready < now:
        cluster.row = NONE
        for number in range(cluster.first, cluster.first + cluster.processors):
            row = processors[number]
            is_first = cluster.row == NONE or row.ready < processors[cluster.row].ready
            if row.task != NONE and row.ready >= now and is_first:
                cluster.row = number
    if cluster.row != NONE:
        cluster.ready = processors[cluster.row].ready


@jit()
def plan(state: State, number: int, place: int, now: float) -> None:
    """Plan a task that waits in the cluster at *place*, in the row that was found ready first."""
    cluster = state.clusters[place]
    row = state.processors[cluster.first if cluster.row == NONE else cluster.row]
    row.ready = max(row.ready, now) + state.tasks[number].believed / cluster.believed
    cluster.row = NONE


@jit()
def show_running(state: State, place: int) -> None:
    """Let the rows of the cluster at *place* be those of the tasks that run."""
    cluster = state.clusters[place]
    for number in range(cluster.first, cluster.first + cluster.processors):
        row = state.processors[number]
        if row.task != NONE:
            row.ready = row.since + state.tasks[row.task].believed / cluster.believed
    cluster.row = NONE


@jit()
def learn(state: State, place: int) -> None:
    """Move the row of the processor at *place* by what its task, which has ended, took more than believed."""
    row = state.processors[place]
    task, cluster = state.tasks[row.task], state.clusters[row.cluster]
    row.ready += (task.run - task.believed) / cluster.believed
    cluster.row = NONE
