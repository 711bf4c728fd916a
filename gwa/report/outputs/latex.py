"""A folder of LaTeX: a file for each section, to be taken into a paper."""

from collections.abc import Mapping

from gwa.report.output import Edition

HELP = "A folder of LaTeX: a .tex file for each section, and the figures."


def render(edition: Edition) -> Mapping[str, str | bytes]:
    """Return the files of the folder."""
    from gwa.report.latex import latex

    return latex(
        edition.report, drawings=edition.drawings, overrides=edition.theme, language=edition.language
    )
