"""How long requests took, where the trace tells."""

from collections.abc import Iterator
from typing import Final

from gwa.analysis.base import Drawing, analysis
from gwa.report.document import Block, Fact, Facts, Figure
from gwa.report.facts import number, summary, table
from gwa.report.figures.cdf import cdf
from gwa.requests.base import RequestChapter
from gwa.requests.measured import rank_correlation
from gwa.statistics.sample import Sample
from gwa.store.requests import recorded
from gwa.store.store import Store
from gwa.words.formatting import seconds
from gwa.words.message import message

WHAT: Final = {"latency": message("latency"), "first_token": message("time to the first token")}


def _is_told(store: Store) -> bool:
    return any(recorded(store)[name] for name in WHAT)


@analysis(
    "Latency",
    RequestChapter.SERVICE,
    facts=("requests.latency", "requests.first_token"),
    when=_is_told,
)
def latency(store: Store) -> Iterator[Block | Drawing]:
    """
    How long it took from the submission of a request to the end of its response, and to its first token.

    Both are as the source measured them, in its resolution. The rank correlation is that of the latency with
    the tokens generated.
    """
    known = recorded(store)
    samples = {name: store.sample(name, "requests") for name in WHAT if known[name]}
    rows: dict[str, tuple[Fact, ...]] = {
        WHAT[name]: summary(f"requests.{name}", sample, "seconds", WHAT[name])
        for name, sample in samples.items()
    }
    yield table("latency", "Latency of a request", rows)
    if known["latency"] and known["tokens_out"]:
        correlation = number(rank_correlation(store, "latency", "tokens_out"))
        label = message("Rank correlation of latency and tokens out")
        yield Facts((Fact("requests.latency.rank_correlation", correlation, label),))
    yield Drawing(lambda: _figure(samples))


def _figure(samples: dict[str, Sample]) -> Figure:
    """Return the figure of the distributions."""
    first = next(iter(samples))
    return cdf(
        "latency",
        "Latency of requests",
        {str(WHAT[name]): sample.ecdf() for name, sample in samples.items()},
        "Seconds from submission",
        message(
            "Cumulative fraction of requests by {what}: half have up to {median}, 95 % up to {most}.",
            what=WHAT[first],
            median=seconds(samples[first].median()),
            most=seconds(samples[first].quantile(0.95)),
        ),
        unit="seconds",
        ylabel="Fraction of requests",
    )
