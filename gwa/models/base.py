"""
The base class of workload models.

A model yields an endless stream of blocks: NumPy arrays of equal length, one for each field of
`gwa.store.schema`, in the order of submission. Missing numbers are nan; texts are encoded as numbers, -1 for
none. `gwa.models.generate` truncates the stream and inserts it into a store, so that memory does not grow
with the number of jobs. The seed determines the stream: a shorter workload is the beginning of a longer one.
"""

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from inspect import cleandoc
from typing import Any, ClassVar, Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals
from gwa.models.parameters import Parameters
from gwa.models.streams import Block
from gwa.models.work import Submitted
from gwa.statistics.distribution import FitError
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.util import plugins
from gwa.words.message import message

FAMILIES: Final = "gwa.models.families"
ENTRY_POINT_GROUP: Final = "gwa.models"
"""The package of gwa's own models, and the entry points of models in other packages."""


class Model(Parameters, ABC):
    """
    A model of workloads with its parameters.

    A subclass sets *name* (in commands and files), *title* (printed), *source* (the paper), *needs* (the
    fields required for a fit) and *minimum_jobs* (the number of jobs required for a fit).
    """

    title: ClassVar[str]
    source: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ("submit_time", "run_time", "n_procs")
    minimum_jobs: ClassVar[int] = 100
    scales_sizes: ClassVar[bool] = False
    """Whether `limit_processors` scales sizes to the system; otherwise it only keeps them within it."""

    package: ClassVar[str] = ""
    extra: ClassVar[str] = ""
    """The package that a fit needs beside gwa, if any, and the extra of gwa that installs it."""

    @classmethod
    def missing(cls) -> str:
        """Return what to install before a fit, in words; empty where nothing is missing."""
        if not cls.package or find_spec(cls.package) is not None:
            return ""
        return message(
            "{model}: a fit needs {package}, expected {command}",
            model=cls.name,
            package=cls.package,
            command=f"`pip install 'gridworkloads[{cls.extra}]'`",
        )

    @classmethod
    def fit(cls, store: Store) -> Self:
        """
        Fit the parameters of the model to the jobs in *store*.

        Raise `ModelError` naming the field that the trace lacks, the number of jobs that are too few, or the
        extra of gwa that is not installed.
        """
        for name in cls.needs:
            if not store.has(name):
                raise ModelError(
                    message(
                        "{model}: no job records {name} ({meaning}), expected at least {least}",
                        model=cls.name,
                        name=name,
                        meaning=BY_NAME[name].meaning,
                        least=cls.minimum_jobs,
                    )
                )
        jobs, *counts = store.row(
            f"select count(*), {', '.join(f'count({name})' for name in cls.needs)} from ran"
        )
        for name, count in zip(cls.needs, counts, strict=True):
            if count < min(cls.minimum_jobs, max(jobs, 1)):
                raise ModelError(
                    message(
                        "{model}: {jobs} jobs that ran record {name} ({meaning}), expected at least {least}",
                        model=cls.name,
                        jobs=count,
                        name=name,
                        meaning=BY_NAME[name].meaning,
                        least=cls.minimum_jobs,
                    )
                )
        if jobs < cls.minimum_jobs:
            raise ModelError(
                message(
                    "{model}: {jobs} jobs that ran, expected at least {least} for a fit",
                    model=cls.name,
                    jobs=jobs,
                    least=cls.minimum_jobs,
                )
            )
        if missing := cls.missing():
            raise ModelError(missing)
        try:
            return cls.estimate(store)
        except FitError as error:
            reason = message(error.template, **error.arguments)
            raise ModelError(
                message("{model}: {reason}: expected jobs that differ more", model=cls.name, reason=reason)
            ) from error

    @classmethod
    @abstractmethod
    def estimate(cls, store: Store) -> Self:
        """Estimate the parameters from *store*, which has the fields and jobs that the model needs."""

    @abstractmethod
    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of jobs in the order of submission, from second 0."""

    def scale_gaps(self, factor: float) -> Self:
        """Return the model with interarrival gaps multiplied by *factor*, by default those of *arrivals*."""
        scaled: Any = {"arrivals": vars(self)["arrivals"].scale_gaps(factor)}
        return replace(self, **scaled)  # type: ignore[type-var]

    @classmethod
    def arrival_column(cls, store: Store) -> tuple[str, str]:
        """Return the table in *store*, and its column, with the arrival times of what is modelled."""
        del store
        return "ran", "submit_time"

    def with_arrivals(self, process: type[Arrivals], store: Store) -> Self:
        """Return the model with its arrivals replaced by a *process* fitted to those in *store*."""
        if "arrivals" not in vars(self):
            raise ModelError(f"{self.name}: has no arrivals of its own, expected a model that has")
        fitted: Any = {"arrivals": process.fit(store, *self.arrival_column(store))}
        return replace(self, **fitted)  # type: ignore[type-var]

    def limit_processors(self, cpus: int) -> Self:
        """Return the model for a system of *cpus* processors; raise `ModelError` if it cannot be limited."""
        raise ModelError(f"{self.name}: its jobs cannot be fitted into {cpus} processors")

    def coarsened(self, least: int, block: float | None) -> Self:
        """
        Return the model with less of its log: see `gwa.models.families.gwa.ledger`.

        Raise `ModelError` for a model without a ledger of sessions.
        """
        del least, block
        raise ModelError(
            message("{model}: has no ledger of sessions, expected the model gwa", model=self.name)
        )

    @property
    def holds(self) -> str:
        """What of its log is in the model beside distributions, in a sentence; empty for nothing."""
        return ""

    @classmethod
    def about(cls) -> str:
        """Return the first sentence of the description."""
        return cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")


@dataclass(frozen=True)
class Preset:
    """
    Published parameters: *name*, what they describe (*title*), the publication (*source*), the *model*.

    *warnings* are those of its fit, and *log* are the amounts that it was fitted to, if it comes from a file.
    """

    name: str
    title: str
    source: str
    model: Model
    warnings: tuple[str, ...] = ()
    log: Submitted | None = None


@cache
def models() -> dict[str, type[Model]]:
    """Return all models by name."""
    classes = plugins.subclasses(FAMILIES, Model, ENTRY_POINT_GROUP)  # type: ignore[type-abstract]
    return {member.name: member for member in sorted(classes, key=lambda member: member.name)}


@cache
def presets() -> dict[str, Preset]:
    """Return the published parameters in the TOML files of this package, by name."""
    by_name = {}
    for file in sorted(_preset_files(), key=lambda file: file.name):
        for name, preset in tomllib.loads(file.read_text(encoding="utf-8")).items():
            by_name[name] = Preset(name, preset["title"], preset["source"], parse_model(preset))
    return by_name


def _preset_files() -> Iterator[Traversable]:
    """Yield the TOML files beside the models, and in the packages of models."""
    packages = [
        module for module in plugins.modules(FAMILIES, ENTRY_POINT_GROUP) if hasattr(module, "__path__")
    ]
    for folder in (files(FAMILIES), *map(files, packages)):
        yield from (file for file in folder.iterdir() if file.name.endswith(".toml"))


def parse_model(document: Mapping[str, Any]) -> Model:
    """Return the model that *document* names under ``model``, with its ``parameters``."""
    name = document.get("model")
    if not isinstance(name, str) or name not in models():
        raise ModelError(f"model: is {name!r}, expected one of {', '.join(models())}")
    return models()[name].parsed(document.get("parameters", {}))
