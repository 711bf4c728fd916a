"""The model of Lublin and Feitelson (2003): rigid jobs on parallel supercomputers."""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Any, Final, Self

import numpy as np
import scipy  # imports scipy.optimize, which is slow, at its first use
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals
from gwa.models.arrivals.slots import Slots
from gwa.models.base import Model
from gwa.models.parameters import Parameters, Quantity, positive, share
from gwa.models.streams import Block, merge
from gwa.models.work import CALIBRATION_JOBS, Submitted, stretch
from gwa.statistics.gamma import Gamma
from gwa.statistics.numeric import dot
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store
from gwa.util.units import HOUR
from gwa.words.message import message

MAXIMUM_LOGARITHM = 12.0
"""Maximum logarithm of a run time, 45 hours; longer ones are drawn again."""

MAXIMUM_GAP = 13.0
"""
Maximum logarithm of a gap, 5 days; longer ones are drawn again.

It is TOO_MUCH_ARRIVE_TIME of the authors' program. The expectation of gaps with a gamma logarithm is infinite
for a scale of 1 or more.
"""

DAY_START, FIRST_ARGUMENT = 5.0 * HOUR, 11.0
"""The day begins at five in the morning, with the 11th argument of its gamma distribution."""

INTERACTIVE_QUEUE = 0
"""Queue of interactive jobs in the Standard Workload Format; batch jobs are in queue 1."""

MINIMUM_DRAW: Final = math.log2(1.5)
"""The minimum draw that gives two processors."""

GRID: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Start values of each of four unknowns, relative to its range."""

SEARCH_STARTS: Final = 4
"""Number of points of the grid from which the likelihood, which has several peaks, is maximized."""

BINS: Final = 50
"""Bins of run times in a unit of ln s for EM."""

MAXIMUM_ITERATIONS, TOLERANCE = 2000, 1e-9
"""Maximum number of iterations of EM, and the gain in mean log-likelihood below which it stops."""


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
        return np.where(kind < self.serial, 1, np.floor(2**power + 0.5)).astype(np.int64)


@dataclass(frozen=True)
class RunTimes(Parameters):
    """
    Run times: their natural logarithm is hyper-gamma; large jobs have the first gamma less often.

    The first gamma has probability *slope* times processors plus *intercept*, clipped to 0 to 1. Logarithms
    above *high* are drawn again. The authors' parameters have no *stretch*; a fit multiplies run times by it,
    so that jobs have the mean work of the log's.
    """

    shape1: Annotated[float, positive("shape of the first gamma")]
    scale1: Annotated[float, positive("scale of the first gamma", "ln s")]
    shape2: Annotated[float, positive("shape of the second gamma")]
    scale2: Annotated[float, positive("scale of the second gamma", "ln s")]
    slope: Annotated[float, Quantity("how the probability of the first gamma changes", "per processor")]
    intercept: Annotated[float, Quantity("the probability of the first gamma, extrapolated to no processor")]
    high: Annotated[float, Quantity("greatest logarithm, before the stretch", "ln s", 0.0)] = (
        MAXIMUM_LOGARITHM
    )
    stretch: Annotated[float, positive("what run times are multiplied by")] = 1.0

    def check(self) -> None:
        """Refuse gammas that hardly ever stay below the maximum run time."""
        for name, gamma in (
            ("shape1", Gamma(self.shape1, self.scale1)),
            ("shape2", Gamma(self.shape2, self.scale2)),
        ):
            if gamma.cdf(self.high) < 0.5:
                raise ModelError(
                    f"{name} is {gamma.shape}, expected a gamma with a median below {self.high:g} ln s"
                )

    def draw(self, rng: np.random.Generator, procs: NDArray[np.int64]) -> Floats:
        """Draw run times in whole seconds for jobs of *procs* processors."""
        return np.floor(self.stretch * np.exp(self._logarithms(rng, procs)))

    def limit(self, longest: float) -> Self:
        """Return run times up to the *longest* in seconds, if both gammas have their median below it."""
        with suppress(ModelError):
            return replace(self, high=min(self.high, math.log(longest + 1)))
        return self

    def keep_work(self, sizes: Sizes, mean_work: float) -> Self:
        """Return run times stretched so that jobs of these *sizes* have *mean_work* in CPU seconds."""
        rng = np.random.default_rng(0)
        procs = sizes.draw(rng, CALIBRATION_JOBS)
        run_time = np.exp(self._logarithms(rng, procs))
        return replace(self, stretch=stretch(procs, run_time, mean_work, np.floor))

    def _logarithms(self, rng: np.random.Generator, procs: NDArray[np.int64]) -> Floats:
        probability = np.clip(self.slope * procs + self.intercept, 0, 1)
        logarithms = np.full(procs.size, np.inf)
        too_long = np.arange(procs.size)
        while too_long.size:
            first = rng.random(too_long.size) < probability[too_long]
            shape = np.where(first, self.shape1, self.shape2)
            logarithms[too_long] = rng.standard_gamma(shape) * np.where(first, self.scale1, self.scale2)
            too_long = too_long[logarithms[too_long] > self.high]
        return logarithms


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
            store,
            table,
            "submit_time",
            candidates=[Gamma],
            begins=DAY_START,
            first=FIRST_ARGUMENT,
            high=MAXIMUM_GAP,
        )
        sizes, mean_work = _fit_sizes(store, table), Submitted.of(store, table).mean_work
        return cls(arrivals, sizes, _fit_run_times(store, table).keep_work(sizes, mean_work))


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
    scales_sizes = True
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


def _fit_sizes(store: Store, table: str) -> Sizes:
    """
    Fit the sizes by maximum likelihood; the maximum draw is that of the largest job.

    A parallel job can have a power of two by rounding or by chance, so that the share of rounded ones is
    estimated together with the stages.
    """
    sizes = store.sample("n_procs", table)
    parallel = sizes.restrict(low=2.0)
    serial, high = 1 - parallel.n / sizes.n, math.log2(max(sizes.max(), 2.0))
    if parallel.values.size < 2:
        high = max(high, 1.0)
        return Sizes(serial, 1 - serial, low=1.0, middle=high, high=high, first=1.0)

    def loss(x: Floats) -> float:
        with np.errstate(divide="ignore"):
            likely = np.log(size_probabilities(parallel.values, high, *_to_parameters(x, high)))
        return -dot(parallel.weights, likely) if np.isfinite(likely).all() else math.inf

    grid = [np.log(np.array(point) / (1 - np.array(point))) for point in product(GRID, repeat=4)]
    best = min((_minimize(loss, start) for start in sorted(grid, key=loss)[:SEARCH_STARTS]), key=loss)
    powers, low, middle, first = _to_parameters(_minimize(loss, best), high)
    return Sizes(serial, powers * (1 - serial), low, middle, high, first)


def _minimize(loss: object, start: Floats) -> Floats:
    result = scipy.optimize.minimize(
        loss, start, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-4, "fatol": 1e-9}
    )  # type: ignore[call-overload]
    return np.asarray(result.x)


def _to_parameters(x: Floats, high: float) -> tuple[float, float, float, float]:
    """Map four unbounded numbers to the share of powers of two in parallel jobs, low, middle and first."""
    powers, low, middle, first = (1 / (1 + np.exp(-np.clip(x, -30, 30)))).tolist()
    low = MINIMUM_DRAW + low * (min(math.log2(2.5), high) - MINIMUM_DRAW)
    return powers, low, low + middle * (high - low), first


def size_probabilities(
    sizes: Floats, high: float, powers: float, low: float, middle: float, first: float
) -> Floats:
    """Return the probability of each size above 1 among parallel jobs."""

    def cdf(power: Floats) -> Floats:
        corners = ([low, middle, high], [0.0, first, 1.0])
        return np.interp(power, *corners) if middle < high else (power >= low).astype(np.float64)

    power = np.log2(sizes)
    is_power = power == np.rint(power)
    above = np.where(power == math.floor(high), high, power + 0.5)
    rounded = np.where(is_power, cdf(above) - cdf(power - 0.5), 0.0)
    plain = cdf(np.log2(sizes + 0.5)) - cdf(np.log2(sizes - 0.5))
    return powers * rounded + (1 - powers) * plain


def _fit_run_times(store: Store, table: str) -> RunTimes:
    """
    Fit the run times by EM, over sizes and narrow bins of ln(run time + 1/2).

    The half makes up for the truncation to whole seconds. Run times below 1 s or above `MAXIMUM_LOGARITHM`
    are left out. The probability of the first gamma is a line, fitted by least squares to the expected phases
    with binomial weights.
    """
    columns = store.arrays(
        f"select n_procs as n, floor(ln(run_time + 0.5) * {BINS}) as x, count(*) as jobs from {table}"
        f" where run_time >= 1 and ln(run_time) <= {MAXIMUM_LOGARITHM!r} group by all order by all"
    )
    x = (np.asarray(columns["x"], np.float64) + 0.5) / BINS
    procs, jobs = (np.asarray(columns[name], np.float64) for name in ("n", "jobs"))
    if np.unique(x).size < 3:
        raise ModelError(message("run_time: fewer than 3 different ones from 1 s to 45 hours, expected more"))
    return fit_by_em(x, procs, jobs / jobs.sum()).limit(store.row(f"select max(run_time) from {table}")[0])


def fit_by_em(x: Floats, procs: Floats, weight: Floats) -> RunTimes:
    """
    Fit the parameters by EM, starting from a split at the median.

    The gammas are fitted to bins summed over all sizes, which are far fewer than pairs of bin and size.
    """
    bins, bin_of = np.unique(x, return_inverse=True)
    short = np.where(x <= Sample.of(x).median(), 0.9, 0.1)
    probability, last = np.full(x.size, 0.5), -math.inf
    for _ in range(MAXIMUM_ITERATIONS):
        phases = _fit_phases(
            bins, *(np.bincount(bin_of, mass) for mass in (weight * short, weight * (1 - short)))
        )
        slope, intercept = _fit_line(procs, short, weight / np.maximum(probability * (1 - probability), 0.01))
        probability = np.clip(slope * procs + intercept, 0, 1)
        density = phases.pdf(np.stack([bins, bins]))[:, bin_of] * np.stack([probability, 1 - probability])
        total = density.sum(axis=0)
        short = density[0] / np.maximum(total, 1e-300)
        likelihood = dot(weight, np.log(np.maximum(total, 1e-300)))
        if likelihood - last < TOLERANCE:
            break
        last = likelihood
    (shape1, shape2), (scale1, scale2) = np.ravel(phases.shape).tolist(), np.ravel(phases.scale).tolist()
    return RunTimes(shape1, scale1, shape2, scale2, slope, intercept)


def _fit_phases(x: Floats, *masses: "np.ndarray") -> Gamma:
    """
    Fit a gamma to each of *masses* at the same *x*; the parameters are rows.

    None is narrower than a bin, for many jobs with the same run time would shrink a phase to a point.
    """
    weight = np.stack(masses).astype(np.float64)
    mean = (weight @ x / weight.sum(axis=1))[:, np.newaxis]
    shape = np.fmin(Gamma.fit_rows(np.broadcast_to(x, weight.shape), weight).shape, (mean * BINS) ** 2)
    return Gamma(shape, mean / shape)


def _fit_line(procs: Floats, short: Floats, weight: Floats) -> tuple[float, float]:
    """Fit slope and intercept of the share of short jobs over processors by weighted least squares."""
    total = float(weight.sum())
    mean = dot(weight, procs) / total
    spread = dot(weight, (procs - mean) ** 2)
    slope = dot(weight, (procs - mean) * short) / spread if spread else 0.0
    return slope, dot(weight, short) / total - slope * mean
