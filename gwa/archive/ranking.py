"""
The ranking of traces by size, length, completeness, quality, diversity, and fitness for a purpose.

Each measure says what it is and why a trace has its rank. Nothing is weighed against another thing. What was
added to a synthetic trace beside its model, such as failures drawn at random, qualifies it for nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias

from gwa.archive.published import PublishedTrace
from gwa.util.units import DAY
from gwa.words.formatting import fraction
from gwa.words.unit import Unit

Measured: TypeAlias = tuple[float | None, str]
"""The value of a measure, and why it is that, or why there is none."""


@dataclass(frozen=True)
class RankingMeasure:
    """By what traces are ranked, the greatest first: *about* explains it to readers."""

    id: str
    title: str
    about: str
    unit: Unit
    of: Callable[[PublishedTrace], Measured]


@dataclass(frozen=True)
class Rank:
    """The *place* of a trace by a measure, with its value and the reason; no place without a value."""

    place: int | None
    trace: PublishedTrace
    value: float | None
    why: str


def ranking(measure: RankingMeasure, traces: Sequence[PublishedTrace]) -> list[Rank]:
    """Return the ranks of traces; equal values share the better place, and those without one come last."""
    measured = [(trace, *measure.of(trace)) for trace in traces if not trace.failure]
    values = sorted((value for _, value, _ in measured if value is not None), reverse=True)
    places: dict[float | None, int] = {value: values.index(value) + 1 for value in values}
    ranks = [Rank(places.get(value), trace, value, why) for trace, value, why in measured]
    return sorted(ranks, key=lambda rank: (rank.place is None, rank.place, rank.trace.entry.id))


def reasons(ranks: Sequence[Rank]) -> list[tuple[str, list[Rank]]]:
    """Return each reason once, with the ranks that have it, in their order."""
    found: dict[str, list[Rank]] = {}
    for rank in ranks:
        found.setdefault(rank.why, []).append(rank)
    return list(found.items())


def share(rank: Rank, ranks: Sequence[Rank]) -> float | None:
    """Return the value of a rank in percent of the largest of *ranks*, None without a value."""
    most = max((one.value for one in ranks if one.value is not None), default=0.0)
    return None if rank.value is None or most <= 0 else round(rank.value / most * 100, 2)


def _fact(name: str, why: str) -> Callable[[PublishedTrace], Measured]:
    def of(trace: PublishedTrace) -> Measured:
        value = trace.number(name)
        return value, why if value is not None else "not recorded"

    return of


CORE_FIELDS: Final = (
    "SubmitTime", "WaitTime", "RunTime", "NProcs", "AverageCPUTimeUsed", "UsedMemory", "ReqNProcs", "ReqTime",
    "ReqMemory", "Status", "UserID", "GroupID", "ExecutableID", "QueueID",
)  # fmt: skip
"""The fields that completeness is about: those that most accounting logs could record."""


def _shares(trace: PublishedTrace) -> dict[str, float]:
    """Return the share of jobs that record each core field, 0 for what no model and no system made."""
    return {
        title: 0.0 if title in trace.not_modelled else trace.shares.get(title, 0.0) for title in CORE_FIELDS
    }


def _completeness(trace: PublishedTrace) -> Measured:
    shares = _shares(trace)
    missing = [title for title, share in shares.items() if share < 0.5 and title not in trace.not_modelled]  # noqa: PLR2004 - most jobs
    why = f"most jobs lack {', '.join(missing)}" if missing else "most jobs have every field"
    reasons = dict.fromkeys(trace.not_modelled.values())
    return sum(shares.values()) / len(CORE_FIELDS), "; ".join((why, *reasons))


def _quality(trace: PublishedTrace) -> Measured:
    if trace.entry.synthetic:
        return None, "a model made its jobs: there is no recording to judge"
    jobs = trace.number("trace.jobs") or 1
    problems = [(count, meaning) for level, meaning, count in trace.about["problems"] if level != "info"]
    texts = [meaning if count is None else f"{meaning} ({count:,})" for count, meaning in problems[:3]]
    doubtful = sum(jobs if count is None else count for count, _ in problems)
    return max(0.0, 1 - doubtful / jobs), "; ".join(texts) or "nothing doubtful was found"


def _diversity(trace: PublishedTrace) -> Measured:
    numbers = trace.about["diversity"]
    if not numbers:
        return None, "not recorded"
    why = ", ".join(f"{value:.1f} effective {name}" for name, value in numbers.items())
    return prod(numbers.values()) ** (1 / len(numbers)), why


PURPOSES: Final = {
    "scheduling": ("Scheduling", ("SubmitTime", "RunTime", "NProcs", "ReqTime", "UserID"), 30),
    "memory": ("Memory allocation", ("SubmitTime", "RunTime", "NProcs", "UsedMemory", "ReqMemory"), 30),
    "bags": ("Bags of tasks", ("SubmitTime", "RunTime", "UserID"), 30),
    "users": ("Behaviour of users", ("SubmitTime", "WaitTime", "RunTime", "UserID", "Status"), 180),
    "failures": ("Failures", ("SubmitTime", "RunTime", "NProcs", "Status"), 180),
}
"""What traces are used for: a title, the fields that it cannot do without, and the days that suffice."""


def _fitness(fields: Sequence[str], days: int) -> Callable[[PublishedTrace], Measured]:
    def of(trace: PublishedTrace) -> Measured:
        reasons = [trace.not_modelled[title] for title in fields if title in trace.not_modelled]
        if reasons:
            return None, "; ".join(dict.fromkeys(reasons))
        share, scarce = min((trace.shares.get(title, 0.0), title) for title in fields)
        length = min(1.0, (trace.number("trace.span_seconds") or 0.0) / (DAY * days))
        if not share:
            return None, f"no job records {scarce}"
        why = f"{fraction(share)} of jobs record {scarce}, the scarcest field"
        return share * length, why if length == 1 else f"{why}; it is {fraction(length)} of {days} days long"

    return of


MEASURES: Final = (
    RankingMeasure("size", "Size", "The number of jobs.", "count", _fact("trace.jobs", "jobs in the trace")),
    RankingMeasure(
        "length",
        "Length",
        "From the first submission to the last end.",
        "seconds",
        _fact("trace.span_seconds", "from the first submission to the last end"),
    ),
    RankingMeasure(
        "completeness",
        "Completeness",
        f"The mean share of jobs that record each of {len(CORE_FIELDS)} fields: {', '.join(CORE_FIELDS)}.",
        "fraction",
        _completeness,
    ),
    RankingMeasure(
        "quality",
        "Quality",
        "One minus the number of rejected rows, repairs and doubtful jobs per job; notes for information do"
        " not count.",
        "fraction",
        _quality,
    ),
    RankingMeasure(
        "diversity",
        "Diversity",
        "The geometric mean of the effective numbers of users, run times and sizes: of how many equally"
        " frequent ones the trace would be as diverse (exp of Shannon's entropy).",
        "",
        _diversity,
    ),
    *(
        RankingMeasure(
            f"fit-for-{name}",
            f"Fit for: {title.lower()}",
            f"The share of jobs that record the scarcest of {', '.join(fields)},"
            f" times the share of {days} days that the trace is long.",
            "fraction",
            _fitness(fields, days),
        )
        for name, (title, fields, days) in PURPOSES.items()
    ),
)
"""All measures, in the order of the page."""
