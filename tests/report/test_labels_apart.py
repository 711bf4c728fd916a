"""No label of a drawn figure is printed over another one: all figures of all samples, as they are printed."""

from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.transforms import Bbox

import gwa
from gwa.report.document import Figure, Report
from gwa.report.drawing import draw, to_draw
from gwa.report.figures import _labels
from gwa.report.figures.series import series
from tests.conftest import HOME

TOLERANCE = 1.0
"""How far two boxes may reach into each other, in pixels: letters do not fill theirs."""

SAMPLES = sorted(path.parent.name for path in (HOME / "sample_traces").glob("*/expected.gwf"))


def labels(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return each text that is drawn, with the rectangle that it fills."""
    found: list[tuple[str, Bbox]] = []
    drawn: Any = RendererSVG.draw_text

    def noted(renderer: Any, *given: Any, mtext: Any = None, **more: Any) -> None:
        if mtext is not None and mtext.get_text().strip():
            found.append((mtext.get_text(), mtext.get_window_extent(renderer)))
        drawn(renderer, *given, mtext=mtext, **more)

    with patch.object(RendererSVG, "draw_text", noted):
        draw(figure)
    return found


def overprinted(*figures: Figure) -> list[str]:
    """Return the labels of each of *figures* that meet."""
    return [
        f"{figure.id}: {one!r} and {other!r}"
        for figure in figures
        for (one, a), (other, b) in combinations(labels(figure), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > TOLERANCE and min(a.y1, b.y1) - max(a.y0, b.y0) > TOLERANCE
    ]


def crossing(reference: tuple[float, str] | None, names: tuple[str, ...]) -> Figure:
    """Return a figure so full of lines that their names have room above it only."""
    days = np.arange(400.0)
    lines = {name: 50 + 50 * np.sin(days * (place + 1)) for place, name in enumerate(names)}
    return series("s", "Use", 8e8 + days * 86400, lines, "Busy", "alt", zone="UTC", reference=reference)


@pytest.mark.parametrize("names", [("held", "used"), ("held", "used, where that is measured", "asked for")])
@pytest.mark.parametrize("reference", [None, (100.0, "all GPUs"), (1e6, "all processors of the system")])
def test_names_of_lines_and_the_name_of_a_level_are_apart(
    names: tuple[str, ...], reference: tuple[float, str] | None
) -> None:
    """Both stand above a drawing that is full."""
    figure = crossing(reference, names)
    said = [text for text, _ in labels(figure)]
    assert sum(text.startswith("– ") for text in said) == len(names)
    assert reference is None or sum(text.startswith(("┄┄ ", "↑ ")) for text in said) == 1
    assert overprinted(figure) == []


def test_labels_that_meet_are_found() -> None:
    """Names that are written where the level's is meet it."""
    label = _labels.label
    with patch.object(_labels, "label", lambda axes, lines, _: label(axes, lines)):
        assert overprinted(crossing((100.0, "all GPUs"), ("held", "used"))) != []


def test_no_label_of_a_report_meets_another(tiny_report: Report) -> None:
    """All figures of the sample of SWF."""
    assert overprinted(*to_draw(tiny_report)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SAMPLES, "made"])
def test_no_label_of_any_sample_meets_another(name: str, slurm_sample: Path) -> None:
    """All figures of all sample traces, and of the log that gwa makes."""
    path = slurm_sample if name == "made" else HOME / "sample_traces" / name / "expected.gwf"
    with gwa.open(path) as trace:
        assert overprinted(*to_draw(trace.report())) == []
