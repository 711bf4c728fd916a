"""
Run an experiment, over processes; what is finished is kept in a folder, and never done again.

Whoever stops or kills it loses at most the runs in hand.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from gwa.errors import ModelError, SimulationError
from gwa.evaluation.experiments.plan import Plan, PlannedRun
from gwa.evaluation.experiments.pool import spread
from gwa.evaluation.experiments.run import simulate
from gwa.evaluation.experiments.run_cache import RunCache
from gwa.evaluation.experiments.spec import Stated
from gwa.evaluation.experiments.workloads import generate_workload
from gwa.util.progress import SILENT, Progress


def perform(stated: Stated, runs: Sequence[PlannedRun], shelf: RunCache) -> Iterator[str]:
    """
    Yield the name of each of *runs* when it is done and kept; runs of one workload share it.

    Raise `SimulationError` for one that cannot be done.
    """
    for variant, same in groupby(runs, key=lambda run: run.variant):
        try:
            made = generate_workload(stated, variant)
            for run in same:
                shelf.save(run, *simulate(stated, made, run.policies))
                yield run.name
        except (ModelError, SimulationError) as error:
            raise SimulationError(f"{stated.path}: workload {variant.workload}: {error}") from error


def run_all(plan: Plan, shelf: RunCache, jobs: int, progress: Progress = SILENT) -> int:
    """
    Do all runs of *plan* that *shelf* lacks, in so many processes as *jobs*; return how many there were.

    Raise `SimulationError` for the first that cannot be done; what is done by then is kept.
    """
    shelf.create_folders()
    left = [run for run in plan.runs if shelf.rows(run) is None]
    with progress.step("simulating", len(plan.runs)) as bar:
        bar.advance(len(plan.runs) - len(left))
        done = perform(plan.stated, left, shelf) if jobs == 1 else spread(plan, left, shelf, jobs)
        for _ in done:
            bar.advance()
    return len(left)
