"""How the tokens of the prompt and of the response go together."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.base import Drawing, analysis
from gwa.report.document import Block, Fact, Facts, Figure
from gwa.report.facts import number
from gwa.report.figures.density import density
from gwa.requests.base import RequestChapter
from gwa.requests.measured import rank_correlation
from gwa.store.requests import recorded
from gwa.store.store import Store
from gwa.words.compared import single_largest
from gwa.words.formatting import decimal
from gwa.words.message import message

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
    "Tokens in and out together",
    RequestChapter.TOKENS,
    facts=("requests.tokens",),
    order=1,
    when=lambda store: recorded(store)["tokens_in"] > 0 and recorded(store)["tokens_out"] > 0,
)
def token_pairs(store: Store) -> Iterator[Block | Drawing]:
    """
    How many requests there are of each number of tokens in and out, and whether both rise together.

    The rank correlation is Spearman's, with ties at their mean rank, over requests of which both are known. A
    cell is a quarter of a power of ten of tokens in and a factor of two of tokens out; 0 tokens stand with
    those of 1.
    """
    yield Drawing(lambda: _joint(store))
    correlation = number(rank_correlation(store, "tokens_in", "tokens_out"))
    label = message("Rank correlation of tokens in and out")
    yield Facts((Fact("requests.tokens.rank_correlation", correlation, label),))


def _joint(store: Store) -> Figure:
    """Return the figure of the requests by tokens in and out."""
    found = store.arrays(CELLS)
    across, up = (np.asarray(found[name], np.float64) for name in ("x", "y"))
    numbers = np.asarray(found["requests"], np.float64)
    fullest = single_largest(range(len(numbers)), lambda place: float(numbers[place]))
    alt = (
        message("No request has a known number of tokens in and out.")
        if not len(numbers)
        else message("Number of requests by tokens in and out.")
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
