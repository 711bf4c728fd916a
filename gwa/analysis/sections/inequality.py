"""How unevenly users and groups share the system."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.breakdown.breakdown import consumed
from gwa.breakdown.dimensions import by_name
from gwa.breakdown.held import cpu_seconds_by, held_rows
from gwa.report.columns import table_of
from gwa.report.document import Block, Column, Fact, Facts, Note, Table
from gwa.report.facts import facts_of, number
from gwa.report.figures.lorenz import lorenz
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.words.message import joined, message

HOLDERS: Final = (("users", "user_id"), ("groups", "group_id"))

CONSUMED: Final = {"jobs": "jobs", message("CPU time"): "cpu_seconds"}
"""What users and groups consume, and its column."""

MINIMUM_HOLDERS: Final = 2
"""A single holder has no inequality."""


@analysis("Inequality", Chapter.MODELLERS, facts=("users", "groups"), order=6)
def inequality(store: Store) -> Iterator[Block]:
    """
    How unevenly jobs and CPU time are spread over users and groups.

    A Lorenz curve (Lorenz 1905) shows which share of the total the least active users have together;
    the straight line is what equal shares would give. The Gini coefficient (Gini 1912) is twice the area
    between the two: 0 where all have the same, near 1 where one has everything.
    """
    recorded = [(family, field) for family, field in HOLDERS if store.has(field)]
    if not recorded:
        yield Note("This trace records neither users nor groups.")
        return
    shares = {
        (family, what): consumed(store, by_name(family), column)
        for family, _ in recorded
        for what, column in CONSUMED.items()
    }
    samples = {key: x for key, x in shares.items() if x.n >= MINIMUM_HOLDERS and x.total() > 0}
    of_samples = [fact for key, sample in samples.items() for fact in _facts(*key, sample)]
    of_held = [fact for family, _ in recorded for fact in _facts_of_held(store, family)]
    yield Facts((*of_samples, *of_held), listed=False)
    if not samples:
        yield Note("There is a single user or group, or nothing was consumed: there is nothing to share.")
        return
    yield _table(samples)
    yield _figure(samples)


def top_share(sample: Sample, share: float) -> float:
    """
    Return the share of the total that the top *share* of the holders have; ties are split.

    >>> top_share(Sample.of([1, 1, 1, 1, 1, 1, 1, 1, 1, 9]), 0.1)
    0.5
    """
    holders, shares = sample.lorenz()
    return 1 - float(np.interp(1 - share, holders, shares))


def top_holders(sample: Sample, share: float) -> int:
    """
    Return how many of the top holders have *share* of the total together.

    >>> top_holders(Sample.of([1, 2, 3, 6]), 0.5), top_holders(Sample.of([1, 1, 1, 1]), 0.6)
    (1, 3)
    """
    values, counts = sample.values[::-1], sample.counts[::-1]
    cumulative, target = np.cumsum(values * counts), share * sample.total()
    index = min(int(np.searchsorted(cumulative, target)), len(values) - 1)
    before = float(cumulative[index] - values[index] * counts[index])
    needed = int(np.ceil((target - before) / values[index] - 1e-9))
    return int(counts[:index].sum()) + max(needed, 0)


def _facts(family: str, what: str, sample: Sample) -> tuple[Fact, ...]:
    name = "jobs" if what == "jobs" else "cpu"
    tenth = message("Share of {what} of the top 10 % of {family}", what=what, family=family)
    half = message("Top {family} with half of the {what}", family=family, what=what)
    return facts_of(
        family,
        (f"top_tenth_{name}", _top_share(sample, 0.1), tenth, "fraction"),
        (f"half_{name}", top_holders(sample, 0.5), half, "count"),
    )


def _facts_of_held(store: Store, family: str) -> Iterator[Fact]:
    """Yield who held most while the log knows the load, as shares of all, and how many held half."""
    seconds = cpu_seconds_by(store, by_name(family))
    held = {name: value for name, value in seconds.items() if name is not None}
    if not held:
        return
    rows, half = held_rows(store, by_name(family), store.top), top_holders(Sample.of([*held.values()]), 0.5)
    label = message("Top {family} with half of the CPU time held", family=family)
    yield Fact(f"{family}.by_held", rows, message("Top {family} by CPU time held", family=family))
    yield Fact(f"{family}.half_held", half, label, "count")


def _top_share(sample: Sample, share: float) -> float | None:
    """Return what the top *share* have, None where that is less than one holder."""
    return number(top_share(sample, share)) if sample.n * share >= 1 else None


def _shared(of: tuple[str, str]) -> str:
    """Return what is shared by whom."""
    return message("{what} of {family}", what=of[1], family=of[0])


def _table(samples: dict[tuple[str, str], Sample]) -> Table:
    return table_of(
        "inequality",
        "Who has how much",
        samples,
        {
            Column("what", "What is shared"): _shared,
            Column("holders", "By how many", "count"): lambda of: samples[of].n,
            Column("gini", "Gini coefficient"): lambda of: number(samples[of].gini()),
            Column("one", "The largest has", "fraction"): lambda of: samples[of].max() / samples[of].total(),
            Column("hundredth", "The top 1 % have", "fraction"): lambda of: _top_share(samples[of], 0.01),
            Column("tenth", "The top 10 % have", "fraction"): lambda of: _top_share(samples[of], 0.1),
            Column("half", "Half is held by", "count"): lambda of: top_holders(samples[of], 0.5),
        },
        note="Of CPU time, only users with at least one job that ran are counted.",
    )


def _figure(samples: dict[tuple[str, str], Sample]) -> Block:
    summary = joined(
        "; ",
        (
            message(
                "{sample} of {n} {family} have half of the {what}",
                sample=top_holders(sample, 0.5),
                n=sample.n,
                family=family,
                what=what,
            )
            for (family, what), sample in samples.items()
        ),
    )
    return lorenz(
        "inequality",
        "Lorenz curves of users and groups",
        {
            message("{family}, {what}", family=family, what=what): sample.lorenz()
            for (family, what), sample in samples.items()
        },
        "Users or groups, smallest first",
        "Share of the total",
        message("Lorenz curves: {summary}.", summary=summary),
    )
