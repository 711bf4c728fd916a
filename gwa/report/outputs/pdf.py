"""A document for printing and for reading aloud."""

from gwa.report.output import Edition

HELP = "A document for printing."


def render(edition: Edition) -> bytes:
    """Return the document."""
    from gwa.report.pdf import pdf

    return pdf(edition.report, drawings=edition.drawings, overrides=edition.theme, language=edition.language)
