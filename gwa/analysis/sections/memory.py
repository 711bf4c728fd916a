"""How much memory jobs use."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.report.document import Block, Facts
from gwa.report.facts import summary
from gwa.report.figures.cdf import cdf
from gwa.store.store import Store
from gwa.words.formatting import decimal
from gwa.words.message import message


@analysis("Memory", Chapter.REQUESTS, facts=("jobs.memory",), needs=("used_memory",), order=2)
def memory(store: Store) -> Iterator[Block]:
    """Memory that jobs used, averaged over their processors, where it is recorded and above 0."""
    used = store.sample("used_memory").restrict(low=1e-9)
    yield Facts(summary("jobs.memory", used, "kilobytes", message("memory per processor")))
    curves = {"used": used.ecdf()}
    if store.has("req_memory"):
        curves["requested"] = store.sample("req_memory").restrict(low=1e-9).ecdf()
    yield cdf(
        "memory",
        "Memory per processor",
        {name: curve for name, curve in curves.items() if len(curve[0])},
        "Memory per processor",
        message(
            "Cumulative fraction of jobs by memory used per processor; the median is {median} KB.",
            median=decimal(used.median(), ".0f"),
        ),
        unit="kilobytes",
    )
