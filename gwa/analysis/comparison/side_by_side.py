"""The answers to what everybody asks first, of each trace in a column."""

from collections.abc import Iterator, Sequence
from typing import Final

from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.report.document import Block, Column, Note, Table

MAXIMUM_SENTENCES: Final = 3
"""Of more traces there is room for the numbers only."""


def side_by_side(summaries: Sequence[TraceSummary], remarks: Sequence[str] = ()) -> Iterator[Block]:
    """How busy each system was, who used it, how long jobs waited, and what went wrong."""
    yield from (Note(text) for text in remarks)
    questions = {answer.id: answer.question for summary in summaries for answer in summary.answers}
    columns = (
        Column("question", "Question"),
        *(Column(f"trace-{n}", summary.name) for n, summary in enumerate(summaries, 1)),
    )
    rows = tuple(
        (question, *(_answer(summary, name, len(summaries)) for summary in summaries))
        for name, question in questions.items()
    )
    if rows:
        yield Table("answers", "Side by side", columns, rows)


def _answer(summary: TraceSummary, name: str, traces: int) -> str | None:
    """Return the answer of a trace: as a sentence if there is room; None if it has none."""
    answer = next((one for one in summary.answers if one.id == name), None)
    if answer is None:
        return None
    return answer.text if traces <= MAXIMUM_SENTENCES else answer.number or "unknown"
