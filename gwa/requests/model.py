"""A model of requests to language models: sessions and bursts of clients, and what their requests have."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.models.parameters import Parameters
from gwa.requests.kinds import SCALES, RequestKind
from gwa.requests.ledger import Arrivals, Cells, Ledger, Started
from gwa.requests.measured import SubmissionSpan
from gwa.requests.placed import Placed
from gwa.requests.prompts import Prompts
from gwa.statistics.sample import Floats
from gwa.store.store import Store

Block: TypeAlias = dict[str, NDArray[Any]]
"""Requests as arrays of equal length by field."""

MINIMUM_REQUESTS: Final = 100
"""Requests that a fit takes at least."""

HOLDS: Final = (
    "how many sessions and bursts of each client and size began in each {cell} of the log, without names of"
    " users; these {cell}s are {again}: this is replay. Modelled are moments within them, numbers of"
    " requests, pauses, tokens, latencies and blocks"
)
"""What of the log a model holds."""


@dataclass(frozen=True)
class RequestModel(Parameters):
    """
    Sessions and bursts of clients, at the hours of the log, drawn again.

    A `Ledger` says how many arrivals of each client and size begin in an hour. A session has turns, think
    times between them and prompts that grow; a burst has requests that follow each other fast. Each request
    is of a kind, of which it has tokens and latencies, joined by a Gaussian copula (Nelsen 2006), and blocks
    of its prompt. All requests of a session are of the kind of the first.
    """

    ledger: Ledger
    kinds: tuple[RequestKind, ...]

    name: ClassVar[str] = "requests"
    title: ClassVar[str] = "sessions and bursts of clients at the hours of the log"
    source: ClassVar[str] = "gwa; clients as in ServeGen (NSDI 2026), tokens by a Gaussian copula"

    @property
    def holds(self) -> str:
        """What of the log the parameters hold, and what is modelled."""
        if self.ledger.cycle == 1:
            return HOLDS.format(cell="minute", again="repeated in their order")
        return HOLDS.format(cell="hour", again=f"drawn again, {self.ledger.run} at a time")

    def check(self) -> None:
        """Refuse shares that are none of a whole, and arrivals of a kind that there is none of."""
        if not math.isclose(sum(kind.share for kind in self.kinds), 1.0, abs_tol=1e-6):
            raise ModelError("kinds: expected shares that add up to 1")
        if max(one.kind for one in self.ledger.arrivals) >= len(self.kinds):
            raise ModelError(f"ledger.arrivals: expected kinds below {len(self.kinds)}")

    @classmethod
    def fit(cls, store: Store) -> Self:
        """Fit the model; raise `ModelError` for too few requests, or for requests that all arrive at once."""
        requests, extent = store.account.jobs, SubmissionSpan.of(store)
        if requests < MINIMUM_REQUESTS or not extent.seconds:
            raise ModelError(
                f"requests: {requests} requests in {extent.seconds:g} s, expected at least"
                f" {MINIMUM_REQUESTS} that do not all arrive at once"
            )
        cells = Cells.of(extent)
        placed = Placed.of(store, cells.longest_gap)
        kinds = [
            RequestKind.fit(store, kind, place, placed.requests) for place, kind in enumerate(placed.kinds)
        ]
        return cls(Ledger.fit(store, cells, placed), tuple(kinds))

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of requests in the order of time, from second 0."""
        made, end = _Made(self, rng), 0.0
        waiting: Block | None = None
        for cells in self.ledger.cells(rng):
            begin, end = end, end + self.ledger.length * len(cells)
            block = _joined([one for one in (waiting, made.run(cells, begin)) if one is not None])
            order = np.argsort(block["submit_time"], kind="stable")
            now = order[: int(np.searchsorted(block["submit_time"][order], end))]
            later = order[now.size :]
            waiting = {name: column[later] for name, column in block.items()}
            yield {name: column[now] for name, column in block.items()}


def _joined(blocks: list[Block]) -> Block:
    """Return requests of several blocks as one."""
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


@dataclass
class _Made:
    """What is made of a *model*: it numbers sessions and remembers prompts."""

    model: RequestModel
    rng: np.random.Generator
    sessions: int = 0
    prompts: Prompts = field(default_factory=Prompts)

    def run(self, cells: list[int], begin: float) -> Block:
        """Return the requests of the arrivals of a run of *cells*, not in order."""
        ledger = self.model.ledger
        blocks = [_joined([self._block(0, np.zeros(0), self.model.kinds[0], {})])]
        for one in ledger.arrivals:
            started = [
                one.starts(self.rng, one.counts[cell], begin + step * ledger.length, ledger.length)
                for step, cell in enumerate(cells)
                if one.counts[cell]
            ]
            if started:
                make = self._sessions if one.sessions else self._bursts
                blocks.append(make(one, _gathered(started)))
        return _joined(blocks)

    def _bursts(self, one: Arrivals, started: Started) -> Block:
        """Return the requests of bursts, each of which has a prompt of its own."""
        kind, times = self.model.kinds[one.kind], one.times(self.rng, started)
        drawn: Block = dict(kind.draw(self.rng, times.size))
        drawn |= self.prompts.fresh(self.rng, one.kind, kind, drawn)
        return self._block(one.client, times, kind, drawn)

    def _sessions(self, one: Arrivals, started: Started) -> Block:
        """Return the requests of sessions, turn by turn: a prompt may go on with the one before."""
        kind, times = self.model.kinds[one.kind], one.times(self.rng, started)
        names = np.array([f"session {self.sessions + n}" for n in range(1, started.start.size + 1)], object)
        self.sessions += names.size
        first = np.cumsum(started.requests) - started.requests
        going, turn = np.arange(names.size), 1
        before: Block = {}
        blocks: list[Block] = []
        while going.size:
            tokens, grows = self._tokens_in(kind, before, going.size)
            drawn: Block = dict(kind.draw(self.rng, going.size, tokens))
            drawn |= self.prompts.turn(self.rng, one.kind, kind, drawn, before, grows)
            named = {"session_id": names[going], "turn": np.full(going.size, float(turn))}
            blocks.append(self._block(one.client, times[first[going] + turn - 1], kind, drawn | named))
            stays = started.requests[going] > turn
            before = {name: column[stays] for name, column in drawn.items()}
            going, turn = going[stays], turn + 1
        return _joined(blocks)

    def _tokens_in(self, kind: RequestKind, before: Block, n: int) -> tuple[Floats | None, NDArray[np.bool_]]:
        """Return the tokens of the next *n* prompts, None where they are not of sessions, and which grow."""
        growth, rng = kind.growth, self.rng
        if growth is None:
            return None, np.zeros(n, bool)
        tokens = growth.first.quantiles(rng.random(n))
        if "tokens_in" not in before:
            return tokens, np.zeros(n, bool)
        grows = rng.random(n) < growth.continues
        if growth.added is not None:
            context = before["tokens_in"] + before.get("tokens_out", np.zeros(n))
            tokens = np.where(grows, context + growth.added.quantiles(rng.random(n)), tokens)
        return tokens, grows

    def _block(self, client: int, times: Floats, kind: RequestKind, drawn: Block) -> Block:
        """Return requests with all fields, those not *drawn* without a value."""
        n = times.size
        block: Block = {"submit_time": times} | {
            name: drawn.get(name, np.full(n, np.nan)) for name in (*SCALES, "turn")
        }
        names = {
            "model": kind.model,
            "service": kind.service,
            "user_id": f"client {client}" if client else "",
        }
        block |= {name: np.full(n, text or None, object) for name, text in names.items()}
        return block | {name: drawn.get(name, np.full(n, None, object)) for name in ("session_id", "blocks")}


def _gathered(started: list[Started]) -> Started:
    """Return the arrivals of several cells together."""
    return Started(
        np.concatenate([one.start for one in started]),
        np.concatenate([one.requests for one in started]),
    )
