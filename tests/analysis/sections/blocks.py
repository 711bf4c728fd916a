"""What a section says, by its ids; and when traces made by hand begin."""

from gwa.report.document import FactTable, Figure, Note, Report, Table

DAY = 86400.0
START = 852_076_800.0  # Wednesday, 1 January 1997, 0:00 UTC
ABSOLUTE = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC"), ("MaxProcs", "10"))


def facts(section):
    return {fact.id: fact.value for fact in Report("", "", (section,)).facts()}


def tables(section):
    return {block.id: block for block in section.blocks if isinstance(block, Table | FactTable)}


def figures(section):
    return {block.id: block for block in section.blocks if isinstance(block, Figure)}


def notes(section):
    return " ".join(block.text for block in section.blocks if isinstance(block, Note))


def figure(section):
    """Return the only figure of a section."""
    (found,) = (block for block in section.blocks if isinstance(block, Figure))
    return found
