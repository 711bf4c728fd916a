"""Runs of jobs that were requeued: what was computed before the run that counts."""

from dataclasses import dataclass

from gwa.metrics.presence import has_boxes, listed_boxes
from gwa.metrics.timeline import exact_sum
from gwa.store.runs import UNLISTED_RUNS
from gwa.store.store import Store


@dataclass(frozen=True)
class Requeues:
    """
    How many *jobs* ran before they were requeued, and how many earlier *runs* there were.

    These held *cpu_seconds* of processors and *gpu_seconds* of GPUs, which the run times of jobs do not
    include; None where the source does not record these, for processors where it lacks those of one job.
    """

    jobs: int
    runs: int
    cpu_seconds: float | None
    gpu_seconds: float | None


def requeues(store: Store) -> Requeues | None:
    """
    Return what the jobs of *store*, of a period those submitted in it, did before they were requeued.

    It is None where no job records an earlier run: that does not say that there was none, since logs such as
    those of sacct without --duplicates have the last run of each job only.
    """
    if not store.has("n_requeues"):
        return None
    jobs, runs, listed = store.row(
        "select count(*) filter (where n_requeues > 0) as jobs, cast(sum(n_requeues) as bigint) as runs,"
        f" count(*) filter (where n_requeues > 0 and strpos(runs, ';') > 0 and {UNLISTED_RUNS} = 0) as listed"
        " from jobs"
    )
    if not has_boxes(store):
        return Requeues(jobs, runs or 0, None, None)
    cpu_seconds, gpu_seconds = store.row(
        f"select {exact_sum('n_procs * seconds')} as cpu, {exact_sum('n_gpus * seconds')} as gpu"
        f" from {listed_boxes(store)} as box where not is_last_run and job_id in (select job_id from jobs)"
    )
    return Requeues(jobs, runs or 0, cpu_seconds if listed == jobs else None, gpu_seconds or None)
