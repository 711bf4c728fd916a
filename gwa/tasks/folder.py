"""The folder of a task: its files, how they are read, and what forecasts of others have to be like."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ArgumentError, TraceError
from gwa.statistics.sample import Floats, Ints
from gwa.tasks.baseline import LEVELS
from gwa.tasks.features import MEANING
from gwa.tasks.measures import HeldOut
from gwa.tasks.task import BY_NAME

if TYPE_CHECKING:
    import pyarrow as pa

FEATURES: Final = "features.parquet"
LABELS: Final = {split: f"{split}_labels.parquet" for split in ("train", "valid", "test")}
CARD: Final = "card.json"
README: Final = "README.md"
BASELINES: Final = "baselines"
PREDICTIONS: Final = "predictions"
"""Where forecasts of others stand that are to be ranked."""

KEY: Final = "row"
QUANTILES: Final = tuple(f"q{round(100 * level):02d}" for level in LEVELS)
CHANCE: Final = ("p",)


@dataclass(frozen=True, eq=False)
class TaskFolder:
    """The folder at *path* of a task: what its *test* is, and the *rows* of that."""

    path: Path
    test: HeldOut
    rows: Ints

    @classmethod
    def read(cls, path: Path) -> "TaskFolder":
        """Read the folder at *path*; raise `TraceError` where it is none of a task."""
        import pyarrow.compute as pc

        for name in (FEATURES, LABELS["test"]):
            if not (path / name).is_file():
                raise TraceError(
                    f"{path}: has no {name}, expected the folder of one task, such as DIR/wait of"
                    " 'gwa tasks make TRACE -o DIR'"
                )
        task = BY_NAME.get(_task_of(path)) or BY_NAME.get(path.resolve().name)
        if task is None:
            raise TraceError(f"{path}: is of no task, expected one of {', '.join(BY_NAME)}")
        table, labels = _table(path / FEATURES), _table(path / LABELS["test"])
        table = table.filter(pc.equal(table["split"], "test")).sort_by(KEY)
        labels = labels.sort_by(KEY)
        rows = labels[KEY].to_numpy()
        if not np.array_equal(rows, table[KEY].to_numpy()):
            raise TraceError(f"{path}: the rows of {LABELS['test']} are not those of the test in {FEATURES}")
        columns = {name: _floats(table, name) for name in MEANING}
        return cls(path, HeldOut(task, _floats(labels, "label"), _floats(table, "submit"), columns), rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a forecast besides the key."""
        return CHANCE if self.test.task.offset is None else QUANTILES

    def forecast(self, path: Path) -> Floats:
        """
        Read a forecast of all rows of the test, in their order; a row that is null is not answered.

        Raise `ArgumentError` for a file that is no such forecast.
        """
        table = _table(path)
        wanted = (KEY, *self.columns)
        if sorted(table.column_names) != sorted(wanted):
            raise ArgumentError(
                f"{path}: has the columns {', '.join(table.column_names) or 'none'},"
                f" expected {', '.join(wanted)}"
            )
        values = np.column_stack([_numbers(table, name, path) for name in self.columns])
        return self._checked(values[self._order(_numbers(table, KEY, path), path)], path)

    def baselines(self) -> dict[str, Floats]:
        """Return the forecasts of the baselines by their names."""
        return {path.stem: self.forecast(path) for path in sorted((self.path / BASELINES).glob("*.parquet"))}

    def entries(self) -> dict[str, Floats]:
        """Return all forecasts that are ranked: the baselines, and those in the folder `PREDICTIONS`."""
        others = sorted((self.path / PREDICTIONS).glob("*.parquet"))
        own = self.baselines()
        for path in others:
            if path.stem in own:
                raise ArgumentError(f"{path}: has the name of a baseline, expected another one")
        return {**own, **{path.stem: self.forecast(path) for path in others}}

    def _order(self, rows: Floats, path: Path) -> Ints:
        """Return where each row of the test stands among *rows*, each of which is there once."""
        known, counts = np.unique(rows, return_counts=True)
        if (counts > 1).any():
            raise ArgumentError(
                f"{path}: {int((counts > 1).sum()):,} rows stand there more than once, such as row"
                f" {known[counts > 1][0]:g}; expected each row of the test once"
            )
        missing, extra = np.setdiff1d(self.rows, known), np.setdiff1d(known, self.rows)
        if missing.size:
            raise ArgumentError(
                f"{path}: {missing.size:,} of {self.rows.size:,} rows of the test are missing, such as row"
                f" {missing[0]}; a row without an answer stands there with nulls"
            )
        if extra.size:
            raise ArgumentError(
                f"{path}: {extra.size:,} rows are not of the test, such as row {extra[0]:g};"
                " expected those whose split is 'test'"
            )
        return np.argsort(rows, kind="stable")

    def _checked(self, values: Floats, path: Path) -> Floats:
        """Return *values*, of which each row is null or has all that a forecast has to have."""
        known = ~np.isnan(values)
        whole: NDArray[np.bool_] = np.asarray(known.all(axis=1))
        partly = np.asarray(known.any(axis=1)) & ~whole
        self._refuse(partly, path, "have some of the quantiles only", "all, or null in all")
        if self.columns == CHANCE:
            outside = whole & ~np.asarray(((values >= 0) & (values <= 1)).all(axis=1))
            self._refuse(outside, path, "have a p that is no probability", "0 to 1")
            return values[:, 0]
        bad = whole & ~np.asarray(((values >= 0) & np.isfinite(values)).all(axis=1))
        unit = f" in {self.test.task.unit}"
        self._refuse(bad, path, "have a quantile that is negative or not finite", f"values from 0 on{unit}")
        crossing = np.zeros(len(values), bool)
        crossing[whole] = (np.diff(values[whole], axis=1) < 0).any(axis=1)
        self._refuse(crossing, path, "have quantiles that cross", "q05 <= q50 <= q95")
        return values

    def _refuse(self, wrong: NDArray[np.bool_], path: Path, what: str, expected: str) -> None:
        if wrong.any():
            raise ArgumentError(
                f"{path}: {int(wrong.sum()):,} rows {what}, such as row {self.rows[wrong][0]};"
                f" expected {expected}"
            )


def write_table(columns: dict[str, "pa.Array | np.ndarray"], path: Path) -> None:
    """Write *columns* to a new Parquet file; nan is null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {
        name: pa.array(values, from_pandas=True) if isinstance(values, np.ndarray) else values
        for name, values in columns.items()
    }
    pq.write_table(pa.table(arrays), path, compression="zstd")


def forecast_columns(rows: Ints, forecast: Floats) -> dict[str, "pa.Array | np.ndarray"]:
    """Return the columns of the file of a *forecast* of *rows*."""
    names: Sequence[str] = CHANCE if forecast.ndim == 1 else QUANTILES
    return {KEY: rows, **dict(zip(names, np.atleast_2d(forecast.T), strict=True))}


def answered(forecast: Floats) -> NDArray[np.bool_]:
    """Return which rows a *forecast* answers."""
    return ~np.isnan(forecast if forecast.ndim == 1 else forecast[:, 0])


def _task_of(path: Path) -> str:
    """Return what the card in the folder at *path* says that its task is."""
    import json

    if not (path / CARD).is_file():
        return ""
    try:
        return str(json.loads((path / CARD).read_text(encoding="utf-8"))["gwa"]["task"])
    except (ValueError, KeyError, TypeError):
        return ""


def _table(path: Path) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        reason = "is not there" if not path.exists() else "cannot be read as Parquet"
        raise TraceError(f"{path}: {reason}, expected a table in Parquet") from error


def _floats(table: "pa.Table", name: str) -> Floats:
    return np.asarray(table[name].to_pandas().to_numpy(dtype=np.float64, na_value=np.nan))


def _numbers(table: "pa.Table", name: str, path: Path) -> Floats:
    import pyarrow as pa

    kind = table[name].type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise ArgumentError(f"{path}: the column {name} is of {kind}, expected numbers")
    return _floats(table, name)
