"""Models of requests as files, and the traces that they make."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from gwa.errors import ModelError, UnknownFormat
from gwa.formats.registry import writer
from gwa.models.files import read_document
from gwa.requests.model import Block, RequestModel
from gwa.store.account import Account
from gwa.store.engines.config import Engine
from gwa.store.engines.duckdb import limited_memory
from gwa.store.requests import REQUEST_FIELDS, RequestStore
from gwa.store.system import Header
from gwa.util.atomic import whole
from gwa.util.progress import SILENT, Progress
from gwa.util.units import DAY
from gwa.util.version import __version__

SYNTHETIC: Final = "made by a model, no system served these requests"
"""What the header says under Synthetic."""

ENGINE_MEGABYTES: Final = 256
"""Memory of the engine while requests are inserted into the store."""

TYPES: Final = {
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "BIGINT[]": pa.list_(pa.int64()),
}


def request_model_text(model: RequestModel, trace: str, requests: int) -> str:
    """Return a model as JSON text, fitted to a number of *requests* of a *trace*."""
    document = {
        "model": model.name,
        "title": model.title,
        "source": model.source,
        "gwa": __version__,
        "origin": {"fitted to": trace, "requests": requests},
        "holds": model.holds,
        "parameters": model.plain(),
        "meanings": model.meanings(),
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_request_model(name: str) -> RequestModel | None:
    """
    Return the model of requests in the file called *name*; None where that is a model of jobs, or no file.

    Raise `ModelError` for a model of requests whose parameters are wrong.
    """
    path = Path(name)
    if not path.is_file():
        return None
    content = read_document(path)
    if content.get("model") != RequestModel.name:
        return None
    try:
        return RequestModel.parsed(content.get("parameters", {}))
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def generate_requests(  # noqa: PLR0913 - all but the model and the output go by name
    model: RequestModel,
    out: Path,
    *,
    requests: int | None = None,
    days: float | None = None,
    seed: int = 1,
    command: str = "",
    engine: Engine | None = None,
    progress: Progress = SILENT,
) -> int:
    """
    Write a number of *requests*, or *days* of them, to *out*, whole or not at all; return their number.

    The suffix of *out* decides the format. The same seed gives the same requests; a shorter trace is the
    beginning of a longer one.
    """
    target = writer(out)
    if RequestStore.holds not in target.holds:
        raise UnknownFormat(
            f"{out}: a file of this name holds no requests of language models, expected .duckdb,"
            " .requests.csv, .mooncake.jsonl or .aiperf.jsonl"
        )
    file = whole(out) if target.name == "duckdb" else nullcontext()
    with file as path, RequestStore.create(path, engine) as store:
        with limited_memory(store.connection, engine, ENGINE_MEGABYTES), progress.step("generating") as bar:
            made = 0
            for block in _truncated(model.blocks(np.random.default_rng(seed)), requests, days):
                _insert(store, block, made)
                made += block["submit_time"].size
                bar.advance(block["submit_time"].size)
        if not made:
            raise ModelError(f"days is {days}, in which no request is submitted")
        store.set_header(_header(model, seed))
        store.set_account(Account(made, made, 0, 0, 0))
        store.note({"format": "synthetic", "gwa": __version__, **({"generate": command} if command else {})})
        if path is None:
            target.save(store, out)
        else:
            store.flush()
    return made


def _header(model: RequestModel, seed: int) -> Header:
    """Return the header lines that say how the requests were made."""
    return (
        ("Synthetic", SYNTHETIC),
        ("Generator", f"gwa {__version__}"),
        ("Model", f"{model.name}: {model.title}"),
        ("Replay", model.holds),
        ("Seed", str(seed)),
    )


def _truncated(blocks: Iterator[Block], requests: int | None, days: float | None) -> Iterator[Block]:
    """Yield the first requests of an endless stream: a number of them, or those of a number of days."""
    left = requests
    for block in blocks:
        times = block["submit_time"]
        inside = times.size if days is None else int(np.searchsorted(times, days * DAY))
        count = inside if left is None else min(inside, left)
        yield {name: column[:count] for name, column in block.items()}
        left = None if left is None else left - count
        if count < times.size or left == 0:
            return


def _insert(store: RequestStore, block: Block, before: int) -> None:
    """Append a block of requests, which are numbered behind those *before*."""
    size = block["submit_time"].size
    columns: dict[str, Any] = {"request_id": np.arange(before + 1, before + size + 1), **block}
    kinds = {field.name: TYPES[field.sql] for field in REQUEST_FIELDS if field.name in columns}
    batch = pa.table(
        {name: pa.array(columns[name], kind, from_pandas=True, safe=False) for name, kind in kinds.items()}
    )
    store.connection.register("batch", batch)
    try:
        store.connection.execute("insert into requests by name select * from batch")
    finally:
        store.connection.unregister("batch")
