"""
Waits and outcomes for a generated workload: scheduled on a simulated machine, with failures drawn at random.

A model says when jobs come and what they need, not how long they wait. Here the jobs of a request pass
through a scheduler of `gwa.simulation`, so that a synthetic trace has what a log has; its header states how
it was made.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np

from gwa.errors import ModelError
from gwa.models.generate import GenerationRequest
from gwa.models.streams import Block
from gwa.simulation.backfilling import POLICIES, schedule
from gwa.simulation.jobs import Floats, Jobs
from gwa.store.store import Store

COMPLETED: Final = 1
FAILED: Final = 0

SCHEDULING: Final = "Scheduling"
OUTCOMES: Final = "Outcomes"
"""The keys of the header lines that say how waits and outcomes were made."""

NOT_MODELLED: Final = {
    "WaitTime": (SCHEDULING, "its waits are those of a simulated schedule"),
    "Status": (OUTCOMES, "its outcomes were drawn at random"),
}
"""Fields that a workload has though its model does not make them: the header line, and what is said."""

FAILURE_STREAM: Final = 1
"""Outcomes are drawn from a stream beside that of the model, so that they do not change its jobs."""


@dataclass(frozen=True)
class Scheduling:
    """
    How jobs are scheduled: under a *policy*, on a machine that they keep busy to a *load*.

    *failures* is the share of jobs that are marked as failed: drawn at random, independent of all else.
    """

    policy: str
    load: float = 0.7
    failures: float = 0.0


@dataclass(frozen=True)
class ScheduledRequest(GenerationRequest):
    """A request for a workload with waits and outcomes, which are in its *block* already."""

    block: Block | None = None

    def blocks(self) -> Iterator[Block]:
        """Yield all jobs at once, in the order of submission."""
        if self.block is not None:
            yield self.block


def scheduled(request: GenerationRequest, how: Scheduling, cpus: int | None = None) -> ScheduledRequest:
    """
    Return *request* with its jobs scheduled, on *cpus* processors if that is given.

    Raise `ModelError` for a model without jobs in the extent, or without run times or processors.
    """
    block = _joined(request)
    if missing := [name for name in ("submit_time", "run_time", "n_procs") if name not in block]:
        raise ModelError(f"{request.model.name}: no {', '.join(missing)}, so its jobs cannot be scheduled")
    jobs = Jobs.of(block["submit_time"], block["run_time"], block["n_procs"], block.get("req_time"))
    processors = cpus or machine(jobs, how.load)
    waits = np.maximum(schedule(jobs, processors, how.policy) - jobs.submit, 0)
    draws = np.random.default_rng((request.seed, FAILURE_STREAM)).random(len(jobs))
    outcomes = {"wait_time": waits, "status": np.where(draws < how.failures, FAILED, COMPLETED)}
    header = (
        *(line for line in request.header if line[0] != "Processors"),
        ("Processors", str(processors)),
        (SCHEDULING, f"simulated: {POLICIES[how.policy]}"),
        (OUTCOMES, f"drawn: {how.failures:.0%} of jobs failed, at random and independent of all else"),
    )
    return ScheduledRequest(request.model, request.extent, request.seed, header, block | outcomes)


def not_modelled(store: Store) -> dict[str, str]:
    """
    Return why fields of a synthetic trace say nothing of any system, by their titles in GWF.

    Of a trace that gwa did not generate it is not known how its waits and outcomes were made.
    """
    if not store.is_generated:
        return dict.fromkeys(NOT_MODELLED, "it is not known how its waits and outcomes were made")
    keys = {key for key, _ in store.header}
    return {field: reason for field, (key, reason) in NOT_MODELLED.items() if key in keys}


def machine(jobs: Jobs, load: float) -> int:
    """
    Return the processors of a machine that *jobs* would keep busy to *load* while they are submitted.

    That is if none had to wait; it has no fewer processors than the largest job needs.

    >>> machine(Jobs.of(submit=[0, 10], run=[10, 10], procs=[3, 1]), load=0.5)
    6
    """
    last = jobs.submit[-1]
    used: Floats = np.minimum(jobs.run, last - jobs.submit) * jobs.procs
    span = last - jobs.submit[0]
    busy = ceil(used.sum() / span / load) if span > 0 else 1
    return max(busy, int(jobs.procs.max()))


def _joined(request: GenerationRequest) -> Block:
    """Return the jobs of *request* as one block, in the order of submission."""
    blocks = list(request.blocks())
    if not blocks:
        raise ModelError(f"days is {request.extent.days}, in which no job is submitted")
    joined = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    order = np.argsort(joined["submit_time"], kind="stable")
    return {name: column[order] for name, column in joined.items()}
