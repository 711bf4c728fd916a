"""
Generate a workload: the beginning of a model's stream, in a store whose header describes it.

The header of a synthetic trace states the model, its parameters, the seed, and that no system ran the jobs.
"""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.formats.registry import writer
from gwa.models.arrival_process import Arrivals
from gwa.models.base import Model
from gwa.models.streams import Block, Extent, truncate
from gwa.models.work import Submitted
from gwa.store.account import Account
from gwa.store.engines.config import Engine
from gwa.store.engines.duckdb import limited_memory
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.store.system import GENERATED_JOBS, SYNTHETIC, Header
from gwa.util.atomic import whole
from gwa.util.progress import SILENT, Progress
from gwa.util.units import DAY
from gwa.util.version import __version__

TEXT_PREFIXES: Final = {"user_id": "U", "group_id": "G", "executable_id": "A", "job_structure_params": "B"}
"""Prefix of the number that stands for a text, by field."""

PROCESSORS: Final = "Processors"
"""The key of the header line with the size of the system."""

JOB_STRUCTURES: Final = ("UNITARY", "BoT")
"""The text of 0 and 1 in ``job_structure``."""

CALIBRATION_JOBS: Final = 50_000
"""Jobs generated to fit another arrival process to."""

ENGINE_MEGABYTES: Final = 256
"""Memory of the engine while jobs are inserted into the store."""


@dataclass(frozen=True)
class Generated:
    """What was generated: the number of *jobs*, their amounts, and the processors of the *largest* one."""

    jobs: int
    amounts: Submitted
    largest: int

    @classmethod
    def of(cls, store: Store, extent: Extent) -> Self:
        """Measure the workload in *store*; its submissions take the days of the *extent*, if it has them."""
        amounts = Submitted.of(store)
        if extent.days is not None:
            amounts = replace(amounts, seconds=extent.days * DAY)
        return cls(store.account.jobs, amounts, int(store.row("select max(n_procs) from jobs")[0] or 0))


@dataclass(frozen=True)
class GenerationRequest:
    """
    What to generate: a *model*, the *extent* of the workload, its *seed*, and *header* lines on the system.

    Equal requests give the same workload, to the last byte.
    """

    model: Model
    extent: Extent
    seed: int
    header: Header = ()

    def __post_init__(self) -> None:
        """Raise `ModelError` for a negative seed."""
        if self.seed < 0:
            raise ModelError(f"seed is {self.seed}, expected a whole number of at least 0")

    def blocks(self) -> Iterator[Block]:
        """Yield the jobs in the order of submission."""
        return truncate(self.model.blocks(np.random.default_rng(self.seed)), self.extent)


def generate_store(
    request: GenerationRequest,
    target: Path | None = None,
    engine: Engine | None = None,
    progress: Progress = SILENT,
) -> Store:
    """Generate the jobs of *request* into a store, in the file *target* or in scratch space."""
    store = Store.create(target, engine)
    try:
        with limited_memory(store.connection, engine, ENGINE_MEGABYTES):
            jobs = _insert_jobs(store, request, progress)
        store.set_header(
            (*request.header, *describe(request), (GENERATED_JOBS, str(jobs)), *_sizes(store, request))
        )
        store.set_account(Account(jobs, jobs, 0, 0, 0))
        store.note({"format": "synthetic", "gwa": __version__})
    except BaseException:
        store.close()
        raise
    return store


def _sizes(store: Store, request: GenerationRequest) -> Header:
    """
    Return the header line that says how large the jobs are on the system that is asked for.

    Raise `ModelError` for a job that is larger than the system.
    """
    cpus = int(dict(request.header).get(PROCESSORS, 0))
    largest = int(store.row("select max(n_procs) from jobs")[0] or 0)
    if not cpus or not largest:
        return ()
    if largest > cpus:
        raise ModelError(f"cpus is {cpus}, and a job has {largest}, expected jobs that fit")
    sizes = "scaled to the system" if request.model.scales_sizes else "not scaled to the system"
    return (("Sizes", f"{sizes}; the largest job has {largest} of {cpus} processors"),)


def _insert_jobs(store: Store, request: GenerationRequest, progress: Progress) -> int:
    """Insert all jobs of *request* into an empty store and return their number."""
    jobs = 0
    with progress.step("generating", request.extent.jobs) as bar:
        for block in request.blocks():
            if not jobs:
                store.begin(["job_id", *block])
            _insert_block(store, block, jobs)
            jobs += block["submit_time"].size
            bar.advance(block["submit_time"].size)
    if not jobs:
        raise ModelError(f"days is {request.extent.days}, in which no job is submitted")
    return jobs


def replace_arrivals(model: Model, process: type[Arrivals]) -> Model:
    """Return *model* with its arrivals replaced by a *process* fitted to jobs that it generates."""
    with generate_store(GenerationRequest(model, Extent(jobs=CALIBRATION_JOBS), seed=0)) as store:
        return model.with_arrivals(process, store)


def generate(
    request: GenerationRequest,
    out: Path,
    command: str = "",
    engine: Engine | None = None,
    progress: Progress = SILENT,
) -> Generated:
    """
    Write the workload of *request* atomically to *out* and return what it amounts to.

    The suffix of *out* decides the format; *command* is recorded in the trace.
    """
    target = writer(out)
    file = whole(out) if target.name == "duckdb" else nullcontext()
    with file as path, generate_store(request, path, engine, progress) as store:
        store.note({"generate": command} if command else {})
        if path is None:
            target.save(store, out)
        return Generated.of(store, request.extent)


def describe(request: GenerationRequest) -> Header:
    """Return the header lines that describe how a trace was generated."""
    model = request.model
    return (
        ("Synthetic", SYNTHETIC),
        ("Generator", f"gwa {__version__}"),
        ("Model", f"{model.name}: {model.title}"),
        ("Source", model.source),
        *((("Holds of its log", model.holds),) if model.holds else ()),
        ("Parameters", json.dumps(model.plain(), separators=(",", ":"), allow_nan=False)),
        ("Seed", str(request.seed)),
    )


def _insert_block(store: Store, block: Block, jobs: int) -> None:
    """Append a block to the store, after *jobs* jobs; they are numbered from 1 in the order of submission."""
    size = block["submit_time"].size
    columns = {"job_id": np.arange(jobs + 1, jobs + size + 1), **block}
    batch = pa.table({name: _arrow_column(name, column) for name, column in columns.items()})
    store.connection.register("batch", batch)
    try:
        store.connection.execute("insert into recorded by name select * from batch")
    finally:
        store.connection.unregister("batch")


def _arrow_column(name: str, column: NDArray[Any]) -> pa.Array:
    """Convert a field of a block to Arrow; texts become a dictionary, each built once."""
    if name not in BY_NAME or not BY_NAME[name].is_text:
        return pa.array(column, from_pandas=True)
    known = column >= 0
    if not known.any():
        return pa.nulls(column.size, pa.string())
    minimum = int(column[known].min())
    numbers = np.arange(minimum, int(column.max()) + 1)
    if numbers.size > column.size:
        numbers, position = np.unique(column[known], return_inverse=True)
    else:
        position = column[known] - minimum
    indices = np.zeros(column.size, np.int32)
    indices[known] = position
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=~known), _text_values(name, numbers))


def _text_values(name: str, numbers: NDArray[Any]) -> pa.Array:
    """Return the texts that *numbers* stand for in the field *name*."""
    if name == "job_structure":
        return pa.array([JOB_STRUCTURES[number] for number in numbers.tolist()], pa.string())
    # Imported here, because it takes a tenth of a second, and a report only scores models.
    from pyarrow import compute

    return compute.binary_join_element_wise(
        TEXT_PREFIXES.get(name, ""), pa.array(numbers).cast(pa.string()), ""
    )
