"""
Schedule rigid parallel jobs on one cluster: first come first served, shortest first, and backfilling.

At one instant ends come before submissions, and then the scheduler looks once at its queue. Every
policy sees estimates, never run times.
"""

from typing import Final

from gwa.errors import SimulationError
from gwa.simulation._queue import from_queue
from gwa.simulation._reservations import from_reservations
from gwa.simulation.jobs import UNLIMITED, Floats, Jobs
from gwa.simulation.policy import is_code, policy_called, registered, starts_by

POLICIES: Final = {
    "fcfs": "first come, first served: no job starts before one that came earlier",
    "sjf": "shortest job first, by estimate; when the shortest does not fit, all wait",
    "sjf-backfill": "shortest job first, by estimate; a job that does not delay the shortest may start",
    "easy": "EASY backfilling: a job that does not delay the head of the queue may start (Lifka 1995)",
    "conservative": "conservative backfilling: a job that delays no reservation may start (Mu'alem and "
    "Feitelson 2001); when a job ends early, reservations move up once, in order of submission",
}
"""The policies of gwa, by name."""

WITH_CEILINGS: Final = ("fcfs", "sjf", "sjf-backfill", "easy")
"""The policies that pass over jobs of a user at a ceiling; others start as if these were not there."""


def known(name: str) -> str:
    """
    Return the *name* of a policy: one of `POLICIES`, a registered one, or ``package:function``.

    The last is loaded, which runs its code. Raise `SimulationError` for what is no policy.
    """
    if is_code(name):
        policy_called(name)
    elif name not in POLICIES and name not in registered():
        names = ", ".join([*POLICIES, *registered()])
        raise SimulationError(f"'{name}' is not a policy, expected one of {names} or package:function")
    return name


def schedule(jobs: Jobs, cpus: int, policy: str = "easy", *, most_moves: int = UNLIMITED) -> Floats:
    """
    Return the start of each job, in seconds, on a cluster of *cpus* under a *policy*.

    It is one of `POLICIES`, or one of one's own by its name, see `gwa.simulation.policy`. Raise
    `SimulationError` for an unknown policy, for a job larger than the cluster, for ceilings of users under a
    policy that is not among `WITH_CEILINGS`, and for what a policy of one's own does wrong.

    Conservative backfilling gives up after *most_moves* of reservations, which its time grows with: all
    starts are NaN then.

    >>> jobs = Jobs.of(submit=[0, 1, 2], run=[10, 5, 3], procs=[2, 4, 2])
    >>> schedule(jobs, 4, "fcfs").tolist()
    [0.0, 10.0, 15.0]
    >>> schedule(jobs, 4, "easy").tolist()
    [0.0, 10.0, 2.0]
    """
    jobs.refuse_larger(cpus)
    columns, ceilings = (jobs.submit, jobs.run, jobs.estimate, jobs.procs, cpus), jobs.ceilings
    if ceilings and policy not in WITH_CEILINGS:
        names = ", ".join(WITH_CEILINGS)
        raise SimulationError(f"'{policy}' knows no ceilings of users, expected one of {names}")
    starts: Floats
    match policy:
        case "fcfs":
            starts = from_queue(*columns, jobs.submit, False, ceilings=ceilings)  # noqa: FBT003
        case "sjf":
            starts = from_queue(*columns, jobs.estimate, False, ceilings=ceilings)  # noqa: FBT003
        case "sjf-backfill":
            starts = from_queue(*columns, jobs.estimate, True, ceilings=ceilings)  # noqa: FBT003
        case "easy":
            starts = from_queue(*columns, jobs.submit, True, ceilings=ceilings)  # noqa: FBT003
        case "conservative":
            starts = from_reservations(*columns, most_moves)
        case _:
            starts = starts_by(known(policy), jobs, cpus)
    return starts
