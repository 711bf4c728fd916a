"""
Facts in the text format of Prometheus, in which monitoring reads them.

https://prometheus.io/docs/instrumenting/exposition_formats/. A fact ``utilization.mean`` is a gauge
``gwa_utilization_mean``; of a list such as ``users.by_jobs`` each number is a gauge,
``gwa_users_by_jobs_jobs``, with a series for each entry, whose words are labels. What is unknown has no
series. A word is a gauge that ends in ``_info``, with the word as a label and the value 1.

Beside the facts stand histograms and counters, which Prometheus adds up by itself: their names end in their
unit, as its naming asks for (https://prometheus.io/docs/practices/naming/), and a label that a job does not
have is left out.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gwa.report.document import Fact
from gwa.words.unit import Value

PREFIX: Final = "gwa_"

UNNAMED: Final = re.compile(r"[^a-zA-Z0-9_]")
"""What no name of a metric or label may hold."""

Labels = dict[str, str]

INFINITE: Final = "+Inf"
"""The border of the last bucket of a histogram."""


@dataclass(frozen=True)
class Histogram:
    """
    A histogram called *name*, whose *series* are by their labels: how many values are up to each border.

    Each series has a count for each of *borders*, one of all values, and the sum of these.
    """

    name: str
    help: str
    borders: tuple[float, ...]
    series: Mapping[tuple[tuple[str, str], ...], tuple[tuple[int, ...], int, float]]


@dataclass(frozen=True)
class Counter:
    """A number called *name* that only grows, by labels; its name ends in ``_total``."""

    name: str
    help: str
    series: Mapping[tuple[tuple[str, str], ...], float]


Watched = Sequence[Histogram | Counter]


@dataclass
class _Metric:
    """A gauge: its *help*, and its *series*: values by labels."""

    help: str
    series: dict[tuple[tuple[str, str], ...], str] = field(default_factory=dict)


def exposition(facts: Iterable[Fact], trace: str, watched: Watched = ()) -> str:
    r"""
    Return the *facts* on the trace called *trace* as text, each with this name as a label.

    What is *watched* follows: histograms and counters.

    >>> print(exposition([Fact("trace.jobs", 9, "Jobs", "count")], "tiny"), end="")
    # HELP gwa_trace_jobs Jobs (count)
    # TYPE gwa_trace_jobs gauge
    gwa_trace_jobs{trace="tiny"} 9
    """
    metrics: dict[str, _Metric] = {}
    facts = list(facts)
    own = {_name(fact.id) for fact in facts}
    for fact in facts:
        for part, labels, value in _distinct(list(_series(fact.value))):
            name = _name(f"{fact.id}_{part}") if part else _name(fact.id)
            if part and name in own:  # what another fact says of all must not be mixed with that of each
                name = _name(f"{fact.id}_each_{part}")
            metric = metrics.setdefault(name, _Metric(_help(fact, part)))
            key = tuple({"trace": trace, **labels}.items())
            # Ids that differ in what a name cannot hold have one name.
            metric.series[(*key, ("fact", fact.id)) if key in metric.series else key] = value
    lines = [line for name, metric in metrics.items() for line in _lines(name, metric)]
    for one in watched:
        if one.series:
            lines += _histogram(one, trace) if isinstance(one, Histogram) else _counter(one, trace)
    return "".join(f"{line}\n" for line in lines)


def _histogram(of: Histogram, trace: str) -> Iterator[str]:
    """Yield the lines of a histogram; a bucket has all values up to its border."""
    name = _name(of.name)
    yield from _head(name, of.help, "histogram")
    borders = (*map(repr, map(float, of.borders)), INFINITE)
    for labels, (counts, count, total) in of.series.items():
        own = (("trace", trace), *labels)
        for border, below in zip(borders, (*counts, count), strict=True):
            yield f"{name}_bucket{_labels((*own, ('le', border)))} {below}"
        yield f"{name}_sum{_labels(own)} {total!r}"
        yield f"{name}_count{_labels(own)} {count}"


def _counter(of: Counter, trace: str) -> Iterator[str]:
    name = _name(of.name)
    yield from _head(name, of.help, "counter")
    for labels, value in of.series.items():
        yield f"{name}{_labels((('trace', trace), *labels))} {value!r}"


def _head(name: str, text: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {_escaped(text, quotes=False)}"
    yield f"# TYPE {name} {kind}"


def _labels(labels: Iterable[tuple[str, str]]) -> str:
    written = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
    return f"{{{written}}}"


def _name(text: str) -> str:
    """Return the name of a metric."""
    return PREFIX + UNNAMED.sub("_", text)


def _lines(name: str, metric: _Metric) -> Iterator[str]:
    yield from _head(name, metric.help, "gauge")
    for labels, value in metric.series.items():
        yield f"{name}{_labels(labels)} {value}"


def _help(fact: Fact, part: str) -> str:
    unit = f" ({fact.unit})" if fact.unit else ""
    return f"{fact.label}: {part}" if part else f"{fact.label}{unit}"


def _series(value: Value) -> Iterator[tuple[str, Labels, str]]:
    """Yield the series of a *value*: what the name ends in, labels, and the number as it is written."""
    if isinstance(value, str):
        yield "info", {"value": value}, "1"
    elif isinstance(value, Mapping):
        words = {_label(key): text for key, text in value.items() if isinstance(text, str)}
        numbers = {key: text for key, part in value.items() if (text := _number(part)) is not None}
        yield from ((key, words, number) for key, number in numbers.items())
        if words and not numbers:
            yield "info", words, "1"
    elif isinstance(value, Sequence):
        for part in value:
            yield from _series(part)
    elif (number := _number(value)) is not None:
        yield "", {}, number


def _distinct(series: Sequence[tuple[str, Labels, str]]) -> Iterator[tuple[str, Labels, str]]:
    """Yield the *series* of one fact, each with its number in the list where labels repeat."""
    keys = [(part, tuple(labels.items())) for part, labels, _ in series]
    is_repeated = len(set(keys)) < len(keys)
    counts: dict[str, int] = {}
    for part, labels, number in series:
        counts[part] = counts.get(part, 0) + 1
        yield part, {**labels, "n": str(counts[part])} if is_repeated else labels, number


def _number(value: Value) -> str | None:
    """Return a finite number, or whether something is so, as it is written; None for anything else."""
    if isinstance(value, bool):
        return str(int(value))
    if not isinstance(value, int | float):
        return None
    try:
        return repr(value) if math.isfinite(value) else None
    except OverflowError:  # a whole number that no floating point number can hold
        return None


def _label(key: str) -> str:
    name = UNNAMED.sub("_", key)
    return f"_{name}" if name in {"trace", "fact", "n"} or name[:1].isdigit() else name


def _escaped(text: str, *, quotes: bool = True) -> str:
    """
    Return *text* with backslashes, ends of lines, quotes and bytes of no text escaped.

    The format has escapes for the first three only; all else stands as it is, and is not escaped later.
    """
    whole = text.encode("utf-8", "backslashreplace").decode()
    escaped = whole.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\\\r")
    return escaped.replace('"', '\\"') if quotes else escaped
