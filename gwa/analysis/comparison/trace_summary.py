"""One trace of a comparison: all that is asked of it, so that its store is needed no more."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gwa.analysis.base import analyses
from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import Statistics
from gwa.evaluation.scorecard import Floor, Reference
from gwa.metrics.papers.anoep2009 import CHARACTERISTICS, PRESETS
from gwa.report.document import Fact, Figure, Report, Verbatim
from gwa.report.facts import number
from gwa.store.store import Store

SECTIONS: Final = (
    "overview",
    "utilization",
    "arrivals",
    "week",
    "performance",
    "processors",
    "parallelism",
    "run-times",
    "waits",
    "slowdown",
    "outcomes",
    "estimates",
    "memory",
    "users",
    "inequality",
    "user-ranking",
    "bags-of-tasks",
)
"""The analyses whose facts and figures a comparison may show."""

USERS: Final = """
select held.user_id as id, held.jobs, coalesce(ran.cpu_seconds, 0) as cpu_seconds from (
    select user_id, count(*) as jobs from jobs where user_id is not null group by user_id
) as held left join (
    select user_id, cast(sum(cpu_seconds) as double) as cpu_seconds from ran
    where user_id is not null group by user_id
) as ran on held.user_id = ran.user_id order by id
"""


@dataclass(frozen=True)
class TraceSummary:
    """
    What is known of a trace called *name*.

    Its *facts* and *figures* by id, the *statistics* and noise *floors* of the measures of
    `gwa.evaluation.measure`, and what share of jobs and CPU time each user has.
    """

    name: Verbatim
    facts: Mapping[str, Fact]
    figures: Mapping[str, Figure]
    statistics: Statistics
    floors: Mapping[str, Floor]
    users: Mapping[str, tuple[float, float]]


def summarize(name: str, store: Store) -> TraceSummary:
    """Return what a comparison shows of the trace in *store*."""
    sections = tuple(one.section(store) for one in analyses() if one.id in SECTIONS)
    report = Report(name, "", sections)
    drawn = {block.id: block for section in sections for block in section.blocks if isinstance(block, Figure)}
    seen = Reference.of(JobArrays.of(store))
    facts = {fact.id: fact for fact in (*report.facts(), *_normal(store))}
    return TraceSummary(Verbatim(name), facts, drawn, seen.statistics, seen.floors, _users(store))


def _normal(store: Store) -> Iterator[Fact]:
    """Yield the normal fits of the thesis' characteristics: all that is compared of the section on fits."""
    for one in CHARACTERISTICS.values():
        if all(map(store.has, one.needs)):
            x = one.measure(store, PRESETS["thesis"]).x
            for name, value in (("mu", x.mean()), ("sigma", x.std())) if x.n > 1 else ():
                yield Fact(f"fit.{one.name}.normal.{name}", number(value), f"{one.title}, normal: {name}")


def _users(store: Store) -> dict[str, tuple[float, float]]:
    """Return the share of jobs and of CPU time of each user."""
    found = store.rows(USERS)
    jobs, seconds = (sum(row[place] for row in found) for place in (1, 2))
    return {name: (one / jobs, cpu / seconds if seconds else 0.0) for name, one, cpu in found}
