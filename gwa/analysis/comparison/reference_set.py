"""Where a trace stands among others: those of the thesis, or any folder of facts."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.errors import TraceError
from gwa.metrics.papers.anoep2009 import CHARACTERISTICS, NUMBERS, PRESETS, Characteristic
from gwa.metrics.papers.published import printed
from gwa.report.document import Block, Column, Note, Table, Value
from gwa.report.facts import number
from gwa.report.formatting import show

ReferenceSet = Mapping[str, Mapping[str, Value]]
"""Facts of traces elsewhere, by name and id."""

PUBLISHED: Final = "archive"
"""What the traces of the thesis are called on the command line."""

OTHERS: Final = (
    "trace.jobs",
    "trace.users",
    "trace.cpus",
    "trace.span_seconds",
    "utilization.mean",
    "jobs.runtime.median",
    "jobs.runtime.mean",
    "jobs.procs.mean",
    "jobs.procs.max",
    "jobs.wait.median",
    "jobs.wait.p95",
    "slowdown.bounded.median",
    "arrivals.hour.mean",
    "arrivals.cycle.weekend_share",
    "users.gini_jobs",
    "users.gini_cpu",
    "bags.text.jobs_in_bags_fraction",
    "bags.text.size.mean",
    "fit.user_rank.zipf.exponent",
    "fit.user_rank.zipf.exponent_least_squares",
    "users.dominant",
    "jobs.parallel.power_of_two",
)

COMPARED: Final = (
    *OTHERS,
    *(f"fit.{name}.normal.{what}" for name in CHARACTERISTICS for what in ("mu", "sigma")),
)
"""The facts by which a trace is placed, where it and others have them."""


def thesis() -> dict[str, dict[str, Value]]:
    """
    Return the facts of the seven traces of Anoep's thesis (2009), tables 4.1 to 4.20, as far as printed.

    Means and deviations of logarithms are those to the bases in which gwa states them.

    >>> thesis()["LCG"]["trace.jobs"], thesis()["LCG"]["fit.runtime.normal.mu"]
    (188041, 6.51)
    """
    found: dict[str, dict[str, Value]] = {}
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
                facts[f"fit.{name}.normal.mu"] = float(normal["mean"]) * scale
                facts[f"fit.{name}.normal.sigma"] = float(normal["sd"]) * scale
        found[trace["name"]] = facts
    return found


def _logarithm(base: str) -> float:
    return math.log(NUMBERS[base]) if base in NUMBERS else 1.0


def read_archive(path: Path) -> dict[str, Mapping[str, Value]]:
    """
    Return the facts in a folder of files that 'gwa facts' printed, or in one such file, by name.

    The word *archive* stands for the traces of the thesis. Raise `TraceError` for anything else.
    """
    if str(path) == PUBLISHED and not path.exists():
        return dict(thesis())
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    found: dict[str, Mapping[str, Value]] = {}
    for file in files:
        try:
            said = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise TraceError(
                f"{file}: {error}; expected what gwa facts prints, or the word archive"
            ) from error
        if not isinstance(said, dict) or "trace.jobs" not in said:
            raise TraceError(f"{file}: has no trace.jobs, expected what gwa facts prints")
        found[file.stem] = said
    if not found:
        raise TraceError(f"{path}: holds no .json file, expected what gwa facts prints")
    return found


def standing(sides: Sequence[TraceSummary], archive: ReferenceSet) -> Iterator[Block]:
    """
    How each trace compares with others: its rank by each fact, and the trace that it is most like.

    The distance of two traces is the mean over all facts that both have of how many ranks lie between them,
    as a share of all: 0 is next to each other throughout, 1 is opposite ends.
    """
    for place, side in enumerate(sides, 1):
        own = {name: fact.value for name, fact in side.facts.items()}
        ranks = {name: column for name in COMPARED if (column := _column(name, own, archive))}
        if not ranks:
            yield Note(f"{side.name} has no fact that the other traces tell.", "warning")
            continue
        yield _alike(place, side, ranks, archive)
        yield _ranks(place, side, ranks, archive)


def _column(name: str, own: Mapping[str, Value], archive: ReferenceSet) -> dict[str, float] | None:
    """Return the numbers called *name* of all traces, the own under no name; None for too few."""
    found = {trace: facts.get(name) for trace, facts in archive.items()} | {"": own.get(name)}
    known = {
        trace: float(value)
        for trace, value in found.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }
    return known if "" in known and len(known) > 2 else None  # noqa: PLR2004 - itself and two others


def _apart(column: Mapping[str, float], trace: str) -> float:
    """Return how many of the numbers lie between the own and that of *trace*, as a share."""
    low, high = sorted((column[""], column[trace]))
    between = sum(low < value < high for value in column.values())
    return between / max(len(column) - 2, 1) if low < high else 0.0


def _alike(
    place: int, side: TraceSummary, ranks: Mapping[str, dict[str, float]], archive: ReferenceSet
) -> Table:
    """Return the traces, the most similar first, and what is alike and what not."""
    rows = []
    for trace in archive:
        apart = {name: _apart(column, trace) for name, column in ranks.items() if trace in column}
        if apart:
            order = sorted(apart, key=lambda name: (apart[name], _ratio(ranks[name], trace)))
            alike, unlike = (
                "; ".join(_title(side, name) for name in some) for some in (order[:2], order[:-3:-1])
            )
            rows.append((trace, len(apart), number(sum(apart.values()) / len(apart)), alike, unlike))
    rows.sort(key=lambda row: (row[2], row[0]))
    columns = (
        Column("trace", "Trace"),
        Column("facts", "Facts", "count"),
        Column("distance", "Distance"),
        Column("alike", "Most alike in"),
        Column("unlike", "Least alike in"),
    )
    return Table(f"alike-{place}", f"Traces most like {side.name}", columns, tuple(rows))


def _ratio(column: Mapping[str, float], trace: str) -> float:
    one, other = sorted((abs(column[""]), abs(column[trace])))
    return math.log(other / one) if one > 0 else float(other > 0)


def _title(side: TraceSummary, name: str) -> str:
    """Return what a fact is called; those of fits do not name the characteristic themselves."""
    one = _fitted(name)
    if one is None:
        return side.facts[name].label
    return f"{'Typical' if name.endswith('mu') else 'Spread of'} {one.title.lower()}"


def _fitted(name: str) -> Characteristic | None:
    """Return the characteristic that a fact of a fit is about."""
    _, _, rest = name.partition("fit.")
    return CHARACTERISTICS.get(rest.partition(".")[0])


def _text(name: str, value: float, side: TraceSummary) -> str:
    """Return a fact as it is told: a mean of logarithms as a value, a deviation as a factor."""
    one = _fitted(name)
    if one is None:
        return show(number(value), side.facts[name].unit)
    base = PRESETS["thesis"].bases[one.name]
    plain = NUMBERS[base] ** value if base in NUMBERS else value
    if name.endswith("sigma") and base in NUMBERS:
        return f"× {show(round(plain, 1))}"
    return show(round(plain, 1), "seconds" if one.unit == "seconds" else "")


def _ranks(
    place: int, side: TraceSummary, ranks: Mapping[str, dict[str, float]], archive: ReferenceSet
) -> Table:
    """Return where the trace stands by each fact."""
    rows: list[tuple[Value, ...]] = []
    for name, column in ranks.items():
        others = sorted(value for trace, value in column.items() if trace)
        below = sum(value < column[""] for value in others) + sum(value == column[""] for value in others) / 2
        some = (column[""], others[0], others[len(others) // 2], others[-1])
        texts = [_text(name, value, side) for value in some]
        rows.append((_title(side, name), *texts, below / len(others), len(others)))
    columns = (
        Column("fact", "Fact"),
        Column("own", side.name),
        Column("least", "Least"),
        Column("middle", "Middle"),
        Column("most", "Most"),
        Column("percentile", "Greater than", "fraction"),
        Column("traces", "Traces", "count"),
    )
    note = (
        f"Among {', '.join(archive)}. Greater than: the share of them that have less, ties counting half."
        " Typical is the mean of logarithms turned back, the geometric mean; its spread is the factor of one"
        " standard deviation."
    )
    return Table(f"standing-{place}", f"{side.name} among {len(archive)} traces", columns, tuple(rows), note)
