"""What an experiment schedules: tasks that models make, or that a trace recorded, brought to a load."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Final

import numpy as np
from numpy.typing import ArrayLike

from gwa.errors import ModelError, SimulationError
from gwa.evaluation.experiments.plan import Variant
from gwa.evaluation.experiments.spec import AT_ONCE, EVENLY, Stated, WorkloadSpec
from gwa.formats.open import open_trace
from gwa.metrics.bags import bagged
from gwa.models.base import Model
from gwa.models.draws import Scaled
from gwa.models.families.thesis import BagsModel
from gwa.models.parameters import positive
from gwa.models.streams import Block, Extent, concatenate, merge, truncate
from gwa.simulation.tasks import Tasks
from gwa.statistics.sample import Floats, Ints
from gwa.store.schema import LONGEST
from gwa.store.store import Store
from gwa.util.units import DAY

NEAR: Final = 0.02
"""How near arrivals alone must bring the load, as a share of the target; run times make up for the rest."""

FAR: Final = 0.25
"""How far off arrivals may leave it, where one bag is a large part of the whole."""

ROUNDS: Final = 12

NOBODY: Final = -1

SPAN: Final = 1 << 40
"""Bags and users of different streams have numbers that are this far apart."""


@dataclass(frozen=True, eq=False)
class GeneratedWorkload:
    """
    Tasks in the order of submission, as arrays of one length, and the *length* of all submissions in seconds.

    *submit* and *run* are in seconds, *estimate* is the run time that was requested (nan where none was);
    *procs* are the processors of parallel jobs, and 1 where each job is taken for a task of a bag.
    *bag*, *user* and *site* are numbers from 0; *site* is the cluster at which a task is submitted.
    """

    submit: Floats
    run: Floats
    procs: Ints
    estimate: Floats
    bag: Ints
    user: Ints
    site: Ints
    length: float

    def __len__(self) -> int:
        """Return the number of tasks."""
        return self.submit.size

    @cached_property
    def tasks(self) -> Tasks:
        """The tasks as schedulers of bags see them."""
        return Tasks.of(self.submit, self.run, self.bag, self.user, self.site)

    def load(self, capacity: float) -> float:
        """Return the share of *capacity* that the tasks keep busy in their length."""
        return float((self.run * self.procs).sum()) / (capacity * self.length)

    def arriving(self, pattern: str) -> "GeneratedWorkload":
        """Return the tasks with their bags arriving by another pattern; within a bag nothing changes."""
        if pattern not in {AT_ONCE, EVENLY}:
            return self
        starts = np.full(int(self.bag.max(initial=-1)) + 1, np.inf)
        np.minimum.at(starts, self.bag, self.submit)
        moved = np.zeros(starts.size)
        if pattern == EVENLY:
            moved[np.argsort(starts, kind="stable")] = np.arange(starts.size) * (self.length / starts.size)
        submit = self.submit - starts[self.bag] + moved[self.bag]
        order = np.argsort(submit, kind="stable")
        columns = {field.name: getattr(self, field.name)[order] for field in fields(self)[:-1]}
        return replace(self, **{**columns, "submit": submit[order]})


def workload(stated: Stated, variant: Variant) -> GeneratedWorkload:
    """
    Return the tasks, or the parallel jobs, of a variant.

    Raise `SimulationError` or `ModelError` where it cannot be made, or not be brought to its load.
    """
    said = stated.experiment
    (one,) = (one for one in said.workloads if one.name == variant.workload)
    shaped = _parallel if said.policies else _sequential

    def make(pace: float) -> GeneratedWorkload:
        models = [_with_bags_of(model, variant.bag_size) for model in _models(stated, one)]
        made = _modelled(models, one, pace, (said.seed, variant.repetition))
        return shaped(_lengthened(made, variant.run_time))

    capacity = stated.machines.capacity
    if one.trace is None:
        made = _paced(make, variant.load, capacity)
    else:
        recorded = _recorded(stated.traces[one.trace], len(stated.machines.clusters))
        made = _stretched(shaped(_lengthened(recorded, variant.run_time)), variant.load, capacity)
    return made.arriving(variant.arrivals)


def _models(stated: Stated, one: WorkloadSpec) -> list[Model]:
    """Return the model of each stream: one for each cluster; parallel jobs fit into the only one."""
    models = [stated.models[name] for name in one.models]
    if stated.experiment.policies:
        return [model.limit_processors(stated.machines.processors) for model in models]
    return [models[place % len(models)] for place in range(len(stated.machines.clusters))]


def _parallel(made: GeneratedWorkload) -> GeneratedWorkload:
    return made


def _sequential(made: GeneratedWorkload) -> GeneratedWorkload:
    """Return each job as a task on one processor, whatever it had."""
    return replace(made, procs=np.ones_like(made.procs))


@dataclass(frozen=True)
class Stretched(Scaled):
    """A quantity whose draws are multiplied by *factor*."""

    factor: Annotated[float, positive("what each draw is multiplied by")] = 1.0

    def from_logarithm(self, logarithm: ArrayLike) -> Floats:
        """Convert logarithms to the quantity."""
        return self.factor * super().from_logarithm(logarithm)


def _with_bags_of(model: Model, median: float | None) -> Model:
    """Return *model* with bags of two or more of a *median* size, their coefficient of variation kept."""
    if median is None or not isinstance(model, BagsModel):
        return model
    size = model.bag_size
    factor = median / float(size.quantiles(np.array([0.5]))[0])
    return replace(
        model, bag_size=Stretched(size.distribution, size.base, size.low, size.high, factor=factor)
    )


def _modelled(
    models: Sequence[Model], said: WorkloadSpec, pace: float, seed: tuple[int, int]
) -> GeneratedWorkload:
    """Return the tasks that *models* make, one stream each, with gaps *pace* times as long."""
    streams = [
        _stream(model.scale_gaps(pace), place, np.random.default_rng([*seed, place]))
        for place, model in enumerate(models)
    ]
    block = concatenate(list(truncate(merge(streams), Extent(said.tasks, said.days))))
    if not block["submit_time"].size:
        raise ModelError("no task is submitted in so short a time")
    length = float(block["submit_time"][-1]) if said.days is None else float(said.days * DAY)
    return _made(block, length)


def _stream(model: Model, place: int, rng: np.random.Generator) -> Iterator[Block]:
    """Yield the tasks of one stream without end; no bag or user of it is one of another stream."""
    number = 0
    for block in model.blocks(rng):
        count = block["submit_time"].size
        alone = np.arange(number, number + count)
        bag = np.broadcast_to(block.get("job_structure_params", NOBODY), count)
        yield {
            "submit_time": block["submit_time"],
            "run_time": np.minimum(block["run_time"], LONGEST).astype(np.float64),
            "n_procs": np.broadcast_to(block.get("n_procs", 1), count).astype(np.int64),
            "req_time": np.broadcast_to(block.get("req_time", np.nan), count).astype(np.float64),
            "bag": np.where(bag >= 0, 2 * bag, 2 * alone + 1) + place * SPAN,
            "user": np.broadcast_to(block.get("user_id", NOBODY), count) + place * SPAN,
            "site": np.full(count, place),
        }
        number += count


def _made(block: Block, length: float) -> GeneratedWorkload:
    """Return the tasks of a block with numbers of bags and users from 0."""
    bag, user = (np.unique(block[name], return_inverse=True)[1] for name in ("bag", "user"))
    return GeneratedWorkload(
        submit=block["submit_time"], run=block["run_time"], procs=block["n_procs"],
        estimate=block["req_time"], bag=bag, user=user, site=block["site"], length=max(length, 1.0),
    )  # fmt: skip


def _lengthened(made: GeneratedWorkload, mean: float | None) -> GeneratedWorkload:
    """Return the tasks with run times of this *mean*, of the same coefficient of variation."""
    if mean is None:
        return made
    actual = float(made.run.mean())
    if not actual > 0:
        raise SimulationError(f"run_times: all run times are 0, expected a mean of {mean:g} s")
    return replace(made, run=made.run * (mean / actual), estimate=made.estimate * (mean / actual))


def _paced(
    make: Callable[[float], GeneratedWorkload], load: float | None, capacity: float
) -> GeneratedWorkload:
    """
    Return what *make* makes at the pace that brings it near *load*, and with run times that bring it there.

    Heavy tails leave jumps in between: one bag may be a large part of all work.
    """
    made = make(1.0)
    if load is None:
        return made
    paces, errors = [0.0], [_off(made, load, capacity)]
    best = made
    for _ in range(ROUNDS):
        if min(map(abs, errors)) <= NEAR:
            break
        slope = (errors[-1] - errors[-2]) / (paces[-1] - paces[-2]) if len(paces) > 1 else -1.0
        paces.append(paces[-1] - errors[-1] / min(max(slope, -2.0), -0.5))
        made = make(math.exp(paces[-1]))
        errors.append(_off(made, load, capacity))
        best = made if abs(errors[-1]) <= min(map(abs, errors)) else best
    reached = best.load(capacity)
    if min(map(abs, errors)) > FAR:
        message = f"cannot be brought to a load of {load:g}: the nearest is {reached:.3g}"
        raise SimulationError(f"{message}; more days, more tasks or a smaller system may do")
    return replace(best, run=best.run * (load / reached), estimate=best.estimate * (load / reached))


def _off(made: GeneratedWorkload, load: float, capacity: float) -> float:
    """Return how far the load is off, as a logarithm."""
    reached = made.load(capacity)
    if not reached > 0:
        raise SimulationError("has no work at all")
    return math.log(reached / load)


def _stretched(made: GeneratedWorkload, load: float | None, capacity: float) -> GeneratedWorkload:
    """Return recorded tasks with the time between submissions stretched so that they bring *load*."""
    if load is None:
        return made
    factor = math.exp(_off(made, load, capacity))
    return replace(made, submit=made.submit * factor, length=made.length * factor)


@cache
def _recorded(path: Path, clusters: int) -> GeneratedWorkload:
    """
    Return the jobs of a trace that ran, each as a task.

    Bags are those that the trace records, else those of the thesis; where no user is known, each job is one.
    Where they were submitted at several sites, those stand for clusters, in turns; else users do.
    """
    with open_trace([path]) as store:
        bags = (
            bagged(store, BagsModel.bag_definition(store))
            if _tells(store)
            else "(select null as job_id, null as bag)"
        )
        (sites,) = store.row("select count(distinct orig_site_id) from ran")
        place = "orig_site_id" if sites > 1 else "user_id"
        found = store.arrays(
            "select ran.submit_time, ran.run_time, n_procs, req_time,"  # noqa: S608 - our own names
            " coalesce(2 * bag, 2 * ran.job_id + 1) as bag, dense_rank() over (order by user_id) as user,"
            f" dense_rank() over (order by {place}) as site"
            f" from ran left join {bags} on ran.job_id = bagged.job_id"
            " where ran.submit_time is not null order by ran.submit_time, ran.job_id"
        )
    columns = {
        name: np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan) for name, column in found.items()
    }
    submit = columns["submit_time"]
    if not submit.size:
        raise SimulationError(f"{path}: no job ran at a known time, expected a workload")
    block: Block = {**columns, "submit_time": submit - submit[0]}
    block["n_procs"] = columns["n_procs"].astype(np.int64)
    block["site"] = (columns["site"].astype(np.int64) - 1) % clusters
    return _made(block, float(submit[-1] - submit[0]))


def _tells(store: Store) -> bool:
    """Whether bags can be told."""
    return store.has("job_structure_params") or store.has("user_id")
