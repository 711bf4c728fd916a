"""The results of an experiment: a row for each run and class of bag sizes, and means over repetitions."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet
from scipy import stats

from gwa.errors import SimulationError
from gwa.evaluation.experiments.plan import ExperimentPlan, Policies, Variant
from gwa.evaluation.experiments.run import MEASURES, Row
from gwa.evaluation.experiments.run_cache import RunCache
from gwa.util.atomic import whole
from gwa.util.spreadsheet import disarmed
from gwa.words.formatting import number
from gwa.words.message import message
from gwa.words.unit import Value

CONFIDENCE: Final = 0.95

REPETITION: Final = "repetition"

AXES: Final = tuple(
    field.name for kind in (Variant, Policies) for field in fields(kind) if field.name != REPETITION
)
"""The axes along which runs differ."""

NUMERIC_AXES: Final = {"bag_size", "run_time", "load"}
"""Axes whose values are numbers; an answer is about the greatest of them."""

SIZE_CLASS: Final = "class"


@dataclass(frozen=True)
class Estimate:
    """
    A mean over *n* repetitions, and *half* of its 95 % confidence interval.

    The interval is that of Student's t, for repetitions are independent; None for a single repetition.
    """

    mean: float
    half: float | None
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate | None":
        """
        Estimate the mean of *values*; return None without values.

        >>> Estimate.of([1.0, 2.0, 3.0])
        Estimate(mean=2.0, half=2.484, n=3)
        """
        if not values:
            return None
        mean, n = math.fsum(values) / len(values), len(values)
        if n == 1:
            return cls(mean, None, n)
        error = float(np.std(values, ddof=1)) / math.sqrt(n)
        half = error * float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1))
        return cls(mean, float(f"{half:.4g}"), n)


@dataclass(frozen=True)
class ResultCell:
    """All repetitions of one variant under one combination of policies, *axes*, in one class of sizes."""

    axes: tuple[Value, ...]
    size: str
    estimates: dict[str, Estimate | None]

    def axis(self, name: str) -> Value:
        """Return the value of the cell on an axis."""
        return self.axes[AXES.index(name)]


@dataclass(frozen=True)
class ExperimentResults:
    """The results of all runs of a *plan*, in its order."""

    plan: ExperimentPlan
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, plan: ExperimentPlan, cache: RunCache) -> "ExperimentResults":
        """Return the results in *cache*; raise `SimulationError` if one is missing."""
        rows: list[Row] = []
        for run in plan.runs:
            measured = cache.rows(run)
            if measured is None:
                raise SimulationError(f"{cache.folder}: has no result of run {run.name}")
            axes = {"run": run.name, **asdict(run.variant), **asdict(run.policies)}
            rows += ({**axes, **row} for row in measured)
        return cls(plan, tuple(rows))

    @cached_property
    def cells(self) -> tuple[ResultCell, ...]:
        """The means over repetitions."""
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows:
            groups.setdefault((*(row[name] for name in AXES), row[SIZE_CLASS]), []).append(row)
        return tuple(ResultCell(key[:-1], key[-1], dict(_estimates(rows))) for key, rows in groups.items())

    def values(self, axis: str) -> list[Value]:
        """Return the distinct values on an axis, numbers in order."""
        values = list(dict.fromkeys(cell.axis(axis) for cell in self.cells))
        return sorted(values) if axis in NUMERIC_AXES and None not in values else values  # type: ignore[type-var]

    @property
    def raised(self) -> str:
        """A sentence on requests below the run time, empty if there are none in any run."""
        counts = [(int(row.get("raised") or 0), int(row["tasks"] or 0)) for row in self.rows]
        most, jobs = max(counts, default=(0, 0))
        if not most:
            return ""
        return message(
            "In a run, {most} of {jobs} jobs ran longer than they requested: they were planned with their run"
            " time.",
            most=number(most),
            jobs=number(jobs),
        )

    @property
    def varied(self) -> list[str]:
        """The axes that vary."""
        return [name for name in AXES if len(self.values(name)) > 1]

    def table(self) -> pa.Table:
        """Return all rows as a table."""
        integers = {"bags", "bags_finished", "tasks", "raised", REPETITION}
        columns = {}
        for name in (
            "run",
            *(field.name for kind in (Variant, Policies) for field in fields(kind)),
            SIZE_CLASS,
        ):
            kind = pa.float64() if name in NUMERIC_AXES else pa.int64() if name in integers else pa.string()
            columns[name] = pa.array([row[name] for row in self.rows], kind)
        for measure in MEASURES:
            kind = pa.int64() if measure.key in integers else pa.float64()
            columns[measure.key] = pa.array([row.get(measure.key) for row in self.rows], kind)
        return pa.table(columns)

    @staticmethod
    def paths(folder: Path) -> list[Path]:
        """Return where `write` writes."""
        return [folder / "results.csv", folder / "results.parquet"]

    def write(self, folder: Path) -> list[Path]:
        """Write the table atomically as CSV and as Parquet, and return the paths."""
        table, paths = self.table(), self.paths(folder)
        with whole(paths[0]) as part:
            csv.write_csv(_disarmed(table), part, csv.WriteOptions(quoting_style="needed"))
        with whole(paths[1]) as part:
            parquet.write_table(table, part)
        return paths


def _disarmed(table: pa.Table) -> pa.Table:
    """Return *table* without texts that a spreadsheet would take for formulas."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = [text if text is None else disarmed(text) for text in table.column(place).to_pylist()]
            table = table.set_column(place, field, [pa.array(texts, field.type)])
    return table


def _estimates(rows: Sequence[Row]) -> Iterator[tuple[str, Estimate | None]]:
    """Yield the estimate of each measure."""
    for measure in MEASURES:
        known = [value for row in rows if isinstance(value := row.get(measure.key), int | float)]
        yield measure.key, Estimate.of([float(value) for value in known])
