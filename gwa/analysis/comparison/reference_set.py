"""Rank a trace among references: the traces of the thesis, or any folder of facts."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.errors import TraceError
from gwa.metrics.papers.anoep2009 import CHARACTERISTICS, NUMBERS, PRESETS, Characteristic, fact_name
from gwa.metrics.papers.published import printed
from gwa.report.document import Block, Column, Note, Table
from gwa.report.facts import number
from gwa.words.formatting import show
from gwa.words.unit import Unit, Value

ReferenceSet = Mapping[str, Mapping[str, Value]]
"""Facts of other traces, by the name of the trace and the id of the fact."""

THESIS: Final = "archive"
"""The word that stands for the traces of the thesis on the command line."""

REFERENCE_FACTS: Final = (
    "trace.jobs", "trace.users", "trace.cpus", "trace.span_seconds", "utilization.mean",
    "jobs.runtime.median", "jobs.runtime.mean", "jobs.procs.mean", "jobs.procs.max", "jobs.wait.median",
    "jobs.wait.p95", "slowdown.bounded.median", "arrivals.hour.mean", "arrivals.cycle.weekend_share",
    "users.gini_jobs", "users.gini_cpu", "bags.text.jobs_in_bags_fraction", "bags.text.size.mean",
    "fit.user_rank.zipf.exponent", "fit.user_rank.zipf.exponent_least_squares", "users.dominant",
    "jobs.parallel.power_of_two",
)  # fmt: skip

SIZES: Final = frozenset(
    (
        "trace.jobs", "trace.users", "trace.cpus", "trace.span_seconds", "jobs.procs.max",
        "arrivals.hour.mean", "users.dominant", "fit.bag_gap.normal.mu",
    )
)  # fmt: skip
"""Facts that say how large a system or its log is: shown, but no trace is more alike for them."""

BAND: Final = (0.1, 0.5, 0.9)
"""The quantiles of the other traces beside which a trace is shown."""

RANKED_FACTS: Final = (
    *REFERENCE_FACTS,
    *(f"fit.{fact_name(name)}.normal.{what}" for name in CHARACTERISTICS for what in ("mu", "sigma")),
)
"""The facts by which a trace is ranked, where it and others have them."""

BY_FACT_NAME: Final = {fact_name(name): item for name, item in CHARACTERISTICS.items()}

UNITS: Final[Mapping[str, Unit]] = {"seconds": "seconds", "seconds squared": "seconds squared"}
"""Units of characteristics that are printed; numbers of things have none."""


def thesis_facts() -> dict[str, dict[str, Value]]:
    """
    Return the facts of the seven traces of Anoep's thesis (2009), tables 4.1 to 4.20, as far as printed.

    Means and deviations of logarithms are those to the bases in which gwa states them.

    >>> thesis_facts()["LCG"]["trace.jobs"], thesis_facts()["LCG"]["fit.log_runtime.normal.mu"]
    (188041, 6.51)
    """
    traces: dict[str, dict[str, Value]] = {}
    bases = PRESETS["thesis"].bases
    for trace in printed()["thesis"]:
        facts: dict[str, Value] = {"trace.jobs": trace["jobs"]}
        if "zipf" in trace:
            facts["fit.user_rank.zipf.exponent_least_squares"] = float(trace["zipf"])
            facts["trace.users"] = int(trace["users"])
            facts["users.dominant"] = int(trace["dominant"])
        for name in CHARACTERISTICS:
            normal = trace.get(name, {}).get("normal")
            if normal:
                scale = _logarithm(trace[name]["base"]) / _logarithm(bases[name])
                facts[f"fit.{fact_name(name)}.normal.mu"] = float(normal["mean"]) * scale
                facts[f"fit.{fact_name(name)}.normal.sigma"] = float(normal["sd"]) * scale
        traces[trace["name"]] = facts
    return traces


def _logarithm(base: str) -> float:
    return math.log(NUMBERS[base]) if base in NUMBERS else 1.0


def read_references(path: Path) -> dict[str, Mapping[str, Value]]:
    """
    Return the facts in a folder of files that 'gwa facts' printed, or in one such file, by name.

    The word *archive* stands for the traces of the thesis. Raise `TraceError` for anything else.
    """
    if str(path) == THESIS and not path.exists():
        return dict(thesis_facts())
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    references: dict[str, Mapping[str, Value]] = {}
    for file in files:
        try:
            facts = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise TraceError(
                f"{file}: {error}; expected what gwa facts prints, or the word archive"
            ) from error
        if not isinstance(facts, dict) or "trace.jobs" not in facts:
            raise TraceError(f"{file}: has no trace.jobs, expected what gwa facts prints")
        references[file.stem] = facts
    if not references:
        raise TraceError(f"{path}: holds no .json file, expected what gwa facts prints")
    return references


def rank_among_references(summaries: Sequence[TraceSummary], references: ReferenceSet) -> Iterator[Block]:
    """
    How each trace compares with others: its rank by each fact, and the trace that it is most like.

    The distance of two traces is the mean over all facts that both have of how many ranks lie between them,
    as a share of all: 0 is next to each other throughout, 1 is opposite ends. How large the systems and how
    long the logs are does not count.
    """
    for position, summary in enumerate(summaries, 1):
        own = {name: fact.value for name, fact in summary.facts.items()}
        ranks = {name: column for name in RANKED_FACTS if (column := _column(name, own, references))}
        if not ranks:
            yield Note(f"{summary.name} has no fact in common with the other traces.", "warning")
            continue
        yield _similarity_table(position, summary, ranks, references)
        yield _rank_table(position, summary, ranks, references)


def _column(name: str, own: Mapping[str, Value], references: ReferenceSet) -> dict[str, float] | None:
    """Return the fact *name* of all traces that have it, of this trace under ""; None for too few."""
    values = {trace: facts.get(name) for trace, facts in references.items()} | {"": own.get(name)}
    known = {
        trace: float(value)
        for trace, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }
    return known if "" in known and len(known) > 2 else None  # noqa: PLR2004 - itself and two others


def _rank_distance(column: Mapping[str, float], trace: str) -> float:
    """Return the share of the values that lie between those of this trace and *trace*."""
    low, high = sorted((column[""], column[trace]))
    between = sum(low < value < high for value in column.values())
    return between / max(len(column) - 2, 1) if low < high else 0.0


def _similarity_table(
    position: int, summary: TraceSummary, ranks: Mapping[str, dict[str, float]], references: ReferenceSet
) -> Table:
    """Return a table of the references, the most similar first, with the facts most and least alike."""
    rows = []
    for trace in references:
        distances = {
            name: _rank_distance(column, trace)
            for name, column in ranks.items()
            if trace in column and name not in SIZES
        }
        if distances:
            order = sorted(distances, key=lambda name: (distances[name], _log_ratio(ranks[name], trace)))
            mean = number(sum(distances.values()) / len(distances))
            most, least = (
                "; ".join(_fact_title(summary, name) for name in names)
                for names in (order[:2], order[:-3:-1])
            )
            rows.append((trace, len(distances), mean, most, least))
    rows.sort(key=lambda row: (row[2], row[0]))
    columns = (
        Column("trace", "Trace"),
        Column("facts", "Facts", "count"),
        Column("distance", "Distance"),
        Column("alike", "Most alike in"),
        Column("unlike", "Least alike in"),
    )
    return Table(f"alike-{position}", f"Traces most like {summary.name}", columns, tuple(rows))


def _log_ratio(column: Mapping[str, float], trace: str) -> float:
    smaller, larger = sorted((abs(column[""]), abs(column[trace])))
    return math.log(larger / smaller) if smaller > 0 else float(larger > 0)


def _fact_title(summary: TraceSummary, name: str) -> str:
    """Return the title of a fact; for those of fits, the characteristic and the parameter."""
    characteristic = _fitted_characteristic(name)
    if characteristic is None:
        return summary.facts[name].label
    return f"{'Typical' if name.endswith('mu') else 'Spread of'} {characteristic.title.lower()}"


def _fitted_characteristic(name: str) -> Characteristic | None:
    """Return the characteristic that a fact of a fit is about."""
    _, _, rest = name.partition("fit.")
    return BY_FACT_NAME.get(rest.partition(".")[0])


def _format_value(name: str, value: float, summary: TraceSummary) -> str:
    """Return a fact as text: a mean of logarithms as a value, a standard deviation as a factor."""
    characteristic = _fitted_characteristic(name)
    if characteristic is None:
        return show(number(value), summary.facts[name].unit)
    base = PRESETS["thesis"].bases[characteristic.name]
    raw = NUMBERS[base] ** value if base in NUMBERS else value
    if name.endswith("sigma") and base in NUMBERS:
        return f"× {show(round(raw, 1))}"
    return show(round(raw, 1), UNITS.get(characteristic.unit, ""))


def _rank_table(
    position: int, summary: TraceSummary, ranks: Mapping[str, dict[str, float]], references: ReferenceSet
) -> Table:
    """Return a table of the rank of the trace by each fact."""
    rows: list[tuple[Value, ...]] = []
    for name, column in ranks.items():
        values = sorted(value for trace, value in column.items() if trace)
        below = sum(value < column[""] for value in values) + sum(value == column[""] for value in values) / 2
        shown = (column[""], *(float(one) for one in np.quantile(values, BAND)))
        texts = [_format_value(name, value, summary) for value in shown]
        rows.append((_fact_title(summary, name), *texts, below / len(values), len(values)))
    columns = (
        Column("fact", "Fact"),
        Column("own", summary.name),
        Column("low", "10 %"),
        Column("middle", "Median"),
        Column("high", "90 %"),
        Column("percentile", "Greater than", "fraction"),
        Column("traces", "Traces", "count"),
    )
    note = (
        f"Among {', '.join(references)}. 10 % and 90 %: this share of them lies below."
        " Greater than: the share of them that have less, ties counting half."
        " Typical is the mean of logarithms turned back, the geometric mean; its spread is the factor of one"
        " standard deviation."
    )
    title = f"{summary.name} among {len(references)} traces"
    return Table(f"standing-{position}", title, columns, tuple(rows), note)
