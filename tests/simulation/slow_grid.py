"""
A slow, obvious simulator of grids that schedule bags of tasks: what the fast one is checked against.

It keeps lists and looks at all of them at every instant. Policies are written from what the thesis says of
them, and know everything.
"""

from dataclasses import dataclass, field
from math import ceil, inf
from typing import Any


@dataclass(eq=False)
class Task:
    number: int
    submit: float
    run: float
    bag: int
    user: int
    site: int
    predicted: float
    ran: list["Copy"] = field(default_factory=list)
    winner: Any = None
    turn: int = -1  # of its last copy, among all copies

    def running(self):
        return [copy for copy in self.ran if copy.over == inf]


@dataclass(eq=False)
class Copy:
    task: Task
    processor: "Processor"
    since: float
    until: float
    over: float = inf


@dataclass(eq=False)
class Processor:
    number: int
    cluster: "Cluster"
    copy: Copy | None = None
    row: float = 0


@dataclass(eq=False)
class Cluster:
    number: int
    speed: float
    processors: list[Processor] = field(default_factory=list)
    queue: list[Task] = field(default_factory=list)
    seen: int = 0
    measured: float = 0

    def idle(self):
        return [processor for processor in self.processors if not processor.copy]

    def busy(self):
        return [processor for processor in self.processors if processor.copy]


@dataclass(eq=False)
class Manager:
    clusters: list[Cluster]
    waiting: list[Task] = field(default_factory=list)
    eligible: list[Task] = field(default_factory=list)
    last_user: int = -1
    last_cluster: int = -1


class SlowGrid:
    def __init__(self, tasks, sizes, speeds, policies, priority, period):
        self.architecture, self.selection, self.scheduling = policies
        self.tasks, self.priority = tasks, priority
        self.central = self.architecture in {"csp", "pull"}
        self.pushes_to_queues = "ECT" in self.scheduling and self.architecture != "pull"
        self.period = period if self.central else 0
        self.clusters = [Cluster(number, speed) for number, speed in enumerate(speeds)]
        for cluster, size in zip(self.clusters, sizes, strict=True):
            first = sum(sizes[: cluster.number])
            cluster.processors = [Processor(first + n, cluster) for n in range(size)]
            cluster.seen = size
        alone = [Manager([cluster]) for cluster in self.clusters]
        self.managers = [Manager(self.clusters)] if self.central else alone
        self.at: dict[int, Manager] = {}
        self.order_of_bags = list(dict.fromkeys(task.bag for task in tasks))
        self.to_come = list(tasks)
        self.now, self.look, self.turns = -inf, inf, 0

    # What happens at an instant.

    def simulate(self, horizon):
        while (instant := min(self.instants())) <= horizon and instant < inf:
            self.now = instant
            for cluster in self.clusters:
                self.finish_those_due(cluster)
            for cluster in self.clusters:
                self.start_queued(cluster)
            self.monitor()
            new = [task for task in self.to_come if task.submit <= instant]
            self.to_come = self.to_come[len(new) :]
            went_to = [self.arrive(task) for task in new]
            self.give_away()
            for task, manager in zip(new, went_to, strict=True):
                if not task.ran:
                    place = self.managers.index(manager) + 1
                    self.at[task.user] = self.managers[place % len(self.managers)]
            self.replicate()
        for task in self.tasks:
            for copy in task.running():
                copy.over = horizon

    def instants(self):
        yield from (self.look, inf)
        yield from (task.submit for task in self.to_come[:1])
        yield from (copy.until for task in self.tasks for copy in task.running())

    def finish_those_due(self, cluster):
        for processor in cluster.processors:
            if processor.copy and processor.copy.until == self.now:
                self.finish(processor.copy)

    def start_queued(self, cluster):
        while cluster.idle() and cluster.queue:
            self.start(cluster.queue.pop(0), cluster)
            if not cluster.queue:
                self.redraw(cluster)

    def finish(self, copy):
        copy.task.winner = copy
        copy.processor.row += (copy.task.run - self.believed(copy.task)) / copy.processor.cluster.speed
        if self.now > copy.since:
            copy.processor.cluster.measured = copy.task.run / (self.now - copy.since)
        for one in copy.task.running():
            one.over = self.now
            one.processor.copy = None

    def monitor(self):
        if self.look == inf and any(cluster.seen < len(cluster.idle()) for cluster in self.clusters):
            self.look = ceil(self.now / self.period) * self.period if self.period else self.now
        if self.look <= self.now:
            self.look = inf
            for cluster in self.clusters:
                cluster.seen = len(cluster.idle())

    def arrive(self, task):
        manager = self.managers[0 if self.central else task.site]
        if self.architecture == "fcondor":
            manager = self.at.setdefault(task.user, manager)
        manager.waiting.append(task)
        return manager

    def start(self, task, cluster):
        processor = min(cluster.idle(), key=lambda one: one.number)
        copy = Copy(task, processor, self.now, self.now + task.run / cluster.speed)
        task.ran.append(copy)
        processor.copy = copy
        cluster.seen = max(cluster.seen - 1, 0)
        task.turn, self.turns = self.turns, self.turns + 1

    # What managers do.

    def give_away(self):
        for manager in self.managers:
            while self.pushes_to_queues or any(cluster.seen for cluster in manager.clusters):
                if self.selection == "S-T" or not manager.eligible:
                    self.select(manager)
                if not manager.eligible:
                    break
                task = min(manager.eligible, key=self.urgency)
                cluster = self.choose(manager, task)
                manager.eligible.remove(task)
                if cluster.idle():
                    self.start(task, cluster)
                    task.ran[-1].processor.row = self.now + self.believed(task) / cluster.speed
                else:
                    cluster.queue.append(task)
                    sound = [one for one in cluster.processors if one.row >= self.now]
                    row = min(sound or cluster.processors[:1], key=lambda one: one.row)
                    row.row = max(row.row, self.now) + self.believed(task) / cluster.speed

    def replicate(self):
        replicas = {"RR": 1, "STFR": 1}.get(self.scheduling, 0)
        if self.scheduling.startswith("WQR-"):
            replicas = int(self.scheduling.removeprefix("WQR-"))
        for manager in self.managers:
            while not manager.waiting and not manager.eligible and any(one.seen for one in manager.clusters):
                can = [
                    task
                    for task in self.tasks
                    if 0 < len(task.running()) == len(task.ran) <= replicas
                    and task.ran[0].processor.cluster in manager.clusters
                ]
                if not can:
                    break
                task = min(can, key=lambda one: one.turn)
                self.start(task, self.choose(manager, task))

    # Task selection.

    def select(self, manager):
        waiting = manager.waiting
        if not waiting:
            return
        users = {task.user for task in waiting}
        oldest = min(waiting, key=lambda task: (self.order_of_bags.index(task.bag), task.number))
        match self.selection:
            case "S-T":
                chosen = list(waiting)
            case "S-B":
                chosen = [task for task in waiting if task.bag == oldest.bag]
            case "S-U-Prio":
                user = min(users, key=lambda one: self.priority[one])
                chosen = [task for task in waiting if task.user == user]
            case "S-U-T" | "S-U-B":
                user = min(users, key=lambda one: (self.consumption(manager, one), one))
                chosen = [task for task in waiting if task.user == user]
                if self.selection == "S-U-B":
                    bag = min((task.bag for task in chosen), key=self.order_of_bags.index)
                    chosen = [task for task in chosen if task.bag == bag]
            case "S-U-GRR" | "S-U-RR":
                user = min(users, key=lambda one: (one <= manager.last_user, one))
                manager.last_user = user
                chosen = [task for task in waiting if task.user == user]
                if self.selection == "S-U-RR":
                    chosen = chosen[:1]
        manager.eligible += chosen
        manager.waiting = [task for task in waiting if task not in chosen]

    def consumption(self, manager, user):
        return sum(
            min(copy.over, self.now) - copy.since
            for task in self.tasks
            if task.user == user
            for copy in task.ran
            if copy.processor.cluster in manager.clusters
        )

    # Task scheduling.

    def believed(self, task):
        return task.predicted if self.scheduling == "ECT-P" else task.run

    def urgency(self, task):
        signs = {"FPLT": -1, "DFPLT": -1, "STFR": 1}
        return (signs.get(self.scheduling, 0) * task.run, task.number)

    def choose(self, manager, task):
        idle = [cluster for cluster in manager.clusters if cluster.seen]
        match self.scheduling if self.architecture != "pull" else "by who asks":
            case "FPLT" | "FPF":
                return max(idle, key=lambda one: (one.speed, -one.number))
            case "DFPLT":
                return max(idle, key=lambda one: (one.measured, -one.number))
            case "ECT" | "ECT-P":
                return min(
                    manager.clusters,
                    key=lambda one: (self.expected(one) + self.believed(task) / one.speed, one.number),
                )
        places = [manager.clusters.index(cluster) for cluster in idle]
        manager.last_cluster = min(places, key=lambda place: (place <= manager.last_cluster, place))
        return manager.clusters[manager.last_cluster]

    def expected(self, cluster):
        """Return when a task sent to *cluster* would start."""
        if cluster.seen:
            return self.now
        if self.scheduling == "ECT-P":
            rows = [processor.row for processor in cluster.busy() if processor.row >= self.now]
            return min(rows, default=self.now)
        ends = [processor.copy.until for processor in cluster.busy()]
        for task in cluster.queue:
            ends.sort()
            ends[0] += task.run / cluster.speed
        return min(ends, default=self.now)

    def redraw(self, cluster):
        """Let the rows of *cluster* be the tasks that run."""
        for processor in cluster.busy():
            processor.row = processor.copy.since + self.believed(processor.copy.task) / cluster.speed
