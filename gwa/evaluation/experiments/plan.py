"""The runs of an experiment: every variant of a workload under every combination of policies."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any, Final

from gwa.errors import DefinitionError, SimulationError
from gwa.evaluation.experiments.spec import (
    MAXIMUM_RUNS,
    NO_CHANGE,
    ExperimentSetup,
    WorkloadSpec,
    parsed_changes,
)
from gwa.evaluation.whatif.change import ChangeSubject
from gwa.simulation.policy import is_code
from gwa.util import fingerprint

NAME_DIGITS: Final = 20
"""Digits of the key of a run that are its name."""


@dataclass(frozen=True)
class Variant:
    """A *workload* with its characteristics, at a *load*, in a *repetition*."""

    workload: str
    arrivals: str
    bag_size: float | None
    run_time: float | None
    load: float | None
    repetition: int


@dataclass(frozen=True)
class Policies:
    """
    An *architecture*, a task *selection* and a *scheduler*.

    For parallel jobs only a scheduler, and a *change* of the cluster or the jobs, None without any.
    """

    architecture: str | None
    selection: str | None
    scheduler: str
    change: str | None = None


@dataclass(frozen=True)
class PlannedRun:
    """One simulation; *key* is the hash of everything that its result depends on."""

    variant: Variant
    policies: Policies
    key: str

    @property
    def name(self) -> str:
        """The name of the run, the beginning of its key."""
        return self.key[:NAME_DIGITS]


@dataclass(frozen=True)
class ExperimentPlan:
    """All runs of an experiment, those of one variant together."""

    setup: ExperimentSetup

    @cached_property
    def variants(self) -> list[Variant]:
        """All variants of all workloads."""
        workloads = self.setup.experiment.workloads
        return [variant for workload in workloads for variant in self._variants_of(workload)]

    def _variants_of(self, workload: WorkloadSpec) -> Iterator[Variant]:
        experiment = self.setup.experiment
        # A trace has no randomness to repeat.
        repetitions = range(1, 1 + (experiment.repetitions if workload.models else 1))
        for arrivals, size, time, load, repetition in product(
            workload.arrivals,
            workload.bag_sizes or (None,),
            workload.run_times or (None,),
            experiment.loads or (None,),
            repetitions,
        ):
            yield Variant(workload.name, arrivals, size, time, load, repetition)

    @cached_property
    def policies(self) -> list[Policies]:
        """All combinations of policies."""
        experiment = self.setup.experiment
        if experiment.policies:
            changes = experiment.changes or (None,)
            return [
                Policies(None, None, policy, change)
                for policy, change in product(experiment.policies, changes)
            ]
        axes = experiment.architectures, experiment.selections, experiment.schedulers
        return [Policies(*names) for names in product(*axes)]

    @cached_property
    def runs(self) -> list[PlannedRun]:
        """All runs, variant by variant; raise `DefinitionError` for more than the maximum."""
        count = len(self.variants) * len(self.policies)
        if count > MAXIMUM_RUNS:
            raise DefinitionError(
                f"{self.setup.path}:1: has {count:,} runs, expected at most {MAXIMUM_RUNS:,}"
            )
        runs = []
        for variant in self.variants:
            dependencies = self._dependencies(variant)
            for policies in self.policies:
                wanted = [dependencies, asdict(policies), _code(policies)]
                text = json.dumps(wanted, sort_keys=True, allow_nan=False)
                runs.append(PlannedRun(variant, policies, hashlib.sha256(text.encode()).hexdigest()))
        return runs

    def _dependencies(self, variant: Variant) -> dict[str, Any]:
        """Return what results depend on besides policies, which excludes names and paths of files."""
        experiment = self.setup.experiment
        (workload,) = (each for each in experiment.workloads if each.name == variant.workload)
        return {
            "program": fingerprint.program(),
            "models": [self.setup.models[name].plain() for name in workload.models],
            "trace": workload.trace and _hash_file(self.setup.traces[workload.trace]),
            "days": workload.days,
            "tasks": workload.tasks,
            "clusters": [cluster.plain() for cluster in self.setup.machines.clusters],
            "seed": experiment.seed,
            "horizon": experiment.horizon,
            "period": experiment.period,
            "variant": {**asdict(variant), "workload": None},
        }


def _code(policies: Policies) -> list[str]:
    """Return the fingerprints of the packages whose own policies are used: other code, other results."""
    changes = parsed_changes(policies.change or NO_CHANGE)
    names = [policies.scheduler, *(one.text for one in changes if one.kind.aspect is ChangeSubject.POLICY)]
    return [_hash_package(name) for name in names if is_code(name)]


@cache
def _hash_package(policy: str) -> str:
    package = policy.partition(":")[0].partition(".")[0]
    if package == "__main__":
        raise SimulationError(
            f"policy {policy}: stands in no module, expected one that other processes import"
        )
    return fingerprint.of_package(package)


@cache
def _hash_file(path: Path) -> str:
    return fingerprint.of_file(path)
