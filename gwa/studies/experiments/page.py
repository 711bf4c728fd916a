"""The report on an experiment: what was simulated, and a section with figures and a table for each workload."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gwa.blocks import Block, Column, Fact, Facts, Figure, Note, Report, Section, Table, Unit, Value
from gwa.figures import groups
from gwa.studies.experiments.results import AXES, Cell, Estimate, Results
from gwa.studies.experiments.simulated import BAGS, CLASSES, HELP, JOBS, MEASURES

ACROSS: Final = ("load", "bag_size", "run_time", "arrivals", "workload")
"""What stands on the x axis of figures: the first of these along which anything differs."""

LABELS: Final = {
    "workload": "Workload", "arrivals": "Arrivals", "bag_size": "Median bag size", "run_time": "Mean run time",
    "load": "Load", "architecture": "Architecture", "selection": "Task selection", "scheduler": "Task scheduling",
}  # fmt: skip

UNITS: Final[Mapping[str, Unit]] = {"load": "fraction", "run_time": "seconds"}

FIGURES: Final = {
    BAGS: ("makespan", "nsl", "in_time"),
    JOBS: ("wait", "bounded_slowdown", "utilization"),
}
"""The measures that are drawn."""

SHOWN: Final = ("makespan", "nsl", "tasks", "in_time", "wait", "bounded_slowdown", "utilization")
"""The measures in tables of a page; files have all."""
