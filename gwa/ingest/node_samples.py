"""
Samples of nodes and their devices at moments, which say no job: what reads them, and what they become.

Whatever wrote a file, it becomes rows of `COLUMNS`, which `gwa.ingest.by_node` joins to jobs. A row need not
have all: where an exporter writes a row for each metric, each row has one value.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import DefinitionError, TraceError
from gwa.store.engines.duckdb import literal
from gwa.util.plugins import instances

COLUMNS: Final = {
    "host": "varchar",
    "device": "varchar",
    "place": "integer",
    "model": "varchar",
    "clock": "timestamp",
    "t": "double",
    "use": "double",
    "mean_use": "double",
    "cores": "double",
    "watts": "double",
    "kb": "double",
    "counter": "double",
    "span": "double",
}
"""
What a sample may have. ``host`` is the node, ``device`` its GPU: a UUID or a number; ``place`` is the number
of the GPU on its node, and ``model`` what it is.

A moment is Unix seconds ``t``, or what a local ``clock`` says. ``use`` is a fraction in a short look at the
device, ``mean_use`` one over the time since the sample before, as is ``cores``, the number of processors in
use; ``watts`` is power, ``kb`` memory in use, and ``counter`` joules since some start. Where a row is a mean
over the ``span`` seconds before its moment, it says nothing of a job that began within them.
"""

LINES: Final = (
    "read_csv({path}, columns = {{'line': 'VARCHAR'}}, auto_detect = false, header = false,"
    " delim = '\x01', quote = '', escape = '', strict_mode = false)"
)
"""The lines of a text, whatever is in them."""

LOOKED_AT: Final = 50
"""Lines of a text that tell what wrote it."""


@dataclass(frozen=True)
class Head:
    """The first *lines* of a text, or the *columns* of a table."""

    lines: Sequence[str] = ()
    columns: Sequence[str] = ()


@dataclass(frozen=True)
class SampleReader:
    """
    What reads the samples that a tool called *name* writes, which *title* explains.

    *fits* says of the head of a file whether it is of the tool. *select* makes of a head the query of some of
    `COLUMNS`, from ``given``: the lines of a text, or a table. Devices are GPUs, or *of_nodes*, whole nodes.
    *export* says how to get such a file. *select* raises `DefinitionError` for a file that lacks something.
    """

    name: str
    title: str
    fits: Callable[[Head], bool]
    select: Callable[[Head], str]
    export: str
    of_nodes: bool = False


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Name *path* where it is no file of measurements, or cannot be read: then a `TraceError` says so."""
    try:
        yield
    except DefinitionError as error:
        raise DefinitionError(f"{path}: {error}") from error
    except (duckdb.Error, OSError) as error:
        raise TraceError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from error


@cache
def sample_readers() -> tuple[SampleReader, ...]:
    """Return what reads samples of nodes, by name."""
    return tuple(sorted(instances("gwa.ingest.samples", SampleReader), key=lambda reader: reader.name))


@dataclass(frozen=True)
class SampleFile:
    """
    A file of samples in *path*, what *reader* reads it, and the query *select* of them, from ``given``.

    What is given are the *lines* of a text, a relation; of a table there are none.
    """

    path: Path
    reader: SampleReader
    select: str
    lines: str = ""


SERIES_TIME: Final = """coalesce(
    try_cast("timestamp" as double), epoch(try_cast(cast("timestamp" as varchar) as timestamptz))
)"""
"""The SQL of the Unix seconds of a value of a series, as Prometheus or a table of its values has them."""


def label(head: Head, name: str) -> str:
    """Return the SQL of a label of series; null where none has it."""
    return f"nullif(cast(\"{name}\" as varchar), '')" if name in head.columns else "cast(null as varchar)"


def text_head(database: duckdb.DuckDBPyConnection, path: Path) -> tuple[Head, str]:
    """Return the head of a text, and the relation of its lines; of what is no text the head is empty."""
    lines = LINES.format(path=literal(str(path)))
    try:
        found = database.execute(f"select line from {lines} where line is not null limit {LOOKED_AT}")
        return Head(lines=tuple(line for (line,) in found.fetchall())), lines
    except duckdb.Error:
        return Head(), lines


def sample_file(path: Path, head: Head, lines: str = "") -> SampleFile | None:
    """
    Return the file of samples in *path*, with *head* and, of a text, its *lines*; None where it is none.

    Raise `DefinitionError` for a file that lacks something.
    """
    reader = next((one for one in sample_readers() if one.fits(head)), None)
    if reader is None:
        return None
    with reading(path):
        return SampleFile(path, reader, reader.select(head), lines)


REPEATED: Final = -1.0
"""What stands for a moment that is one of two: in the hour that clocks show twice in autumn."""


def moments(relation: str, columns: Collection[str], host: str | None, zone: str, shift: float) -> str:
    """
    Return the query of *relation*, with *columns* of samples, with each moment in Unix seconds ``t``.

    Local clocks are of *zone*. To each moment *shift* seconds are added, and half a second where its fraction
    was cut off. *host* is that of all samples, where there is no such column.
    """
    named = "host" if "host" in columns else f"{literal(host or '')} as host"
    others = ", ".join(name for name in COLUMNS if name in columns and name not in {"host", "clock", "t"})
    clock = _of_clock(zone) if "clock" in columns else "cast(null as double)"
    moment = f"coalesce(t, {clock})" if "t" in columns else clock
    shifted = f"t + {shift!r} + case when t = floor(t) then 0.5 else 0.0 end"
    return (
        f"select host, {others}, case when t < 0 then {REPEATED!r} else {shifted} end as t"
        f" from (select {named}, {others}, {moment} as t from {relation}) as samples"
    )


def _of_clock(zone: str) -> str:
    """Return the SQL of the Unix seconds of a local ``clock``."""
    if zone == "UTC":
        return "epoch(clock)"
    there = f"timezone({literal(zone)}, clock)"
    other = f"timezone({literal(zone)}, {there} {{sign}} interval 1 hour) = clock"
    is_repeated = " or ".join(other.format(sign=sign) for sign in "+-")
    return f"case when {is_repeated} then {REPEATED!r} else epoch({there}) end"
