"""The table that is printed and stands in the documentation: what each work takes, and its target."""

import os
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from benchmarks.measure import Cost, spread, typical
from benchmarks.peers import PACKAGES
from benchmarks.session import Outcome
from gwa.util.cores import usable_cores
from gwa.util.version import DISTRIBUTION

PAGE: Final = Path(__file__).parent.parent / "docs" / "explanation" / "benchmarks.md"
BEGIN, END = "<!-- ratios, written by make ratios -->", "<!-- end of ratios -->"
HEAD: Final = (
    "| work | CPU s | wall s | MB | beside it | CPU s | wall s | MB | CPU × | wall × | target | measured |\n"
    "|---|--:|--:|--:|---|--:|--:|--:|--:|--:|---|--:|\n"
)
COLD: Final = "| work | warm, CPU s | warm, wall s | cold, CPU s | cold, wall s |\n|---|--:|--:|--:|--:|\n"


def machine(rows: int, runs: int) -> str:
    """Say on what the figures were measured, without naming the machine."""
    often = f"median of {runs} runs after one to warm up" if runs else "a single run"
    names = (DISTRIBUTION, "duckdb", "numpy", "scipy", "pandas")
    versions = ", ".join(f"{name} {_version(name)}" for name in names)
    return (
        f"{rows:,} rows; {often}, in turn\n"
        f"{usable_cores()} cores, load {os.getloadavg()[0]:.1f}, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {versions}\n"
        f"peers: {', '.join(PACKAGES).replace('==', ' ')}"
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "?"


def ratios(outcomes: Sequence[Outcome]) -> str:
    """Return a row in Markdown for each work, and a table of those that were measured cold."""
    cold = [_row(*row) for row in _cold_rows(outcomes)]
    rows = HEAD + "".join(_row(*row) for row in _rows(outcomes))
    return rows + (f"\n{COLD}{''.join(cold)}" if cold else "")


def troubles(outcomes: Sequence[Outcome]) -> str:
    """Return a line for each work of which something could not be measured."""
    return "\n".join(f"{one.work.name}: {one.trouble}" for one in outcomes if one.trouble)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _rows(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, ...]]:
    for outcome in outcomes:
        work, measured = outcome.work, outcome.measured
        if not measured:
            continue
        targets = "; ".join(str(target) for target in work.targets)
        values = "; ".join("-" if value is None else f"{value:.2f}" for value in outcome.values)
        if not (work.beside and measured.beside):
            yield (work.title, *_cells(measured.ours), *("",) * 6, targets, values)
            continue
        ratio = (f"{1 / measured.ratio('cpu'):.2f}", f"{1 / measured.ratio():.2f}")
        beside = (work.beside.title, *_cells(measured.beside))
        yield (work.title, *_cells(measured.ours), *beside, *ratio, targets, values)


def _cells(costs: Sequence[Cost]) -> tuple[str, str, str]:
    """Return CPU and wall seconds, the median and from which to which they go, and memory."""
    cost = typical(costs)
    (low_cpu, high_cpu), (low, high) = spread(costs, "cpu"), spread(costs, "seconds")
    return (
        f"{cost.cpu:.2f} ({low_cpu:.2f}–{high_cpu:.2f})",
        f"{cost.seconds:.2f} ({low:.2f}–{high:.2f})",
        f"{cost.peak:.0f}",
    )


def _cold_rows(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, ...]]:
    for outcome in outcomes:
        if outcome.measured and outcome.cold:
            warm, cold = typical(outcome.measured.ours), outcome.cold
            found = (warm.cpu, warm.seconds, cold.cpu, cold.seconds)
            yield (outcome.work.title, *(f"{seconds:.2f}" for seconds in found))


def replaced(text: str, table: str, head: str) -> str:
    """
    Return *text* with *head* and *table* in place of what stands between the two marks.

    Raises ValueError where *text* has not both.
    """
    between = re.compile(f"(?<={re.escape(BEGIN)}\n).*?(?={re.escape(END)})", re.DOTALL)
    if not between.search(text):
        raise ValueError(f"expected {BEGIN} and {END}")
    return between.sub(lambda _: f"{head}\n\n{table}", text)


def as_data(outcomes: Sequence[Outcome]) -> list[dict[str, object]]:
    """Return the costs of every run, and each target with what was measured."""
    return [
        {
            "name": one.work.name,
            "title": one.work.title,
            "beside": one.work.beside.title if one.work.beside else None,
            "runs": asdict(one.measured) if one.measured else None,
            "targets": [
                {
                    "target": str(target),
                    "value": value,
                    "reached": value is not None and target.is_reached(value),
                }
                for target, value in zip(one.work.targets, one.values, strict=True)
            ],
            "trouble": one.trouble,
        }
        for one in outcomes
    ]
