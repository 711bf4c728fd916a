"""Runs of jobs before they were requeued."""

from collections.abc import Iterator

from gwa.metrics.requeues import requeues
from gwa.report.document import Block, Fact, Facts
from gwa.store.store import Store
from gwa.words.message import message


def requeued(store: Store) -> Iterator[Block]:
    """Yield what was held by runs of jobs that were requeued, where the log has any."""
    found = requeues(store)
    if not found or not found.jobs:
        return
    facts = [
        Fact("outcomes.requeued.jobs", found.jobs, message("Jobs requeued after they ran"), "count"),
        Fact(
            "outcomes.requeued.runs", found.runs, message("Runs of jobs before they were requeued"), "count"
        ),
        Fact(
            "outcomes.requeued.cpu_seconds",
            found.cpu_seconds,
            message("CPU time held by runs before a requeue"),
            "cpu seconds",
        ),
        Fact(
            "outcomes.requeued.gpu_seconds",
            found.gpu_seconds,
            message("GPU time held by runs before a requeue"),
            "seconds",
        ),
    ]
    yield Facts(tuple(fact for fact in facts if fact.value is not None))
