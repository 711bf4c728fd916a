"""The model of Lublin and Feitelson (2003): rigid jobs on parallel supercomputers."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals
from gwa.models.arrivals.slots import Slots
from gwa.models.base import Model
from gwa.models.families._lublin_fit import fit_run_times, fit_sizes
from gwa.models.parameters import Parameters, Quantity, positive, share
from gwa.models.streams import Block, merge
from gwa.statistics.gamma import Gamma
from gwa.statistics.sample import Floats
from gwa.store.store import Store
from gwa.util.units import HOUR

MAXIMUM_LOGARITHM = 12.0
"""Maximum logarithm of a run time, 45 hours; longer ones are drawn again."""

DAY_START, FIRST_ARGUMENT = 5.0 * HOUR, 11.0
"""The day begins at five in the morning, with the 11th argument of its gamma distribution."""

INTERACTIVE_QUEUE = 0
"""Queue of interactive jobs in the Standard Workload Format; batch jobs are in queue 1."""


@dataclass(frozen=True)
class Sizes(Parameters):
    """
    Processors: one, or 2 to the power of a two-stage uniform draw, rounded if the job has a power of two.

    The draw is uniform from *low* to *middle* with probability *first*, else from *middle* to *high*. It is
    never rounded above the largest power of two in the system.
    """

    serial: Annotated[float, share("of jobs on one processor")]
    powers_of_two: Annotated[float, share("of jobs whose draw is rounded to a power of two")]
    low: Annotated[float, Quantity("least draw", "log2 processors", 0.0, 30.0)]
    middle: Annotated[float, Quantity("where the second stage begins", "log2 processors", 0.0, 30.0)]
    high: Annotated[float, Quantity("greatest draw", "log2 processors", 0.0, 30.0)]
    first: Annotated[float, share("of parallel jobs in the first stage")]

    def check(self) -> None:
        """Refuse stages out of order, and shares that add up to more than 1."""
        if not self.low <= self.middle <= self.high:
            raise ModelError(f"middle is {self.middle}, expected one between low and high")
        if self.serial + self.powers_of_two > 1 + 1e-9:
            raise ModelError(f"powers_of_two is {self.powers_of_two}, expected at most 1 less serial")

    def draw(self, rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        """Draw the processors of *n* jobs."""
        kind, uniform = rng.random(n), rng.random(n)
        first = rng.random(n) < self.first
        power = np.where(
            first,
            self.low + (self.middle - self.low) * uniform,
            self.middle + (self.high - self.middle) * uniform,
        )
        rounded = np.minimum(np.floor(power + 0.5), math.floor(self.high))
        power = np.where(kind < self.serial + self.powers_of_two, rounded, power)
        procs: NDArray[np.int64] = np.where(kind < self.serial, 1, np.floor(2**power + 0.5)).astype(np.int64)
        return procs


@dataclass(frozen=True)
class RunTimes(Parameters):
    """
    Run times: their natural logarithm is hyper-gamma; large jobs have the first gamma less often.

    The first gamma has probability *slope* times processors plus *intercept*, clipped to 0 to 1.
    """

    shape1: Annotated[float, positive("shape of the first gamma")]
    scale1: Annotated[float, positive("scale of the first gamma", "ln s")]
    shape2: Annotated[float, positive("shape of the second gamma")]
    scale2: Annotated[float, positive("scale of the second gamma", "ln s")]
    slope: Annotated[float, Quantity("how the probability of the first gamma changes", "per processor")]
    intercept: Annotated[float, Quantity("the probability of the first gamma, extrapolated to no processor")]

    def check(self) -> None:
        """Refuse gammas that hardly ever stay below the maximum run time."""
        for name, gamma in (
            ("shape1", Gamma(self.shape1, self.scale1)),
            ("shape2", Gamma(self.shape2, self.scale2)),
        ):
            if gamma.cdf(MAXIMUM_LOGARITHM) < 0.5:
                raise ModelError(
                    f"{name} is {gamma.shape}, expected a gamma with a median below"
                    f" {MAXIMUM_LOGARITHM:g} ln s"
                )

    def draw(self, rng: np.random.Generator, procs: NDArray[np.int64]) -> Floats:
        """Draw run times in whole seconds for jobs of *procs* processors."""
        probability = np.clip(self.slope * procs + self.intercept, 0, 1)
        logarithms = np.full(procs.size, np.inf)
        too_long = np.arange(procs.size)
        while too_long.size:
            first = rng.random(too_long.size) < probability[too_long]
            shape = np.where(first, self.shape1, self.shape2)
            logarithms[too_long] = rng.standard_gamma(shape) * np.where(first, self.scale1, self.scale2)
            too_long = too_long[logarithms[too_long] > MAXIMUM_LOGARITHM]
        seconds: Floats = np.floor(np.exp(logarithms))
        return seconds


@dataclass(frozen=True)
class JobParameters(Parameters):
    """Jobs of one type: their arrivals, sizes and run times."""

    arrivals: Arrivals
    sizes: Sizes
    run_times: RunTimes

    def blocks(self, rng: np.random.Generator, queue: int) -> Iterator[Block]:
        """Yield an endless stream of jobs of this type."""
        when, size, run = rng.spawn(3)
        for times in self.arrivals.times(when):
            procs = self.sizes.draw(size, times.size)
            yield {
                "submit_time": times,
                "run_time": self.run_times.draw(run, procs),
                "n_procs": procs,
                "queue_id": np.full(times.size, queue),
            }

    @classmethod
    def fit(cls, store: Store, table: str) -> Self:
        """Fit the parameters to the jobs in *table*."""
        arrivals = Slots.fit_day(
            store, table, "submit_time", candidates=[Gamma], begins=DAY_START, first=FIRST_ARGUMENT
        )
        sizes = Sizes(**fit_sizes(store, table))
        return cls(arrivals, sizes, RunTimes(**fit_run_times(store, table, MAXIMUM_LOGARITHM)))


@dataclass(frozen=True)
class Lublin(Model):
    """
    Batch and interactive jobs of parallel supercomputers, with a daily cycle.

    Two-stage uniform sizes, hyper-gamma run times that grow with size, gamma gaps in a virtual time
    that follows the day. A trace whose queues tell interactive jobs (0) from others is fitted with both
    types, any other with one, called batch. The published gaps are those of rush hours times the ratio ARAR
    that stretches them to all hours; here the shape is the product.
    """

    batch: JobParameters
    interactive: JobParameters | None = None

    name = "lublin"
    title = "Lublin and Feitelson 2003"
    source = (
        "U. Lublin and D. G. Feitelson, The workload on parallel supercomputers: modeling the characteristics"
        " of rigid jobs, Journal of Parallel and Distributed Computing 63 (2003)"
    )

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """Return the model of the jobs that ran."""
        return cls(*(JobParameters.fit(store, table) for table in cls.tables(store)))

    @classmethod
    def tables(cls, store: Store) -> list[str]:
        """Return the tables of batch and interactive jobs, or that of all jobs if a type has too few."""
        types = {}
        for name, where in (("batch", "<>"), ("interactive", "=")):
            table = store.keep(
                f"lublin_{name}",
                "select submit_time, run_time, n_procs from ran"
                f" where submit_time is not null and coalesce(queue_id, '') {where} '{INTERACTIVE_QUEUE}'",
            )
            types[name] = table, store.row(f"select count(*) from {table}")[0]
        large = [table for table, count in types.values() if count >= cls.minimum_jobs]
        if len(large) < len(types):
            large = [store.keep("lublin_all", "select * from ran where submit_time is not null")]
        return large

    def with_arrivals(self, process: type[Arrivals], store: Store) -> Self:
        """Return the model with the arrivals of each type replaced by a *process* fitted to *store*."""
        tables = self.tables(store)
        if len(tables) != len(self.types()):
            raise ModelError(f"{self.name}: has {len(self.types())} types of jobs, the trace {len(tables)}")
        arrivals = [process.fit(store, table) for table in tables]
        return self._change_types(lambda jobs: {"arrivals": arrivals[[*self.types().values()].index(jobs)]})

    def types(self) -> dict[str, JobParameters]:
        """Return the types of jobs by name."""
        return {name: jobs for name, jobs in vars(self).items() if jobs is not None}

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of jobs in the order of submission."""
        queues = {"batch": 1, "interactive": INTERACTIVE_QUEUE}
        streams = [
            jobs.blocks(stream, queues[name])
            for (name, jobs), stream in zip(self.types().items(), rng.spawn(len(self.types())), strict=True)
        ]
        return merge(streams) if len(streams) > 1 else streams[0]

    def scale_gaps(self, factor: float) -> Self:
        """Return the model with interarrival gaps multiplied by *factor*."""
        return self._change_types(lambda jobs: {"arrivals": jobs.arrivals.scale_gaps(factor)})

    def limit_processors(self, cpus: int) -> Self:
        """Return the model for a system of *cpus* processors: the bounds of the second stage are shifted."""
        maximum = max(jobs.sizes.high for jobs in self.types().values())
        shift = math.log2(cpus) - maximum

        def shift_sizes(jobs: JobParameters) -> dict[str, Any]:
            high, middle = jobs.sizes.high + shift, jobs.sizes.middle + shift
            return {"sizes": replace(jobs.sizes, middle=max(middle, jobs.sizes.low), high=high)}

        try:
            return self._change_types(shift_sizes)
        except ModelError as error:
            raise ModelError(
                f"cpus is {cpus}, too few for the parallel jobs of this model ({error})"
            ) from error

    def _change_types(self, change: Callable[[JobParameters], dict[str, Any]]) -> Self:
        return replace(self, **{name: replace(jobs, **change(jobs)) for name, jobs in self.types().items()})
