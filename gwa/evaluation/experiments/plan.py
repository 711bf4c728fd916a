"""The runs of an experiment: every variant of a workload under every combination of policies."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any, Final

from gwa.errors import DefinitionError
from gwa.evaluation.experiments.spec import MAXIMUM_RUNS, Stated, WorkloadSpec
from gwa.util import fingerprint

DIGITS: Final = 20
"""Of a hash, so many are its name."""


@dataclass(frozen=True)
class Variant:
    """What is scheduled: a *workload* with its characteristics, at a *load*, in a *repetition*."""

    workload: str
    arrivals: str
    bag_size: float | None
    run_time: float | None
    load: float | None
    repetition: int


@dataclass(frozen=True)
class Policies:
    """How: by an *architecture*, a *selection* and a *scheduler*; parallel jobs by a scheduler only."""

    architecture: str | None
    selection: str | None
    scheduler: str


@dataclass(frozen=True)
class PlannedRun:
    """One simulation; *key* is the hash of all that its result depends on."""

    variant: Variant
    policies: Policies
    key: str

    @property
    def name(self) -> str:
        """What a run is called: the beginning of its key."""
        return self.key[:DIGITS]


@dataclass(frozen=True)
class Plan:
    """All runs of an experiment, those of one variant together."""

    stated: Stated

    @cached_property
    def variants(self) -> list[Variant]:
        """Every variant of every workload."""
        return [one for workload in self.stated.experiment.workloads for one in self._of(workload)]

    def _of(self, workload: WorkloadSpec) -> Iterator[Variant]:
        said = self.stated.experiment
        # Nothing is random about a trace.
        repetitions = range(1, 1 + (said.repetitions if workload.models else 1))
        for arrivals, size, time, load, repetition in product(
            workload.arrivals,
            workload.bag_sizes or (None,),
            workload.run_times or (None,),
            said.loads or (None,),
            repetitions,
        ):
            yield Variant(workload.name, arrivals, size, time, load, repetition)

    @cached_property
    def policies(self) -> list[Policies]:
        """Every combination of policies."""
        said = self.stated.experiment
        if said.policies:
            return [Policies(None, None, policy) for policy in said.policies]
        return [Policies(*names) for names in product(said.architectures, said.selections, said.schedulers)]

    @cached_property
    def runs(self) -> list[PlannedRun]:
        """Every run, variant by variant; raise `DefinitionError` for more than anybody can mean."""
        count = len(self.variants) * len(self.policies)
        if count > MAXIMUM_RUNS:
            raise DefinitionError(
                f"{self.stated.path}:1: has {count:,} runs, expected at most {MAXIMUM_RUNS:,}"
            )
        found = []
        for variant in self.variants:
            same = self._content(variant)
            for policies in self.policies:
                text = json.dumps([same, asdict(policies)], sort_keys=True, allow_nan=False)
                found.append(PlannedRun(variant, policies, hashlib.sha256(text.encode()).hexdigest()))
        return found

    def _content(self, variant: Variant) -> dict[str, Any]:
        """Return all that results depend on besides policies; names and the place of files are none of it."""
        said = self.stated.experiment
        (workload,) = (one for one in said.workloads if one.name == variant.workload)
        return {
            "program": fingerprint.program(),
            "models": [self.stated.models[name].plain() for name in workload.models],
            "trace": workload.trace and _digest(self.stated.traces[workload.trace]),
            "days": workload.days,
            "tasks": workload.tasks,
            "clusters": [one.plain() for one in self.stated.machines.clusters],
            "seed": said.seed,
            "horizon": said.horizon,
            "period": said.period,
            "variant": {**asdict(variant), "workload": None},
        }


@cache
def _digest(path: Path) -> str:
    return fingerprint.of_file(path)
