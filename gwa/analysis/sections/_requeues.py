"""Runs of jobs before they were requeued."""

from collections.abc import Iterator

from gwa.metrics.requeues import requeues
from gwa.report.document import Block, Facts
from gwa.report.facts import facts_of
from gwa.store.store import Store
from gwa.words.message import message


def requeued(store: Store) -> Iterator[Block]:
    """Yield what was held by runs of jobs that were requeued, where the log has any."""
    found = requeues(store)
    if not found or not found.jobs:
        return
    facts = facts_of(
        "outcomes.requeued",
        ("jobs", found.jobs, message("Jobs requeued after they ran"), "count"),
        ("runs", found.runs, message("Runs of jobs before they were requeued"), "count"),
        ("cpu_seconds", found.cpu_seconds, message("CPU time held by runs before a requeue"), "cpu seconds"),
        ("gpu_seconds", found.gpu_seconds, message("GPU time held by runs before a requeue"), "seconds"),
    )
    yield Facts(tuple(fact for fact in facts if fact.value is not None))
