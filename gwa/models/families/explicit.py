"""The explicit user level of Anoep's thesis (2009): the dominant users have models of their own."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Self, TypeVar

import numpy as np

from gwa.errors import ModelError
from gwa.metrics.papers.anoep2009_users import ranked_users
from gwa.models.base import Model
from gwa.models.families.thesis import SOURCE, BagsModel, Users
from gwa.models.streams import Block, merge
from gwa.models.work import Submitted
from gwa.store.engines.duckdb import literal
from gwa.store.store import Store
from gwa.words.message import message

M = TypeVar("M", bound=Model)

MAXIMUM_DOMINANT: Final = 10
"""Maximum number of users with a model of their own; the thesis has three to five (table 4.20)."""


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
    def estimate(cls, store: Store) -> Self:
        """Fit a model to the jobs of each dominant user, and one to those of all other users."""
        count = min(max(ranked_users(store).dominant, 1), MAXIMUM_DOMINANT)
        ranked = store.rows(
            "select user_id, count(*) as n from jobs where user_id is not null group by user_id"
            f" order by n desc, user_id limit {count}"
        )
        dominant, seconds = {}, Submitted.of(store).seconds
        for user, _ in ranked:
            with suppress(ModelError):
                dominant[literal(user)] = _fit_subset(BagsModel, store, f"user_id = {literal(user)}", seconds)
        if not dominant:
            raise ModelError(
                message(
                    "{model}: the jobs of no dominant user determine a model of their own", model=cls.name
                )
            )
        background = f"user_id not in ({', '.join(dominant)})"
        return cls(
            dominant=tuple(dominant.values()), background=_fit_subset(Users, store, background, seconds)
        )

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield the tasks of all users in the order of submission, without end."""
        members = (*self.dominant, self.background)
        streams = rng.spawn(len(members))
        return merge(
            [
                self._with_user(index, member.blocks(stream))
                for index, (member, stream) in enumerate(zip(members, streams, strict=True))
            ]
        )

    def _with_user(self, index: int, blocks: Iterator[Block]) -> Iterator[Block]:
        """Yield the tasks of a member with its user, and with numbers of bags that no other member has."""
        dominant = len(self.dominant)
        has_requests = any(member.requested for member in (*self.dominant, self.background))
        for block in blocks:
            size = block["submit_time"].size
            # All members need the same fields; nan is a missing requested time.
            unknown = {"req_time": np.full(size, np.nan)} if has_requests else {}
            yield (
                unknown
                | block
                | {
                    "user_id": dominant + block["user_id"]
                    if "user_id" in block
                    else np.full(size, index + 1),
                    "job_structure_params": block["job_structure_params"] * (dominant + 1) + index,
                }
            )

    def scale_gaps(self, factor: float) -> Self:
        """Return the model with interarrival gaps multiplied by *factor*."""
        dominant = tuple(member.scale_gaps(factor) for member in self.dominant)
        return replace(self, dominant=dominant, background=self.background.scale_gaps(factor))

    def limit_processors(self, cpus: int) -> Self:
        """Return the model for a system of *cpus* processors: larger sizes are drawn again."""
        dominant = tuple(member.limit_processors(cpus) for member in self.dominant)
        return replace(self, dominant=dominant, background=self.background.limit_processors(cpus))


def _fit_subset(kind: type[M], store: Store, condition: str, seconds: float) -> M:
    """
    Fit a model of a *kind* to the jobs that meet an SQL *condition*, in a trace of a length in *seconds*.

    A user comes and goes, where a model goes on without end: its gaps are those of the whole trace.
    """
    with store.filtered(condition) as subset:
        return kind.fit(subset).scale_gaps(seconds / max(Submitted.of(subset).seconds, 1.0))
