"""Tables of the same facts of each trace, side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.report.document import Block, Fact, FactTable, Note

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "The traces": (
        "trace.jobs", "trace.users", "trace.groups", "trace.sites", "trace.cpus", "trace.span_seconds",
        "trace.cpu_seconds", "utilization.mean", "utilization.max",
    ),
    "Jobs": (
        "jobs.runtime.median", "jobs.runtime.mean", "jobs.runtime.p95", "jobs.procs.median",
        "jobs.procs.mean", "jobs.procs.max", "jobs.parallel.power_of_two", "jobs.memory.median",
        "estimates.time.median", "jobs.failed.share", "jobs.cancelled.share",
    ),
    "Arrivals and waits": (
        "arrivals.hour.mean", "arrivals.hour.max", "arrivals.cycle.busiest_hour",
        "arrivals.cycle.weekend_share", "perf.running.mean", "perf.waiting.mean", "jobs.wait.median",
        "jobs.wait.mean", "jobs.wait.p95", "slowdown.bounded.median", "slowdown.bounded.p95",
    ),
    "Users and bags of tasks": (
        "users.half_jobs", "users.half_cpu", "users.gini_jobs", "users.gini_cpu",
        "fit.user_rank.zipf.exponent", "bags.text.count", "bags.text.jobs_in_bags_fraction",
        "bags.text.size.mean",
    ),
}  # fmt: skip
"""The facts shown of each trace, as long as one of the traces has them."""


def fact_tables(summaries: Sequence[TraceSummary]) -> Iterator[Block]:
    """The same facts of each trace; the report on a trace says what each of them means."""
    names = tuple(summary.name for summary in summaries)
    for title, ids in GROUPS.items():
        rows = []
        for name in ids:
            facts = [summary.facts[name] for summary in summaries if name in summary.facts]
            if any(fact.value is not None for fact in facts):
                cells = tuple(_fact(summary, n, facts[0]) for n, summary in enumerate(summaries, 1))
                rows.append((facts[0].label, cells))
        if rows:
            yield FactTable(title.lower().replace(" ", "-"), title, names, tuple(rows))
        else:
            yield Note(f"{title}: no trace records any of it.")


def _fact(summary: TraceSummary, number: int, like: Fact) -> Fact:
    """Return a fact of the trace in column *number*, missing where the trace does not have it."""
    fact = summary.facts.get(like.id)
    value, text = (fact.value, fact.text) if fact else (None, "")
    return replace(like, id=f"compare.{number}.{like.id}", value=value, text=text)
