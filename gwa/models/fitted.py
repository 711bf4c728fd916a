"""A model fitted to a trace, with where it comes from and what it does not keep of that trace."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from gwa.errors import ArgumentError
from gwa.models.arrival_process import Arrivals, find_process
from gwa.models.base import Model, models
from gwa.models.files import LOG, WARNINGS, write
from gwa.models.load_check import LoadCheck
from gwa.models.work import Submitted
from gwa.store.store import Store
from gwa.util.units import HOUR


@dataclass(frozen=True)
class FittedModel:
    """
    A model of workloads, fitted to a trace.

    `gwa.fit` makes one, and `gwa.generate` takes it.

    Parameters
    ----------
    name
        What the model is called in commands, such as ``lublin``.
    title
        What it is.
    parameters
        Its parameters by name, as its file has them.
    origin
        What it was fitted to.
    warnings
        What it does not keep of the load of that trace; none where it keeps it.
    model
        The model itself; it is internal and may change.

    """

    name: str
    title: str
    parameters: Mapping[str, Any]
    origin: Mapping[str, Any]
    warnings: tuple[str, ...]
    model: Model

    def save(self, path: str | PathLike[str]) -> None:
        """
        Write the model to a file of JSON, whole or not at all.

        Parameters
        ----------
        path
            The file, which `gwa.generate` and ``gwa model generate`` take.

        Examples
        --------
        >>> import gwa, tempfile
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace, tempfile.TemporaryDirectory() as folder:
        ...     gwa.fit(trace, "lublin").save(f"{folder}/lublin.json")

        """
        write(self.model, Path(path), self.origin)


def model_and_arrivals(name: str, arrivals: str | None = None) -> tuple[type[Model], type[Arrivals] | None]:
    """Return the model and the arrival process of these names; raise `ArgumentError` where there is none."""
    if name not in models():
        raise ArgumentError(f"there is no model '{name}', expected one of {', '.join(models())}")
    return models()[name], find_process(arrivals) if arrivals else None


def fitted_to(
    store: Store,
    trace: str,
    name: str,
    arrivals: str | None = None,
    k: int | None = None,
    block_hours: int | None = None,
) -> FittedModel:
    """
    Fit the model called *name* to the jobs of a *trace* that ran and whose submission is known.

    Cells of the ledger of the model gwa that count fewer than *k* sessions are merged, and its blocks have
    *block_hours*. Raise `ArgumentError` for a model or *arrivals* that there are not, `ModelError` where the
    jobs do not determine the parameters, or the model has no ledger.
    """
    kind, process = model_and_arrivals(name, arrivals)
    model = kind.fit(store)
    if process:
        model = model.with_arrivals(process, store)
    if k is not None or block_hours is not None:
        model = model.coarsened(k or 1, block_hours * HOUR if block_hours else None)
    log = Submitted.of(store)
    warnings = LoadCheck.of(model, log).warnings()
    origin = {"fitted to": trace, "jobs": log.jobs, LOG: asdict(log)}
    origin |= {WARNINGS: warnings} if warnings else {}
    return FittedModel(model.name, model.title, model.plain(), origin, tuple(warnings), model)
