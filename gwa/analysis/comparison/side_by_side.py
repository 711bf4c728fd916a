"""The answers to what everybody asks first, of each trace in a column."""

from collections.abc import Iterator, Sequence
from typing import Final

from gwa.analysis.comparison.levels import LevelDifference
from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.report.document import Block, Column, Note, Table

MAXIMUM_SENTENCES: Final = 3
"""Of more traces there is room for the numbers only."""


LEVELS: Final = {"busy": "busy", "who": "users", "wait": "wait", "wrong": "failed"}
"""The level that belongs to an answer, by its id."""

VERDICTS: Final = {"differs": "more than chance", "differs a little": "little, but more than chance"}


def side_by_side(
    summaries: Sequence[TraceSummary],
    remarks: Sequence[str] = (),
    levels: Sequence[LevelDifference] = (),
) -> Iterator[Block]:
    """
    How busy each system was, who used it, how long jobs waited, and what went wrong.

    Of two traces the last column says how the mean of their days differs, and whether chance does as much.
    """
    yield from (Note(text) for text in remarks)
    questions = {answer.id: answer.question for summary in summaries for answer in summary.answers}
    columns = (
        Column("question", "Question"),
        *(Column(f"trace-{n}", summary.name) for n, summary in enumerate(summaries, 1)),
    )
    differences = {difference.name: difference for difference in levels}
    if differences:
        columns = (*columns, Column("difference", "Difference, beside chance"))
    rows = tuple(
        (
            question,
            *(_answer(summary, name, len(summaries)) for summary in summaries),
            *((_difference(differences.get(LEVELS.get(name, ""))),) if differences else ()),
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


def _difference(level: LevelDifference | None) -> str | None:
    """Return in words how a level differs, and what chance does; None where that is not compared."""
    if level is None or level.change is None:
        return None
    verdict = VERDICTS.get(level.verdict, level.verdict)
    change = f"{100 * level.change:+.0f} {'points' if level.measure.is_share else '%'}".replace("-", "−")
    return f"{level.measure.title} per {level.interval}: {change}, {verdict}."
