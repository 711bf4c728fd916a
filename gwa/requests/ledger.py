"""
When sessions and bursts begin: how many in each hour of a log, drawn again, and how regularly within it.

Of each class of arrivals, those of one client, kind and size, the hours of the log are counted. Hours drawn
again are replay: what a log of other days would have, the ledger does not know.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, Self

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.models.knots import Knots
from gwa.models.parameters import Parameters, Quantity, positive
from gwa.requests.measured import SubmissionSpan
from gwa.requests.placed import Placed
from gwa.statistics.sample import Floats
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, MINUTE, WEEK

MICROSECONDS: Final = 1e6

MINIMUM_COVERED: Final = 0.5
"""The share of the first and the last cell that a log covers at least, or they are left out."""

HOURS_DRAWN: Final = 6
"""Hours that are drawn together."""

MINIMUM_ARRIVALS: Final = 5
"""Arrivals that a cell must have for its gaps to tell how regular they are."""

MINIMUM_SHAPE, MAXIMUM_SHAPE = 0.02, 1000.0
HALVINGS: Final = 60

CLASSES: Final = """
select kind, client, is_session, size, sum(requests)::bigint as requests from {arrivals}
group by all order by all
"""

COUNTS: Final = """
select cast(floor((start - {origin!r}) / {length}) as bigint) as cell, count(*) as arrivals
from {arrivals} where {where} group by cell
"""

SPACINGS: Final = """
select arrivals, count(distinct cell) as cells, sum(gap * gap) as squares from (
    select
        cell, count(*) over (partition by cell) as arrivals,
        (
            coalesce(
                lead(start) over (partition by cell order by start, arrival),
                min(start) over (partition by cell) + {length}
            ) - start
        ) / {length} as gap
    from (
        select arrival, start, floor((start - {origin!r}) / {length}) as cell from {arrivals} where {where}
    )
)
where arrivals >= {least} and cell between 1 and {total} - 2 group by arrivals order by arrivals
"""
"""
Squares of the gaps between arrivals in a cell, whose end is joined to its beginning.

The first and the last cell are left out: the log may cover a part of them only.
"""

PAUSES: Final = """(
    select pause from {requests} as requests
    where arrival in (select arrival from {arrivals} where {where})
) as pauses"""


@dataclass(frozen=True)
class Cells:
    """The stretches of a log that are counted: *total* of a *length* in seconds from *origin* on."""

    length: int
    cycle: int
    run: int
    origin: float
    total: int

    @classmethod
    def of(cls, extent: SubmissionSpan) -> "Cells":
        """
        Return hours of the week or of the day, or minutes where the log is shorter than two days.

        Hours are those of the clock, minutes count from the first request, and are drawn all together, in
        their order. The first and the last are left out where the log covers less than half of them.
        """
        if extent.seconds < 2 * DAY:
            total = max(math.floor(extent.seconds / MINUTE + MINIMUM_COVERED), 1)
            return cls(MINUTE, 1, total, extent.first, total)
        cycle = WEEK // HOUR if extent.seconds >= 2 * WEEK else DAY // HOUR
        first = math.floor(extent.first / HOUR + MINIMUM_COVERED)
        last = math.floor(extent.last / HOUR + MINIMUM_COVERED)
        return cls(HOUR, cycle, HOURS_DRAWN, first * float(HOUR), last - first)

    @property
    def longest_gap(self) -> float:
        """The longest gap within a burst, in seconds: a burst is short beside a cell."""
        return self.length / 60

    @property
    def first(self) -> int:
        """The place of the first cell in the cycle."""
        return 0 if self.cycle == 1 else int(self.origin // self.length) % self.cycle


@dataclass(frozen=True)
class Started:
    """Arrivals of one class: when they *start*, and how many *requests* they have."""

    start: Floats
    requests: NDArray[np.int64]


@dataclass(frozen=True)
class Arrivals(Parameters):
    """
    Sessions, or bursts, of one kind and client, and of one class of sizes.

    *counts* are those of the cells of the log, one after the other. In a cell, gaps between them have a gamma
    distribution of the shape *regularity*: 1 at random, more for programs that go by the clock, less where
    they cluster. Each has a number of *requests* and pauses between these (*pause*), in
    microseconds. A pause is from one request to the next: in a session that is the time of the answer and of
    thought.
    """

    kind: Annotated[int, Quantity("place of the kind among the kinds", "", 0.0)]
    client: Annotated[int, Quantity("number of the client, 0 for all others", "", 0.0)]
    sessions: bool
    counts: Annotated[tuple[int, ...], Quantity("arrivals in each cell of the log", "", 0.0)]
    regularity: Annotated[float, positive("shape of the gaps between arrivals in a cell")]
    requests: Knots
    pause: Knots | None = None

    def starts(self, rng: np.random.Generator, count: int, begin: float, length: int) -> Started:
        """Draw a *count* of arrivals in the cell that begins at *begin*, with their numbers of requests."""
        gaps = rng.gamma(self.regularity, size=count) + 1e-300
        places = np.sort((np.cumsum(gaps) / gaps.sum() + rng.random()) % 1.0)
        numbers = np.maximum(self.requests.quantiles(rng.random(count)), 1.0)
        return Started(begin + length * places, numbers.astype(np.int64))

    def times(self, rng: np.random.Generator, started: Started) -> Floats:
        """Draw when the requests of arrivals are submitted, in seconds, those of one after the other."""
        arrival = np.repeat(np.arange(started.start.size), started.requests)
        pauses = np.zeros(arrival.size)
        if self.pause is not None:
            pauses = self.pause.quantiles(rng.random(arrival.size))
        first = np.cumsum(started.requests) - started.requests
        pauses[first] = 0.0
        since = np.cumsum(pauses) / MICROSECONDS
        times: Floats = started.start[arrival] + since - since[first][arrival]
        return times

    @classmethod
    def fit(cls, store: Store, cells: Cells, placed: Placed) -> Iterator[Self]:
        """Yield the classes of the arrivals *placed*, counted in *cells*."""
        for kind, client, is_session, size, _ in store.rows(CLASSES.format(arrivals=placed.arrivals)):
            where = f"kind = {kind} and client = {client} and is_session = {is_session} and size = {size}"
            names = {
                "arrivals": placed.arrivals, "requests": placed.requests, "where": where,
                "origin": cells.origin, "length": cells.length, "least": MINIMUM_ARRIVALS,
                "total": cells.total,
            }  # fmt: skip
            counts = np.zeros(cells.total, np.int64)
            for cell, arrivals in store.rows(COUNTS.format(**names)):
                if 0 <= cell < cells.total:
                    counts[cell] = arrivals
            if not counts.any():
                continue
            table = f"(select requests from {placed.arrivals} where {where}) as arrivals"
            pause = store.sample("pause", PAUSES.format(**names))
            yield cls(
                kind,
                client,
                bool(is_session),
                tuple(counts.tolist()),
                _regularity(store.rows(SPACINGS.format(**names))),
                Knots.fit(store.sample("requests", table)),
                Knots.fit(pause) if pause.n else None,
            )


def _regularity(spacings: Sequence[tuple[int, int, float]]) -> float:
    """
    Return the shape of gamma gaps whose squares in cells of some arrivals add up as *spacings* say.

    k arrivals part a cell, its end joined to its beginning, into k gaps; of the shape s, their squares add up
    to (s + 1) / (s k + 1) of the square of the cell's length.
    """
    if not spacings:
        return 1.0
    arrivals, cells, squares = (np.array(column, np.float64) for column in zip(*spacings, strict=True))
    low, high = math.log(MINIMUM_SHAPE), math.log(MAXIMUM_SHAPE)
    for _ in range(HALVINGS):
        shape = math.exp((low + high) / 2)
        expected = cells * (shape + 1) / (shape * arrivals + 1)
        low, high = (math.log(shape), high) if expected.sum() > squares.sum() else (low, math.log(shape))
    return math.exp((low + high) / 2)


@dataclass(frozen=True)
class Ledger(Parameters):
    """
    The cells of the log, and how they are drawn again: runs of them, from where they stand in the cycle.

    Cells are of a *length* in seconds; a *cycle* of them begins again, from second 0 of Unix time, or is one
    where any cell may follow any other. The first of the log has the place *first* in the cycle.
    """

    length: Annotated[int, Quantity("seconds of a cell", "s", 1.0, float(DAY))]
    cycle: Annotated[int, Quantity("cells after which rates begin again", "", 1.0, float(WEEK))]
    run: Annotated[int, Quantity("cells that are drawn together", "", 1.0, float(WEEK))]
    first: Annotated[int, Quantity("place of the first cell in the cycle", "", 0.0)]
    arrivals: tuple[Arrivals, ...]

    def check(self) -> None:
        """Refuse counts that are not of the same cells, and a log in which nothing arrives."""
        if len({len(one.counts) for one in self.arrivals}) != 1:
            raise ModelError("arrivals: expected as many counts for each of them")
        if not any(map(sum, (one.counts for one in self.arrivals))):
            raise ModelError("arrivals: all counts are 0, expected some above")

    @cached_property
    def total(self) -> int:
        """The cells of the log."""
        return len(self.arrivals[0].counts)

    @classmethod
    def fit(cls, store: Store, cells: Cells, placed: Placed) -> Self:
        """Count the arrivals *placed* in *cells*."""
        return cls(
            cells.length, cells.cycle, cells.run, cells.first, tuple(Arrivals.fit(store, cells, placed))
        )

    def cells(self, rng: np.random.Generator) -> Iterator[list[int]]:
        """Yield runs of cells of the log without end, by their numbers, from the beginning of the cycle."""
        place = 0
        while True:
            begin = self._drawn(rng, place)
            yield [self._inside(begin + step) for step in range(self.run)]
            place = (place + self.run) % self.cycle

    def _drawn(self, rng: np.random.Generator, place: int) -> int:
        """Draw a cell at a *place* of the cycle, one with a whole run behind it where there is any."""
        at = np.arange((place - self.first) % self.cycle, self.total, self.cycle)
        if not at.size:
            return int(rng.integers(self.total))
        whole = at[at + self.run <= self.total]
        return int(rng.choice(whole if whole.size else at))

    def _inside(self, cell: int) -> int:
        """Return a *cell* of the log, or the last one at the same place of the cycle."""
        beyond = max(cell - self.total + 1, 0)
        return max(cell - self.cycle * -(-beyond // self.cycle), 0)
