"""The family of Anoep's thesis (2009): tasks, bags of tasks, and users of a grid."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.metrics.bags import ARRAYS, THESIS, Definition, bags
from gwa.metrics.papers.anoep2009_users import ranked_users
from gwa.models.arrival_process import Arrivals
from gwa.models.arrivals.slots import Slots
from gwa.models.bag_streams import BAGS, alike, in_time, lognormal, normal_reject, offsets, pieces
from gwa.models.base import Model
from gwa.models.draws import Scaled
from gwa.models.families._anoep_bags import centres, correlation, gaps_in_bags, simultaneous, variances
from gwa.models.parameters import Quantity, share
from gwa.models.rounding import at_most, rounded, sizes
from gwa.models.streams import Block
from gwa.statistics.sample import Floats
from gwa.statistics.zipf import Zipf
from gwa.store.schema import LONGEST
from gwa.store.store import Store

SMALLEST_BAG: Final = math.log(1.5)
LONGEST_GAP: Final = math.log2(120.5)

RECORDED: Final = replace(ARRAYS, name="recorded", title="one bag, as the trace says", where="true")
"""Bags of one task have an identity, too, in what this family makes."""

SOURCE = "S. D. Anoep, Performance analysis of bags-of-tasks in grids, MSc thesis, TU Delft (2009)"


@dataclass(frozen=True, kw_only=True)
class TasksModel(Model):
    """
    M1, tasks that arrive one by one: sizes, run times, requested times and arrivals.

    A task has one processor with probability *sequential*, else 2 to the power of a draw, which is
    rounded with probability *powers_of_two*. Size, run time and requested time are independent. The thesis
    leaves the arrivals of single tasks open; here they have the slot weights that it gives bags.
    """

    arrivals: Arrivals
    run_time: Scaled
    longest: Annotated[float, Quantity("longer run times are cut to this", "s", 1.0, LONGEST)] = LONGEST
    sequential: Annotated[float, share("of tasks on one processor")] = 1.0
    powers_of_two: Annotated[float, share("of parallel tasks whose draw is rounded to a power of two")] = 0.0
    size: Scaled | None = None
    requested: Scaled | None = None

    name = "thesis-tasks"
    title = "Tasks (thesis M1)"
    source = SOURCE

    @classmethod
    def fitted(cls, store: Store) -> Self:
        """Return the model of all tasks."""
        return cls(arrivals=Slots.fit(store), **cls.tasks(store))

    @classmethod
    def tasks(cls, store: Store) -> dict[str, Any]:
        """Return the parameters of the tasks of *store*."""
        procs = store.sample("n_procs").restrict(low=1.0)
        parallel = procs.restrict(low=2.0)
        powers, size = sizes(parallel) if parallel.n else (0.0, None)
        times = store.sample("round(run_time)").restrict(low=1.0)
        requested = store.sample("round(req_time)")
        asked = requested.restrict(low=1.0).values.size > 1
        return {
            "run_time": rounded(times, "run_time", math.e),
            "longest": times.max(),
            "sequential": 1 - parallel.n / procs.n,
            "powers_of_two": powers,
            "size": size,
            "requested": rounded(requested, "requested", 2.0) if asked else None,
        }

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield tasks in the order of submission, without end."""
        when, what = rng.spawn(2)
        for times in pieces(self.arrivals.times(when)):
            run_time = self.run_time.rvs(what, times.size)
            yield {"submit_time": times, **self.contents(what, run_time)}

    def contents(self, rng: np.random.Generator, run_time: Floats) -> Block:
        """Return tasks of a *run_time* with what they ask for."""
        found: Block = {
            "run_time": np.minimum(np.maximum(np.rint(run_time), 1.0), np.floor(self.longest)),
            "n_procs": self.procs(rng, run_time.size),
        }
        if self.requested:
            found["req_time"] = np.minimum(
                np.maximum(np.rint(self.requested.rvs(rng, run_time.size)), 1.0), LONGEST
            )
        return found

    def procs(self, rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        """Return the processors of *n* tasks."""
        if self.size is None:
            return np.ones(n, np.int64)
        power = self.size.logarithms(rng, n)
        exact = np.rint(power)
        if self.size.high is not None:
            exact = np.minimum(exact, math.floor(self.size.high))
        power = np.where(rng.random(n) < self.powers_of_two, exact, power)
        parallel = rng.random(n) >= self.sequential
        found: NDArray[np.int64] = np.where(parallel, np.rint(self.size.base**power), 1).astype(np.int64)
        return found

    def paced(self, factor: float) -> Self:
        """Return the model with times between arrivals that are *factor* times as long."""
        return replace(self, arrivals=self.arrivals.paced(factor))

    def within(self, cpus: int) -> Self:
        """Return the model for a system of *cpus* processors: larger sizes are drawn again."""
        if self.size is None or cpus == 1:
            return replace(self, size=None, sequential=1.0)
        high = min(math.log(cpus) / math.log(self.size.base), self.size.high or math.inf)
        return replace(self, size=replace(self.size, high=high))


@dataclass(frozen=True, kw_only=True)
class BagsModel(TasksModel):
    """
    M2, bags of tasks: arrivals are those of bags, whose tasks follow each other and run alike.

    A bag has one task with probability *singles*. All tasks of a bag have its processors and requested time.
    Its run time is fitted to the geometric means of bags, each as often as it has tasks. Their own run
    times vary around it with a variance that is drawn for each bag:
    ``lognormal`` (geometric mean and variance are those of the bag) or ``normal-reject`` as the thesis says
    (normal, draws below a second repeated, which lengthens 17 % of bags of the average system).
    The thesis draws run time and variance independently, *correlation* 0; in traces they are alike.
    """

    singles: Annotated[float, share("of bags of one task")]
    bag_size: Scaled
    task_gap: Scaled
    simultaneous: Annotated[float, share("of tasks of a bag in the same second as the one before")] = 0.0
    variance: Scaled
    correlation: Annotated[float, Quantity("of run time and variance, as normal scores", "", -1.0, 1.0)] = 0.0
    variability: Literal["lognormal", "normal-reject"] = "lognormal"

    name = "thesis-bags"
    title = "Bags of tasks (thesis M2)"

    @classmethod
    def fitted(cls, store: Store) -> Self:
        """Return the model; bags are those that the trace records, else those of the thesis."""
        return cls(**cls.bags(store, cls.definition(store)))

    @classmethod
    def definition(cls, store: Store) -> Definition:
        """Return what a bag is in a trace."""
        found = RECORDED if store.has("job_structure_params") else THESIS
        if not store.has(found.key[0]):
            raise ModelError(f"{cls.name}: no job records {found.key[0]}, expected users or bags")
        return found

    @classmethod
    def moments(cls, store: Store) -> tuple[str, str]:
        """Return the bags of a trace, and when they begin."""
        return bags(store, cls.definition(store)), "start"

    @classmethod
    def bags(cls, store: Store, found: Definition) -> dict[str, Any]:
        """Return the parameters of bags of a definition."""
        all_bags = store.sample("size", bags(store, found))
        several = all_bags.restrict(low=2.0)
        gaps = gaps_in_bags(store, found)
        return cls.tasks(store) | {
            "arrivals": Slots.fit(store, bags(store, found), "start"),
            "singles": 1 - several.n / all_bags.n,
            "bag_size": at_most(rounded(several, "bag_size", math.e, low=SMALLEST_BAG), several.max()),
            "task_gap": rounded(gaps.restrict(high=120.0), "task_gap", 2.0, high=LONGEST_GAP),
            "simultaneous": simultaneous(gaps),
            "run_time": rounded(centres(store, found), "run_time", math.e),
            "variance": rounded(variances(store, found), "variance", math.e),
            "correlation": correlation(store, found),
        }

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield tasks in the order of submission, without end."""
        return in_time(self._chunks(*rng.spawn(2)))

    def _chunks(self, when: np.random.Generator, what: np.random.Generator) -> Iterator[tuple[float, Block]]:
        """Yield blocks of bags with the arrival of the last one."""
        number = 0
        for starts in pieces(self.arrivals.times(when), BAGS):
            size = self._sizes(what, starts.size)
            bag = np.repeat(np.arange(starts.size), size)
            centre, variance = alike(what, starts.size, self.run_time, self.variance, self.correlation)
            draw = lognormal if self.variability == "lognormal" else normal_reject
            run_time = draw(what, np.minimum(centre, LONGEST), np.minimum(variance, LONGEST**2), size)
            each = self.contents(what, centre)
            yield (
                float(starts[-1]),
                {
                    "submit_time": starts[bag] + offsets(what, size, self.task_gap, self.simultaneous),
                    **{name: column[bag] for name, column in each.items()},
                    "run_time": np.minimum(np.maximum(np.rint(run_time), 1.0), np.floor(self.longest)),
                    "job_structure": (size > 1).astype(np.int64)[bag],
                    "job_structure_params": number + 1 + bag,
                    **{name: column[bag] for name, column in self.owners(what, starts.size).items()},
                },
            )
            number += starts.size

    def _sizes(self, rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        several = np.maximum(np.rint(self.bag_size.rvs(rng, n)), 2.0)
        found: NDArray[np.int64] = np.where(rng.random(n) < self.singles, 1.0, several).astype(np.int64)
        return found

    def owners(self, rng: np.random.Generator, n: int) -> Block:
        """Return who submits *n* bags: nobody knows."""
        del rng, n
        return {}


@dataclass(frozen=True, kw_only=True)
class Users(BagsModel):
    """
    M3, bags of implicit users: each bag belongs to a user, drawn by Zipf's law of their ranks.

    Users differ in nothing but how much they submit. The law is fitted to users ranked by tasks, by least
    squares on the probabilities.
    """

    exponent: Annotated[float, Quantity("of Zipf's law", "", 0.0, 50.0)]
    users: Annotated[int, Quantity("how many users there are", "", 1.0, 1e7)]

    name = "thesis-users"
    title = "Bags of implicit users (thesis M3)"
    needs = ("submit_time", "run_time", "n_procs", "user_id")

    @classmethod
    def bags(cls, store: Store, found: Definition) -> dict[str, Any]:
        """Return the parameters of bags of a definition, and of their users."""
        law = ranked_users(store).least_squares
        return super().bags(store, found) | {"exponent": law.exponent, "users": int(law.ranks)}

    def owners(self, rng: np.random.Generator, n: int) -> Block:
        """Return the ranks of the users who submit *n* bags."""
        return {"user_id": Zipf(self.exponent, self.users).rvs(rng, n).astype(np.int64)}
