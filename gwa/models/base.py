"""
What a model of workloads is.

A model yields an endless stream of blocks: NumPy arrays of equal length, one for each field of
`gwa.store.schema`, in the order of submission; missing numbers are nan, and texts are numbers that stand for
them, -1 for none. `gwa.models.generate` cuts the stream and puts it into a store, so that memory does not
grow with the number of jobs. One seed, one stream: a shorter workload is the beginning of a longer one.
"""

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from inspect import cleandoc
from typing import Any, ClassVar, Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals
from gwa.models.parameters import Parameters
from gwa.models.streams import Block
from gwa.statistics.distribution import FitError
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.util import plugins

FAMILIES: Final = "gwa.models.families"
GROUP: Final = "gwa.models"
"""Where the models are: our package, and the entry points of others."""


class Model(Parameters, ABC):
    """
    A model of workloads with its parameters.

    A member sets *name* (in commands and files), *title* (printed), *source* (the paper), *needs*: the
    fields without which it cannot be fitted, and *fewest*: how many jobs a fit needs at least.
    """

    title: ClassVar[str]
    source: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ("submit_time", "run_time", "n_procs")
    fewest: ClassVar[int] = 100

    @classmethod
    def fit(cls, store: Store) -> Self:
        """
        Return the model with the parameters that the jobs in *store* determine.

        Raise `ModelError` for a trace that lacks a field or has too few jobs, naming what is missing.
        """
        for name in cls.needs:
            if not store.has(name):
                message = f"{cls.name}: no job records {name} ({BY_NAME[name].meaning})"
                raise ModelError(f"{message}, expected at least {cls.fewest}")
        jobs, *known = store.row(
            f"select count(*), {', '.join(f'count({name})' for name in cls.needs)} from ran"
        )
        for name, count in zip(cls.needs, known, strict=True):
            if count < min(cls.fewest, max(jobs, 1)):
                message = f"{cls.name}: {count} jobs that ran record {name} ({BY_NAME[name].meaning})"
                raise ModelError(f"{message}, expected at least {cls.fewest}")
        if jobs < cls.fewest:
            raise ModelError(f"{cls.name}: {jobs} jobs that ran, expected at least {cls.fewest} for a fit")
        try:
            return cls.fitted(store)
        except FitError as error:
            raise ModelError(f"{cls.name}: {error}: expected jobs that differ more") from error

    @classmethod
    @abstractmethod
    def fitted(cls, store: Store) -> Self:
        """Return the model fitted to *store*, which has what the model needs."""

    @abstractmethod
    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield jobs in the order of submission, from second 0, without end."""

    @abstractmethod
    def paced(self, factor: float) -> Self:
        """Return the model with times between arrivals that are *factor* times as long."""

    @classmethod
    def moments(cls, store: Store) -> tuple[str, str]:
        """Return the source, and its column, of the times in *store* at which what is modelled arrives."""
        del store
        return "jobs", "submit_time"

    def with_arrivals(self, process: type[Arrivals], store: Store) -> Self:
        """Return the model with another *process* of arrivals, fitted to those in *store*."""
        if "arrivals" not in vars(self):
            raise ModelError(f"{self.name}: has no arrivals of its own, expected a model that has")
        changed: Any = {"arrivals": process.fit(store, *self.moments(store))}
        return replace(self, **changed)  # type: ignore[type-var]

    def within(self, cpus: int) -> Self:
        """Return the model for a system of *cpus* processors; raise `ModelError` where it cannot be."""
        raise ModelError(f"{self.name}: its jobs cannot be fitted into {cpus} processors")

    @classmethod
    def about(cls) -> str:
        """Return what the model is, in a sentence."""
        return cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")


@dataclass(frozen=True)
class Preset:
    """Published parameters: *name*, what they are of (*title*), where they stand (*source*), the *model*."""

    name: str
    title: str
    source: str
    model: Model


@cache
def models() -> dict[str, type[Model]]:
    """Return every model of this package by name."""
    found = plugins.subclasses(FAMILIES, Model, GROUP)  # type: ignore[type-abstract]
    return {member.name: member for member in sorted(found, key=lambda member: member.name)}


@cache
def presets() -> dict[str, Preset]:
    """Return the published parameters that stand in the TOML files of this package, by name."""
    found = {}
    for file in sorted(_preset_files(), key=lambda file: file.name):
        said = tomllib.loads(file.read_text(encoding="utf-8"))
        for name, preset in said.items():
            found[name] = Preset(name, preset["title"], preset["source"], model(preset))
    return found


def _preset_files() -> Iterator[Traversable]:
    """Yield the TOML files beside the models, or within the package of one."""
    own = [module for module in plugins.modules(FAMILIES, GROUP) if hasattr(module, "__path__")]
    for folder in (files(FAMILIES), *map(files, own)):
        yield from (file for file in folder.iterdir() if file.name.endswith(".toml"))


def model(said: Mapping[str, Any]) -> Model:
    """Return the model that a document names under ``model``, with its ``parameters``."""
    name = said.get("model")
    if not isinstance(name, str) or name not in models():
        raise ModelError(f"model: is {name!r}, expected one of {', '.join(models())}")
    return models()[name].parsed(said.get("parameters", {}))
