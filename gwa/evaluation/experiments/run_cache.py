"""A cache of the results of runs in a folder, each by the hash of everything that it depends on."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from gwa.evaluation.experiments.plan import PlannedRun
from gwa.evaluation.experiments.run import Row, Schedule
from gwa.util.atomic import make_folder, mark_folder, whole, write_whole


@dataclass(frozen=True)
class RunCache:
    """The results in a *folder*; with *schedules* also the schedule of each task."""

    folder: Path
    schedules: bool = False

    def create_folders(self) -> None:
        """Create the folders; raise `OutputError` if that is impossible, or if they were not made by gwa."""
        make_folder(self.folder)
        for name in ("runs", *(["schedules"] if self.schedules else [])):
            mark_folder(self.folder / name)

    def rows(self, run: PlannedRun) -> list[Row] | None:
        """Return the cached rows of a run, None if they are missing or incomplete."""
        if self.schedules and not self.schedule_of(run).is_file():
            return None
        try:
            result = json.loads(self._result_of(run).read_text(encoding="utf-8"))
            return list(result["rows"]) if result["key"] == run.key else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, run: PlannedRun, rows: Sequence[Row], schedule: Schedule) -> None:
        """Save the result of a run after its schedule, so that no result lacks its schedule."""
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
