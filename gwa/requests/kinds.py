"""What a request of one model and service has: tokens and latencies, and prompts that grow in a session."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, Self

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use

from gwa.errors import ModelError
from gwa.models.knots import Knots
from gwa.models.parameters import Parameters, Quantity, positive, share
from gwa.requests.measured import HELD, rank_correlation
from gwa.requests.placed import Kind
from gwa.statistics.sample import Floats
from gwa.store.store import Store

MILLISECONDS: Final = 1e3

SCALES: Final[Mapping[str, float]] = {
    "tokens_in": 1.0,
    "tokens_out": 1.0,
    "latency": MILLISECONDS,
    "first_token": MILLISECONDS,
    "images": 1.0,
}
"""The quantities of a request, and in how many parts of their unit the curves count them."""

EDGE: Final = 1e-6
"""How near to 0 and 1 a share comes of which a normal number is made."""

BLOCKS: Final = """
select sum(tokens_in)::bigint as tokens, sum(len(blocks))::bigint as blocks
from requests where len(blocks) > {least} and tokens_in > 0
"""

MINIMUM_BLOCKS: Final = 3
"""Blocks beyond which the last one, which may not be full, hardly changes the tokens for each block."""

NEAR: Final = 0.3
"""How far the binary logarithm of the tokens of a block may be from a whole number that it is taken for."""


@dataclass(frozen=True)
class Growth(Parameters):
    """
    How prompts grow in a session: a later turn holds the prompt and the answer before it, and *added* tokens.

    That is so of a share that *continues*; another prompt begins afresh, with as many tokens as *first* says.
    """

    continues: Annotated[float, share("of later turns that hold the turn before")]
    first: Knots
    added: Knots | None = None

    @classmethod
    def fit(cls, store: Store, placed: str, kind: int) -> Self | None:
        """Return the growth in the sessions of a *kind* of requests *placed*; None where there are none."""
        later, growing = store.row(
            f"select count(added), count(*) filter (where added >= 0) from {placed} where kind = {kind}"
        )
        if not later:
            return None
        fresh = f"(select * from {placed} where kind = {kind} and is_session and (added >= 0) is not true)"
        first = store.sample("tokens_in", f"{fresh} as fresh")
        if not first.n:
            return None
        grown = f"(select added from {placed} where kind = {kind} and added >= 0) as grown"
        added = Knots.fit(store.sample("added", grown)) if growing else None
        return cls(growing / later, Knots.fit(first), added)


@dataclass(frozen=True)
class Prefixes(Parameters):
    """
    Blocks of prompts: of *tokens* each, a last one that is not full included or not (*partial*).

    A prompt that begins afresh begins with *held* blocks of one text, which all prompts of its kind share.
    """

    tokens: Annotated[float, positive("tokens of a block")]
    partial: Annotated[float, share("of a block that is not full that is one: 0 or 1")]
    held: Knots

    @classmethod
    def fit(cls, store: Store, fresh: str) -> Self | None:
        """Return the blocks of a kind, of requests *fresh* in their sessions; None where they are unknown."""
        tokens, blocks = next(
            (found for least in (MINIMUM_BLOCKS, 0) if (found := store.row(BLOCKS.format(least=least)))[1]),
            (0, 0),
        )
        if not blocks:
            return None
        size = _block_size(tokens / blocks)
        held = f"(select held.held from {HELD} as held join {fresh} as fresh using (request_id)) as held"
        sample = store.sample("held", held)
        if not sample.n:
            return None
        return cls(size, float(blocks * size > tokens), Knots.fit(sample))


@dataclass(frozen=True)
class RequestKind(Parameters):
    """
    Requests of one model and service: curves of their quantities, and how these go together.

    A Gaussian copula joins the quantities that have a curve, in the order of the fields: *correlations* are
    those of its normal numbers, row by row. Latencies are in milliseconds.
    """

    share: Annotated[float, share("of the requests")]
    model: str = ""
    service: str = ""
    tokens_in: Knots | None = None
    tokens_out: Knots | None = None
    latency: Knots | None = None
    first_token: Knots | None = None
    images: Knots | None = None
    correlations: Annotated[
        tuple[float, ...], Quantity("of normal numbers, row by row of a square", "", -1.0, 1.0)
    ] = ()
    growth: Growth | None = None
    prefixes: Prefixes | None = None

    def check(self) -> None:
        """Refuse a table of correlations that is no square of as many rows as there are curves."""
        if len(self.correlations) != len(self.curves) ** 2:
            expected = f"{len(self.curves) ** 2}: a square with a row for each curve"
            raise ModelError(f"correlations are {len(self.correlations)}, expected {expected}")

    @cached_property
    def curves(self) -> dict[str, Knots]:
        """The curves by the names of the quantities."""
        return {name: curve for name in SCALES if (curve := getattr(self, name)) is not None}

    @cached_property
    def _table(self) -> Floats:
        size = len(self.curves)
        return np.array(self.correlations).reshape(size, size)

    def draw(self, rng: np.random.Generator, n: int, tokens_in: Floats | None = None) -> dict[str, Floats]:
        """Draw the quantities of *n* requests, whose prompts have *tokens_in* where these are given."""
        if not self.curves:
            return {}
        names = list(self.curves)
        if tokens_in is None or "tokens_in" not in names:
            normal = rng.standard_normal((n, len(names))) @ _root(self._table).T
        else:
            normal = self._given(rng, names.index("tokens_in"), tokens_in)
        shares = scipy.special.ndtr(normal)
        drawn = {
            name: curve.quantiles(shares[:, place]) / SCALES[name]
            for place, (name, curve) in enumerate(self.curves.items())
        }
        if tokens_in is not None and "tokens_in" in names:
            drawn["tokens_in"] = tokens_in
        if {"latency", "first_token"} <= drawn.keys():  # no answer ends before it begins
            drawn["first_token"] = np.minimum(drawn["first_token"], drawn["latency"])
        return drawn

    def _given(self, rng: np.random.Generator, place: int, tokens_in: Floats) -> Floats:
        """Draw normal numbers of which the one at *place* is that of *tokens_in*."""
        shares = np.clip(self.curves["tokens_in"].shares_of(tokens_in), EDGE, 1 - EDGE)
        given = scipy.special.ndtri(shares)[:, np.newaxis]
        slopes = self._table[place]
        left = self._table - np.outer(slopes, slopes)
        values, vectors = np.linalg.eigh(left)
        spread = vectors * np.sqrt(np.maximum(values, 0.0))
        normal: Floats = given * slopes + rng.standard_normal((tokens_in.size, slopes.size)) @ spread.T
        return normal

    @classmethod
    def fit(cls, store: Store, kind: Kind, place: int, placed: str) -> Self:
        """Fit the kind at a *place*: curves of the quantities that at least half of its requests record."""
        (n, *known) = store.row(
            f"select count(*), {', '.join(f'count({name})' for name in SCALES)} from requests"
            f" where {kind.where}"
        )
        names = [name for name, count in zip(SCALES, known, strict=True) if 2 * count >= n > 0]
        table = f"(select * from requests where {kind.where}) as requests"
        curves = {name: Knots.fit(store.sample(f"round({name} * {SCALES[name]!r})", table)) for name in names}
        correlations = [_normal_correlation(store, x, y, table) for x in names for y in names]
        fresh = f"(select request_id from {placed} where kind = {place} and (added >= 0) is not true)"
        return cls(
            n / store.account.jobs, kind.model or "", kind.service or "", **curves,
            correlations=tuple(correlations),
            growth=Growth.fit(store, placed, place) if "tokens_in" in names else None,
            prefixes=Prefixes.fit(store, fresh) if "tokens_in" in names else None,
        )  # fmt: skip


def _block_size(tokens: float) -> float:
    """Return the size of blocks that have *tokens* on average: a power of 2 if that is near, else rounded."""
    exponent = math.log2(tokens)
    return 2.0 ** round(exponent) if abs(exponent - round(exponent)) < NEAR else max(round(tokens), 1)


def _root(table: Floats) -> Floats:
    """Return a matrix that turns independent normal numbers into some that are correlated as in *table*."""
    values, vectors = np.linalg.eigh(table)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    scaled: Floats = root / np.maximum(np.linalg.norm(root, axis=1, keepdims=True), 1e-12)
    return scaled


def _normal_correlation(store: Store, x: str, y: str, table: str) -> float:
    """Return the correlation of normal numbers that gives the rank correlation of two quantities."""
    if x == y:
        return 1.0
    # In one order, so that the table is symmetric to the last digit.
    ranks = rank_correlation(store, min(x, y), max(x, y), table)
    return 2 * math.sin(math.pi * (ranks or 0.0) / 6)
