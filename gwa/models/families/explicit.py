"""The explicit user level of Anoep's thesis (2009): users who submit most have models of their own."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Self, TypeVar

import numpy as np

from gwa.errors import ModelError
from gwa.metrics.papers.anoep2009_users import ranked_users
from gwa.models.base import Model
from gwa.models.families.thesis import SOURCE, BagsModel, Users
from gwa.models.streams import Block, merged
from gwa.store.engines.duckdb import literal
from gwa.store.store import Store

M = TypeVar("M", bound=Model)

MOST: Final = 10
"""So many users get a model of their own; the thesis has three to five (table 4.20)."""


@dataclass(frozen=True, kw_only=True)
class Explicit(Model):
    """
    M4, bags of explicit users: each dominant user has a model of bags, all others share one.

    Dominant are the first users by tasks who together have less than half of them, at least one and at most
    ten (thesis, section 4.3.3: the trace is split by user, and each part is modelled by itself). Whose jobs
    are too few or too alike for a model stays in the background. Users are numbered by rank; those of the
    background follow the dominant ones.
    """

    dominant: tuple[BagsModel, ...]
    background: Users

    name = "thesis-explicit"
    title = "Bags of explicit users (thesis M4)"
    source = SOURCE
    needs = ("submit_time", "run_time", "n_procs", "user_id")

    @classmethod
    def fitted(cls, store: Store) -> Self:
        """Return the model: that of each dominant user, fitted to its jobs only, and that of all others."""
        count = min(max(ranked_users(store).dominant, 1), MOST)
        ranked = store.rows(
            "select user_id, count(*) as n from jobs where user_id is not null group by user_id"
            f" order by n desc, user_id limit {count}"
        )
        several = {}
        for user, _ in ranked:
            with suppress(ModelError):
                several[literal(user)] = _part(BagsModel, store, f"user_id = {literal(user)}")
        if not several:
            raise ModelError(f"{cls.name}: the jobs of no dominant user determine a model of their own")
        others = f"user_id not in ({', '.join(several)})"
        return cls(dominant=tuple(several.values()), background=_part(Users, store, others))

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield the tasks of all users in the order of submission, without end."""
        members = (*self.dominant, self.background)
        streams = rng.spawn(len(members))
        return merged(
            [
                self._owned(place, member.blocks(stream))
                for place, (member, stream) in enumerate(zip(members, streams, strict=True))
            ]
        )

    def _owned(self, place: int, blocks: Iterator[Block]) -> Iterator[Block]:
        """Yield the tasks of a member with its user, and with bags that no other member has."""
        several = len(self.dominant)
        asked = any(member.requested for member in (*self.dominant, self.background))
        for block in blocks:
            size = block["submit_time"].size
            # Who requests no time does so beside others who do: missing is nan.
            unknown = {"req_time": np.full(size, np.nan)} if asked else {}
            yield (
                unknown
                | block
                | {
                    "user_id": several + block["user_id"] if "user_id" in block else np.full(size, place + 1),
                    "job_structure_params": block["job_structure_params"] * (several + 1) + place,
                }
            )

    def paced(self, factor: float) -> Self:
        """Return the model with times between arrivals that are *factor* times as long."""
        several = tuple(one.paced(factor) for one in self.dominant)
        return replace(self, dominant=several, background=self.background.paced(factor))

    def within(self, cpus: int) -> Self:
        """Return the model for a system of *cpus* processors: larger sizes are drawn again."""
        several = tuple(one.within(cpus) for one in self.dominant)
        return replace(self, dominant=several, background=self.background.within(cpus))


def _part(kind: type[M], store: Store, condition: str) -> M:
    """Return a model of a *kind*, fitted to a part of the jobs."""
    with store.filtered(condition) as part:
        return kind.fit(part)
