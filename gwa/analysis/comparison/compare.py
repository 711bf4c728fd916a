"""
Traces beside each other: what an operator asks, on one axis and beside chance, then facts, curves and users.

A distance says little without what chance does, so the distance of two halves of each trace stands
beside it, as in `gwa.evaluation.scorecard`, whose measures these are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from gwa.analysis.base import Chapter, paragraphs
from gwa.analysis.build import reproduction
from gwa.analysis.comparison.curves import curves, not_weekly, weekly
from gwa.analysis.comparison.differences import (
    Difference,
    difference_findings,
    difference_table,
    rank_differences,
)
from gwa.analysis.comparison.fact_table import GROUPS, fact_tables
from gwa.analysis.comparison.first_screen import ANSWERED, answer_sentence, first_screen
from gwa.analysis.comparison.levels import (
    DIFFERING,
    LevelDifference,
    compare_levels,
    level_findings,
    level_table,
)
from gwa.analysis.comparison.over_time import OverTime, over_time
from gwa.analysis.comparison.recording import recording_remarks
from gwa.analysis.comparison.reference_set import REFERENCE_FACTS, ReferenceSet, rank_among_references
from gwa.analysis.comparison.relation import Relation
from gwa.analysis.comparison.shared_users import shared_users_table
from gwa.analysis.comparison.trace_summary import TraceSummary, summarize
from gwa.analysis.lead import side_by_side
from gwa.errors import ArgumentError
from gwa.report.document import Block, Finding, Note, Report, Section
from gwa.store.store import Store
from gwa.util.progress import SILENT, Progress
from gwa.words.message import Verbatim, joined
from gwa.words.unit import Value

OUTCOME_FACTS: Final = ("jobs.completed.count", "jobs.failed.count", "jobs.cancelled.count")
"""The facts of which the shares of outcomes are made."""

BUSY_FACTS: Final = ("capacity.unaccounted_seconds", "utilization.at_least")
"""The facts that say which mean of utilization is known of a trace."""

COMPARED_FACTS: Final = frozenset(chain(*GROUPS.values(), REFERENCE_FACTS, OUTCOME_FACTS, BUSY_FACTS))
"""The facts shown of the sections; of other sections nothing is computed."""

TITLED: Final = 3
"""The maximum number of traces in a title; the names of more stand below it."""

MAXIMUM_TRACES: Final = 20
"""More traces are refused."""


def compare(
    stores: Sequence[tuple[str, Store]],
    references: ReferenceSet | None = None,
    remarks: Sequence[str] = (),
    progress: Progress = SILENT,
) -> Report:
    """
    Return the comparison of traces, each a name and a store; raise `ArgumentError` for too few or many.

    With *references*, each trace is also ranked among those. *remarks* are printed first.
    """
    minimum = 1 if references else 2
    if not minimum <= len(stores) <= MAXIMUM_TRACES:
        raise ArgumentError(f"{len(stores)} traces were given, expected {minimum} to {MAXIMUM_TRACES}")
    summaries, courses = [], []
    with progress.step("looking at traces", len(stores)) as bar:
        for name, store in with_distinct_names(stores):
            summaries.append(summarize(name, store, COMPARED_FACTS))
            courses.append(over_time(name, store))
            bar.advance()
    ranked = rank_differences(summaries) if len(summaries) > 1 else []
    # Levels are compared in pairs: of more traces there would be too many.
    levels = compare_levels(*(store for _, store in stores)) if len(stores) == 2 else []  # noqa: PLR2004
    provenance: dict[str, Value] = {
        summary.name: dict(reproduction(store)) for summary, (_, store) in zip(summaries, stores, strict=True)
    }
    names = [summary.name for summary in summaries]
    return Report(
        _title(names, references),
        joined(", ", names) if len(names) > TITLED else "",
        tuple(_sections(summaries, ranked, levels, courses, references, remarks)),
        reproduction=provenance,
        findings=_findings(levels, ranked, names),
        overline="Comparison",
        answer=answer_sentence(summaries, levels) if len(summaries) > 1 else "",
        lead=side_by_side(with_distinct_names(stores)),
    )


def _findings(
    levels: Sequence[LevelDifference], ranked: Sequence[Difference], names: Sequence[str]
) -> tuple[Finding, ...]:
    """Return what differs between several traces in any measure; of two the first screen says it."""
    if len(names) == 2:  # noqa: PLR2004 - of a pair levels are tested
        found = level_findings(levels, (names[0], names[1]), "levels")
        told = {"no-level", *(f"{DIFFERING}{name}" for name in ANSWERED)}
        return tuple(one for one in found if one.id not in told)
    return difference_findings(ranked)


def _title(names: Sequence[str], references: ReferenceSet | None) -> Verbatim:
    """Return the title: all names if they fit on a line, or one trace among the references."""
    if len(names) == 1:
        return Verbatim(f"{names[0]} among {len(references or ())} traces")
    if len(names) == 2:  # noqa: PLR2004 - a pair
        return Verbatim(f"{names[1]} against {names[0]}")
    return Verbatim(" and ".join(names) if len(names) <= TITLED else f"{names[0]} and {len(names) - 1} more")


def with_distinct_names(stores: Sequence[tuple[str, Store]]) -> list[tuple[str, Store]]:
    """Return *stores* with distinct names: the second KTH becomes KTH (2)."""
    count: dict[str, int] = {}
    renamed = []
    for name, store in stores:
        count[name] = count.get(name, 0) + 1
        renamed.append((name if count[name] == 1 else f"{name} ({count[name]})", store))
    return renamed


def _sections(
    summaries: Sequence[TraceSummary],
    ranked: Sequence[Difference],
    levels: Sequence[LevelDifference],
    courses: Sequence[OverTime],
    references: ReferenceSet | None,
    remarks: Sequence[str],
) -> Iterator[Section]:
    """Yield the sections: what everybody asks first, then all else."""
    if len(summaries) > 1:
        blocks = first_screen(summaries, levels, courses)
        yield replace(section("answers", "Side by side", first_screen, blocks), is_on_top=True)
        recorded = recording_remarks([(summary.name, summary.recording) for summary in summaries])
        if notes := tuple(Note(text) for text in (*remarks, *recorded)):
            yield Section("compared", "What is compared", "", notes)
    if len(summaries) == 2:  # noqa: PLR2004 - a pair
        names = (summaries[0].name, summaries[1].name)
        is_in_order = bool(levels) and levels[0].relation is Relation.PERIODS
        title = "What rose or fell" if is_in_order else "What differs"
        yield section("levels", title, level_table, level_table(levels, names))
    if len(summaries) > 1:
        yield section("facts", "The same facts", fact_tables, fact_tables(summaries))
    if references:
        blocks = rank_among_references(summaries, references)
        yield section("archive", "Among other traces", rank_among_references, blocks)
    if len(summaries) > 1:
        yield section("curves", "Distributions", curves, curves(summaries))
        yield from _weeks(summaries)
        yield section("users", "Users who moved", shared_users_table, shared_users_table(summaries))
        found = section(
            "differences", "What differs most", difference_table, difference_table(summaries, ranked)
        )
        yield replace(found, chapter=Chapter.MODELLERS.value, view="modeller")


def _weeks(summaries: Sequence[TraceSummary]) -> Iterator[Section]:
    """Yield the week of each trace, each in view, and one sentence on all that have none."""
    without = []
    for number, summary in enumerate(summaries, 1):
        if blocks := tuple(weekly(summary, number)):
            made = section(f"time-{number}", summary.name, weekly, iter(blocks))
            yield replace(made, chapter="Over the week")
        else:
            without.append(summary.name)
    if without:
        yield Section("time", "Over the week", "", (not_weekly(without),), "Over the week")


def section(name: str, title: str, function: object, blocks: Iterator[Block]) -> Section:
    """Return a section; the docstring of the *function* that makes its *blocks* is its help."""
    return Section(name, title, paragraphs(function.__doc__ or ""), tuple(blocks))
