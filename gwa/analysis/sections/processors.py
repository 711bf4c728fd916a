"""How many processors jobs use."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.report.document import Block, Facts, Note
from gwa.report.facts import summary
from gwa.report.figures.cdf import cdf
from gwa.store.store import Store
from gwa.words.formatting import decimal
from gwa.words.message import message, plural


@analysis("Processors", Chapter.SIZES, facts=("jobs.procs",), needs=("n_procs", "run_time"))
def processors(store: Store) -> Iterator[Block]:
    """Processors allocated to each job that ran."""
    sizes = store.sample("n_procs", "ran")
    yield Facts(summary("jobs.procs", sizes, "count", message("processors of a job")))
    if sizes.values.size == 1:
        yield Note(
            plural("Every job used {n} processor.", "Every job used {n} processors.", int(sizes.min()))
        )
        return
    yield cdf(
        "processors",
        "Processors of a job",
        {"jobs": sizes.ecdf()},
        "Processors",
        message(
            "Cumulative fraction of jobs by processors: half of the jobs use at most "
            "{median}, the largest {max}.",
            median=decimal(sizes.median(), ".0f"),
            max=decimal(sizes.max(), ".0f"),
        )
        if sizes.n
        else "No job ran.",
        unit="count",
    )
