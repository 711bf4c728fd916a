"""One page that needs nothing else."""

from pathlib import Path

from gwa.blocks import Report

HELP = "One self-contained page (what you get without a flag)."


def render(report: Report, theme: Path | None) -> str:
    """Return the page."""
    from gwa.report.html import html

    return html(report, overrides=theme)
