"""Everything that the pages show, with full precision."""

from gwa.report.output import Edition

HELP = "Everything as data."


def render(edition: Edition) -> str:
    """Return the report as JSON; it has no looks that a theme could change."""
    from gwa.report.as_json import as_json

    return as_json(edition.report)
