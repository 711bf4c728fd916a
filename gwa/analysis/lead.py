"""What a report says first: what became of the hours of the machine and of its GPUs, month by month."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from gwa.analysis.answers.base import Known
from gwa.analysis.budget_sentence import (
    GPU_CLAUSES,
    SENTENCES,
    budget_sentence,
    clauses_of,
    gpu_clauses,
    gpu_sentence,
    known_gpu_parts,
)
from gwa.analysis.changing_size import sizes_in_words
from gwa.breakdown.budget import PARTS, Budget, budget, budgets, gpu_parts, hundred
from gwa.breakdown.charge.charges import stated
from gwa.metrics.busy import BIN
from gwa.metrics.calendar import MAXIMUM_DAYS, Calendar
from gwa.metrics.extremes import extremes
from gwa.metrics.outcomes import BAD_OUTCOMES
from gwa.metrics.window import window
from gwa.report.lead import Bar, Caption, Clause, Hours, Lead, Segment
from gwa.store.store import Period, Store
from gwa.store.system import PART
from gwa.util.units import DAY, HOUR
from gwa.words.formatting import date_range, fraction, number, seconds
from gwa.words.hours import BOUNDS, LABELS, is_single, number_of_hundred
from gwa.words.message import Message, Number, Verbatim, joined, message, plural

FACTS: Final[Mapping[str, str]] = {
    name: f"budget.{'requeued' if name == 'restarted' else name}" for name in PARTS if name != "unfinished"
}
GPU_FACTS: Final[Mapping[str, str]] = {name: f"gpu.budget.{name}" for name in GPU_CLAUSES}
"""The facts that parts of the bars are."""


OF: Final[Mapping[str, Message]] = {
    "machine": message(""),
    "used": message("of the hours used"),
    "log": message("of the hours in the log"),
    "count": message("of few jobs"),
    "none": message("nothing ran"),
}
"""What the hundred of a system are of, where that is not all that it had."""

PRICED: Final = {
    "cpu_hour": message("at {price} {currency} a processor-hour: {parts}"),
    "gpu_hour": message("at {price} {currency} a GPU-hour: {parts}"),
}
"""What the hours are worth, by the key of their price."""

MAXIMUM_MONTHS: Final = 40
"""More months are shown as years."""

MINIMUM_DAYS: Final = 0.7
"""A month of which fewer of its days are counted says how many."""

MINIMUM_GAP: Final = DAY / 2
"""Shorter gaps of the record are not mentioned."""

MINIMUM_ABOVE: Final = 0.02
"""That more ran than there is is not mentioned of a smaller share of the time."""

SMALL: Final = 0.01
"""Outcomes with a smaller share are taken together."""


def lead(store: Store, known: Known, *, has_facts: bool = False) -> Lead:
    """
    Return what became of the hours of *store*; its basis says what is *known* besides.

    If the report *has facts* of the budget, the parts of its bars name them.
    """
    found = budget(store)
    period = window(store).period
    is_level = found.kind == "used" and not found.is_told and period is not None
    most = extremes(store, 0, period, width=BIN).busy if is_level and period else None
    said = Lead(
        budget_sentence(found, is_selection=store.is_selection, most=most),
        gpus=_of_gpus(store, found, GPU_FACTS if has_facts else {}),
    )
    if not _is_drawn(found):
        return replace(said, basis=_span(store, period)) if is_level and period else said
    months = _months(store, found, period) if period else {}
    heading = message("Month by month") if _are_months(months) else message("Year by year")
    return replace(
        _with_rows(said, months, heading),
        clauses=_clauses({part: text for part, text in clauses_of(found).items() if text in said.sentence}),
        segments=_segments(found.segments, found.total, FACTS if has_facts else {}),
        captions=tuple(captions(found)),
        basis=joined(" · ", [*_basis(store, known, found, period), *_in_money(store, found)]),
    )


def side_by_side(stores: Sequence[tuple[str, Store]]) -> Lead:
    """
    Return what became of the hours of several systems, a bar for each: shares are compared, never hours.

    A note says of what the hundred are where that is not the machine.
    """
    found = {name: budget(store) for name, store in stores}
    rows = _with_rows(Lead(""), found, message("What became of the hours"))
    return replace(rows, rows=tuple(replace(row, note=OF[found[row.label].kind]) for row in rows.rows))


def on_another_machine(store: Store, cpus: int) -> Lead | None:
    """
    Return the bars of the machine as it was and of one of *cpus* processors on which the same jobs run.

    What they held stays, as it is jobs that hold it, and what goes unused grows or shrinks; outages take the
    same time. There is none where the machine has no one stated size, or is too small for these jobs.
    """
    found, size = budget(store), store.system.size
    if found.kind != "machine" or not size or not found.capacity:
        return None
    factor = cpus / size
    then = replace(found, capacity=found.capacity * factor, outages=(found.outages or 0.0) * factor)
    if factor == 1 or then.has_too_much:
        return None
    rows: dict[str, Budget] = {
        plural("{n} processor", "{n} processors", size): found,
        plural("{n} processor", "{n} processors", cpus): then,
    }
    return _with_rows(Lead(""), rows, message("The hours of both machines, with the same jobs"))


def linked(lead: Lead, addresses: Mapping[str, str]) -> Lead:
    """Return a *lead* of which each row leads to the page of its name, where there is one."""
    return replace(lead, rows=tuple(replace(row, link=addresses.get(row.label, "")) for row in lead.rows))


def _with_rows(said: Lead, found: Mapping[str, Budget], heading: Message) -> Lead:
    """Return a lead with a row for each of several; one alone is said already."""
    if len(found) < 2:  # noqa: PLR2004 - several
        return said
    columns = _columns(list(found.values()))
    return replace(
        said,
        heading=heading,
        columns=tuple(LABELS[name] for name in columns),
        rows=tuple(_bar(name, one, columns) for name, one in found.items()),
    )


def _are_months(found: Mapping[str, Budget]) -> bool:
    return all(len(name) > len("2012") for name in found)


def _is_drawn(found: Budget) -> bool:
    """Whether there is a hundred to divide."""
    return found.kind == "machine" or (found.kind in {"used", "log"} and found.is_told)


def _clauses(said: Mapping[Any, str]) -> tuple[Clause, ...]:
    return tuple(Clause(name, text) for name, text in said.items())


def _segments(
    parts: Mapping[str, float], total: float | None, facts: Mapping[str, str]
) -> tuple[Segment, ...]:
    """Return the *parts* of a bar that are not nothing; of some the *facts* are known."""
    whole = total or sum(parts.values())
    return tuple(
        Segment(name, amount, amount / whole, facts.get(name, ""))
        for name, amount in parts.items()
        if amount > 0
    )


def captions(found: Budget) -> Iterator[Caption]:
    """
    Yield what stands below the bar: whole numbers that add up to 100, with small outcomes taken together.

    Those of jobs that ran without finishing add up to the number that the sentence says of them.
    """
    is_all = is_single(found.parts.values())
    for name, count in hundred(found.parts).items():
        if name == "unfinished":
            yield from _unfinished(found, count, is_all=is_all)
        elif found.parts[name] > 0:
            number = number_of_hundred(count, _sign(found, name), is_all=is_all)
            yield Caption(name, number, LABELS[name])


def _unfinished(found: Budget, count: int, *, is_all: bool) -> Iterator[Caption]:
    held = {name: found.outcomes[name] for name in BAD_OUTCOMES if found.outcomes[name] > 0}
    small = [name for name in held if held[name] < SMALL * (found.total or 0.0)]
    groups: dict[str, tuple[Message, float]] = {
        name: (LABELS[name], held[name]) for name in held if name not in small
    }
    if small:
        *first, last = [LABELS[name] for name in small]
        label = message(SENTENCES["or"].template, first=joined(", ", first), last=last) if first else last
        groups[small[0]] = (label, sum(held[name] for name in small))
    numbers = hundred({name: amount for name, (_, amount) in groups.items()}, count)
    for name, (label, _) in sorted(groups.items(), key=lambda group: BAD_OUTCOMES.index(group[0])):
        number = number_of_hundred(
            numbers[name], _sign(found, "unfinished"), is_all=is_all and len(groups) == 1
        )
        yield Caption(name, number, label, tuple(small[1:]) if name in small else ())


def _sign(found: Budget, name: str) -> str:
    """Return how the number of a part is written that is a bound: the log has no code for failed jobs."""
    return BOUNDS.get(name, "") if found.is_bound else ""


def _of_gpus(store: Store, found: Budget, facts: Mapping[str, str]) -> Hours | None:
    parts = gpu_parts(store, found)
    if not parts:
        return None
    known = known_gpu_parts(parts)
    sentence = gpu_sentence(parts)
    if len(known) == 1 and "computed" not in known:
        return Hours(sentence)
    numbers = hundred(known)
    below = (
        Caption(name, number_of_hundred(numbers[name], is_all=is_single(known.values())), LABELS[name])
        for name, value in known.items()
        if value > 0
    )
    return Hours(sentence, _clauses(gpu_clauses(known)), _segments(known, None, facts), tuple(below))


def _basis(store: Store, known: Known, found: Budget, period: Period | None) -> Iterator[str]:
    """Yield what the hundred are of, and what is left out of them or cannot be told."""
    hours = number(round(found.used / HOUR))
    if found.kind == "log" or period is None:
        yield message("100 = the {hours} processor-hours in the log", hours=hours)
        yield message("other jobs of that time are not in it")
        return
    span = _span(store, period)
    if found.kind == "machine":
        yield (
            message(
                "100 = all hours of the processors that there were: {sizes}; {span}",
                sizes=sizes_in_words(store.system),
                span=span,
            )
            if store.system.sizes
            else message(
                "100 = all hours of {cpus} processors, {span}",
                cpus=number(store.system.size or 0),
                span=span,
            )
        )
    else:
        yield message("100 = the {hours} processor-hours used, {span}", hours=hours, span=span)
        yield (
            message("by the log more ran than the machine has, so its size or the times are wrong")
            if found.has_too_much
            else message("the log has a part of the machine's jobs, so what stood unused is not known")
            if store.system.covers == PART
            else message("what stood unused is not known")
        )
    gap = period[1] - period[0] - (found.seconds or 0.0)
    if gap >= MINIMUM_GAP:
        yield message("{time} without a record left out", time=seconds(gap))
    if found.is_bound:
        yield message("the log has no code for failed jobs: they are among the finished")
    if found.kind == "machine":
        yield from _doubts(known, found, is_generated=store.is_generated)


def _in_money(store: Store, found: Budget) -> Iterator[str]:
    """Yield what the parts are worth where an hour has one price for all jobs: a price, which is no cost."""
    rates = stated(store)
    if rates is None:
        return
    free = {"restarted"} if rates.earlier_runs == "free" else set()
    parts = {str(name): amount for name, amount in found.parts.items() if name not in free}
    for key, amounts in (("cpu_hour", parts), ("gpu_hour", known_gpu_parts(gpu_parts(store, found)))):
        price = rates.of_all(key)
        worth = [
            message(
                "{amount} {currency} {label}",
                amount=joined(
                    " ", filter(None, (_sign(found, name), _rounded(amount / HOUR * float(price))))
                ),
                currency=Verbatim(rates.currency),
                label=LABELS[name],
            )
            for name, amount in amounts.items()
            if price and amount > 0
        ]
        if worth:
            yield message(
                PRICED[key].template,
                price=number(float(price or 0)),
                currency=Verbatim(rates.currency),
                parts=joined("; ", worth),
            )


def _rounded(amount: float) -> Number:
    """Return an amount with three digits."""
    return number(float(f"{amount:.3g}"))


def _span(store: Store, period: Period) -> Message:
    return date_range(*period, None if store.system.relative else store.system.timezone.key)


def _doubts(known: Known, found: Budget, *, is_generated: bool) -> Iterator[str]:
    """Yield why the hundred of a machine may not be all that it was; one of a model had no outages."""
    if found.outages is None and not is_generated:
        yield message("too few waits are recorded to tell outages")
    if known.get("capacity.changes") and not known.get("trace.cpus_least"):
        yield message("the most that was busy changed: the machine may have been smaller for a time")
    above = known.get("utilization.above_capacity") or 0.0
    if above >= MINIMUM_ABOVE:
        yield message("more ran than there is for {share} of the time", share=fraction(above))


def _months(store: Store, found: Budget, period: Period) -> dict[str, Budget]:
    """Return what became of the hours of each month, or year, of a *period* that has dates."""
    first, last = period
    if store.system.relative or last - first > MAXIMUM_DAYS * DAY:
        return {}
    edges, names = Calendar.of(first, last, store.system.timezone, relative=False).months()
    begins = np.clip(edges, first, last)
    labels = list(names)
    if len(labels) > MAXIMUM_MONTHS:
        labels = [name[:4] for name in labels]
    spans: dict[str, Period] = {}
    for label, (since, until) in zip(labels, pairwise(begins.tolist()), strict=True):
        if until > since:
            spans[label] = (spans.get(label, (since, until))[0], until)
    made = budgets(store, found, list(spans.values()))
    return dict(zip(spans, made, strict=True))


def _columns(months: Sequence[Budget]) -> list[str]:
    """Return the parts that any of the months has a number of, in the order of the bar."""
    numbers = [hundred(one.parts) for one in months]
    return [name for name in LABELS if any(one.get(name) for one in numbers)]  # type: ignore[call-overload]


def _bar(name: str, found: Budget, columns: Sequence[str]) -> Bar:
    """Return a row with its numbers, of which there are none where nothing of its time is counted."""
    counts = hundred(found.parts) if any(found.parts.values()) else {}
    numbers = {str(part): " ".join(filter(None, (_sign(found, part), str(n)))) for part, n in counts.items()}
    return Bar(
        name,
        _segments(found.segments, found.total, {}),
        tuple(numbers.get(column, "") for column in columns),
        _days(name, found),
    )


def _days(name: str, found: Budget) -> Message:
    """Return how many days of a month, or year, are counted, where they are few."""
    days = round((found.seconds or 0.0) / DAY)
    whole = 31.0 if len(name) > len("2012") else 366.0
    return plural("{n} day", "{n} days", days, n=number(days)) if days < MINIMUM_DAYS * whole else message("")
