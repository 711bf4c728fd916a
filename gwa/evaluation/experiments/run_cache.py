"""Results of runs in a folder, each under the hash of all that it depends on, whole or not at all."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from gwa.errors import OutputError
from gwa.evaluation.experiments.plan import PlannedRun
from gwa.evaluation.experiments.run import Row, Schedule
from gwa.util.atomic import whole, write_whole


@dataclass(frozen=True)
class RunCache:
    """The results in a *folder*; with *schedules* also what became of each task."""

    folder: Path
    schedules: bool = False

    def ready(self) -> "RunCache":
        """Make the folders; raise `OutputError` where that cannot be."""
        try:
            for name in ("runs", *(["schedules"] if self.schedules else [])):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self.folder}: cannot be made: {error.strerror}") from error
        return self

    def rows(self, run: PlannedRun) -> list[Row] | None:
        """Return the result of a run; None where there is none that is whole."""
        if self.schedules and not self.schedule_of(run).is_file():
            return None
        try:
            said = json.loads(self._result_of(run).read_text(encoding="utf-8"))
            return list(said["rows"]) if said["key"] == run.key else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, run: PlannedRun, rows: Sequence[Row], schedule: Schedule) -> None:
        """Keep what came of a run: its result last, so that there is none without its schedule."""
        if self.schedules:
            with whole(self.schedule_of(run)) as part:
                parquet.write_table(pa.table({name: pa.array(x) for name, x in schedule.items()}), part)
        text = json.dumps({"key": run.key, "rows": rows}, indent=1, allow_nan=False)
        write_whole(self._result_of(run), f"{text}\n")

    def schedule_of(self, run: PlannedRun) -> Path:
        """Return the file of the schedule of a run."""
        return self.folder / "schedules" / f"{run.name}.parquet"

    def _result_of(self, run: PlannedRun) -> Path:
        return self.folder / "runs" / f"{run.name}.json"
