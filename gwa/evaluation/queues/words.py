"""
All that may be said of queues, in sentences and in rows.

What is said of a model is said against what it was fitted to, never against what was held out alone. That a
model is realistic, or fit for research, cannot be said, nor how its jobs wait at a load or on a machine that
the log did not have.
"""

import math
from collections.abc import Collection, Iterator
from statistics import fmean
from typing import Final

from gwa.evaluation.queues.card import EASY_WAIT, HEADLINES, MINIMUM_SEEDS, QueueCard, QueueLine
from gwa.evaluation.queues.numbers import LEFT_OUT, REQUESTS, key
from gwa.evaluation.queues.own_weeks import MINIMUM_WEEKS
from gwa.evaluation.queues.replay import LOADS, MOVES_OF_A_JOB, POLICIES
from gwa.report.document import Column
from gwa.report.facts import number
from gwa.words.unit import Value

LOAD: Final = f"{100 * LOADS[0]:g} %"

OWN_WEEKS: Final = "the log's own weeks, drawn again"

HEADLINE: Final = (
    Column("waits.easy.ratio", "Wait under EASY, ratio"),
    Column("waits.easy.low", "Own weeks from"),
    Column("waits.easy.high", "Own weeks to"),
    Column("waits.spread", "Spread of seeds"),
    Column("waits.easy.held_out", "Ratio to what was held out"),
    Column("waits.easy.other_half", "Ratio of the other half"),
    Column("load.kept", "Offered load, ratio"),
)
"""What stands beside the marginals of a generator: `headline`."""

ASPECT: Final = "Queues"

COMPARED: Final = (
    ("load.kept", None),
    *((name, LOADS[0]) for name in HEADLINES),
)
"""The numbers, with their loads, that stand in the scorecard of one table."""

COLUMNS: Final = (
    Column("made", "Which jobs"),
    Column("number", "Number"),
    Column("load", "Offered load", "fraction"),
    Column("verdict", "Verdict"),
    Column("real", "Real"),
    Column("synthetic", "Synthetic"),
    Column("by", "Compared by"),
    Column("mean", "Mean over seeds"),
    Column("low", "Own weeks from"),
    Column("high", "Own weeks to"),
    Column("deviation", "Deviation of seeds"),
    Column("own_deviation", "Deviation of own weeks"),
    Column("held_out", "From what was held out"),
    Column("other_half", "Other half"),
)
"""Every number of a comparison: `rows`."""


def sentences(card: QueueCard, name: str = "") -> Iterator[str]:
    """Yield all that may be said of made jobs, those of a generator called *name* if one is given."""
    waits = card.line(EASY_WAIT)
    if waits.mean is None:
        yield "Queues are not compared: jobs are all submitted at once, or have no work."
        return
    is_model = len(waits.seeds) >= MINIMUM_SEEDS
    jobs = f"jobs of {name or 'this model'}" if is_model else f"jobs of {name or 'this trace'}"
    real = "those it was fitted to" if card.reference.is_held_out else "those of the log"
    said = f"Under EASY at {LOAD} load, {jobs} wait {_factor(waits.mean)} times as long as {real}"
    if waits.band is None:
        yield f"{said}. How far its own weeks are is unknown: the log has fewer than {MINIMUM_WEEKS}."
    else:
        low, high = waits.band
        yield f"{said}; the log's own weeks, drawn again, give {low:.2f}–{high:.2f}."
    if is_model and waits.deviation is not None:
        yield f"A seed is typically off by a further factor of {_factor(waits.deviation)}."
    else:
        yield f"It takes {MINIMUM_SEEDS} seeds to say that of a model, not {len(waits.seeds)}."
    yield from _other_half(card, waits)
    yield from left_out(card.left_out)
    right, cases = card.order
    if cases:
        yield f"Policies are in the log's order in {right} of {cases} decided cases."
    yield from _of_the_replay(card)


def _other_half(card: QueueCard, waits: QueueLine) -> Iterator[str]:
    if waits.other is None:
        return
    ratio = _factor(waits.other)
    if card.reference.is_held_out:
        yield (
            f"The other half of the log waits {ratio} times as long: a held-out ratio within that says"
            " nothing."
        )
    else:
        yield f"The second half of the log waits {ratio} times as long as the first."


def left_out(keys: Collection[str]) -> Iterator[str]:
    """Yield a sentence on each policy that jobs are not compared under, by its key with its load."""
    for policy, name in POLICIES.items():
        loads = [f"{100 * load:g} %" for load in LOADS if key(LEFT_OUT.format(policy), load) in keys]
        if loads:
            yield (
                f"Policy {name} is left out at {' and '.join(loads)} load: more than {MOVES_OF_A_JOB}"
                " reservations a job would move, which takes long."
            )


def _of_the_replay(card: QueueCard) -> Iterator[str]:
    """Yield what the replay does to both workloads: how gaps are scaled, and what policies know."""
    load = card.line("load.kept", None)
    if load.real is not None and load.made:
        real, made = (f"{value / LOADS[0]:.2f}" for value in (load.real, fmean(load.made)))
        yield f"Gaps are scaled by {real} in the log and by {made} in the jobs for that load."
    if card.reference.real.get(REQUESTS) and not all(made.get(REQUESTS) for made in card.made):
        yield "Jobs without requested times have perfect estimates, which flatters SJF."


def _factor(difference: float) -> str:
    return f"{math.exp(difference):.2f}"


def headline(card: QueueCard) -> tuple[Value, ...]:
    """Return what stands beside the marginals, under `HEADLINE`."""
    waits, load = card.line(EASY_WAIT), card.line("load.kept", None)
    low, high = waits.band or (None, None)
    ratios = (waits.shown(one) for one in (waits.held_out, waits.other, load.mean))
    return tuple(map(number, (waits.shown(waits.mean), low, high, card.spread, *ratios)))


def scorecard_rows(card: QueueCard) -> Iterator[tuple[Value, ...]]:
    """Yield the numbers of `COMPARED` under the columns of a scorecard, as distances of at least 0."""
    for name, load in COMPARED:
        line = card.line(name, load)
        made = fmean(line.made) if line.made else None
        distances = (None if one is None else abs(one) for one in (line.mean, line.other))
        yield (
            ASPECT, name, line.verdict, number(line.real), number(made), "log ratio",
            *map(number, distances), None,
        )  # fmt: skip


def rows(name: str, card: QueueCard) -> Iterator[tuple[Value, ...]]:
    """Yield every number of a comparison under `COLUMNS`, then the spread and the order of policies."""
    for line in card.lines:
        low, high = line.band or (None, None)
        measured = (line.real, fmean(line.made) if line.made else None)
        values = (line.shown(line.mean), low, high, line.deviation, line.own_deviation)
        others = (line.shown(line.held_out), line.shown(line.other))
        yield (
            name, line.number.id, line.number.load, line.verdict, *map(number, measured),
            line.number.scale.value, *map(number, (*values, *others)),
        )  # fmt: skip
    right, cases = card.order
    nothing: tuple[Value, ...] = (None,) * 6
    yield (name, "waits.spread", LOADS[0], "", None, None, "ratio", number(card.spread), *nothing)
    share = right / cases if cases else None
    yield (name, "policies.order", None, "", None, None, "share right", number(share), *nothing)
