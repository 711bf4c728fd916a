"""
Make a workload: the beginning of a model's stream, in a store that says how it was made.

The header of a synthetic trace states the model, its parameters, the seed, and that no machine ever ran it.
"""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.formats.registry import writer
from gwa.models.arrival_process import Arrivals
from gwa.models.base import Model
from gwa.models.streams import Block, Extent, cut
from gwa.store.account import Account
from gwa.store.engines.config import Engine
from gwa.store.engines.duckdb import limited_memory
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.store.system import Header
from gwa.util.atomic import whole
from gwa.util.progress import SILENT, Progress
from gwa.util.version import __version__

PREFIXES: Final = {"user_id": "U", "group_id": "G", "executable_id": "A", "job_structure_params": "B"}
"""What the number that stands for a text is written behind."""

STRUCTURES: Final = ("UNITARY", "BoT")
"""The text of 0 and 1 in ``job_structure``."""

OWN: Final = 50_000
"""A model's own jobs to which another process is fitted."""

MEGABYTES: Final = 256
"""Memory for the engine while jobs pass into the store."""


@dataclass(frozen=True)
class Order:
    """
    What is to be made: a *model*, how long a workload, its *seed*, and *header* lines about the system.

    One order, one workload, to the last byte.
    """

    model: Model
    extent: Extent
    seed: int
    header: Header = ()

    def __post_init__(self) -> None:
        """Raise `ModelError` for a seed that is none."""
        if self.seed < 0:
            raise ModelError(f"seed is {self.seed}, expected a whole number of at least 0")

    def blocks(self) -> Iterator[Block]:
        """Yield the jobs in the order of submission."""
        return cut(self.model.blocks(np.random.default_rng(self.seed)), self.extent)


def workload(
    order: Order, target: Path | None = None, engine: Engine | None = None, progress: Progress = SILENT
) -> Store:
    """Return a store with the jobs of *order*, in the file *target* or in scratch space."""
    store = Store.create(target, engine)
    try:
        with limited_memory(store.connection, engine, MEGABYTES):
            jobs = _filled(store, order, progress)
        store.set_header((*order.header, *described(order)))
        store.set_account(Account(jobs, jobs, 0, 0, 0))
        store.note({"format": "synthetic", "gwa": __version__})
    except BaseException:
        store.close()
        raise
    return store


def _filled(store: Store, order: Order, progress: Progress) -> int:
    """Put all jobs of *order* into an empty store and return their number."""
    jobs = 0
    with progress.step("generating", order.extent.jobs) as bar:
        for block in order.blocks():
            if not jobs:
                store.begin(["job_id", *block])
            _append(store, block, jobs)
            jobs += block["submit_time"].size
            bar.advance(block["submit_time"].size)
    if not jobs:
        raise ModelError(f"days is {order.extent.days}, in which no job is submitted")
    return jobs


def other_arrivals(model: Model, process: type[Arrivals]) -> Model:
    """Return *model* with another process of arrivals, fitted to those of its own jobs."""
    with workload(Order(model, Extent(jobs=OWN), seed=0)) as store:
        return model.with_arrivals(process, store)


def generate(
    order: Order, out: Path, command: str = "", engine: Engine | None = None, progress: Progress = SILENT
) -> int:
    """
    Write the workload of *order* to *out*, whole or not at all, and return the number of jobs.

    The name of *out* says in which format. *command* is noted as what made it.
    """
    target = writer(out)
    place = whole(out) if target.name == "duckdb" else nullcontext()
    with place as part, workload(order, part, engine, progress) as store:
        store.note({"generate": command} if command else {})
        if part is None:
            target.save(store, out)
        return store.account.jobs


def described(order: Order) -> Header:
    """Return the lines of a header that say how a trace was made."""
    model = order.model
    return (
        ("Synthetic", "made by a model, no system ran these jobs"),
        ("Generator", f"gwa {__version__}"),
        ("Model", f"{model.name}: {model.title}"),
        ("Source", model.source),
        ("Parameters", json.dumps(model.plain(), separators=(",", ":"), allow_nan=False)),
        ("Seed", str(order.seed)),
    )


def _append(store: Store, block: Block, before: int) -> None:
    """Append a block to the store; jobs are numbered from 1 in the order of submission."""
    size = block["submit_time"].size
    columns = {"job_id": np.arange(before + 1, before + size + 1), **block}
    batch = pa.table({name: _column(name, column) for name, column in columns.items()})
    store.connection.register("batch", batch)
    try:
        store.connection.execute("insert into recorded by name select * from batch")
    finally:
        store.connection.unregister("batch")


def _column(name: str, column: NDArray[Any]) -> pa.Array:
    """Return a field of a block: texts are looked up by the numbers that stand for them, each built once."""
    if name not in BY_NAME or not BY_NAME[name].is_text:
        return pa.array(column, from_pandas=True)
    known = column >= 0
    if not known.any():
        return pa.nulls(column.size, pa.string())
    least = int(column[known].min())
    numbers = np.arange(least, int(column.max()) + 1)
    if numbers.size > column.size:
        numbers, place = np.unique(column[known], return_inverse=True)
    else:
        place = column[known] - least
    index = np.zeros(column.size, np.int32)
    index[known] = place
    return pa.DictionaryArray.from_arrays(pa.array(index, mask=~known), _texts(name, numbers))


def _texts(name: str, numbers: NDArray[Any]) -> pa.Array:
    """Return what numbers stand for."""
    if name == "job_structure":
        return pa.array([STRUCTURES[number] for number in numbers.tolist()], pa.string())
    return pc.binary_join_element_wise(PREFIXES.get(name, ""), pa.array(numbers).cast(pa.string()), "")
