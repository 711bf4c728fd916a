"""A document for printing and for reading aloud."""

from pathlib import Path

from gwa.blocks import Report

HELP = "A document for printing."


def render(report: Report, theme: Path | None) -> bytes:
    """Return the document."""
    from gwa.report.pdf import pdf

    return pdf(report, overrides=theme)
