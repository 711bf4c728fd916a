"""
Made logs that begin or end in the middle, and what was busy in all: `python -m tests.claims.spans 50`.

Each world is a part of a longer log, or tells less of it. What a first screen says of busy processors is held
against all jobs, over the time that it names.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import gwa
from gwa.analysis.build import build
from gwa.store.subset import Subset, select
from gwa.words.formatting import fraction, number
from tests.claims.first_screens import BEGIN, DAY, HOUR, Columns, Made, jobs_at, kept, stated, swf

CPUS = 1000
TOLERANCE = 0.03
"""A window knows at least 98 % of the load, as far as can be estimated."""

ONLY = ("overview", "utilization", "stretches")

Part = tuple[Columns, dict[str, str], str]
"""The jobs in a log, its header, and the period asked for, if any."""

WORLDS: dict[str, Callable[[np.random.Generator, Columns, float], Part]] = {}


def world(maker: Callable[[np.random.Generator, Columns, float], Part]) -> Callable[..., Part]:
    """Register what makes a log of all jobs and the days that they span."""
    WORLDS[maker.__name__] = maker
    return maker


def everything(rng: np.random.Generator) -> tuple[Columns, float]:
    """Return stationary jobs that never wait for processors, and over how many days they were submitted."""
    days = float(rng.integers(60, 150))
    submit = BEGIN + np.sort(rng.integers(0, int(days * DAY), 2500)).astype(float)
    run = np.round(np.clip(rng.lognormal(rng.uniform(8, 9.5), 1.2, len(submit)), 60, 3 * DAY))
    return jobs_at(rng, submit, None, run=run, wait=np.round(rng.exponential(HOUR, len(submit)))), days


def at(made: Columns, name: str) -> np.ndarray:
    """Return the moments of jobs, in days since the begin."""
    offset = {"submit": 0, "start": made["wait"], "end": made["wait"] + made["run"]}[name]
    return np.asarray((made["submit"] + offset - BEGIN) / DAY)


@world
def whole(_: np.random.Generator, made: Columns, __: float) -> Part:
    return made, stated(CPUS), ""


@world
def starts_in_the_middle(rng: np.random.Generator, made: Columns, days: float) -> Part:
    return kept(made, at(made, "submit") >= rng.uniform(0.2, 0.5) * days), stated(CPUS), ""


@world
def ends_in_the_middle(rng: np.random.Generator, made: Columns, days: float) -> Part:
    return kept(made, at(made, "end") < rng.uniform(0.5, 0.8) * days), stated(CPUS), ""


@world
def jobs_that_ended_between_two_days(rng: np.random.Generator, made: Columns, days: float) -> Part:
    first, last = rng.uniform(0.1, 0.3) * days, rng.uniform(0.6, 0.9) * days
    ended = at(made, "end")
    return kept(made, (ended >= first) & (ended < last)), {}, ""


@world
def days_of_long_jobs(rng: np.random.Generator, made: Columns, days: float) -> Part:
    first = rng.uniform(0.2, 0.6) * days
    began = at(made, "start")
    return kept(made, (began >= first) & (began < first + rng.uniform(2, 5))), stated(CPUS), ""


@world
def rows_are_missing(rng: np.random.Generator, made: Columns, days: float) -> Part:
    first = rng.uniform(0.3, 0.4) * days
    submitted = at(made, "submit")
    return kept(made, (submitted < first) | (submitted >= first + 0.2 * days)), stated(CPUS), ""


@world
def rows_are_missing_and_numbered_anew(rng: np.random.Generator, made: Columns, days: float) -> Part:
    part, header, _ = rows_are_missing(rng, made, days)
    return part | {"number": np.arange(1, len(part["submit"]) + 1)}, header, ""


@world
def jobs_at_unknown_times(rng: np.random.Generator, made: Columns, _: float) -> Part:
    submit = np.where(rng.random(len(made["submit"])) < 0.1, BEGIN - 1, made["submit"])
    return made | {"submit": submit}, stated(CPUS), ""


@world
def still_running(rng: np.random.Generator, made: Columns, days: float) -> Part:
    last = rng.uniform(0.5, 0.8) * days
    part = kept(made, at(made, "start") < last)
    runs = at(part, "end") >= last
    running = {"run": np.where(runs, -1, part["run"]), "status": np.where(runs, -1, part["status"])}
    return part | running, stated(CPUS), ""


@world
def a_month(_: np.random.Generator, made: Columns, __: float) -> Part:
    return made, stated(CPUS), "2020-02"


@world
def a_month_in_which_it_starts(rng: np.random.Generator, made: Columns, _: float) -> Part:
    return kept(made, at(made, "submit") >= rng.uniform(33, 45)), {}, "2020-02"


def held(made: Columns, first: float, last: float) -> float:
    """Return the processor-seconds that jobs hold between two moments."""
    start = made["submit"] + made["wait"]
    inside = np.minimum(start + made["run"], last) - np.maximum(start, first)
    return float((made["procs"] * np.clip(inside, 0, None)).sum())


def mean(made: Columns, facts: dict[str, Any]) -> float:
    """Return the mean of busy processors over the time that the facts name, outside of the gaps they list."""
    first, last = facts["utilization.first"], facts["utilization.last"]
    area, seconds = held(made, first, last), last - first
    for gap in facts["stretches"] if facts["utilization.kind"] == "value" else ():
        begin, end = max(gap["unknown_begin"], first), min(gap["end"], last)
        if begin < end and (gap["kind"] == "missing" or (gap["kind"] == "still" and gap["seconds"] >= DAY)):
            area, seconds = area - held(made, begin, end), seconds - (end - begin)
    return float(area / seconds)


def falsehood(path: Path, part: Part, every: Columns) -> str:
    """Return what the first screen of a log says falsely of busy processors; nothing where it is true."""
    jobs, header, period = part
    path.write_text(swf(Made(jobs, header)))
    with gwa.open(path) as trace:
        filters = [Subset(period=period)] if period else []
        store = select(trace.store, filters[0]) if filters else trace.store
        report = build(store, "log", filters=filters, only=ONLY, strict=True)
    facts: dict[str, Any] = {fact.id: fact.value for fact in report.facts()}
    text = next(one.text for one in report.answers if one.id == "busy")
    kind = facts["utilization.kind"]
    if kind == "unknown":
        return "" if text.startswith("Utilization is unknown") else text
    name = "known_" if kind == "value" else ""
    said = facts["utilization.known_busy" if name else "utilization.busy_at_least"]
    truth = mean(every, facts)
    wrong = abs(said / truth - 1) > TOLERANCE if name else said > truth * (1 + 1e-9)
    told = fraction(said / CPUS) if header else number(said)
    if wrong or f" {told} " not in text or ("%" in text) != bool(header):
        return f"{text} (it was {truth:.5g}, said is {said:.5g})"
    return ""


def falsehoods(seed: int, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each world made with *seed*, and what is said falsely of it."""
    for place, (name, maker) in enumerate(WORLDS.items()):
        rng = np.random.default_rng([seed, place])
        every, days = everything(rng)
        yield name, falsehood(folder / f"{name}.swf", maker(rng, every, days), every)


def rates(count: int) -> None:
    """Print how many of *count* seeds have a first screen that is false of busy processors, by world."""
    wrong: Counter[str] = Counter()
    for seed in range(1, count + 1):
        with TemporaryDirectory() as folder:
            for name, found in falsehoods(seed, Path(folder)):
                wrong[name] += bool(found)
                if found:
                    print(seed, name, found, flush=True)  # noqa: T201
    for name in WORLDS:
        print(f"{name}: {wrong[name]} of {count}")  # noqa: T201
    print(f"all: {sum(wrong.values())} of {count * len(WORLDS)}")  # noqa: T201


if __name__ == "__main__":
    rates(int(sys.argv[1]))
