"""One page that needs nothing else."""

from gwa.report.output import Edition

HELP = "One self-contained page (what you get without a flag)."


def render(edition: Edition) -> str:
    """Return the page."""
    from gwa.report.html import html

    return html(edition.report, overrides=edition.theme, language=edition.language)
