"""How many tokens requests have."""

from collections.abc import Iterator
from typing import Final

from gwa.analysis.base import Drawing, analysis
from gwa.report.document import Block, Fact, Facts, Figure, Note
from gwa.report.facts import summary, table
from gwa.report.figures.cdf import cdf
from gwa.requests.base import RequestChapter
from gwa.statistics.sample import Sample
from gwa.store.requests import recorded
from gwa.store.store import Store
from gwa.words.formatting import decimal
from gwa.words.message import Message, message

WHAT: Final = {"tokens_in": message("tokens in"), "tokens_out": message("tokens out")}

TOTAL: Final = "select sum({name})::hugeint from requests"


@analysis(
    "Numbers of tokens",
    RequestChapter.TOKENS,
    facts=("requests.tokens_in", "requests.tokens_out"),
)
def tokens(store: Store) -> Iterator[Block | Drawing]:
    """
    How many tokens the prompts have (tokens in) and how many were generated (tokens out).

    Quantiles interpolate between values (type 7).
    """
    known = recorded(store)
    samples = {name: store.sample(name, "requests") for name in WHAT if known[name]}
    if not samples:
        yield Note("This trace does not record tokens.")
        return
    rows: dict[str, tuple[Fact, ...]] = {
        _title(name): summary(f"requests.{name}", sample, "", WHAT[name]) for name, sample in samples.items()
    }
    yield table("tokens", "Tokens of a request", rows)
    yield Facts(tuple(_amounts(store, samples)))
    yield Drawing(lambda: _distributions(samples))


def _title(name: str) -> Message:
    return message("Tokens in") if name == "tokens_in" else message("Tokens out")


def _amounts(store: Store, samples: dict[str, Sample]) -> Iterator[Fact]:
    """Yield totals, and the share of requests without a response."""
    for name in samples:
        (total,) = store.row(TOTAL.format(name=name))
        yield Fact(f"requests.{name}.total", int(total), message("Total {what}", what=WHAT[name]), "count")
    if "tokens_out" in samples:
        out = samples["tokens_out"]
        without = int(out.counts[out.values == 0].sum()) / out.n
        yield Fact("requests.tokens_out.zero", without, "Requests with 0 tokens out", "fraction")


def _distributions(samples: dict[str, Sample]) -> Figure:
    """Return the figure of both distributions."""
    medians = {name: decimal(sample.median(), ",.0f") for name, sample in samples.items()}
    return cdf(
        "tokens",
        "Tokens of requests",
        {str(WHAT[name]): sample.ecdf() for name, sample in samples.items()},
        "Tokens",
        message(
            "Cumulative fraction of requests by tokens; half have up to {tokens_in} in, and half up to"
            " {tokens_out} out.",
            tokens_in=medians.get("tokens_in", "–"),
            tokens_out=medians.get("tokens_out", "–"),
        ),
        ylabel="Fraction of requests",
    )
