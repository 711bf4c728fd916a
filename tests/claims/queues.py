"""
How often the comparison of queues calls off what is not, and tells apart what is.

``python -m tests.claims.queues LOG…`` prints both for the first half of each log. In place of the seeds of a
model stand

- *own weeks*: other draws of the log's weeks than those that make the band (false alarms);
- *weeks in another order*: each once;
- *independent users*: the weeks of each user in another order;
- *scattered jobs*: each job in any week, at the same hour of it;
- *contents exchanged*: the jobs of the log in another order, at its times of submission.
"""

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean

import numpy as np

import gwa
from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.queues.card import MINIMUM_SEEDS, QueueCard, QueueReference, drawn_again
from gwa.evaluation.queues.numbers import numbers
from gwa.evaluation.queues.own_weeks import halves, weeks_of
from gwa.statistics.sample import Ints
from gwa.util.units import WEEK

ALARMS, WORLDS = 40, 10
"""How many models of own weeks, and of each false world, are made of a log."""


def in_weeks(work: JobArrays, week: Ints) -> JobArrays:
    """Return the jobs in other weeks, at the same hours of these."""
    submit = work.submit + (week - work.submit // WEEK) * WEEK
    order = np.argsort(submit, kind="stable")
    return work.take(order, submit[order])


def reordered(work: JobArrays, rng: np.random.Generator) -> JobArrays:
    """Return the weeks in another order."""
    weeks = weeks_of(work)
    return in_weeks(work, weeks.start + rng.permutation(len(weeks))[_week(work)])


def independent(work: JobArrays, rng: np.random.Generator) -> JobArrays:
    """Return the weeks of each user in another order, which is its own."""
    weeks, (_, user) = weeks_of(work), np.unique(work.user, return_inverse=True)
    orders = np.array([rng.permutation(len(weeks)) for _ in range(user.max() + 1)])
    return in_weeks(work, weeks.start + orders[user, _week(work)])


def scattered(work: JobArrays, rng: np.random.Generator) -> JobArrays:
    """Return each job in any week."""
    weeks = weeks_of(work)
    return in_weeks(work, weeks.start + rng.integers(len(weeks), size=len(work)))


def exchanged(work: JobArrays, rng: np.random.Generator) -> JobArrays:
    """Return the jobs in another order, at the same times."""
    return work.take(rng.permutation(len(work)), work.submit)


WORLDS_OF: dict[str, Callable[[JobArrays, np.random.Generator], JobArrays]] = {
    "weeks in another order": reordered,
    "independent users": independent,
    "scattered jobs": scattered,
    "contents exchanged": exchanged,
}


def _week(work: JobArrays) -> Ints:
    """Return the place of the week of each job among those of the workload."""
    weeks = weeks_of(work)
    return np.clip((work.submit // WEEK).astype(np.int64) - weeks.start, 0, len(weeks) - 1)


def alarms(work: JobArrays, reference: QueueReference) -> Iterator[QueueCard]:
    """Yield own weeks in place of the seeds of models."""
    for model in range(ALARMS):
        first = 1000 + MINIMUM_SEEDS * model
        yield QueueCard(reference, tuple(drawn_again(work, range(first, first + MINIMUM_SEEDS))))


def false_world(work: JobArrays, reference: QueueReference, name: str) -> Iterator[QueueCard]:
    """Yield what a false world gives in place of the seeds of models."""
    for model in range(WORLDS):
        rngs = (np.random.default_rng((model, seed)) for seed in range(MINIMUM_SEEDS))
        yield QueueCard(reference, tuple(numbers(WORLDS_OF[name](work, rng)) for rng in rngs))


def report(path: Path) -> None:
    """Print the rates of a log."""
    with gwa.open(path) as trace:
        parts = halves(JobArrays.of(trace.store))
    assert parts is not None, f"{path}: too short"
    work = parts[0]
    reference = QueueReference.of(work)
    print(f"{path.name}: {len(work):,} jobs, {len(weeks_of(work))} weeks", flush=True)  # noqa: T201
    summarize("own weeks", list(alarms(work, reference)))
    for name in WORLDS_OF:
        summarize(name, list(false_world(work, reference, name)))


def summarize(name: str, cards: list[QueueCard]) -> None:
    """Print in how many models, and in which share of lines, something is off."""
    lines = sum(len(card.lines) for card in cards)
    off = Counter(line.number.key for card in cards for line in card.lines if line.is_off)
    told = sum(any(line.is_off for line in card.lines) for card in cards)
    waits = [card.line("waits.easy.mean").mean or 0.0 for card in cards]
    print(  # noqa: T201
        f"  {name}: {told} of {len(cards)} models have a line that is off, {sum(off.values()) / lines:.4f} of"
        f" all lines are; waits {math.exp(fmean(waits)):.2f}; most often {off.most_common(4)}",
        flush=True,
    )


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        report(Path(argument))
