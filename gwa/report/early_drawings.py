"""Draw the figures of a report in a second process, while the sections that follow are computed."""

from collections.abc import Iterable
from concurrent.futures import Future
from functools import partial
from typing import Final, Self

from gwa.report.document import Figure, Section
from gwa.report.drawing import draw
from gwa.report.language import Language, translated_figure
from gwa.util.processes import Pool, WorkerError

ALONE: Final = 6
"""This many figures are drawn here faster than a second process could start."""


class EarlyDrawings:
    """
    What draws the figures of a report in a *language*, in a second process if it *is_shared*.

    That process starts when there are more than a few figures, and ends with the ``with`` block. What it
    could not draw is drawn here.
    """

    def __init__(self, language: Language, *, is_shared: bool = True) -> None:
        self._language = language
        self._is_shared = is_shared
        self._pool: Pool[Figure, str] = Pool(partial(draw, language=language), 1)
        self._waiting: list[Figure] = []
        self._asked: dict[str, tuple[Figure, Future[str]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.__exit__(*error)

    def begin(self, section: Section) -> None:
        """Begin to draw the figures of a *section*, whose texts are still English."""
        figures = (block for block in section.blocks if isinstance(block, Figure))
        self._add(translated_figure(figure, self._language) for figure in figures)

    def draw_all(self, figures: Iterable[Figure]) -> dict[str, str]:
        """Return the SVG text of each of *figures*, in their language, by its id."""
        wanted = list(figures)
        self._add(figure for figure in wanted if not self._is_begun(figure))
        return {figure.id: self._drawn(figure) for figure in wanted}

    def _add(self, figures: Iterable[Figure]) -> None:
        self._waiting.extend(figures)
        if self._is_shared and len(self._asked) + len(self._waiting) > ALONE:
            self._asked |= {figure.id: (figure, self._pool.ask(figure)) for figure in self._waiting}
            self._waiting.clear()

    def _is_begun(self, figure: Figure) -> bool:
        return figure in self._waiting or self._asked.get(figure.id, (None,))[0] == figure

    def _drawn(self, figure: Figure) -> str:
        if figure.id in self._asked and self._is_begun(figure):
            try:
                return self._asked[figure.id][1].result()
            except WorkerError:
                self._asked.clear()
        return draw(figure, self._language)
