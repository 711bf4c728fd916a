"""
A policy of one's own: a function that is shown a cluster at an instant, and returns the jobs that start then.

This is first come, first served:

>>> def mine(cluster):
...     free = cluster.free
...     for job in cluster.waiting:
...         if job.procs > free:
...             break
...         free -= job.procs
...         yield job

It is asked whenever a job was submitted or has ended, once for all that happened at one instant, as long as a
job waits; and when it said so by `ClusterState.ask_again`. What it returns, or yields, are jobs of
``cluster.waiting``, in any order; each starts at that instant. An instance of a class can be a policy, too:
of a class that is named, one is made for each schedule, without arguments, so that it may remember.

A policy sees no job before it is submitted, and no run time before the job has ended, unless it requested no
time. One with an attribute ``clairvoyant``, which is true, sees the run times of all jobs.

By name a policy is ``package:function``, or what an entry point in the group ``gwa.policies`` is called. To
load one runs code: it is for names that come from the command line of its user, or from a file named there.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from inspect import getdoc
from math import inf
from typing import Final, NamedTuple

from gwa.errors import SimulationError
from gwa.simulation.jobs import Floats, Jobs
from gwa.simulation.stepwise import Stepwise
from gwa.util import plugins

GROUP: Final = "gwa.policies"

MAXIMUM_IDLE: Final = 100_000
"""Times in a row that a policy may ask for another while nothing runs and nothing is to be submitted."""

MAXIMUM_TEXT: Final = 200
"""Characters of an error of others that are shown."""

FORM: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


class WaitingJob(NamedTuple):
    """
    A job, as a policy sees it.

    Its *number* is its place in the order of submission, from 0. It was submitted at *submit*, in seconds, on
    the clock of the log, and needs *procs* processors for *requested* seconds at most: the requested time, or
    the run time where that is longer or none was requested, and a second at least. *user* is a name, empty
    where it is not known. *run* is the run time in seconds for a policy that is clairvoyant, else None.
    """

    number: int
    submit: float
    procs: int
    requested: float
    user: str
    run: float | None


class StartedJob(NamedTuple):
    """
    A *job* that started at *start*, in seconds.

    The *end* of one that runs is when it ends at the latest, by its requested time; of one that has ended, it
    is when it did.
    """

    job: WaitingJob
    start: float
    end: float


@dataclass
class ClusterState:
    """
    A cluster at an instant: the *time* in seconds, on the clock of the log.

    Of its *processors* those are *free* on which no job runs. The jobs that are *waiting* stand in the order
    of submission; those that are *running* in that of their expected ends. *ended* are those that have ended
    since the policy was asked last, in the order of their ends. The lists are the policy's own, to sort as it
    likes. *again* is what `ask_again` said.
    """

    time: float
    processors: int
    free: int
    waiting: list[WaitingJob]
    running: list[StartedJob]
    ended: list[StartedJob]
    again: float = inf

    def ask_again(self, at: float) -> None:
        """
        Have the policy asked at a time in seconds, a second from now or later, unless it is asked before.

        Raise `SimulationError` for an earlier time.
        """
        if not self.time + 1 <= at < inf:
            raise SimulationError(f"asks to be asked again at {at:.15g} s, expected a second later at least")
        self.again = at

    def reservation(self, job: WaitingJob, starting: Iterable[WaitingJob] = ()) -> tuple[float, int]:
        """
        Return when a *job* can start by the requested times, in seconds, and the processors left over then.

        The jobs that are *starting* now hold theirs. One that starts besides does not delay the job if it
        ends by then, or needs no more than what is left over: the reservation of EASY (Lifka 1995).
        """
        ends = [(one.end, one.job.procs) for one in self.running]
        ends += [(self.time + one.requested, one.procs) for one in starting]
        when, free = self.time, self.processors - sum(procs for _, procs in ends)
        for end, procs in sorted(ends):
            # What ends at the same time is free as well.
            if free >= job.procs and end > when:
                break
            when, free = end, free + procs
        return when, free - job.procs


Policy = Callable[[ClusterState], Iterable[WaitingJob]]
"""What returns the jobs that start."""


def is_code(name: str) -> bool:
    """Whether a policy's *name* is ``package:function``, by which any code can be run."""
    return ":" in name


def registered() -> list[str]:
    """Return the names of the policies that installed packages add; none of them is loaded."""
    return [point.name for point in plugins.points(GROUP)]


def policy_called(name: str) -> Policy:
    """
    Return a policy by its name, which runs the code of its module.

    Modules are looked for where Python does, and then in the current folder. Raise `SimulationError` where
    there is none, or none that can be called.
    """
    for point in plugins.points(GROUP):
        if point.name == name:
            return _callable(name, plugins.load(point))
    module, _, function = name.partition(":")
    if not FORM.fullmatch(name):
        raise SimulationError(f"'{name}' is not the name of a policy, expected one such as package:function")
    here = os.getcwd()  # noqa: PTH109 - as the path of Python has it
    if here not in sys.path:
        sys.path.append(here)
    try:
        with redirect_stdout(sys.stderr):
            found = import_module(module)
    except (Exception, SystemExit) as error:
        raise SimulationError(
            f"policy {name}: {_error_text(error)}; expected a module in the current folder, or an installed"
            " one"
        ) from error
    if not hasattr(found, function):
        raise SimulationError(f"policy {name}: {module} has no {function}, expected a function of that name")
    return _callable(name, getattr(found, function))


def meaning_of(name: str) -> str:
    """Return the first line of what a policy says of itself; empty where it says nothing, or is of gwa."""
    if not (is_code(name) or name in registered()):
        return ""
    return (getdoc(policy_called(name)) or "").partition("\n")[0]


def _callable(name: str, found: object) -> Policy:
    if not callable(found):
        raise SimulationError(f"policy {name}: is a {type(found).__name__}, expected a function")
    return found


def starts_by(name: str, jobs: Jobs, cpus: int) -> Floats:
    """
    Return the start of each job, in seconds, on a cluster of *cpus* under the policy called *name*.

    What the policy prints goes to standard error. Raise `SimulationError` that names policy, time and job for
    a job that does not wait, or does not fit, for an exception of the policy, and where it starts no job
    though nothing else is to happen.
    """
    policy = policy_called(name)
    jobs.refuse_larger(cpus)
    runs = jobs.run.tolist() if getattr(policy, "clairvoyant", False) else [None] * len(jobs)
    users = [""] * len(jobs) if jobs.user is None else jobs.user.tolist()
    columns = (column.tolist() for column in (jobs.submit, jobs.procs, jobs.estimate))
    rows = zip(*columns, users, runs, strict=True)
    seen = [WaitingJob(number, *row) for number, row in enumerate(rows)]
    with redirect_stdout(sys.stderr):
        return _starts(name, policy, seen, Stepwise(jobs, cpus))


def _starts(name: str, policy: Policy, jobs: Sequence[WaitingJob], cluster: Stepwise) -> Floats:
    """Ask the policy until all jobs of a *cluster* have started."""
    asked = _made(name, policy)
    waiting: dict[int, WaitingJob] = {}
    ended: list[StartedJob] = []
    arrived, again, idle = 0, inf, 0
    while not cluster.is_over:
        ended += [StartedJob(jobs[number], start, cluster.now) for number, start in cluster.advance(again)]
        again = inf
        while arrived < len(jobs) and jobs[arrived].submit <= cluster.now:
            waiting[arrived] = jobs[arrived]
            arrived += 1
        if not waiting:
            continue
        runs = [StartedJob(jobs[number], start, end) for number, start, end in cluster.running()]
        state = ClusterState(cluster.now, cluster.cpus, cluster.free, list(waiting.values()), runs, ended)
        chosen = _chosen(name, asked, state, waiting)
        for number in chosen:
            cluster.start(number)
        ended, again = [], state.again
        idle = idle + 1 if cluster.is_idle and not chosen else 0
        if idle and (again == inf or idle > MAXIMUM_IDLE):
            first = f"job {cluster.first} is the first that waits"
            raise _error(name, state, f"starts no job, though nothing else is to happen; {first}")
    return cluster.starts


def _made(name: str, policy: Policy) -> Policy:
    """Return what is asked: of a class, an instance."""
    if not isinstance(policy, type):
        return policy
    try:
        return _callable(name, policy())
    except (Exception, SystemExit) as error:
        raise SimulationError(f"policy {name}: {_error_text(error)}") from error


def _chosen(name: str, policy: Policy, state: ClusterState, waiting: dict[int, WaitingJob]) -> list[int]:
    """
    Return the numbers of the jobs that a policy starts, which then do not stand among those *waiting*.

    Raise `SimulationError` for what cannot start.
    """
    free, chosen = state.free, list[int]()
    for job in _answers(name, policy, state):
        if not isinstance(job, WaitingJob):
            raise _error(name, state, f"returns {type(job).__name__}, expected jobs that wait")
        if job.number not in waiting:
            how = " twice" if job.number in chosen else ", which does not wait"
            raise _error(name, state, f"starts job {job.number}{how}")
        need = waiting.pop(job.number).procs
        if need > free:
            raise _error(name, state, f"starts job {job.number} on {need} processors, and {free} are free")
        free -= need
        chosen.append(job.number)
    return chosen


def _answers(name: str, policy: Policy, state: ClusterState) -> Iterator[object]:
    """Yield what a policy returns."""
    try:
        yield from policy(state)
    except (Exception, SystemExit) as error:
        raise _error(name, state, _error_text(error)) from error


def _error(name: str, state: ClusterState, what: str) -> SimulationError:
    return SimulationError(f"policy {name}, at {state.time:.15g} s: {what}")


def _error_text(error: BaseException) -> str:
    """Return what an error says, in a line; of one that gwa raises, without its name."""
    text = " ".join(str(error).split())[:MAXIMUM_TEXT]
    return text if isinstance(error, SimulationError) else f"{type(error).__name__}: {text}"
