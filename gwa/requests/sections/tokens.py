"""How many tokens requests have, and how those of the prompt and of the response go together."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.base import Drawing, analysis
from gwa.report.document import Block, Fact, Facts, Figure, Note
from gwa.report.facts import number, summary, table
from gwa.report.figures.cdf import cdf
from gwa.report.figures.density import density
from gwa.requests.base import Chapter
from gwa.requests.measured import rank_correlation
from gwa.statistics.sample import Sample
from gwa.store.requests import recorded
from gwa.store.store import Store
from gwa.words.formatting import decimal
from gwa.words.message import Message, message

WHAT: Final = {"tokens_in": message("tokens in"), "tokens_out": message("tokens out")}

TOTAL: Final = "select sum({name})::hugeint from requests"

CELLS: Final = """
select min(tokens_in) as x, min(tokens_out) as y, count(*) as requests from requests
where tokens_in is not null and tokens_out is not null
group by
    floor(ln(greatest(tokens_in, 1)) / ln(10) * 4 + 1e-9),
    floor(ln(greatest(tokens_out, 1)) / ln(2) + 1e-9)
order by all
"""
"""Requests by a quarter of a power of ten of tokens in, and a factor of two of tokens out."""


@analysis(
    "Tokens of requests",
    Chapter.TOKENS,
    facts=("requests.tokens_in", "requests.tokens_out", "requests.tokens"),
)
def tokens(store: Store) -> Iterator[Block | Drawing]:
    """
    How many tokens the prompts have (tokens in) and how many were generated (tokens out).

    Quantiles interpolate between values (type 7). The rank correlation is Spearman's, with ties at their mean
    rank, over requests of which both are known. In the figure a cell is a quarter of a power of ten of tokens
    in and a factor of two of tokens out; 0 tokens stand with those of 1.
    """
    known = recorded(store)
    samples = {name: store.sample(name, "requests") for name in WHAT if known[name]}
    if not samples:
        yield Note(message("This trace does not record tokens."))
        return
    rows = {
        _title(name): summary(f"requests.{name}", sample, "", WHAT[name]) for name, sample in samples.items()
    }
    yield table("tokens", "Tokens of a request", rows)
    yield Facts(tuple(_amounts(store, samples)))
    yield Drawing(lambda: _distributions(samples))
    if len(samples) == len(WHAT):
        yield Drawing(lambda: _joint(store))


def _title(name: str) -> Message:
    return message("Tokens in") if name == "tokens_in" else message("Tokens out")


def _amounts(store: Store, samples: dict[str, Sample]) -> Iterator[Fact]:
    """Yield totals, the share of requests without a response, and how both numbers go together."""
    for name in samples:
        (total,) = store.row(TOTAL.format(name=name))
        yield Fact(f"requests.{name}.total", int(total), message("Total {what}", what=WHAT[name]), "count")
    if "tokens_out" in samples:
        out = samples["tokens_out"]
        without = int(out.counts[out.values == 0].sum()) / out.n
        yield Fact("requests.tokens_out.zero", without, message("Requests with 0 tokens out"), "fraction")
    if len(samples) == len(WHAT):
        yield Fact(
            "requests.tokens.rank_correlation",
            number(rank_correlation(store, "tokens_in", "tokens_out")),
            message("Rank correlation of tokens in and out"),
        )


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


def _joint(store: Store) -> Figure:
    """Return the figure of the requests by tokens in and out."""
    found = store.arrays(CELLS)
    across, up = (np.asarray(found[name], np.float64) for name in ("x", "y"))
    numbers = np.asarray(found["requests"], np.float64)
    fullest = int(np.argmax(numbers)) if len(numbers) else None
    alt = (
        message("No request has a known number of tokens in and out.")
        if fullest is None
        else message(
            "Number of requests by tokens in and out; the most, {most}, have {tokens_in} or more tokens in"
            " and {tokens_out} or more out.",
            most=decimal(numbers[fullest], ",.0f"),
            tokens_in=decimal(across[fullest], ",.0f"),
            tokens_out=decimal(up[fullest], ",.0f"),
        )
    )
    return density(
        "tokens-in-out",
        "Requests by tokens in and out",
        across,
        up,
        numbers,
        alt,
        xlabel="Tokens in",
        ylabel="Tokens out",
        label="Requests",
        note="The stronger the colour of a cell, the more requests, on a logarithmic scale.",
    )
