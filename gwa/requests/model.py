"""A model of requests to language models: when they arrive, whom they ask, and how many tokens they have."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Self, TypeAlias

import numpy as np
import scipy  # imports scipy.signal and scipy.special, which are slow, at their first use
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.models.draws import block_sizes
from gwa.models.knots import Knots
from gwa.models.parameters import Parameters, Quantity, positive, share
from gwa.requests.measured import SubmissionSpan, rank_correlation
from gwa.statistics.sample import Floats
from gwa.store.engines.duckdb import literal
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, WEEK

Block: TypeAlias = dict[str, NDArray[Any]]
"""Requests as arrays of equal length by field."""

MINIMUM_REQUESTS: Final = 100
"""Requests that a fit takes at least."""

MAXIMUM_KINDS: Final = 10
"""Kinds of requests that are told apart; those of rarer models and services are one kind together."""

CYCLES: Final = {2 * WEEK: WEEK // HOUR, 2 * DAY: DAY // HOUR, 0: 1}
"""How many hours the rate takes to begin again, by how many seconds a trace has at least."""

MILLISECONDS: Final = 1e3

SCALES: Final[Mapping[str, float]] = {
    "tokens_in": 1.0,
    "tokens_out": 1.0,
    "latency": MILLISECONDS,
    "first_token": MILLISECONDS,
    "images": 1.0,
}
"""The quantities of a request, and in how many parts of their unit the curves count them."""

MIDPOINTS: Final = 1 << 16
"""Equal shares whose middle quantiles give an expectation."""

KINDS: Final = """
select model, service, count(*) as requests from requests group by all order by requests desc, model, service
limit {most}
"""

FACTORS: Final = """
select cast(floor(submit_time / 3600) as bigint) % {hours} as hour, count(*) as requests
from requests group by hour
"""

VIRTUAL_GAPS: Final = """(
    select
        round((virtual - lag(virtual) over (order by submit_time, request_id)) * 1e6) as gap, request_id
    from (select request_id, submit_time, {virtual} as virtual from requests)
) as gaps"""

TIME_CONSTANTS: Final = (1.0, 10.0, 100.0, 1_000.0, 10_000.0)
"""In how many gaps each part of the memory is forgotten, but for 1 / e."""

MAXIMUM_GAPS: Final = 2_000_000
"""Gaps that the memory is fitted to; later ones are passed over."""

LAGS: Final = 60
"""Number of lags that the memory is fitted to, from one gap to a quarter of them."""


@dataclass(frozen=True)
class Clock(Parameters):
    """
    A clock that runs faster in busy hours, by the *factors* of the hours of a day or of a week.

    Hours are those of Unix time; a week begins on a Thursday. The mean factor is 1, so that a whole cycle of
    virtual time takes a cycle of real time.
    """

    factors: Annotated[
        tuple[float, ...], Quantity("rate in each hour of the cycle over its mean", "", 0.0, 1e6)
    ]

    def check(self) -> None:
        """Refuse a cycle in which nothing arrives."""
        if not self.factors or not sum(self.factors) > 0:
            raise ModelError("factors: expected some above 0")

    @cached_property
    def ends(self) -> Floats:
        """The virtual seconds at the bounds of the hours."""
        rates = np.array(self.factors)
        ends: Floats = np.concatenate(([0.0], np.cumsum(rates))) * (HOUR / rates.mean())
        return ends

    @property
    def cycle(self) -> float:
        """The length of a cycle in seconds."""
        return float(HOUR * len(self.factors))

    def real(self, virtual: Floats) -> Floats:
        """Convert seconds of *virtual* time to seconds of real time."""
        cycles, rest = np.divmod(virtual, self.cycle)
        return cycles * self.cycle + np.interp(rest, self.ends, np.arange(self.ends.size) * HOUR)

    def virtual(self, real: str) -> str:
        """Return SQL for the virtual time of the SQL expression *real*."""
        cycle = repr(self.cycle)
        hours = f"(({real} - floor({real} / {cycle}) * {cycle}) / {HOUR}.0)"
        hour = f"cast(least(floor({hours}), {len(self.factors) - 1}) as integer)"
        ends, widths = (f"[{', '.join(map(repr, x.tolist()))}]" for x in (self.ends, np.diff(self.ends)))
        begun = f"floor({real} / {cycle}) * {cycle} + {ends}[{hour} + 1]"
        return f"{begun} + ({hours} - {hour}) * {widths}[{hour} + 1]"

    @classmethod
    def fit(cls, store: Store, extent: SubmissionSpan) -> Self:
        """Fit the cycle to the requests in each of its hours, over the time that the trace has of it."""
        hours = next(count for least, count in CYCLES.items() if extent.seconds >= least)
        if hours == 1:
            return cls((1.0,))
        counts = np.zeros(hours)
        for hour, requests in store.rows(FACTORS.format(hours=hours)):
            counts[hour] = requests
        first, last = (int(moment // HOUR) for moment in (extent.first, extent.last))
        time = np.bincount(np.arange(first, last + 1) % hours, minlength=hours) * float(HOUR)
        time[first % hours] -= extent.first - first * HOUR
        time[last % hours] -= (last + 1) * HOUR - extent.last
        rates = counts / np.maximum(time, 1.0)
        return cls(tuple((rates / rates.mean()).tolist()))


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
    def _root(self) -> Floats:
        """A matrix that turns independent normal numbers into correlated ones."""
        size = len(self.curves)
        values, vectors = np.linalg.eigh(np.array(self.correlations).reshape(size, size))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        scaled: Floats = root / np.maximum(np.linalg.norm(root, axis=1, keepdims=True), 1e-12)
        return scaled

    def draw(self, rng: np.random.Generator, n: int) -> dict[str, Floats]:
        """Draw the quantities of *n* requests."""
        if not self.curves:
            return {}
        normal = rng.standard_normal((n, len(self.curves))) @ self._root.T
        shares = scipy.special.ndtr(normal)
        drawn = {
            name: curve.quantiles(shares[:, place]) / SCALES[name]
            for place, (name, curve) in enumerate(self.curves.items())
        }
        if {"latency", "first_token"} <= drawn.keys():  # no answer ends before it begins
            drawn["first_token"] = np.minimum(drawn["first_token"], drawn["latency"])
        return drawn

    @classmethod
    def fit(cls, store: Store, where: str, share: float, model: str, service: str) -> Self:
        """Fit the curves of the quantities that at least half of the requests *where* record."""
        (n, *known) = store.row(
            f"select count(*), {', '.join(f'count({name})' for name in SCALES)} from requests where {where}"
        )
        names = [name for name, count in zip(SCALES, known, strict=True) if 2 * count >= n > 0]
        table = f"(select * from requests where {where}) as requests"
        curves = {name: Knots.fit(store.sample(f"round({name} * {SCALES[name]!r})", table)) for name in names}
        correlations = [_normal_correlation(store, x, y, table) for x in names for y in names]
        return cls(share, model, service, **curves, correlations=tuple(correlations))


def _normal_correlation(store: Store, x: str, y: str, table: str) -> float:
    """Return the correlation of normal numbers that gives the rank correlation of two quantities."""
    if x == y:
        return 1.0
    # In one order, so that the table is symmetric to the last digit.
    ranks = rank_correlation(store, min(x, y), max(x, y), table)
    return 2 * math.sin(math.pi * (ranks or 0.0) / 6)


@dataclass(frozen=True)
class RequestModel(Parameters):
    """
    Requests that arrive in virtual time, with gaps of any distribution that remember those before.

    A `Clock` makes busy hours; gaps of virtual time have a curve, and the normal number behind each is a sum
    of parts that forget exponentially, within 1 to 10,000 gaps (*memory*): bursts, and busy times beside
    those of the clock. Each request is of one of some kinds, independent of the others; of its kind it has
    tokens and latencies, joined by a Gaussian copula (Nelsen 2006). Sessions, users and blocks of prompts
    are not modelled.
    """

    gap: Knots
    pace: Annotated[float, positive("seconds of a virtual gap, by a unit of its curve", "s")]
    memory: Annotated[
        tuple[float, ...],
        Quantity("variances of what is forgotten in 1, 10, 100, 1,000 and 10,000 gaps", "", 0.0, 1.0),
    ]
    clock: Clock
    kinds: tuple[RequestKind, ...]

    name: ClassVar[str] = "requests"
    title: ClassVar[str] = "requests in virtual time, tokens by a copula"
    source: ClassVar[str] = "gwa; the clock is that of Lublin and Feitelson (2003), the copula Gaussian"

    def check(self) -> None:
        """Refuse shares that are none of a whole."""
        if not math.isclose(sum(kind.share for kind in self.kinds), 1.0, abs_tol=1e-6):
            raise ModelError("kinds: expected shares that add up to 1")
        if len(self.memory) != len(TIME_CONSTANTS) or sum(self.memory) > 1:
            raise ModelError(f"memory: expected {len(TIME_CONSTANTS)} variances that add up to 1 at most")
        if not self.gap.values[-1] > 0:
            raise ModelError("gap: all gaps are 0, expected some above")

    @classmethod
    def fit(cls, store: Store) -> Self:
        """Fit the model; raise `ModelError` for too few requests, or for requests that all arrive at once."""
        requests, extent = store.account.jobs, SubmissionSpan.of(store)
        if requests < MINIMUM_REQUESTS or not extent.seconds:
            raise ModelError(
                f"requests: {requests} requests in {extent.seconds:g} s, expected at least"
                f" {MINIMUM_REQUESTS} that do not all arrive at once"
            )
        clock = Clock.fit(store, extent)
        table = VIRTUAL_GAPS.format(virtual=clock.virtual("submit_time"))
        gap = Knots.fit(store.sample("gap", table))
        midpoints = (np.arange(MIDPOINTS) + 0.5) / MIDPOINTS
        (mean,) = store.row(f"select avg(gap) / 1e6 from {table}")
        pace = mean / float(gap.quantiles(midpoints).mean())
        return cls(gap, pace, _memory(store, table), clock, tuple(_kinds(store, requests)))

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of requests in the order of time, from second 0."""
        last, noise = 0.0, _Noise(self.memory, rng)
        shares = np.array([kind.share for kind in self.kinds])
        for size in block_sizes():
            gaps = self.gap.quantiles(scipy.special.ndtr(noise.draw(size)))
            virtual = last + np.cumsum(self.pace * gaps)
            last = float(virtual[-1])
            kinds = rng.choice(shares.size, size, p=shares / shares.sum())
            yield {"submit_time": self.clock.real(virtual), **self._quantities(rng, kinds)}

    def _quantities(self, rng: np.random.Generator, kinds: NDArray[np.int64]) -> Block:
        """Draw what requests of some *kinds*, given by their places, have beside a time."""
        block: Block = {name: np.full(kinds.size, np.nan) for name in SCALES}
        block |= {name: np.full(kinds.size, None, object) for name in ("model", "service")}
        for place, kind in enumerate(self.kinds):
            chosen = np.flatnonzero(kinds == place)
            for name, values in kind.draw(rng, chosen.size).items():
                block[name][chosen] = values
            block["model"][chosen], block["service"][chosen] = kind.model or None, kind.service or None
        return block


class _Noise:
    """A sum of autoregressive Gaussian processes of variance 1 in all, one for each of `TIME_CONSTANTS`."""

    def __init__(self, memory: tuple[float, ...], rng: np.random.Generator) -> None:
        self.rng, self.deviations = rng, np.sqrt(memory)
        self.rest = math.sqrt(max(1 - sum(memory), 0.0))
        self.last = self.deviations * rng.standard_normal(len(memory))

    def draw(self, n: int) -> Floats:
        """Draw the sum for the next *n* gaps."""
        total: Floats = self.rest * self.rng.standard_normal(n)
        for place, constant in enumerate(TIME_CONSTANTS):
            if not self.deviations[place]:
                continue
            phi = math.exp(-1 / constant)
            new = self.deviations[place] * math.sqrt(1 - phi**2) * self.rng.standard_normal(n)
            series, _ = scipy.signal.lfilter([1.0], [1.0, -phi], new, zi=[phi * self.last[place]])
            self.last[place] = series[-1]
            total += series
        return total


def _memory(store: Store, table: str) -> tuple[float, ...]:
    """Fit the variances of the memory to the autocorrelation of the normal scores of gaps in a *table*."""
    found = store.arrays(
        f"select gap from {table} where gap is not null order by request_id limit {MAXIMUM_GAPS}"
    )
    _, place, counts = np.unique(np.asarray(found["gap"]), return_inverse=True, return_counts=True)
    scores = scipy.special.ndtri((np.cumsum(counts) - counts / 2) / place.size)[place]
    scores -= scores.mean()
    power = 1 << (2 * scores.size).bit_length()
    products = np.fft.irfft(np.abs(np.fft.rfft(scores, power)) ** 2)
    lags = np.unique(np.geomspace(1, max(scores.size // 4, 2), LAGS).astype(np.int64))
    constants = np.array(TIME_CONSTANTS)
    basis = np.exp(-lags[:, np.newaxis] / constants) * (constants <= scores.size / 4)
    variances, _ = scipy.optimize.nnls(basis, products[lags] / max(products[0], 1e-300))
    return tuple((variances / max(float(variances.sum()), 1.0) * (1 - 1e-9)).tolist())


def _kinds(store: Store, requests: int) -> Iterator[RequestKind]:
    """Yield the kinds of requests, the most frequent first, and last the others together."""
    found = store.rows(KINDS.format(most=MAXIMUM_KINDS))
    conditions = []
    for model, service, count in found:
        where = f"{_is('model', model)} and {_is('service', service)}"
        conditions.append(f"({where})")
        yield RequestKind.fit(store, where, count / requests, model or "", service or "")
    others = requests - sum(count for *_, count in found)
    if others:
        yield RequestKind.fit(store, f"not ({' or '.join(conditions)})", others / requests, "", "")


def _is(column: str, name: str | None) -> str:
    """Return the condition for the rows whose *column* is a name, or has none."""
    return f"{column} is null" if name is None else f"{column} is not distinct from {literal(name)}"
