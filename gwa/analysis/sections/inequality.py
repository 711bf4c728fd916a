"""How unevenly users and groups share the system."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._top_lists import gini, held
from gwa.report.document import Block, Column, Fact, Facts, Note, Table
from gwa.report.facts import number
from gwa.report.figures.lorenz import lorenz
from gwa.statistics.sample import Sample
from gwa.store.store import Store

FAMILIES: Final = (("users", "user_id"), ("groups", "group_id"))

HELD: Final = {"jobs": "jobs", "CPU time": "cpu_seconds"}
"""What each user or group has, and the column that holds it."""

ENOUGH: Final = 2
"""Nothing is shared unevenly by one."""


@analysis("Inequality", Chapter.USERS, facts=("users", "groups"), order=2)
def inequality(store: Store) -> Iterator[Block]:
    """
    How unevenly jobs and CPU time are spread over users and groups.

    A Lorenz curve (Lorenz 1905) shows which share of the total the least active users have together;
    the straight line is what equal shares would give. The Gini coefficient (Gini 1912) is twice the area
    between the two: 0 where all have the same, near 1 where one has everything.
    """
    known = [(family, field) for family, field in FAMILIES if store.has(field)]
    if not known:
        yield Note("This trace records neither users nor groups.")
        return
    shares = {
        (family, what): store.sample(column, held(store, field))
        for family, field in known
        for what, column in HELD.items()
    }
    shared = {key: one for key, one in shares.items() if one.n >= ENOUGH and one.total() > 0}
    if ("groups", "group_id") in known:
        yield Facts(gini(store, "group_id", "groups").facts, listed=False)
    yield Facts(tuple(fact for key, one in shared.items() for fact in _facts(*key, one)), listed=False)
    if not shared:
        yield Note("There is a single user or group, or nobody consumed anything: nothing is shared.")
        return
    yield _table(shared)
    yield _figure(shared)


def top_share(sample: Sample, share: float) -> float:
    """
    Return what the greatest *share* of the holders have of the total; ties are cut evenly.

    >>> top_share(Sample.of([1, 1, 1, 1, 1, 1, 1, 1, 1, 9]), 0.1)
    0.5
    """
    holders, held = sample.lorenz()
    return 1 - float(np.interp(1 - share, holders, held))


def fewest(sample: Sample, share: float) -> int:
    """
    Return how many holders, the greatest first, have *share* of the total.

    >>> fewest(Sample.of([1, 2, 3, 6]), 0.5), fewest(Sample.of([1, 1, 1, 1]), 0.6)
    (1, 3)
    """
    values, counts = sample.values[::-1], sample.counts[::-1]
    have, wanted = np.cumsum(values * counts), share * sample.total()
    place = min(int(np.searchsorted(have, wanted)), len(values) - 1)
    before = float(have[place] - values[place] * counts[place])
    still = int(np.ceil((wanted - before) / values[place] - 1e-9))
    return int(counts[:place].sum()) + max(still, 0)


def _facts(family: str, what: str, sample: Sample) -> tuple[Fact, ...]:
    name = "jobs" if what == "jobs" else "cpu"
    return (
        Fact(
            f"{family}.top_tenth_{name}",
            _top(sample, 0.1),
            f"Share of {what} of the top 10 % of {family}",
            "fraction",
        ),
        Fact(f"{family}.half_{name}", fewest(sample, 0.5), f"Top {family} with half of the {what}", "count"),
    )


def _top(sample: Sample, share: float) -> float | None:
    """Return what the top *share* have, None where that is not even one of them."""
    return number(top_share(sample, share)) if sample.n * share >= 1 else None


def _table(held: dict[tuple[str, str], Sample]) -> Table:
    return Table(
        "inequality",
        "Who has how much",
        (
            Column("what", "What is shared"),
            Column("holders", "By how many", "count"),
            Column("gini", "Gini coefficient"),
            Column("one", "The greatest has", "fraction"),
            Column("hundredth", "The top 1 % have", "fraction"),
            Column("tenth", "The top 10 % have", "fraction"),
            Column("half", "Half is held by", "count"),
        ),
        tuple(
            (
                f"{what} of {family}",
                one.n,
                number(one.gini()),
                one.max() / one.total(),
                _top(one, 0.01),
                _top(one, 0.1),
                fewest(one, 0.5),
            )
            for (family, what), one in held.items()
        ),
        note="CPU time is shared by those of whom a job ran.",
    )


def _figure(held: dict[tuple[str, str], Sample]) -> Block:
    said = "; ".join(
        f"{fewest(one, 0.5)} of {one.n} {family} have half of the {what}"
        for (family, what), one in held.items()
    )
    return lorenz(
        "inequality",
        "Lorenz curves of users and groups",
        {f"{family}, {what}": one.lorenz() for (family, what), one in held.items()},
        "Users or groups, least first",
        "Share of the total",
        f"Lorenz curves: {said}.",
    )
