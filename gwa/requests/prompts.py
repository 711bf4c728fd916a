"""Blocks of made prompts: one text that those of a kind begin with, what a session had, and what is new."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gwa.requests.kinds import Prefixes, RequestKind
from gwa.statistics.sample import Floats

Drawn = dict[str, NDArray[Any]]


@dataclass
class Prompts:
    """
    The identities of blocks: those shared by a kind are numbered apart from those of a single prompt.

    *made* counts the latter.
    """

    made: int = 0
    shared: dict[tuple[int, int], int] = field(default_factory=dict)

    def fresh(self, rng: np.random.Generator, place: int, kind: RequestKind, drawn: Drawn) -> Drawn:
        """Return the blocks of prompts of the kind at a *place* that go on with none before."""
        return self.turn(
            rng, place, kind, drawn, {}, np.zeros(drawn.get("tokens_in", np.zeros(0)).size, bool)
        )

    def turn(
        self,
        rng: np.random.Generator,
        place: int,
        kind: RequestKind,
        drawn: Drawn,
        before: Drawn,
        grows: NDArray[np.bool_],
    ) -> Drawn:
        """
        Return the blocks of prompts, of which those that grow begin with the full blocks of the one *before*.

        None where a prompt has no block.
        """
        if kind.prefixes is None or "tokens_in" not in drawn:
            return {}
        tokens = drawn["tokens_in"]
        blocks = np.empty(tokens.size, object)
        held = kind.prefixes.held.quantiles(rng.random(tokens.size)).astype(np.int64)
        kept = _lengths(kind.prefixes, before.get("tokens_in", np.zeros(0)))
        for number, (full, some) in enumerate(_lengths(kind.prefixes, tokens)):
            if grows[number]:
                begun = (before["blocks"][number] or [])[: kept[number][0]]
            else:
                begun = [self._shared(place, depth) for depth in range(min(held[number], full))]
            blocks[number] = begun + self._new(some - len(begun)) or None
        return {"blocks": blocks}

    def _shared(self, place: int, depth: int) -> int:
        """Return the block at a *depth* of the text that prompts of a kind begin with."""
        if (place, depth) not in self.shared:
            self.shared[place, depth] = self._new(1)[0]
        return self.shared[place, depth]

    def _new(self, count: int) -> list[int]:
        """Return a *count* of blocks that no prompt had."""
        first, self.made = self.made + 1, self.made + count
        return list(range(first, self.made + 1))


def _lengths(prefixes: Prefixes, tokens: Floats) -> list[tuple[int, int]]:
    """Return the number of full blocks of each prompt of *tokens*, and the number of all its blocks."""
    full = tokens // prefixes.tokens
    partial = (tokens % prefixes.tokens > 0) & (prefixes.partial > 0)
    return list(zip(full.astype(int).tolist(), (full + partial).astype(int).tolist(), strict=True))
