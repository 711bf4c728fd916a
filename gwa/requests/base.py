"""The chapters and sections of the report on requests to language models."""

from enum import Enum
from functools import cache

from gwa.analysis.base import Analysis
from gwa.util import plugins


class RequestChapter(Enum):
    """The chapters of the report on requests, in order."""

    TRACE = "Trace and data quality"
    ARRIVALS = "Arrivals of requests"
    TOKENS = "Tokens"
    SERVICE = "Latency and reuse"
    MODELLERS = "For modellers"


@cache
def request_analyses() -> tuple[Analysis, ...]:
    """Return all analyses of requests in the order of the report: by chapter, then *order*, then name."""
    found = plugins.instances("gwa.requests.sections", Analysis)
    chapters: list[Enum] = list(RequestChapter)
    return tuple(sorted(found, key=lambda one: (chapters.index(one.chapter), one.order, one.id)))


def request_families() -> list[tuple[str, str]]:
    """Return what ids of facts begin with, each with the title of the section that the facts stand in."""
    return [(prefix, one.title) for one in request_analyses() for prefix in one.facts]
