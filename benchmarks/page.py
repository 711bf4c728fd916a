"""The table of ratios in the documentation: what stands beside gwa, and how many times gwa is as fast."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.measure import typical
from benchmarks.session import Outcome

PAGE: Final = Path(__file__).parent.parent / "docs" / "explanation" / "benchmarks.md"
BEGIN, END = "<!-- ratios, written by make ratios -->", "<!-- end of ratios -->"
HEAD: Final = (
    "| work | gwa, s | MB | beside it | s | MB | gwa is × as fast | it takes × the memory |\n"
    "|---|--:|--:|---|--:|--:|--:|--:|\n"
)


def ratios(outcomes: Sequence[Outcome]) -> str:
    """Return a row in Markdown for each work that has another program beside it."""
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in _rows(outcomes))


def _rows(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, ...]]:
    for outcome in outcomes:
        work, measured = outcome.work, outcome.measured
        if not (work.is_comparison and work.beside and measured and measured.beside):
            continue
        ours, beside = typical(measured.ours), typical(measured.beside)
        yield (
            work.title,
            f"{ours.seconds:.2f}",
            f"{ours.peak:.0f}",
            work.beside.title,
            f"{beside.seconds:.2f}",
            f"{beside.peak:.0f}",
            f"{measured.ratio():.2f}",
            f"{measured.ratio('peak'):.2f}",
        )


def replaced(text: str, table: str, head: str) -> str:
    """
    Return *text* with *head* and *table* in place of what stands between the two marks.

    Raises ValueError where *text* has not both.
    """
    between = re.compile(f"(?<={re.escape(BEGIN)}\n).*?(?={re.escape(END)})", re.DOTALL)
    if not between.search(text):
        raise ValueError(f"expected {BEGIN} and {END}")
    return between.sub(lambda _: f"{head}\n\n{table}", text)


def write(outcomes: Sequence[Outcome], head: str) -> None:
    """Put the ratios of *outcomes* into the page on benchmarks."""
    PAGE.write_text(replaced(PAGE.read_text(), ratios(outcomes), head))
