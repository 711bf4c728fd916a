"""
Run an experiment, over processes; what is finished is kept in a folder, and never done again.

A run that is stopped or killed loses at most the runs in hand.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from queue import SimpleQueue
from typing import Final, TypeAlias

from gwa.errors import GwaError, ModelError, SimulationError
from gwa.evaluation.experiments.plan import ExperimentPlan, PlannedRun, Variant
from gwa.evaluation.experiments.run import simulate
from gwa.evaluation.experiments.run_cache import RunCache
from gwa.evaluation.experiments.spec import ExperimentSetup
from gwa.evaluation.experiments.workloads import GeneratedWorkload, generate_workload
from gwa.util.processes import Pool, Worker, WorkerError
from gwa.util.progress import SILENT, Progress

PIECES: Final = 4
"""The minimum number of pieces of work for each process, so that none is idle for long at the end."""

ENDED: Final = "a process that simulates has ended; with --jobs 1 there is none"

Reasons: TypeAlias = "SimpleQueue[str]"


@dataclass
class ExperimentRunner:
    """What does the runs of an experiment and keeps their results; runs of one workload in a row share it."""

    setup: ExperimentSetup
    cache: RunCache
    made: tuple[Variant, GeneratedWorkload] | None = None

    def perform(self, run: PlannedRun) -> None:
        """Do *run*; raise `SimulationError` where it cannot be done."""
        try:
            if self.made is None or self.made[0] != run.variant:
                self.made = run.variant, generate_workload(self.setup, run.variant)
            self.cache.save(run, *simulate(self.setup, self.made[1], run.policies))
        except (ModelError, SimulationError) as error:
            raise SimulationError(f"{self.setup.path}: workload {run.variant.workload}: {error}") from error

    def reason(self, run: PlannedRun) -> str:
        """Do *run* in a worker; return why it cannot be done, nothing when it is."""
        try:
            self.perform(run)
        except GwaError as error:
            return " ".join(str(error).split())
        except MemoryError:
            return "there is not enough memory for a run"
        return ""


def run_all(plan: ExperimentPlan, cache: RunCache, jobs: int, progress: Progress = SILENT) -> int:
    """
    Do all runs of *plan* that *cache* lacks, in *jobs* processes; return the number of runs.

    Raise `SimulationError` for the first that cannot be done; what is done by then is kept.
    """
    cache.create_folders()
    left = [run for run in plan.runs if cache.rows(run) is None]
    simulator = ExperimentRunner(plan.setup, cache)
    with progress.step("simulating", len(plan.runs)) as bar:
        bar.advance(len(plan.runs) - len(left))
        for _ in spread(simulator, left, jobs) if min(jobs, len(left)) > 1 else map(simulator.perform, left):
            bar.advance()
    return len(left)


def spread(simulator: ExperimentRunner, left: Sequence[PlannedRun], jobs: int) -> Iterator[None]:
    """Yield each time that one of the runs *left* is done; raise `SimulationError` where one cannot be."""
    work = list(pieces(left, jobs))
    reasons: Reasons = SimpleQueue()
    with Pool(simulator.reason, min(jobs, len(work))) as pool:
        for piece in work:
            pool.submit(_lead, piece, reasons)
        for _ in left:
            reason = reasons.get()
            if reason:
                raise SimulationError(reason)
            yield


def _lead(worker: Worker[PlannedRun, str], piece: Sequence[PlannedRun], reasons: Reasons) -> None:
    """Have *worker* do a *piece* of work, and pass on what it answers to each run."""
    try:
        for run in piece:
            reasons.put(worker.ask(run))
    except WorkerError:
        reasons.put(ENDED)


def pieces(runs: Sequence[PlannedRun], jobs: int) -> Iterator[Sequence[PlannedRun]]:
    """Yield *runs* in pieces of one workload each; shorter ones where there are few workloads."""
    groups = [list(same) for _, same in groupby(runs, key=lambda run: run.variant)]
    parts = ceil(PIECES * jobs / max(1, len(groups)))
    for group in groups:
        size = max(1, ceil(len(group) / parts))
        yield from (group[start : start + size] for start in range(0, len(group), size))
