"""The family of Anoep's thesis (2009): tasks, bags of tasks, and users of a grid."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.metrics.bags import Definition, bagged, bags, that_apply
from gwa.metrics.papers.anoep2009_users import ranked_users
from gwa.models.arrival_process import Arrivals
from gwa.models.arrivals.slots import Slots
from gwa.models.bag_streams import (
    BAGS_PER_BLOCK,
    draw_correlated,
    draw_lognormal,
    draw_offsets,
    draw_truncated_normal,
    order_tasks,
    split_blocks,
)
from gwa.models.base import Model
from gwa.models.draws import MIDPOINTS, Scaled
from gwa.models.parameters import Quantity, positive, share
from gwa.models.rounding import fit_rounded, fit_sizes, truncate_above
from gwa.models.streams import Block, concatenate
from gwa.models.work import CALIBRATION_JOBS, Submitted, known_gap, stretch
from gwa.statistics.dependence import pearson
from gwa.statistics.sample import Floats, Sample
from gwa.statistics.zipf import Zipf
from gwa.store.schema import MAXIMUM_DURATION
from gwa.store.store import Store
from gwa.words.message import message

MINIMUM_LOG_SIZE: Final = math.log(1.5)
MAXIMUM_LOG2_GAP: Final = math.log2(120.5)

SOURCE = "S. D. Anoep, Performance analysis of bags-of-tasks in grids, MSc thesis, TU Delft (2009)"


@dataclass(frozen=True, kw_only=True)
class TasksModel(Model):
    """
    M1, tasks that arrive one by one: sizes, run times, requested times and arrivals.

    A task has one processor with probability *sequential*, else 2 to the power of a draw, which is
    rounded with probability *powers_of_two*. Size, run time and requested time are independent. The thesis
    leaves the arrivals of single tasks open; here they have the slot weights that it gives bags. A fit
    multiplies run times by a *stretch*, so that tasks have the mean work of the trace's jobs, and gaps by a
    pace, so that they come as often; the thesis has neither.
    """

    arrivals: Arrivals
    run_time: Scaled
    longest: Annotated[float, Quantity("longer run times are cut to this", "s", 1.0, MAXIMUM_DURATION)] = (
        MAXIMUM_DURATION
    )
    sequential: Annotated[float, share("of tasks on one processor")] = 1.0
    powers_of_two: Annotated[float, share("of parallel tasks whose draw is rounded to a power of two")] = 0.0
    size: Scaled | None = None
    requested: Scaled | None = None
    stretch: Annotated[float, positive("what run times are multiplied by, before they are cut")] = 1.0

    name = "thesis-tasks"
    title = "Tasks (thesis M1)"
    source = SOURCE

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """Fit the model to all tasks."""
        return cls(arrivals=Slots.fit(store, "ran"), **cls.task_parameters(store)).keep_load(
            Submitted.of(store)
        )

    def keep_load(self, log: Submitted) -> Self:
        """Return the model with the mean work of jobs of a *log*, and as many of them a day."""
        paced = self.scale_gaps(log.mean_gap * self.mean_tasks() / known_gap(self.arrivals.mean_gap()))
        tasks = replace(paced, longest=MAXIMUM_DURATION).first_tasks(CALIBRATION_JOBS)
        cut = replace(paced, stretch=1.0)
        factor = stretch(tasks["n_procs"], tasks["run_time"], log.mean_work, cut.round_run_time)
        return replace(paced, stretch=factor)

    def mean_tasks(self) -> float:
        """Return the mean number of tasks of an arrival."""
        return 1.0

    def first_tasks(self, n: int) -> Block:
        """Return about *n* tasks of this model."""
        blocks: list[Block] = []
        for block in self.blocks(np.random.default_rng(0)):
            blocks.append({name: block[name] for name in ("n_procs", "run_time")})
            if sum(each["n_procs"].size for each in blocks) >= n:
                break
        return concatenate(blocks)

    @classmethod
    def task_parameters(cls, store: Store) -> dict[str, Any]:
        """Fit the parameters of tasks, arrivals left out."""
        procs = store.sample("n_procs").restrict(low=1.0)
        parallel = procs.restrict(low=2.0)
        powers, size = fit_sizes(parallel) if parallel.n else (0.0, None)
        times = store.sample("round(run_time)").restrict(low=1.0)
        requested = store.sample("round(req_time)")
        has_requests = requested.restrict(low=1.0).values.size > 1
        return {
            "run_time": fit_rounded(times, "run_time", math.e),
            "longest": times.max(),
            "sequential": 1 - parallel.n / procs.n,
            "powers_of_two": powers,
            "size": truncate_above(size, parallel.max()) if size else None,
            "requested": fit_rounded(requested, "requested", 2.0) if has_requests else None,
        }

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of tasks in the order of submission."""
        when, what = rng.spawn(2)
        for times in split_blocks(self.arrivals.times(when)):
            run_time = self.run_time.rvs(what, times.size)
            yield {"submit_time": times, **self.draw_tasks(what, run_time)}

    def draw_tasks(self, rng: np.random.Generator, run_time: Floats) -> Block:
        """Draw the processors and requested times of tasks with these run times."""
        tasks: Block = {
            "run_time": self.round_run_time(run_time),
            "n_procs": self.draw_processors(rng, run_time.size),
        }
        if self.requested:
            tasks["req_time"] = np.minimum(
                np.maximum(np.rint(self.requested.rvs(rng, run_time.size)), 1.0), MAXIMUM_DURATION
            )
        return tasks

    def round_run_time(self, run_time: Floats) -> Floats:
        """Stretch run times and round them to whole seconds from 1 to the longest."""
        return np.minimum(np.maximum(np.rint(self.stretch * run_time), 1.0), np.floor(self.longest))

    def draw_processors(self, rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        """Draw the processors of *n* tasks."""
        if self.size is None:
            return np.ones(n, np.int64)
        power = self.size.logarithms(rng, n)
        rounded = np.rint(power)
        if self.size.high is not None:
            rounded = np.minimum(rounded, math.floor(self.size.high))
        power = np.where(rng.random(n) < self.powers_of_two, rounded, power)
        parallel = rng.random(n) >= self.sequential
        return np.where(parallel, np.rint(self.size.base**power), 1).astype(np.int64)

    def limit_processors(self, cpus: int) -> Self:
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
    def estimate(cls, store: Store) -> Self:
        """Fit the model; bags are those that the trace records, else those of the thesis."""
        return cls(**cls.bag_parameters(store, cls.bag_definition(store))).keep_load(Submitted.of(store))

    def mean_tasks(self) -> float:
        """Return the mean number of tasks of a bag."""
        several = self.bag_size.quantiles((np.arange(MIDPOINTS) + 0.5) / MIDPOINTS)
        return self.singles + (1 - self.singles) * float(np.maximum(np.rint(several), 2.0).mean())

    @classmethod
    def bag_definition(cls, store: Store) -> Definition:
        """Return the definition of bags that applies to a trace."""
        definition = that_apply(store)
        if not store.has(definition.key[0]):
            raise ModelError(
                message(
                    "{model}: no job records {name}, expected users or bags",
                    model=cls.name,
                    name=definition.key[0],
                )
            )
        return definition

    @classmethod
    def arrival_column(cls, store: Store) -> tuple[str, str]:
        """Return the table of the bags of a trace, and the column of their starts."""
        return bags(store, cls.bag_definition(store)), "start"

    @classmethod
    def bag_parameters(cls, store: Store, definition: Definition) -> dict[str, Any]:
        """Fit the parameters of bags and of their tasks."""
        sizes = store.sample("size", bags(store, definition))
        several = sizes.restrict(low=2.0)
        gaps = _gaps_in_bags(store, definition)
        variances = store.sample("round(variance)", _by_bag(store, definition)).restrict(low=1.0)  # in s²
        return cls.task_parameters(store) | {
            "arrivals": Slots.fit(store, bags(store, definition), "start"),
            "singles": 1 - several.n / sizes.n,
            "bag_size": truncate_above(
                fit_rounded(several, "bag_size", math.e, low=MINIMUM_LOG_SIZE), several.max()
            ),
            "task_gap": fit_rounded(gaps.restrict(high=120.0), "task_gap", 2.0, high=MAXIMUM_LOG2_GAP),
            "simultaneous": 1 - gaps.restrict(above=0.0).n / gaps.n if gaps.n else 0.0,
            "run_time": fit_rounded(_run_time_centres(store, definition), "run_time", math.e),
            "variance": truncate_above(fit_rounded(variances, "variance", math.e), variances.max()),
            "correlation": _correlate_variance(store, definition),
        }

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of tasks in the order of submission."""
        return order_tasks(self._bags(*rng.spawn(2)))

    def _bags(self, when: np.random.Generator, what: np.random.Generator) -> Iterator[tuple[float, Block]]:
        """Yield the arrival of the last bag of a block, and the tasks of its bags."""
        number = 0
        for starts in split_blocks(self.arrivals.times(when), BAGS_PER_BLOCK):
            size = self._draw_sizes(what, starts.size)
            bag = np.repeat(np.arange(starts.size), size)
            centre, variance = draw_correlated(
                what, starts.size, self.run_time, self.variance, self.correlation
            )
            draw = draw_lognormal if self.variability == "lognormal" else draw_truncated_normal
            run_time = draw(
                what, np.minimum(centre, MAXIMUM_DURATION), np.minimum(variance, MAXIMUM_DURATION**2), size
            )
            first_tasks = self.draw_tasks(what, centre)
            yield (
                float(starts[-1]),
                {
                    "submit_time": starts[bag] + draw_offsets(what, size, self.task_gap, self.simultaneous),
                    **{name: column[bag] for name, column in first_tasks.items()},
                    "run_time": self.round_run_time(run_time),
                    "job_structure": (size > 1).astype(np.int64)[bag],
                    "job_structure_params": number + 1 + bag,
                    **{name: column[bag] for name, column in self.draw_users(what, starts.size).items()},
                },
            )
            number += starts.size

    def _draw_sizes(self, rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        several = np.maximum(np.rint(self.bag_size.rvs(rng, n)), 2.0)
        return np.where(rng.random(n) < self.singles, 1.0, several).astype(np.int64)

    def draw_users(self, rng: np.random.Generator, n: int) -> Block:
        """Draw the users of *n* bags: this model has none."""
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
    def bag_parameters(cls, store: Store, definition: Definition) -> dict[str, Any]:
        """Fit the parameters of bags, of their tasks and of their users."""
        law = ranked_users(store).least_squares
        return super().bag_parameters(store, definition) | {"exponent": law.exponent, "users": int(law.ranks)}

    def draw_users(self, rng: np.random.Generator, n: int) -> Block:
        """Draw the users of *n* bags, numbered by rank."""
        return {"user_id": Zipf(self.exponent, self.users).rvs(rng, n).astype(np.int64)}


def _gaps_in_bags(store: Store, definition: Definition) -> Sample:
    """Return the seconds between consecutive tasks of a bag."""
    return store.sample(
        "round(gap)",
        "(select submit_time - lag(submit_time) over (partition by bag order by submit_time, job_id) as gap"
        f" from {bagged(store, definition)}) as gaps",
    )


def _by_bag(store: Store, definition: Definition) -> str:
    """Return the query for the geometric mean and the variance of run times in bags of two or more tasks."""
    return (
        "(select exp(avg(ln(greatest(run_time, 1)))) as centre, var_pop(run_time) as variance"
        f" from {bagged(store, definition)} where run_time >= 0 group by bag having count(*) >= 2) as of_bags"
    )


def _run_time_centres(store: Store, definition: Definition) -> Sample:
    """Return, for each task, the geometric mean of the run times of its bag, in whole seconds."""
    return store.sample(
        "round(exp(avg(ln(greatest(run_time, 1))) over (partition by bag)))",
        f"(select * from {bagged(store, definition)} where run_time >= 0) as tasks",
    )


def _correlate_variance(store: Store, definition: Definition) -> float:
    """Return Pearson's correlation of the logarithms of run time and variance over bags, 0 if unknown."""
    bags = store.arrays(
        f"select centre, variance from {_by_bag(store, definition)} where variance >= 1 order by all"
    )
    r = pearson(np.log(bags["centre"]), np.log(bags["variance"]))
    return float(np.clip(r, -1.0, 1.0)) if math.isfinite(r) else 0.0
