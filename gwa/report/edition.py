"""A report on its way to its readers: what all kinds of outputs share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gwa.report.document import Report
from gwa.report.language import Language

if TYPE_CHECKING:
    from gwa.report.early_drawings import EarlyDrawings


@dataclass(frozen=True)
class Edition:
    """
    A *report* in its *language*, and the folder with a *theme*: templates that take the place of ours.

    Figures of it may be *early*: drawn while it was computed.
    """

    report: Report
    theme: Path | None = None
    language: Language = field(default_factory=Language)
    early: "EarlyDrawings | None" = None

    @cached_property
    def drawings(self) -> Mapping[str, str]:
        """The figures by id, as SVG; they are drawn once, however many outputs show them."""
        from gwa.report.drawing import draw_all, to_draw

        figures = to_draw(self.report)
        return self.early.draw_all(figures) if self.early else draw_all(figures, self.language)
