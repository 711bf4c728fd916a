"""A report on a period that says first what is different from another one, by what `compare` does."""

from dataclasses import replace
from typing import Final

from gwa.analysis.comparison.changed_users import changed_users
from gwa.analysis.comparison.compare import COMPARED_FACTS, section
from gwa.analysis.comparison.differences import difference_table, rank_differences
from gwa.analysis.comparison.fact_table import fact_tables
from gwa.analysis.comparison.levels import compare_levels, level_findings, level_table
from gwa.analysis.comparison.period_changes import (
    PeriodChanges,
    PeriodPart,
    change_statement,
    change_table,
    period_changes,
)
from gwa.analysis.comparison.trace_summary import summarize
from gwa.report.document import Answer, Report
from gwa.words.message import Verbatim

CHAPTER: Final = "What is different"


def with_differences(report: Report, part: PeriodPart, earlier: PeriodPart) -> Report:
    """Return the *report* on *part* with what is different from the *earlier* part before all else."""
    names = (earlier.name, part.name)
    levels = compare_levels(earlier.store, part.store)
    summaries = [
        summarize(*earlier, COMPARED_FACTS),
        summarize(*part, COMPARED_FACTS, made=report.sections),
    ]
    ranked = rank_differences(summaries)
    changes = period_changes(part, earlier)
    remark = f"{part.name} is compared with {earlier.name}, its first column."
    sections = (
        section("against", "What changed", change_table, change_table(changes, names)),
        section("levels", "What is different", level_table, level_table(levels, names)),
        section(
            "users-changed", "New and vanished users", changed_users, changed_users(earlier.store, part.store)
        ),
        section("facts", "The same facts", fact_tables, fact_tables(summaries)),
        section(
            "differences", "Jobs one by one", difference_table, difference_table(summaries, ranked, (remark,))
        ),
    )
    return replace(
        report,
        subtitle=Verbatim(f"{report.subtitle} · against {earlier.name}"),
        sections=(*(replace(one, chapter=CHAPTER) for one in sections), *report.sections),
        answers=tuple(_answered(answer, changes) for answer in report.answers),
        findings=(*level_findings(levels, names, "levels"), *report.findings),
        reproduction={**report.reproduction, "against": earlier.name},
    )


def _answered(answer: Answer, changes: PeriodChanges) -> Answer:
    """Return an *answer*; what changed is what did so from the earlier part."""
    if answer.id != "changed" or not changes.by_measure:
        return answer
    number, text = change_statement(changes)
    return replace(answer, number=number, text=text, section="against", state="known")
