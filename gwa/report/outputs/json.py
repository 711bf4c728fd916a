"""Everything that the pages show, with full precision."""

from pathlib import Path

from gwa.blocks import Report

HELP = "Everything as data."


def render(report: Report, theme: Path | None) -> str:
    """Return the report as JSON; it has no looks that a *theme* could change."""
    from gwa.report.data import as_json

    del theme
    return as_json(report)
