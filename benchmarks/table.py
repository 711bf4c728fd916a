"""The table that is printed, and the same as data."""

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from benchmarks.measure import Cost, typical
from benchmarks.peers import PACKAGES
from benchmarks.session import Outcome
from benchmarks.works import Kind, Target
from gwa.util.version import DISTRIBUTION

HEAD: Final = (
    "work", "ours s", "(cpu)", "MB", "beside", "s", "(cpu)", "MB", "ratio", "target", "measured", "reached",
)  # fmt: skip
NUMBERS: Final = {1, 2, 3, 5, 6, 7, 8, 10}
"""The columns that are written flush right."""

NOTE: Final = (
    "s: wall seconds, (cpu): CPU seconds of all processes, MB: peak memory of the largest one; medians.\n"
    "ratio: beside ÷ ours, median over the pairs; of memory where the target is about it, else of seconds."
)


def machine(rows: int, runs: int) -> str:
    """Say on what the figures were measured, without naming the machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    often = f"median of {runs} runs after one to warm up" if runs else "a single run"
    names = (DISTRIBUTION, "duckdb", "numpy", "scipy", "pandas")
    versions = ", ".join(f"{name} {_version(name)}" for name in names)
    return (
        f"{rows:,} rows; {often}, in turn\n"
        f"{cores} cores, load {os.getloadavg()[0]:.1f}, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {versions}\n"
        f"peers: {', '.join(PACKAGES).replace('==', ' ')}"
    )


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a row for each target of each work."""
    rows = [HEAD, *(row for outcome in outcomes for row in _rows(outcome))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = [
        "  ".join(
            cell.rjust(width) if column in NUMBERS else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    troubles = [f"{one.work.name}: {one.trouble}" for one in outcomes if one.trouble]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], "", NOTE, *troubles])


def _rows(outcome: Outcome) -> list[tuple[str, ...]]:
    work, measured = outcome.work, outcome.measured
    ours = _cost(measured.ours) if measured else ("-", "-", "-")
    beside = _cost(measured.beside) if measured and measured.beside else ("-", "-", "-")
    title = work.beside.title if work.beside else "-"
    return [
        (work.title, *ours, title, *beside, _ratio(outcome, target), str(target), *_verdict(target, value))
        for target, value in zip(work.targets, outcome.values, strict=True)
    ]


def _cost(costs: Sequence[Cost]) -> tuple[str, str, str]:
    cost = typical(costs)
    return f"{cost.seconds:.2f}", f"({cost.cpu:.2f})", f"{cost.peak:.0f}"


def _ratio(outcome: Outcome, target: Target) -> str:
    if not (outcome.measured and outcome.measured.beside):
        return "-"
    measured = outcome.measured
    found = {Kind.MEMORY: measured.ratio("peak"), Kind.CPU: measured.ratio("cpu")}
    return f"{found.get(target.kind, measured.ratio()):.2f}"


def _verdict(target: Target, value: float | None) -> tuple[str, str]:
    if value is None:
        return "-", "not measured"
    return f"{value:.2f}", "yes" if target.is_reached(value) else "no"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "?"


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
