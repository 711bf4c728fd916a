"""How long jobs wait."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.report.document import Block, Facts
from gwa.report.facts import summary
from gwa.report.figures.cdf import cdf
from gwa.report.formatting import seconds
from gwa.report.message import message
from gwa.store.store import Store


@analysis("Waiting times", Chapter.WAITS, facts=("jobs.wait",), needs=("wait_time",))
def waits(store: Store) -> Iterator[Block]:
    """Time between submission and start of all jobs whose wait is known."""
    times = store.sample("wait_time")
    yield Facts(summary("jobs.wait", times, "seconds", "wait"))
    yield cdf(
        "waits",
        "Wait of a job",
        {"jobs": times.ecdf()},
        "Wait",
        message(
            "Cumulative fraction of jobs by wait: half wait at most {median}, 95 % at most {quantile}.",
            median=seconds(times.median()),
            quantile=seconds(times.quantile(0.95)),
        ),
        unit="seconds",
    )
