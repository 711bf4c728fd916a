"""The jobs themselves, of a small trace."""

from collections.abc import Iterator
from typing import Final

from gwa.analysis.base import Chapter, MadeWhen, analysis
from gwa.report.columns import column
from gwa.report.document import Block, Column, Table
from gwa.store.schema import STATUS
from gwa.store.store import Store

MAXIMUM_JOBS: Final = 50
"""More jobs are no table to read."""

COLUMNS: Final = (
    Column("job_id", "Job"),
    Column("submit_time", "Submitted", "timestamp"),
    column("wait", "wait_time"),
    column("run_time"),
    column("processors", "n_procs"),
    column("gpus", "n_gpus"),
    Column("user_id", "User"),
    Column("queue_id", "Queue"),
    Column("status", "Outcome"),
)


SPOKEN: Final = {
    "job_id": "cast(job_id as varchar)",
    "status": f"case status {' '.join(f'when {code} then {name!r}' for code, name in STATUS.items())} end",
}
"""The SQL of fields that are numbers and stand for something else."""


@analysis(
    "Jobs",
    Chapter.TRACE,
    facts=(),
    made=MadeWhen.FOR_REPORTS,
    when=lambda store: store.account.jobs <= MAXIMUM_JOBS,
    order=2,
)
def jobs(store: Store) -> Iterator[Block]:
    """Every job, in the order of submission; what the trace does not record has no column."""
    columns = tuple(column for column in COLUMNS if store.has(column.key) or column.key == "job_id")
    names = ", ".join(SPOKEN.get(column.key, column.key) for column in columns)
    query = f"select {names} from jobs order by submit_time, job_id limit {MAXIMUM_JOBS}"  # noqa: S608 - fields
    rows = tuple(tuple(row) for row in store.rows(query))
    yield Table("jobs", "All jobs", columns, rows)
