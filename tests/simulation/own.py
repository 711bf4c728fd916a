"""Policies of one's own that are the simulator's, written as anybody may; and a slow loop that asks one."""

from dataclasses import replace
from math import inf

from gwa.simulation.policy import ClusterState, StartedJob, WaitingJob


def fcfs(cluster):
    """First come, first served."""
    free = cluster.free
    for job in cluster.waiting:
        if job.procs > free:
            break
        free -= job.procs
        yield job


def easy(cluster):
    """EASY backfilling, its reservation worked out anew at each look."""
    free, shadow, extra = cluster.free, None, 0
    held = [(one.end, one.job.procs) for one in cluster.running]
    for job in cluster.waiting:
        end = cluster.time + job.requested
        if shadow is None and job.procs > free:
            shadow = min(
                at for at, _ in held if free + sum(procs for end, procs in held if end <= at) >= job.procs
            )
            extra = free + sum(procs for end, procs in held if end <= shadow) - job.procs
        elif job.procs <= free and (shadow is None or end <= shadow or job.procs <= extra):
            extra -= job.procs if shadow is not None and end > shadow else 0
            free -= job.procs
            held.append((end, job.procs))
            yield job


def easy_by_reservation(cluster):
    """Yield the same by what the state of the cluster tells of reservations."""
    free, until, spare, starting = cluster.free, inf, 0, list[WaitingJob]()
    for job in cluster.waiting:
        is_short = cluster.time + job.requested <= until
        if job.procs > free:
            if until == inf:
                until, spare = cluster.reservation(job, starting)
        elif is_short or job.procs <= spare:
            spare -= 0 if is_short else job.procs
            free -= job.procs
            starting.append(job)
    return starting


class ShortestKnown:
    """Of the jobs that fit, those of the users first whose last job was the shortest: one that remembers."""

    def __init__(self):
        self.last = {}

    def __call__(self, cluster):
        self.last |= {one.job.user: one.end - one.start for one in cluster.ended}
        free = cluster.free
        for job in sorted(cluster.waiting, key=lambda job: self.last.get(job.user, inf)):
            if job.procs <= free:
                free -= job.procs
                yield job


def clairvoyant(cluster):
    """Of the jobs that fit, the one of the shortest run time."""
    fitting = [job for job in cluster.waiting if job.procs <= cluster.free]
    return [min(fitting, key=lambda job: job.run)] if fitting else []


clairvoyant.clairvoyant = True  # type: ignore[attr-defined]


def hourly(cluster):
    """First come, first served, at seconds that are multiples of 5 only."""
    if cluster.time % 5 == 0:
        return fcfs(cluster)
    cluster.ask_again(max(cluster.time // 5 * 5 + 5, cluster.time + 1))
    return []


def slow_starts(policy, jobs, cpus, user):
    """Return when each job starts, and each state that the policy saw: all is worked out anew each time."""
    asked = policy() if isinstance(policy, type) else policy
    sees = getattr(policy, "clairvoyant", False)
    columns = (column.tolist() for column in (jobs.submit, jobs.procs, jobs.estimate, user, jobs.run))
    rows = [
        WaitingJob(number, submit, procs, estimate, name, run if sees else None)
        for number, (submit, procs, estimate, name, run) in enumerate(zip(*columns, strict=True))
    ]
    start: dict[int, float] = {}
    ended: set[int] = set()
    fresh: list[StartedJob] = []
    states: list[ClusterState] = []
    again = now = inf
    while len(start) < len(rows):
        ends = {number: start[number] + jobs.run[number] for number in start if number not in ended}
        coming = [job.submit for job in rows if now == inf or job.submit > now]
        now = min([*coming, *ends.values(), again])
        over = sorted((end, number) for number, end in ends.items() if end <= now)
        ended |= {number for _, number in over}
        fresh += [StartedJob(rows[number], start[number], now) for _, number in over]
        again = inf
        waiting = [job for job in rows if job.submit <= now and job.number not in start]
        if waiting:
            runs = [
                StartedJob(rows[number], begun, begun + rows[number].requested)
                for number, begun in start.items()
                if number not in ended
            ]
            free = cpus - sum(one.job.procs for one in runs)
            state = ClusterState(now, cpus, free, waiting, sorted(runs, key=lambda one: one.end), fresh)
            states.append(replace(state, waiting=list(waiting)))
            start |= {job.number: now for job in asked(state)}
            again, fresh = state.again, []
    return [start[number] for number in range(len(rows))], states
