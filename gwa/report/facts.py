"""From a sample to the handful of facts that sum it up."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gwa.report.document import Fact, FactTable
from gwa.statistics.sample import Sample
from gwa.words.formatting import fraction
from gwa.words.message import message
from gwa.words.unit import Unit, Value


def number(value: float | None) -> float | int | None:
    """Return *value* as JSON should show it: None for nan and infinity, whole where it is whole."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def busy_facts(facts: Mapping[str, object], *, has_gaps: bool) -> tuple[str, str]:
    """
    Return the ids of those of *facts* that say how busy a system was: a share of it, and processors.

    Where the log knows the load they are means, outside of gaps where it *has_gaps*; else lower bounds.
    """
    known = facts.get("utilization.busy") is not None
    share, busy = ("known_mean", "known_busy") if has_gaps else ("mean", "busy")
    names = (share, busy) if known else ("at_least", "busy_at_least")
    return f"utilization.{names[0]}", f"utilization.{names[1]}"


def has_gaps(facts: Mapping[str, object]) -> bool:
    """Whether the log of *facts* has stretches of which it does not tell what ran."""
    seconds = facts.get("capacity.unaccounted_seconds")
    return isinstance(seconds, int | float) and seconds > 0


def busy_share(facts: Mapping[str, Fact]) -> Fact | None:
    """
    Return how large a share of a system was busy, as its first screen says it: outside of gaps of the log.

    A bound is no value: it stands in the text. None where no share is known.
    """
    values = {name: fact.value for name, fact in facts.items()}
    share, _ = busy_facts(values, has_gaps=has_gaps(values))
    found = facts.get(share)
    if found is None or not isinstance(found.value, int | float):
        return None
    if share != "utilization.at_least":
        return found
    return replace(found, value=None, text=message("≥ {share}", share=fraction(found.value)))


COLUMNS = (
    message("Minimum"),
    message("Mean"),
    message("Median"),
    "95 %",
    message("Maximum"),
    message("Mean, where not zero"),
)
"""The headings of the facts of `spread`; `summary` has all but the last."""


def table(id: str, title: str, rows: Mapping[str, tuple[Fact, ...]], note: str = "") -> FactTable:  # noqa: A002 - as blocks call it
    """Return the facts of `summary` or `spread` about several things as one table."""
    width = max(map(len, rows.values()), default=0)
    return FactTable(id, title, COLUMNS[:width], tuple(rows.items()), note)


def summary(prefix: str, sample: Sample, unit: Unit, what: str) -> tuple[Fact, ...]:
    """
    Return minimum, mean, median, 95th percentile and maximum of *sample* under ids of *prefix*.

    Quantiles interpolate linearly between order statistics, as NumPy and R do by default (type 7).
    """
    values = (sample.min(), sample.mean(), sample.median(), sample.quantile(0.95), sample.max())
    return summary_of(prefix, values, unit, what)


def summary_of(prefix: str, values: Sequence[float], unit: Unit, what: str) -> tuple[Fact, ...]:
    """Return minimum, mean, median, 95th percentile and maximum, given in this order, as facts."""
    low, mean, median, p95, high = map(number, values)
    return facts_of(
        prefix,
        ("min", low, message("Minimum {what}", what=what), unit),
        ("mean", mean, message("Mean {what}", what=what), unit),
        ("median", median, message("Median {what}", what=what), unit),
        ("p95", p95, message("95th percentile of {what}", what=what), unit),
        ("max", high, message("Maximum {what}", what=what), unit),
    )


def facts_of(prefix: str, *rows: tuple[str, Value, str, Unit], unknown: str = "") -> tuple[Fact, ...]:
    """
    Return a fact of each of *rows*: its id behind *prefix*, its value, label and unit.

    What is not known is shown as *unknown*.
    """
    return tuple(
        Fact(f"{prefix}.{name}", value, label, unit, text=unknown if value is None else "")
        for name, value, label, unit in rows
    )


def spread(prefix: str, sample: Sample, unit: Unit, what: str) -> tuple[Fact, ...]:
    """Return `summary` over all intervals and the mean over non-empty ones, as the archive does."""
    busy = sample.restrict(low=math.ulp(0.0))
    mean = Fact(
        f"{prefix}.mean_nonzero", number(busy.mean()), message("Mean {what}, where not zero", what=what), unit
    )
    return (*summary(prefix, sample, unit, what), mean)
