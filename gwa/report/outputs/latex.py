"""A folder of LaTeX: a file for each section, to be taken into a paper."""

from collections.abc import Mapping
from pathlib import Path

from gwa.blocks import Report

HELP = "A folder of LaTeX: a .tex file for each section, and the figures."


def render(report: Report, theme: Path | None) -> Mapping[str, str | bytes]:
    """Return the files of the folder."""
    from gwa.report.latex import latex

    return latex(report, overrides=theme)
