"""The jobs of which episodes are drawn, and the machine that they are submitted to."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Final, Self

import numpy as np

from gwa.archive.scheduled import machine
from gwa.errors import ArgumentError, SimulationError
from gwa.evaluation.whatif.world import World, recorded
from gwa.functions import generate
from gwa.models.base import presets
from gwa.models.fitted import FittedModel
from gwa.simulation.jobs import Jobs
from gwa.trace import Trace
from gwa.trace import open as open_trace

Source = Trace | FittedModel | str | PathLike[str]
"""A trace or its path; a fitted model, its file or the name of a preset."""

GENERATED: Final = 20_000
"""Jobs that a model generates unless told otherwise."""

LOAD: Final = 0.7
"""The load to which the jobs of a model keep the machine busy whose size is not said."""


@dataclass(frozen=True, eq=False)
class Workload:
    """
    Jobs, and a machine of *cpus* processors that is large enough for each of them.

    *left_out* is how many jobs of the trace are not among them: those that did not run, of which no
    submission, run time or processors are known, or that need more processors than there are.
    """

    name: str
    jobs: Jobs
    cpus: int
    left_out: int = 0

    @classmethod
    def of(
        cls,
        source: Source,
        *,
        cpus: int | None = None,
        load: float | None = None,
        seed: int = 0,
        generated: int = GENERATED,
    ) -> Self:
        """
        Return the jobs of a trace, or *generated* ones of a model.

        The *source* is a trace, or its path; what `gwa.fit` returns, a file of a model, or the name of a
        preset, which generates by its *seed*. *cpus* are the processors of the machine: by default those that
        the trace states, or the most that were ever busy; for a model as many as its jobs keep busy to 70 %.
        With a *load*, gaps between submissions are scaled so that processors times run time are this share of
        the capacity from the first submission to the last.

        Raise `ArgumentError` for numbers that make no sense, `TraceError` and `ModelError` for a source
        without such jobs.
        """
        if cpus is not None and cpus < 1:
            raise ArgumentError(f"cpus is {cpus}, expected at least 1")
        if load is not None and not 0 < load < np.inf:
            raise ArgumentError(f"load is {load:g}, expected a number above 0, such as 0.9")
        if model := _model(source):
            with generate(model, jobs=generated, seed=seed, cpus=cpus) as trace:
                made, name, total = recorded(trace.store, ""), trace.name, len(trace)
            size = cpus or machine(_jobs(made), LOAD)
        else:
            with _opened(source) as trace:
                made, name, total = recorded(trace.store, ""), trace.name, len(trace)
            size = cpus or made.capacity
        world = replace(made.only(made.size <= size), capacity=size)
        if not len(world):
            raise SimulationError(f"{name}: no job fits into {size} processors, expected a larger machine")
        jobs = _jobs(world if load is None else world.at_load(load))
        return cls(name, jobs, size, total - len(jobs))

    def episode(self, first: int, count: int) -> Jobs:
        """Return *count* consecutive jobs from the *first* on, submitted from second 0."""
        jobs, part = self.jobs, slice(first, first + count)
        submit = jobs.submit[part] - jobs.submit[first]
        user = None if jobs.user is None else jobs.user[part]
        return Jobs(submit, jobs.run[part], jobs.procs[part], jobs.estimate[part], user)


def _model(source: Source) -> FittedModel | str | None:
    """Return a *source* that is a model as `gwa.generate` takes it; a file is one if it is JSON."""
    if isinstance(source, Trace | FittedModel):
        return source if isinstance(source, FittedModel) else None
    path = Path(source)
    is_model = path.suffix == ".json" or (not path.exists() and str(source) in presets())
    return str(source) if is_model else None


@contextmanager
def _opened(source: Source) -> Iterator[Trace]:
    """Yield an open trace as it is; a path is opened, and closed again."""
    if isinstance(source, Trace):
        yield source
        return
    if not Path(str(source)).exists():
        message = f"there is no file and no model '{source}'"
        raise ArgumentError(f"{message}, expected a trace or one of {', '.join(presets())}")
    with open_trace(str(source)) as trace:
        yield trace


def _jobs(world: World) -> Jobs:
    """Return the jobs of *world* as its own replay takes them."""
    estimate = np.where(world.requested > 0, world.requested, world.run)
    return Jobs.of(world.submit, world.run, world.size, estimate, world.user)
