"""The answers to what everybody asks first, of each trace in a column."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gwa.analysis.comparison.levels import LevelDifference, change_text
from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.report.document import Block, Column, Note, Table
from gwa.report.facts import number
from gwa.words.formatting import show
from gwa.words.message import Message, joined, message

MAXIMUM_SENTENCES: Final = 3
"""Of more traces there is room for the numbers only."""


LEVELS: Final[Mapping[str, tuple[str, ...]]] = {
    "busy": ("busy", "busy_processors"),
    "wait": ("wait_median",),
    "wrong": ("failed", "cancelled"),
}
"""What is compared of the values that an answer gives, by its id."""

VERDICTS: Final = {
    "differs": message("more than chance"),
    "differs a little": message("little, but more than chance"),
    "no more than chance": message("no more than chance"),
    "not known": message("chance is not known"),
    "equal": message("equal"),
    "due to size": message("due to size"),
}


def side_by_side(
    summaries: Sequence[TraceSummary],
    remarks: Sequence[str] = (),
    levels: Sequence[LevelDifference] = (),
) -> Iterator[Block]:
    """
    How busy each system was, who used it, how long jobs waited, and what went wrong.

    Of two traces the last column says how the values of the row differ, the second from the first, and
    whether that is more than chance. What is empty is not compared.
    """
    yield from (Note(text) for text in remarks)
    questions = {answer.id: answer.question for summary in summaries for answer in summary.answers}
    columns = (
        Column("question", "Question"),
        *(Column(f"trace-{n}", summary.name) for n, summary in enumerate(summaries, 1)),
    )
    known = {difference.name: difference for difference in levels}
    if known:
        columns = (*columns, Column("difference", "Difference, beside chance"))
    rows = tuple(
        (
            question,
            *(_answer(summary, name, len(summaries)) for summary in summaries),
            *(
                (_difference([known[level] for level in LEVELS.get(name, ()) if level in known]),)
                if known
                else ()
            ),
        )
        for name, question in questions.items()
    )
    if rows:
        yield Table("answers", "What everybody asks", columns, rows)


def _answer(summary: TraceSummary, name: str, traces: int) -> str | None:
    """Return the answer of a trace: as a sentence if there is room; None if it has none."""
    answer = next((one for one in summary.answers if one.id == name), None)
    if answer is None:
        return None
    return answer.text if traces <= MAXIMUM_SENTENCES else answer.number or "unknown"


def _difference(found: Sequence[LevelDifference]) -> Message | None:
    """Return in words how values of an answer differ, and what chance does; None where none is compared."""
    return joined(" ", map(_difference_sentence, found)) if found else None


def _difference_sentence(difference: LevelDifference) -> Message:
    unit = difference.quantity.unit
    first, second = (show(number(value), unit) for value in (difference.first, difference.second))
    return message(
        "{title}: {change}, {verdict}.",
        title=difference.quantity.title,
        change=change_text(difference) or message("{first} against {second}", first=first, second=second),
        verdict=VERDICTS[difference.verdict],
    )
