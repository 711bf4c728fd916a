"""The answers to what everybody asks first: how busy, who, how long jobs waited, what went wrong, changed."""

from collections.abc import Collection, Sequence
from typing import Final

from gwa.analysis.answers.base import Known, Question
from gwa.analysis.answers.busy import busy
from gwa.analysis.answers.changed import changed
from gwa.analysis.answers.wait import wait
from gwa.analysis.answers.who import who
from gwa.analysis.answers.wrong import wrong
from gwa.analysis.base import analyses
from gwa.report.document import Answer, Section
from gwa.store.schema import NAMES
from gwa.store.store import Store

QUESTIONS: Final[tuple[Question, ...]] = (busy, who, wait, wrong, changed)

DATA: Final = ("overview", "data-quality", "capacity")
"""The sections that say how far the trace and its size can be trusted, which findings and the lead ask."""

SECTIONS: Final = frozenset((*DATA, *(name for question in QUESTIONS for name in question.sections)))
"""The sections whose facts any answer reads."""


def evidence(store: Store, made: Sequence[Section], *, is_selection: bool = False) -> Known:
    """
    Return what the answers and findings on the jobs of *store* are made from.

    Sections that are *made* already are not made twice. Of the others, those whose facts an answer reads are
    made without drawings, so that no view or choice of sections changes what is said.
    """
    names = {section.id for section in made}
    others = (one for one in analyses() if one.id in SECTIONS and one.id not in names)
    sections = (*made, *(analysis.attempt(store, is_drawn=False) for analysis in others))
    fields = [name for name in NAMES if store.has(name)]
    zone = None if store.system.relative else store.system.timezone.key
    return Known.of(sections, fields, is_selection=is_selection, zone=zone)


def answers(known: Known, shown: Collection[str]) -> tuple[Answer, ...]:
    """Return all answers in the order of the questions, with links to the sections that are *shown*."""
    return tuple(question(known, shown) for question in QUESTIONS)
