"""What a comparison needs of one trace, so that its store can be closed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gwa.analysis.base import analyses
from gwa.analysis.comparison.recording import NOTHING, Recording
from gwa.analysis.comparison.relation import Origin, Relation, relation_of
from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import WASSERSTEIN, RealismMeasure, Statistics, measures
from gwa.evaluation.scorecard import Floor, Reference
from gwa.metrics.papers.anoep2009 import CHARACTERISTICS, PRESETS, fact_name
from gwa.metrics.waits import queued
from gwa.report.document import Fact, Figure, Report, Section
from gwa.report.facts import busy_share, number
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.words.message import Verbatim, message

USER_TOTALS: Final = """
select held.user_id as id, held.jobs, coalesce(ran.cpu_seconds, 0) as cpu_seconds from (
    select user_id, count(*) as jobs from jobs where user_id is not null group by user_id
) as held left join (
    select user_id, cast(sum(cpu_seconds) as double) as cpu_seconds from ran
    where user_id is not null group by user_id
) as ran on held.user_id = ran.user_id order by id
"""

SHARES_OF_SIZE: Final = ("utilization.mean", "utilization.max")
"""Facts that are unknown where the number of processors is not stated, but the most ever busy."""

BUSY_LABEL: Final = message("Mean utilization, outside gaps of the log")

OUTCOMES: Final = {"failed": "failed", "cancelled": "were cancelled"}


@dataclass(frozen=True)
class TraceSummary:
    """
    What is compared of a trace called *name*.

    Its *facts* and *figures* by id, the *statistics* and noise *floors* of the measures of
    `gwa.evaluation.measure`, the share of jobs and of CPU time by user, the *site* if it is known, all
    *waits* in seconds, if they are recorded, what the log records at all (*recording*), and the *origin* of
    the jobs.
    """

    name: Verbatim
    facts: Mapping[str, Fact]
    figures: Mapping[str, Figure]
    statistics: Statistics
    floors: Mapping[str, Floor]
    users: Mapping[str, tuple[float, float]]
    site: str | None = None
    waits: Sample | None = None
    recording: Recording = NOTHING
    origin: Origin | None = None

    def is_of_one_system_with(self, other: "TraceSummary") -> bool:
        """Whether this trace and *other* are two periods of one system."""
        return relation_of(self.origin, other.origin) is not Relation.SYSTEMS


def compared_measures() -> list[RealismMeasure]:
    """Return the measures that are shown of two traces: one distance of each distribution."""
    return [measure for measure in measures() if measure.distance is not WASSERSTEIN]


def summarize(name: str, store: Store, facts: Collection[str], made: Sequence[Section] = ()) -> TraceSummary:
    """
    Compute the summary of the trace in *store*: the sections with any of *facts*, measures and users.

    Sections that are *made* already are not made twice.
    """
    known = {section.id: section for section in made}
    wanted = (analysis for analysis in analyses() if analysis.is_wanted(store))
    sections = tuple(
        known.get(analysis.id) or analysis.section(store)
        for analysis in wanted
        if any(map(analysis.has_facts, facts))
    )
    report = Report(name, "", sections)
    blocks = (block for section in sections for block in section.blocks)
    figures = {block.id: block for block in blocks if isinstance(block, Figure)}
    jobs = Reference.of(JobArrays.of(store), wanted=compared_measures())
    by_id = {fact.id: fact for fact in (*report.facts(), *_normal_fits(store))}
    recording = Recording.of(store)
    by_id |= {fact.id: fact for fact in _outcome_shares(by_id, recording)}
    if share := busy_share(by_id):
        by_id["utilization.mean"] = replace(share, id="utilization.mean", label=BUSY_LABEL)
    if not recording.has_size:
        by_id = {name: fact for name, fact in by_id.items() if name not in SHARES_OF_SIZE}
    return TraceSummary(
        Verbatim(name),
        by_id,
        figures,
        jobs.statistics,
        jobs.floors,
        _user_shares(store),
        store.system.site,
        store.sample(queued(store)) if store.has("wait_time") else None,
        recording,
        Origin.of(store),
    )


def _outcome_shares(facts: Mapping[str, Fact], recording: Recording) -> Iterator[Fact]:
    """
    Yield the shares of jobs that failed or were cancelled, of those whose outcome is recorded.

    Of an outcome that the log never records, no share is known: such jobs may be among the others.
    """
    counts = {name: facts.get(f"jobs.{name}.count") for name in ("completed", "failed", "cancelled")}
    known = {name: fact.value for name, fact in counts.items() if fact and isinstance(fact.value, int)}
    total = sum(known.values())
    for name, status in (("failed", 0), ("cancelled", 5)):
        if total and name in known and recording.has_outcomes and status in recording.outcomes:
            yield Fact(
                f"jobs.{name}.share", known[name] / total, f"Jobs that {OUTCOMES[name]}, share", "fraction"
            )


def _normal_fits(store: Store) -> Iterator[Fact]:
    """Yield the normal fits of the thesis' characteristics, without the other fits of that section."""
    for characteristic in CHARACTERISTICS.values():
        if all(map(store.has, characteristic.needs)):
            x = characteristic.measure(store, PRESETS["thesis"]).x
            for name, value in (("mu", x.mean()), ("sigma", x.std())) if x.n > 1 else ():
                id_, label = (
                    f"fit.{fact_name(characteristic.name)}.normal.{name}",
                    f"{characteristic.title}, normal: {name}",
                )
                yield Fact(id_, number(value), label)


def _user_shares(store: Store) -> dict[str, tuple[float, float]]:
    """Return the share of jobs and of CPU time by user."""
    rows = store.rows(USER_TOTALS)
    total_jobs, total_seconds = (sum(row[column] for row in rows) for column in (1, 2))
    return {
        name: (user_jobs / total_jobs, cpu_seconds / total_seconds if total_seconds else 0.0)
        for name, user_jobs, cpu_seconds in rows
    }
