"""
Made logs in which sentences of the first screen would be false: `python -m tests.claims.first_screens 100`.

Each world is a log of which it is known what happened, with what its first screen must not say and what it
must. The worlds beside the project (`../shared/cases/worlds.py`) are looked at as well, where they are.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import gwa
from gwa.analysis.answers import SECTIONS, answers, evidence
from gwa.analysis.base import analyses
from gwa.analysis.finding import findings
from gwa.simulation.backfilling import schedule
from gwa.simulation.jobs import Jobs
from tests.conftest import HOME

SHARED = HOME.parent / "shared" / "cases" / "worlds.py"
DAY = 86_400
HOUR = 3600
BEGIN = 1_577_836_800
"""1 January 2020, a Wednesday, in UTC."""

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Expectation:
    """What the first screen of a world must *never* say and what it must *always* say: patterns of texts."""

    never: tuple[str, ...] = ()
    always: tuple[str, ...] = ()


@dataclass
class Made:
    """The jobs of a world, sorted by submission, and the lines of its header."""

    jobs: Columns
    header: dict[str, str] = field(default_factory=dict)


Maker = Callable[[np.random.Generator], Made]

WORLDS: dict[str, tuple[Maker, Expectation]] = {}

NO_CHANGE = (r"(from about the week|over the log,)",)
NO_OUTAGE = (r"\boutages?\b",)
NO_GAP = (r"rows are missing",)
CALM = (*NO_CHANGE, *NO_OUTAGE, *NO_GAP)


def world(*, never: tuple[str, ...] = (), always: tuple[str, ...] = ()) -> Callable[[Maker], Maker]:
    """Register what makes a world, by its name."""

    def register(maker: Maker) -> Maker:
        WORLDS[maker.__name__] = maker, Expectation(never, always)
        return maker

    return register


# --- What worlds are made of ---


def arrivals(rng: np.random.Generator, days: int, rate: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the sorted submissions of a Poisson process with a *rate* per day that depends on the day."""
    counts = rng.poisson(rate(np.arange(days)))
    times = np.repeat(np.arange(days), counts) * DAY + rng.integers(0, DAY, counts.sum())
    return BEGIN + np.sort(times).astype(float)


def constant(per_day: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda days: np.full(len(days), float(per_day))


def jobs_at(
    rng: np.random.Generator, submit: np.ndarray, cpus: int | None = 128, **columns: np.ndarray
) -> Columns:
    """Return independent jobs submitted at *submit*, served in that order on *cpus* processors."""
    count = len(submit)
    made: Columns = {
        "submit": submit,
        "run": np.round(np.clip(rng.lognormal(7.5, 1.5, count), 1, DAY)),
        "procs": 2 ** rng.integers(0, 6, count),
        "user": rng.integers(1, 41, count),
        "queue": rng.integers(1, 4, count),
        "request": np.full(count, -1.0),
        "status": np.ones(count, int),
        "number": np.arange(1, count + 1),
    } | columns
    if "wait" not in made:
        made["wait"] = waits(made, cpus) if cpus else np.zeros(count)
    return made


def waits(made: Columns, cpus: int) -> np.ndarray:
    queue = Jobs.of(made["submit"], made["run"], made["procs"])
    return np.asarray(schedule(queue, cpus, "fcfs")) - made["submit"]


def kept(made: Columns, which: np.ndarray) -> Columns:
    return {name: values[which] for name, values in made.items()}


def swf(made: Made) -> str:
    """Return a world as text in the Standard Workload Format."""
    head = {"Version": "2.2", "UnixStartTime": str(BEGIN), "TimeZoneString": "UTC", **made.header}
    lines = [f"; {key}: {value}" for key, value in head.items()]
    jobs = made.jobs
    rows = zip(*(jobs[name] for name in ROW), strict=True)
    for number, submit, wait, run, procs, request, status, user, queue in rows:
        lines.append(
            f"{number:.0f} {submit - BEGIN:.0f} {wait:.0f} {run:.0f} {procs:.0f} -1 -1 {procs:.0f}"
            f" {request:.0f} -1 {status:.0f} {user:.0f} 1 -1 {queue:.0f} -1 -1 -1"
        )
    return "\n".join(lines) + "\n"


ROW = ("number", "submit", "wait", "run", "procs", "request", "status", "user", "queue")


def stated(cpus: int) -> dict[str, str]:
    return {"MaxProcs": str(cpus)}


# --- The worlds ---


@world(
    never=(r"no measure changed", r"jobs (a week )?fell", *NO_OUTAGE, *NO_GAP),
    always=(r"jobs",),
)
def growth(rng: np.random.Generator) -> Made:
    """Five times the jobs after two years, on a machine that never fills."""
    submit = arrivals(rng, 728, lambda day: 15 * 5 ** (day / 728))
    return Made(jobs_at(rng, submit, None), stated(1024))


@world(never=(r"no measure changed", r"jobs (a week )?rose", *NO_OUTAGE, *NO_GAP))
def shrinkage(rng: np.random.Generator) -> Made:
    """A fifth of the jobs after two years."""
    submit = arrivals(rng, 728, lambda day: 75 * 5 ** (-day / 728))
    return Made(jobs_at(rng, submit, None), stated(1024))


@world(never=(r"longer than", r"worst served", *CALM))
def ties(rng: np.random.Generator) -> Made:
    """A scheduler that looks once in five minutes: nearly all waits are equal."""
    submit = arrivals(rng, 364, constant(40))
    wait = np.where(rng.random(len(submit)) < 0.6, 0.0, 300.0)
    return Made(jobs_at(rng, submit, None, wait=wait), stated(512))


@world(never=(*CALM, r"waited longest"))
def nights(rng: np.random.Generator) -> Made:
    """Jobs of at most an hour from 9 to 17 h only: two thirds of the time nothing runs, and that is usual."""
    days = np.sort(rng.integers(0, 364, 9000))
    submit = BEGIN + np.sort(days * DAY + rng.integers(9 * HOUR, 17 * HOUR, 9000)).astype(float)
    run = rng.integers(60, 3600, len(submit)).astype(float)
    return Made(jobs_at(rng, submit, None, run=run, procs=np.ones(len(submit), int)), stated(64))


@world(
    never=(r"mostly idle", r"jobs.{0,40}\b0 (after|since)", *NO_OUTAGE),
    always=(r"rows are missing|down or closed",),
)
def hole(rng: np.random.Generator) -> Made:
    """Sixty days of a busy machine are not in the log; its numbers go on."""
    made = jobs_at(rng, arrivals(rng, 364, constant(60)))
    day = (made["submit"] - BEGIN) / DAY
    return Made(kept(made, (day < 150) | (day > 210)), stated(128))


@world(never=(r"[\d.]+ ?% of [\d,]+ processors", *CALM))
def cut_unstated(rng: np.random.Generator) -> Made:
    """A hundred days of jobs that ended, of a machine whose size is not stated."""
    made = jobs_at(rng, arrivals(rng, 240, constant(70)), 160)
    end = (made["submit"] + made["wait"] + made["run"] - BEGIN) / DAY
    return Made(kept(made, (end > 60) & (end < 160)))


@world(never=(r"stands out", r"1 of 1", r"account(s)? for half", *CALM))
def one_user(rng: np.random.Generator) -> Made:
    submit = arrivals(rng, 364, constant(50))
    return Made(jobs_at(rng, submit, user=np.full(len(submit), 7)), stated(128))


@world(
    never=(
        r"all jobs completed",
        r"\b0 % (of the core-hours )?(went|failed)",
        r"100 %.{0,40}completed",
        *CALM,
    )
)
def one_code(rng: np.random.Generator) -> Made:
    """Each job is coded as completed, whatever became of it."""
    return Made(jobs_at(rng, arrivals(rng, 364, constant(50))), stated(128))


@world(never=CALM)
def office_holds(rng: np.random.Generator) -> Made:
    """Independent jobs by day; a tenth wait six hours or more because their users asked for it."""
    count = 9000
    submit = BEGIN + np.sort(
        rng.integers(0, 364, count) * DAY + rng.integers(9 * HOUR, 17 * HOUR, count)
    ).astype(float)
    run = rng.integers(60, 1200, count).astype(float)
    held = np.where(rng.random(count) < 0.1, rng.exponential(6 * HOUR, count), 0.0).round()
    return Made(jobs_at(rng, submit, None, run=run, wait=held, procs=np.ones(count, int)), stated(32))


@world(never=(r"\bqueue\b", *CALM))
def no_queue(rng: np.random.Generator) -> Made:
    submit = arrivals(rng, 364, constant(50))
    return Made(jobs_at(rng, submit, queue=np.full(len(submit), -1)), stated(128))


@world(never=(r"that reached their time limit", *CALM))
def unenforced(rng: np.random.Generator) -> Made:
    """A fifth of the jobs run far longer than they asked for, so a failure near the request means nothing."""
    submit = arrivals(rng, 364, constant(50))
    made = jobs_at(rng, submit)
    request = np.round(made["run"] * rng.uniform(0.9, 1.6, len(submit)))
    long = rng.random(len(submit)) < 0.2
    made["request"] = np.maximum(np.where(long, np.round((made["run"] - 900) / 1.5), request), 60)
    made["status"] = np.where(rng.random(len(submit)) < 0.2, 0, 1)
    return Made(made, stated(128))


SHARED_WORLDS: dict[str, Expectation] = {
    "poisson": Expectation((*CALM, r"worst served", r"longer than 0 s")),
    "zero_waits": Expectation((*CALM, r"worst served", r"longer than", r"waits? (times )?are not recorded")),
    "step30": Expectation((r"no measure changed", *NO_OUTAGE, *NO_GAP)),
    "doubled": Expectation((r"no measure changed",)),
    "two_users": Expectation((*CALM, r"account(s)? for half")),
    "no_ends": Expectation((r"users (and groups )?are not recorded", r"\b0 (cpu|core)-?hours", *CALM)),
    "clock3": Expectation((r"410", r"jobs[^.]{0,60}\b[0-9] since", *NO_CHANGE)),
    "burst": Expectation((r"long-range", r"one user's habit", *CALM)),
    "gap": Expectation(
        (r"mostly idle", r"jobs[^.]{0,40} to 0\b", *NO_OUTAGE), (r"rows are missing|down or closed",)
    ),
    "thinned": Expectation(NO_CHANGE),
    "office_hours": Expectation((*CALM, r"memory", r"underestimate")),
}
"""What the worlds beside the project must not, and must, say."""


# --- What is said of them ---


def screen(path: Path) -> str:
    """Return the texts of the first screen of a log: its answers, and the findings of their sections."""
    with gwa.open(path) as trace:
        store = trace.store
        store.settle()
        wanted = SECTIONS | {"dependence-over-time", "efficiency", "estimates"}
        made = [one.attempt(store, is_drawn=False) for one in analyses() if one.id in wanted]
        known = evidence(store, made)
        texts = [f"{one.number} | {one.text}" for one in answers(known, ())]
        texts += [one.text for one in findings(known.facts, {section.id for section in made})]
    return "\n".join(texts)


def violations(text: str, expected: Expectation) -> list[str]:
    """Return what *text* says and must not, and what it must and does not."""
    said = [pattern for pattern in expected.never if re.search(pattern, text, re.IGNORECASE)]
    unsaid = [f"not {pattern}" for pattern in expected.always if not re.search(pattern, text, re.IGNORECASE)]
    return said + unsaid


def screens(seed: int, folder: Path) -> Iterator[tuple[str, str, Expectation]]:
    """Yield the name, the text and the expectation of each world made with *seed*, in a *folder*."""
    for name, (maker, expected) in WORLDS.items():
        path = folder / f"{name}.swf"
        path.write_text(swf(maker(np.random.default_rng(seed))))
        yield name, screen(path), expected
    if SHARED.exists():
        subprocess.run([sys.executable, SHARED, folder, str(seed)], check=True)
        for name, expected in SHARED_WORLDS.items():
            yield name, screen(folder / f"{name}.swf"), expected


def rates(first: int, count: int) -> None:
    """Print how many of *count* seeds have a first screen that says something false, by world."""
    wrong: Counter[str] = Counter()
    worlds: dict[str, None] = {}
    for seed in range(first, first + count):
        with TemporaryDirectory() as folder:
            for name, text, expected in screens(seed, Path(folder)):
                worlds[name] = None
                broken = violations(text, expected)
                wrong[name] += bool(broken)
                if broken:
                    print(seed, name, broken, text.replace("\n", " / ")[:600], flush=True)  # noqa: T201
    for name in worlds:
        print(f"{name}: {wrong[name]} of {count}")  # noqa: T201
    print(f"all: {sum(wrong.values())} of {count * len(worlds)}")  # noqa: T201


if __name__ == "__main__":
    rates(int(sys.argv[2]) if len(sys.argv) > 2 else 1, int(sys.argv[1]))
