"""
What an answer is: a claim with a state, made from facts that are computed for it.

An answer reads the sections that it names. They are computed whatever a report shows, so that a view, a
selection of sections or a filter changes what is shown and never what is said. A fact that is absent says
nothing: that a field is not recorded is asked of the trace itself (`Known.has`).
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gwa.report.document import Answer, Figure, Section, State
from gwa.report.figures.spark import spark
from gwa.words.message import Message, Verbatim, joined, message

NOTICEABLE: Final = 0.005
"""Shares below this are not mentioned."""

WORDS: Final = {
    "submit_time": message("submission times"),
    "wait_time": message("wait times"),
    "run_time": message("run times"),
    "n_procs": message("numbers of processors"),
    "status": message("outcomes"),
    "user_id": message("users"),
    "group_id": message("groups"),
}
"""Fields in the words of a sentence, in the plural."""


@dataclass(frozen=True)
class Known:
    """
    What answers are made from.

    *facts* and *figures* by id, of all sections that were made; the *fields* that any job records; whether
    the jobs are a *selection*, beside which others may have run; the sections that *failed*; and the *zone*
    of dates, None where times count from an unknown start.
    """

    facts: Mapping[str, Any]
    figures: Mapping[str, Figure]
    fields: Collection[str] = ()
    is_selection: bool = False
    failed: Collection[str] = ()
    zone: str | None = None

    @classmethod
    def of(
        cls,
        sections: Iterable[Section],
        fields: Collection[str],
        *,
        is_selection: bool = False,
        zone: str | None = None,
    ) -> "Known":
        """Return what *sections* know of a trace that records *fields*."""
        made = list(sections)
        blocks = [block for section in made for block in section.blocks]
        return cls(
            {fact.id: fact.value for section in made for fact in section.facts()},
            {block.id: block for block in blocks if isinstance(block, Figure)},
            fields,
            is_selection,
            {section.id for section in made if section.failed},
            zone,
        )

    def get(self, fact: str) -> Any:  # noqa: ANN401 - a fact may be anything that JSON can say
        """Return the value of a *fact*; None where it is unknown."""
        return self.facts.get(fact)

    def has(self, *fields: str) -> bool:
        """Whether each of *fields* is recorded for any job."""
        return all(field in self.fields for field in fields)


@dataclass(frozen=True)
class AnswerStatement:
    """
    What is known (*state*), as a *number* and a sentence (*text*).

    *section* is where there is more of it, *picture* what shows it at a glance, *caption* what the number is
    of.
    """

    state: State
    number: str
    text: str
    section: str
    picture: Figure | None = None
    caption: str = ""


@dataclass(frozen=True)
class Question:
    """A question that everybody asks first, the *sections* whose facts its answer reads, and the answer."""

    id: str
    text: str
    sections: tuple[str, ...]
    answer: Callable[[Known], AnswerStatement]

    def __call__(self, known: Known, shown: Collection[str]) -> Answer:
        """Return the answer from what is *known*; it links its section if that is *shown*."""
        broken = next((name for name in self.sections if name in known.failed), None)
        said = _failed(broken) if broken else self.answer(known)
        section = said.section if said.section in shown else ""
        return Answer(
            self.id,
            self.text,
            said.number,
            said.text,
            section,
            said.picture,
            said.state,
            said.caption,
        )


def missing(known: Known, fields: Iterable[str]) -> Message | None:
    """Return in words which of *fields* no job records; None where all are recorded."""
    names = [WORDS[field] for field in fields if not known.has(field)]
    return joined(message(" and "), names) if names else None


def _failed(section: str) -> AnswerStatement:
    text = message("Unknown: the section {section} could not be made.", section=Verbatim(section))
    return AnswerStatement("unknown", "", text, section)


def question(
    name: str, text: str, *sections: str
) -> Callable[[Callable[[Known], AnswerStatement]], Question]:
    """Make a function the answer to the question called *name*, from the facts of *sections*."""
    return lambda answer: Question(name, text, sections, answer)


def course(known: Known, name: str, title: str) -> Figure | None:
    """Return the first line of the time series called *name* as a small picture; None without one."""
    figure = known.figures.get(name)
    lines = figure.data["lines"] if figure else None
    if not figure or not isinstance(lines, list) or not lines:
        return None
    values = lines[0]["y"]
    return spark(f"answer-{name}", title, list(values), figure.alt) if len(values) > 1 else None
