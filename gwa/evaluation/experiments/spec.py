"""
What an experiment is: workloads, a system, policies, loads and repetitions, as a TOML file states them.

Every mistake in the file is a `DefinitionError` of one line that names the file and the line.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from gwa.errors import ArgumentError, ModelError
from gwa.evaluation.whatif.change import Change, parsed
from gwa.models.base import Model
from gwa.models.families.thesis import BagsModel
from gwa.models.files import load_model
from gwa.models.parameters import Parameters, Quantity, positive
from gwa.simulation.architectures import architecture
from gwa.simulation.backfilling import known as known_policy
from gwa.simulation.scheduling import scheduler
from gwa.simulation.selection import selection
from gwa.util.toml import TomlFile

P = TypeVar("P", bound=Parameters)

AT_ONCE, EVENLY = "all at once", "evenly spread"

Pattern = Literal["as modelled", "all at once", "evenly spread"]
"""When bags arrive: as the model or the trace has it, all at time 0, or at equal distances."""

NO_CHANGE: Final = "none"
CHANGES: Final = ("cpus", "load", "requests", "walltime-cap", "scheduler")
"""The kinds of changes that can be a dimension; users and GPUs are those of a log alone, see `gwa whatif`."""

MAXIMUM_RUNS: Final = 100_000
"""More runs than this are a mistake."""


@dataclass(frozen=True, kw_only=True)
class ClusterSpec(Parameters):
    """A cluster of processors that are alike."""

    name: str  # type: ignore[misc] # a parameter here, not what members of a family are called
    processors: Annotated[int, Quantity("how many there are", "", 1, 1e6)]
    speed: Annotated[float, positive("of a processor; a task of run time r takes r / speed seconds")] = 1.0


@dataclass(frozen=True, kw_only=True)
class Machines(Parameters):
    """A system of *clusters*; *source* says where its numbers come from."""

    title: str
    clusters: tuple[ClusterSpec, ...]
    source: str = ""

    def check(self) -> None:
        """Refuse a system without clusters, and two clusters of one name."""
        names = [cluster.name for cluster in self.clusters]
        if not names:
            raise ModelError("clusters: there are none, expected at least one")
        for place, name in enumerate(names):
            if name in names[:place]:
                raise ModelError(f"clusters[{place}].name: '{name}' is that of another cluster, too")

    @property
    def capacity(self) -> float:
        """How many processors of speed 1 would do as much."""
        return sum(cluster.processors * cluster.speed for cluster in self.clusters)

    @property
    def processors(self) -> int:
        """How many processors there are."""
        return sum(cluster.processors for cluster in self.clusters)


@dataclass(frozen=True, kw_only=True)
class WorkloadSpec(Parameters):
    """
    Tasks that a *trace* recorded, or that *models* make: one stream for each cluster, in turns.

    A workload of models has a length in *days* or a number of *tasks*. Of it there are variants: each of
    *bag_sizes* (the median of bags of two or more, their coefficient of variation kept), of *run_times* (the
    mean, likewise), and of *arrivals*.
    """

    name: str  # type: ignore[misc] # a parameter here, not what members of a family are called
    models: tuple[str, ...] = ()
    trace: str | None = None
    days: Annotated[float | None, positive("of submissions", "days")] = None
    tasks: Annotated[int | None, Quantity("how many tasks", "", 1, 1e8)] = None
    bag_sizes: Annotated[tuple[float, ...], Quantity("median of bags of two or more", "tasks", 2, 1e6)] = ()
    run_times: Annotated[tuple[float, ...], Quantity("mean", "s", 1, 1e9)] = ()
    arrivals: tuple[Pattern, ...] = ("as modelled",)

    def check(self) -> None:
        """Refuse what contradicts itself."""
        if bool(self.models) == (self.trace is not None):
            raise ModelError("models: expected either models or a trace")
        if self.models and (self.days is None) == (self.tasks is None):
            raise ModelError("models: expected either days or tasks beside them")
        for key in ("days", "tasks", "bag_sizes") if self.trace else ():
            if getattr(self, key):
                raise ModelError(f"{key}: is for models, and this workload is a trace")
        for key in ("bag_sizes", "run_times", "arrivals"):
            _distinct(key, getattr(self, key))
        if not self.arrivals:
            raise ModelError("arrivals: there are none, expected at least one")


@dataclass(frozen=True, kw_only=True)
class Experiment(Parameters):
    """
    Every workload at each of *loads*, *repetitions* times, under every combination of policies.

    Bags of tasks are scheduled by *architectures*, *selections* and *schedulers*; or parallel jobs by
    *policies*, on one cluster, each with all *changes* of that cluster or its jobs. A load is the share of
    the system's processors, by their speeds, that all tasks would keep busy while they are submitted; without
    loads a workload comes as it is. The system is a file, or *clusters*. Simulation stops after *horizon*
    times the length of the submissions.
    """

    title: str
    workloads: tuple[WorkloadSpec, ...]
    about: str = ""
    system: str | None = None
    clusters: tuple[ClusterSpec, ...] = ()
    architectures: tuple[str, ...] = ("csp",)
    selections: tuple[str, ...] = ("S-T",)
    schedulers: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    wait_limit: Annotated[float, positive("that the 95 % quantile of waits should stay below", "s")] = 3600.0
    loads: Annotated[tuple[float, ...], Quantity("share of the system", "", 0.0, 10.0, open=True)] = ()
    repetitions: Annotated[int, Quantity("with other random numbers", "", 1, 10_000)] = 1
    seed: Annotated[int, Quantity("of the random numbers", "", 0, 2**53)] = 0
    period: Annotated[
        float, Quantity("between looks of the monitor at processors, under csp", "s", 0.0, 1e9)
    ] = 0.0
    horizon: Annotated[float | None, Quantity("in lengths of the submissions", "", 1.0, 1e6)] = None

    def check(self) -> None:
        """Refuse what contradicts itself, and policies that there are not."""
        if (self.system is None) == (not self.clusters):
            raise ModelError("system: expected either the name of a system's file or clusters")
        if bool(self.schedulers) == bool(self.policies):
            raise ModelError(
                "schedulers: expected either these, for bags of tasks, or policies, for parallel jobs"
            )
        for key in ("workloads", "architectures", "selections"):
            if not getattr(self, key):
                raise ModelError(f"{key}: there are none, expected at least one")
        _distinct("workloads", [workload.name for workload in self.workloads])
        for key, known in KNOWN.items():
            _distinct(key, getattr(self, key))
            for place, name in enumerate(getattr(self, key)):
                _check(f"{key}[{place}]", known, name)
        _distinct("loads", self.loads)
        if self.changes and not self.policies:
            raise ModelError("changes: are of parallel jobs, expected policies beside them")
        if self.policies and self.horizon is not None:
            raise ModelError(
                "horizon: is for bags of tasks, and policies schedule parallel jobs to their ends"
            )


def _distinct(key: str, values: Any) -> None:  # noqa: ANN401 - a sequence of anything
    for place, value in enumerate(values):
        if value in values[:place]:
            raise ModelError(f"{key}[{place}]: '{value}' is there twice")


def _check(path: str, known: Callable[[str], object], name: str) -> None:
    try:
        known(name)
    except ValueError as error:
        raise ModelError(f"{path}: {error}") from error


def parsed_changes(text: str) -> tuple[Change, ...]:
    """
    Return the changes that a text such as "cpus +10%, load 0.9" says; "none" says that there are none.

    Raise `ArgumentError` for another text, and for changes that need more than an experiment knows.
    """
    if text == NO_CHANGE:
        return ()
    changes = tuple(parsed(part) for part in text.split(","))
    for one in changes:
        if one.kind.id not in CHANGES:
            raise ArgumentError(f"'{text}': an experiment can change {', '.join(CHANGES)}")
    return changes


KNOWN: Final[Mapping[str, Callable[[str], object]]] = {
    "architectures": architecture,
    "selections": selection,
    "schedulers": scheduler,
    "policies": known_policy,
    "changes": parsed_changes,
}
"""What raises an error for a policy that there is not."""


@dataclass(frozen=True)
class ExperimentSetup:
    """An *experiment* with all that its file refers to: the *machines*, and *models* and *traces* by name."""

    path: Path
    experiment: Experiment
    machines: Machines
    models: Mapping[str, Model] = field(default_factory=dict)
    traces: Mapping[str, Path] = field(default_factory=dict)

    def with_repetitions(self, repetitions: int) -> "ExperimentSetup":
        """Return the experiment with another number of repetitions."""
        return replace(self, experiment=replace(self.experiment, repetitions=repetitions))


def read_experiment(path: Path) -> ExperimentSetup:
    """
    Return the experiment in a TOML file; the files that it names stand beside it.

    Raise `DefinitionError`, naming file and line, for the first thing that is wrong.
    """
    file = TomlFile.read(path, "an experiment")
    experiment = _parsed(file, Experiment)
    machines = _machines(file, path, experiment)
    if experiment.policies and (len(machines.clusters) != 1 or machines.clusters[0].speed != 1):
        with file.located("policies"):
            raise ModelError("parallel jobs need a system of one cluster of speed 1")
    models: dict[str, Model] = {}
    traces: dict[str, Path] = {}
    for place, workload in enumerate(experiment.workloads):
        for number, name in enumerate(workload.models):
            with file.located(f"workloads[{place}].models[{number}]"):
                models[name] = _model(path, name, workload)
        if workload.trace is not None:
            traces[workload.trace] = path.parent / workload.trace
            with file.located(f"workloads[{place}].trace"):
                _check_file(traces[workload.trace])
    return ExperimentSetup(path, experiment, machines, models, traces)


def _parsed(file: TomlFile, kind: type[P]) -> P:
    with file.located():
        return kind.parsed(file.data)


def _machines(file: TomlFile, path: Path, experiment: Experiment) -> Machines:
    """Return the system of an experiment: stated in the same file, at *path*, or in another one."""
    if experiment.system is None:
        with file.located():
            return Machines(title="the system of this experiment", clusters=experiment.clusters)
    system = path.parent / experiment.system
    with file.located("system"):
        _check_file(system)
    return _parsed(TomlFile.read(system, "a system"), Machines)


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise ModelError(f"there is no file {path}")


def _model(path: Path, name: str, workload: WorkloadSpec) -> Model:
    """Return a preset, or the model in a file beside the experiment."""
    model = load_model(str(path.parent / name) if name.endswith(".json") else name).model
    if workload.bag_sizes and not isinstance(model, BagsModel):
        raise ModelError(f"{name} is a model without sizes of bags, which bag_sizes would change")
    return model
