"""
Write a trace without names, by a process that has never read them.

What DuckDB and SQLite do not fill of a page holds whatever stood in the memory of the process before. So the
trace without names goes to Parquet, which has no such gaps, and a worker makes the output of that.
"""

from dataclasses import dataclass
from pathlib import Path

from gwa.errors import GwaError, OutputError
from gwa.formats.open import open_trace
from gwa.formats.registry import monthly, writer
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from gwa.util.owned import sweep
from gwa.util.processes import Worker, WorkerError


@dataclass(frozen=True)
class _Task:
    """The Parquet file to read, and what to write."""

    source: Path
    out: Path
    engine: Engine | None
    by_month: bool


def write_apart(source: Path, out: Path, engine: Engine | None, *, by_month: bool) -> None:
    """Have a process of its own write *out* from *source*; raise the error of gwa that it met."""
    worker: Worker[_Task, GwaError | None] = Worker(_write)
    try:
        error = worker.ask(_Task(source.absolute(), out.absolute(), engine, by_month))
    except WorkerError as failure:
        raise OutputError(f"{out}: the process that wrote it ended early: {failure}") from failure
    finally:
        worker.close()
        sweep(out.absolute().parent)
    if error:
        raise error


def _write(task: _Task) -> GwaError | None:
    """Write what *task* says in this process; return what went wrong."""
    target = writer(task.out)
    try:
        with open_trace([task.source], options=ReadOptions(engine=task.engine)) as store:
            (monthly(target, task.out) if task.by_month else target).save(store, task.out)
    except GwaError as error:
        return error
    return None
