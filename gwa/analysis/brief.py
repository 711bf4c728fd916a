"""What the page for operators leaves to exports: what stands elsewhere on it, and what few act on."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from gwa.analysis.base import analyses
from gwa.report.document import Block, Figure, Report, Table
from gwa.store.store import Store

EXPORTED: Final = frozenset((
    "outcomes-months", "by-months", "by-sizes", "by-requests", "arrivals-intervals", "queue-by-day",
    "done-by-day", "slowdown-sizes", "estimates-modal", "waste-projects", "efficiency", "alerts",
    "changes-measures", "synthetic", "synthetic-commands", "synthetic-parameters", "gpu-sizes",
    "gpu_types-by-cpu", "nodes-sizes",
))  # fmt: skip
"""Tables of months and sizes, which the first screen has, and those of models and of second orders."""

DRAWN_ABOVE: Final = frozenset(("outcomes-months",))
"""Figures of what the first screen has by month."""

OWNERS: Final = tuple(
    f"{name}-by-cpu" for name in ("users", "projects", "groups", "queues", "partitions", "qos")
)
"""Whose jobs they are: the first that the log records is shown, a list of the first screen has all."""


def brief(report: Report, store: Store) -> Report:
    """
    Return a *report* for operators with the tables and figures marked that only exports have.

    One for modellers, or of sections that somebody chose, has them all.
    """
    made = {section.id for section in report.sections}
    wanted = {one.id for one in analyses() if one.view == "operator" and one.is_wanted(store)}
    if not wanted <= made or any(section.view == "modeller" for section in report.sections):
        return report
    tables = (block for section in report.sections for block in section.blocks if isinstance(block, Table))
    owners = [table.id for table in tables if table.id in OWNERS]
    hidden = EXPORTED.union(sorted(owners, key=OWNERS.index)[1:])
    sections = (
        replace(section, blocks=tuple(_marked(block, hidden) for block in section.blocks))
        for section in report.sections
    )
    return replace(report, sections=tuple(sections), is_brief=True)


def _marked(block: Block, hidden: Collection[str]) -> Block:
    if isinstance(block, Figure):
        return replace(block, minor=block.id in DRAWN_ABOVE)
    return replace(block, minor=True) if isinstance(block, Table) and block.id in hidden else block
