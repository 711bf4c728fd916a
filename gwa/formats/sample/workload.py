"""What the users of the invented cluster submit: projects, users, kinds of jobs, weeks and hours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Final, TypeVar

T = TypeVar("T")

SEED: Final = 20250106
HOUR: Final = 3600
DAY: Final = 24 * HOUR
WEEK: Final = 7 * DAY

START: Final = 1_736_121_600
"""Monday, 6 January 2025, 0:00 UTC: the first second of the log."""

WEEKS: Final = 64
"""Whole weeks of the log."""

END: Final = START + WEEKS * WEEK + 2 * DAY + 14 * HOUR
"""Wednesday, 1 April 2026, 14:00: when the log was printed, while jobs run and wait."""

WARM_UP: Final = 1
"""Weeks before the log, so that the machine is as busy at its beginning as later."""

OUTAGE: Final = (START + 18 * WEEK + 2 * DAY + 7 * HOUR, START + 18 * WEEK + 3 * DAY + 7 * HOUR)
"""Begin and end of the day on which the machine was down: Wednesday, 14 May 2025, 7:00 to Thursday, 7:00."""

MISSING: Final = (START + 41 * WEEK, START + 42 * WEEK + 3 * DAY)
"""Begin and end of the ten days of which the rows are missing, by submission, from 20 October 2025."""

GROWING: Final = "genomics"
GROWTH: Final = START + 30 * WEEK
INCREASE: Final = 3
"""The project that submits three times as many jobs from Monday, 4 August 2025."""

FIRST_ID: Final = 40_001

HOURS: Final = (12, 9, 7, 6, 6, 7, 9, 16, 30, 46, 50, 46, 38, 46, 52, 50, 44, 36, 28, 24, 22, 20, 18, 15)
"""How likely a submission is in each hour of a day, in relation."""

WEEKDAYS: Final = (20, 21, 20, 20, 17, 5, 4)
"""How likely a submission is on each day of a week, in relation, from Monday."""

VARIATION: Final = (70, 80, 90, 100, 100, 110, 120, 130)
"""What a user submits in a week, in percent of what is usual."""

SPREAD: Final = (1, 2, 5, 10, 18, 27, 38, 52, 68, 84, 97, 108)
"""Run times in percent of the request, at equal steps of probability; above 100 the limit ends the job."""

SPREAD_OF_FAILURES: Final = (0, 0, 1, 1, 2, 4, 8, 16, 40)
"""The same of jobs that fail by themselves."""

PATIENCE: Final = (1, 2, 4, 8, 16, 30)
"""Hours after which a user withdraws a job that still waits, at equal steps of probability."""

FATES: Final = (
    ("failed", 60),
    ("cancelled", 40),
    ("out of memory", 20),
    ("node failure", 4),
    ("withdrawn", 60),
)
"""How many of 1,000 jobs end in each way; the others complete or reach their time limits."""


@dataclass(frozen=True)
class JobKind:
    """
    Jobs of one kind: *partition*, *shapes* (nodes, cores and GPUs of each node), time *limits* in hours.

    *memory* is requested, in GB a core; *used_memory* and *cpu_use* are ranges in percent. *gpu_use* is the
    mean use of each GPU of a node in percent. *tasks* are the smallest and the largest size of an array.
    """

    partition: str
    shapes: tuple[tuple[int, int, int], ...]
    limits: tuple[int, ...]
    memory: int
    used_memory: tuple[int, int]
    cpu_use: tuple[int, int]
    gpu_use: tuple[int, ...] = ()
    tasks: tuple[int, int] = (1, 1)


KINDS: Final = {
    "simulate": JobKind(
        "cpu", ((1, 32, 0), (2, 32, 0), (2, 32, 0), (4, 32, 0)), (24, 48, 72), 4, (20, 70), (88, 99)
    ),
    "analyse": JobKind("cpu", ((1, 1, 0), (1, 6, 0), (1, 12, 0)), (1, 2, 4), 4, (10, 60), (40, 95)),
    "align": JobKind(
        "cpu", ((1, 1, 0), (1, 5, 0), (1, 10, 0)), (2, 4, 8), 6, (30, 90), (70, 97), tasks=(4, 12)
    ),
    "assemble": JobKind("cpu", ((1, 16, 0), (1, 32, 0)), (24, 48), 8, (50, 98), (50, 90)),
    "serial-r": JobKind("cpu", ((1, 16, 0),), (8, 12), 4, (5, 20), (5, 5)),
    "train": JobKind(
        "gpu", ((1, 32, 4), (1, 32, 4), (2, 32, 4)), (24, 48, 72), 6, (20, 60), (30, 60), (88, 91, 86, 90)
    ),
    "tune": JobKind("gpu", ((1, 8, 1),), (4, 8), 6, (20, 60), (40, 80), (64,), tasks=(3, 8)),
    "one-of-four": JobKind("gpu", ((1, 32, 4),), (12, 24), 6, (5, 15), (10, 25), (71, 0, 0, 0)),
    "notebook": JobKind("gpu", ((1, 4, 1), (1, 8, 1)), (8, 12), 8, (2, 10), (1, 4), (0,)),
}  # fmt: skip


@dataclass(frozen=True)
class User:
    """A user who submits *weekly* jobs or arrays of one *kind* a week, on average."""

    name: str
    project: str
    kind: str
    weekly: float


USERS: Final = (
    User("u01", "climate", "simulate", 13),
    User("u02", "climate", "simulate", 4),
    User("u03", "climate", "analyse", 8),
    User("u04", "climate", "analyse", 3),
    User("u05", "genomics", "align", 3),
    User("u06", "genomics", "align", 1),
    User("u07", "genomics", "assemble", 12),
    User("u08", "genomics", "serial-r", 5),
    User("u09", "materials", "train", 25),
    User("u10", "materials", "train", 9),
    User("u11", "materials", "tune", 1.5),
    User("u12", "materials", "one-of-four", 13),
    User("u13", "materials", "notebook", 8),
    User("u14", "climate", "analyse", 1),
)

SHORT_HOURS: Final = 4
"""Hours up to which a job has the QoS short, which is served first."""


@dataclass(eq=False)
class Job:
    """A job: what is asked for, what it would do if it ran, and what the machine makes of it."""

    number: int
    array: tuple[int, int] | None
    user: User
    kind: JobKind
    submit: int
    nodes: int
    cores: int
    gpus: int
    limit: int
    run: int
    fate: str
    patience: int | None
    memory: int
    cpu_time: int
    is_measured: bool
    start: int | None = None
    end: int | None = None
    state: str = "PENDING"
    hosts: list[int] = field(default_factory=list)

    @property
    def qos(self) -> str:
        """The quality of service, which follows from the time limit."""
        return "short" if self.limit <= SHORT_HOURS * HOUR else "long"

    @property
    def all_cores(self) -> int:
        """Processors on all nodes."""
        return self.nodes * self.cores

    @property
    def all_gpus(self) -> int:
        """GPUs on all nodes."""
        return self.nodes * self.gpus

    @property
    def requested_memory(self) -> int:
        """Memory requested on all nodes, in GB."""
        return self.all_cores * self.kind.memory

    @property
    def elapsed(self) -> int:
        """Seconds that it has run, to the end of the log."""
        return 0 if self.start is None else (END if self.end is None else self.end) - self.start

    @property
    def total_cpu(self) -> int:
        """CPU seconds on all processors."""
        return self.all_cores * self.elapsed * self.cpu_time // 1000

    @property
    def gpu_use(self) -> tuple[int, ...]:
        """The mean use of each GPU of a node, in tenths of a percent."""
        return tuple(10 * use - self.number % 17 if use else 0 for use in self.kind.gpu_use)


def submissions() -> list[Job]:
    """Return all jobs in the order of submission, as the users submit them; nothing has run yet."""
    random = Random(SEED)  # noqa: S311 - a sample, no secret
    numbers = count(FIRST_ID)
    jobs: list[Job] = []
    for moment, user in sorted(_moments(random), key=lambda one: (one[0], one[1].name)):
        jobs += _submitted(random, numbers, user, moment)
    return jobs


def is_recorded(job: Job) -> bool:
    """Whether the log has a row of *job*: it ends after the log begins, and its row is not missing."""
    begin, end = MISSING
    return (job.end is None or job.end >= START) and not begin <= job.submit < end


def _moments(random: Random) -> Iterator[tuple[int, User]]:
    """Yield when each user submits something, hour by hour."""
    shares = [day * hour / (sum(WEEKDAYS) * sum(HOURS)) for day in WEEKDAYS for hour in HOURS]
    for week in range(-WARM_UP, WEEKS + 1):
        for user in USERS:
            begin = START + week * WEEK
            usual = user.weekly * pick(random, VARIATION) / 100
            rate = INCREASE * usual if user.project == GROWING and begin >= GROWTH else usual
            for hour, share in enumerate(shares):
                # The whole part is certain, and one more is submitted with the probability of the rest.
                certain, rest = divmod(rate * share, 1)
                for _ in range(int(certain) + (random.random() < rest)):
                    moment = begin + hour * HOUR + whole(random, 0, HOUR - 1)
                    if moment < END:
                        yield moment, user


def _submitted(random: Random, numbers: Iterator[int], user: User, moment: int) -> Iterator[Job]:
    """Yield the job, or the tasks of the array, that *user* submits at a *moment*."""
    kind = KINDS[user.kind]
    nodes, cores, gpus = pick(random, kind.shapes)
    limit = pick(random, kind.limits) * HOUR
    tasks = whole(random, *kind.tasks)
    first = next(numbers)
    for task in range(tasks):
        fate = _fate(random)
        has_failed = fate in {"failed", "cancelled", "out of memory", "node failure"}
        percent = between(random, SPREAD_OF_FAILURES if has_failed else SPREAD)
        requested = kind.memory * nodes * cores << 20
        yield Job(
            number=next(numbers) if task else first,
            array=(first, task) if tasks > 1 else None,
            user=user,
            kind=kind,
            submit=moment,
            nodes=nodes,
            cores=cores,
            gpus=gpus,
            limit=limit,
            run=max(int(limit * percent / 100), 5 + whole(random, 0, 50)),
            fate=fate,
            patience=int(between(random, PATIENCE) * HOUR) if fate == "withdrawn" else None,
            memory=requested
            if fate == "out of memory"
            else requested * whole(random, *kind.used_memory) // 100,
            cpu_time=10 * whole(random, *kind.cpu_use) + whole(random, 0, 9),
            is_measured=random.random() >= 0.02,  # noqa: PLR2004 - of some jobs the monitoring has nothing
        )


def _fate(random: Random) -> str:
    """Draw how a job ends."""
    drawn = whole(random, 0, 999)
    for fate, often in FATES:
        if drawn < often:
            return fate
        drawn -= often
    return "completed"


def whole(random: Random, low: int, high: int) -> int:
    """Draw a whole number from *low* to *high*, both included."""
    return low + int(random.random() * (high - low + 1))


def pick(random: Random, values: Sequence[T]) -> T:
    """Draw one of *values*."""
    return values[int(random.random() * len(values))]


def between(random: Random, quantiles: Sequence[int]) -> float:
    """Draw a value of a distribution with these *quantiles*, at equal steps of probability, lines between."""
    place, rest = divmod(random.random() * (len(quantiles) - 1), 1)
    low, high = quantiles[int(place) : int(place) + 2]
    return low + rest * (high - low)
