"""
Which column of a table is what: by its name, its values, and how they fit those of other columns.

What a user states comes first. Where names and values do not decide, an `OpenQuestion` says so, with the
likeliest answer. A table that is not one of jobs is refused with what it lacks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gwa.formats.tables.by_name import assign, decide_doubtful, take_stated
from gwa.formats.tables.by_values import decide_other_units, decide_run, decide_times, decide_wait, split_tres
from gwa.formats.tables.draft import Draft, OpenQuestion
from gwa.formats.tables.known import known_table
from gwa.formats.tables.mapping import Mapped, MappingStatement
from gwa.formats.tables.required import require_jobs
from gwa.formats.tables.sample import TableSample
from gwa.formats.tables.values import Values
from gwa.formats.tables.vocabulary import roles


@dataclass(frozen=True)
class ReadingPlan:
    """
    The *sources* of roles, the columns that are not read, and what is to be asked.

    *notes* say what was taken for granted.
    """

    sources: Mapped
    unused: tuple[str, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    notes: tuple[str, ...] = ()
    zone: str = ""

    @property
    def map(self) -> str:
        """The text of ``--map`` that states the whole plan."""
        sources = {role: source for role, source in self.sources.items() if not source.is_none}
        return str(MappingStatement(sources, self.zone, is_whole=True))


def plan_of(sample: TableSample, stated: MappingStatement) -> ReadingPlan:
    """
    Return the plan for a table, in which what is *stated* comes first, then what is known of it.

    Raise `NoJobsError` for a table of other things, `TraceError` where what is stated does not fit it.
    """
    table = None if stated.is_whole else known_table(sample.columns)
    notes = [f"the table is {table.title}, of which is known: {table.stated}"] if table else []
    with Values(sample) as values:
        return _planned(Draft(sample, stated.over(table.stated) if table else stated, values, notes))


def _planned(draft: Draft) -> ReadingPlan:
    is_whole = draft.stated.is_whole
    take_stated(draft)
    doubtful = {} if is_whole else assign(draft)
    decide_times(draft)
    decide_doubtful(draft, doubtful)
    decide_run(draft)
    decide_wait(draft)
    decide_other_units(draft)
    if not is_whole:
        split_tres(draft)
        require_jobs(draft)
    used = {name for source in draft.sources.values() for name in source.columns}
    unused = tuple(name for name in draft.sample.columns if name not in used)
    order = {role: place for place, role in enumerate(roles())}
    sources = dict(sorted(draft.sources.items(), key=lambda entry: order[entry[0]]))
    return ReadingPlan(sources, unused, tuple(draft.questions), tuple(draft.notes), draft.stated.zone)


def sentence(questions: Sequence[OpenQuestion]) -> str:
    """Return all questions as one message that ends in what answers them."""
    answers = {role: source for question in questions for role, source in question.answer.items()}
    asked = " ".join(f"({number}) {q.text}" for number, q in enumerate(questions, 1))
    asked = questions[0].text if len(questions) == 1 else asked
    return f"{asked} Answer as in: {MappingStatement(answers).typed()}"
