"""A report on a period that says first what is different from another one, by what `compare` does."""

from dataclasses import replace
from typing import Final, NamedTuple

from gwa.analysis.comparison.changed_users import changed_users
from gwa.analysis.comparison.compare import COMPARED_FACTS, section
from gwa.analysis.comparison.differences import difference_table, rank_differences
from gwa.analysis.comparison.fact_table import fact_tables
from gwa.analysis.comparison.levels import compare_levels, level_findings, level_table
from gwa.analysis.comparison.trace_summary import summarize
from gwa.report.document import Report, Verbatim
from gwa.store.store import Store

CHAPTER: Final = "What is different"


class Part(NamedTuple):
    """A part of a trace by the *name* of its period, and the *store* of its jobs."""

    name: str
    store: Store


def with_differences(report: Report, part: Part, earlier: Part) -> Report:
    """Return the *report* on *part* with what is different from the *earlier* part before all else."""
    names = (earlier.name, part.name)
    levels = compare_levels(earlier.store, part.store)
    summaries = [
        summarize(*earlier, COMPARED_FACTS),
        summarize(*part, COMPARED_FACTS, made=report.sections),
    ]
    ranked = rank_differences(summaries)
    remark = f"{part.name} is compared with {earlier.name}, its first column."
    sections = (
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
        findings=(*level_findings(levels, names, "levels"), *report.findings),
        reproduction={**report.reproduction, "against": earlier.name},
    )
