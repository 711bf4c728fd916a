"""
Files of measurements as relations of DuckDB: tables, answers of Prometheus, and dumps that belong together.

Files of one kind are read as one, and a row that several of them have counts once: exports may overlap.

Sources: Prometheus' HTTP API (``/api/v1/query`` and ``/api/v1/query_range``: series with labels and a value,
or values, each a time in seconds and a number as text) and jobstats' external database.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import DefinitionError, TraceError
from gwa.ingest.measurements import JOBSTATS_NODES, MeasuredKind, kind_of
from gwa.ingest.node_samples import reading
from gwa.store.engines.duckdb import columns_of, identifier, literal

GIBIBYTE: Final = 1 << 30
"""The bytes of the longest compressed answer that is read."""

CSV: Final = "read_csv({path}, all_varchar = true, nullstr = ['', 'NULL', '\\N'])"
"""What programs write for a value that is missing."""

SERIES: Final = '[{"metric":"MAP(VARCHAR, VARCHAR)","value":["VARCHAR"],"values":[["VARCHAR"]]}]'

NAMED: Final = (("__name__",), ("gpu", "instance"))
"""Labels of which a series needs one of each kind: which metric it is, and of which GPU or node."""

ANSWER: Final = """
read_json(
    {path}, format = 'unstructured', maximum_object_size = {size},
    columns = {{
        'status': 'VARCHAR', 'error': 'VARCHAR', 'data': 'STRUCT("resultType" VARCHAR, "result" JSON)'
    }}
)
"""

SAMPLES: Final = """
create or replace temp table {name} as
select metric as labels, cast(sample[1] as double) as "timestamp", sample[2] as "value"
from (
    select unnest(from_json(data.result, '{series}'), recursive := true)
    from {answer}
) as series,
unnest(coalesce("values", ["value"])) as samples(sample)
"""

PIECES: Final[Mapping[str, frozenset[str]]] = {
    "job_summary": frozenset({"id", "cluster", "jobid"}),
    "job_nodes": frozenset({"id", "job_summary_id", "node_name"}),
    "job_gpu_metrics": frozenset({"job_node_id", "gpu_index"}),
}
"""The tables of jobstats' database, by columns that each has; rows of one name those of another."""

OF_PIECES: Final = """
select s.cluster, s.jobid, n.node_name, n.used_memory, n.total_time, g.gpu_index, g.gpu_utilization,
    g.gpu_used_memory
from ({job_summary}) as s
inner join ({job_nodes}) as n on try_cast(n.job_summary_id as double) = try_cast(s.id as double)
left join ({job_gpu_metrics}) as g on try_cast(g.job_node_id as double) = try_cast(n.id as double)
"""

NO_GPUS: Final = """
select null as job_node_id, null as gpu_index, null as gpu_utilization, null as gpu_used_memory where false
"""


@dataclass(frozen=True)
class GivenFiles:
    """What is given in *path* and perhaps other files: a relation called *name*, with *columns*."""

    path: Path
    name: str
    columns: tuple[str, ...]

    @property
    def select(self) -> str:
        """The query of all its rows."""
        return f"from {self.name}"


def given(database: duckdb.DuckDBPyConnection, path: Path, name: str) -> GivenFiles:
    """Return what a file holds as the relation *name*; raise `TraceError` if it cannot be read."""
    with reading(path):
        if _is_json(path):
            _read_answer(database, path, name)
        else:
            reader = "read_parquet({path})" if path.suffix == ".parquet" else CSV
            table = reader.format(path=literal(str(path)))
            database.execute(f"create or replace temp view {name} as from {table}")
        return GivenFiles(path, name, tuple(columns_of(database, name)))


def by_kind(
    database: duckdb.DuckDBPyConnection, files: Sequence[GivenFiles], on: str | None
) -> list[tuple[MeasuredKind, GivenFiles]]:
    """
    Return what *files* hold as one relation for each kind; *on* names the column of the ids of jobs.

    Raise `DefinitionError` for a file of no kind that is known, and for a dump without those it belongs to.
    """
    pieces: dict[str, list[GivenFiles]] = {}
    kinds: dict[MeasuredKind, list[GivenFiles]] = {}
    for one in files:
        piece = next((name for name, columns in PIECES.items() if columns <= set(one.columns)), None)
        if piece:
            pieces.setdefault(piece, []).append(one)
        if piece not in {"job_nodes", "job_gpu_metrics"} and not (
            piece and "admin_comment" not in one.columns
        ):
            with reading(one.path):
                kinds.setdefault(kind_of(one.columns, on), []).append(one)
    if nodes := _joined(database, pieces):
        kinds.setdefault(JOBSTATS_NODES, []).append(nodes)
    return [
        (kind, _united(database, f"kind_{place}", some)) for place, (kind, some) in enumerate(kinds.items())
    ]


def _joined(database: duckdb.DuckDBPyConnection, pieces: Mapping[str, list[GivenFiles]]) -> GivenFiles | None:
    """Return the rows of nodes and GPUs that dumps of several tables have; None where there are none."""
    if set(pieces) <= {"job_summary"}:
        return None
    if not {"job_summary", "job_nodes"} <= set(pieces):
        first = next(iter(pieces.values()))[0]
        raise DefinitionError(
            f"{first.path}: its rows name those of other tables of jobstats, expected dumps of job_summary,"
            " job_nodes and job_gpu_metrics together"
        )
    of_piece = {name: _union(some) for name, some in pieces.items()}
    query = OF_PIECES.format(**{"job_gpu_metrics": NO_GPUS, **of_piece})
    database.execute(f"create or replace temp view nodes as {query}")
    return GivenFiles(pieces["job_nodes"][0].path, "nodes", tuple(columns_of(database, "nodes")))


def _united(database: duckdb.DuckDBPyConnection, name: str, some: Sequence[GivenFiles]) -> GivenFiles:
    """Return the relation *name* of the rows of *some*, each of which counts once."""
    if len(some) == 1:
        return some[0]
    database.execute(f"create or replace temp view {name} as {_union(some)}")
    columns = tuple(dict.fromkeys(column for one in some for column in one.columns))
    return GivenFiles(some[0].path, name, columns)


def _union(some: Sequence[GivenFiles]) -> str:
    return " union by name ".join(one.select for one in some)


def is_table(path: Path) -> bool:
    """Whether a file is no text: Parquet, or an answer as JSON; raise `TraceError` if there is none."""
    try:
        return path.suffix == ".parquet" or _is_json(path)
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror or error}") from error


def _is_json(path: Path) -> bool:
    """Whether a file is an answer as JSON."""
    if ".json" in path.suffixes:
        return True
    with path.open("rb") as file:
        return file.read(1) == b"{"


def _read_answer(database: duckdb.DuckDBPyConnection, path: Path, name: str) -> None:
    """
    Read an answer of Prometheus: its series become rows with a ``timestamp``, a ``value`` and their labels.

    Raise `DefinitionError` for an answer that has no series, such as an error.
    """
    size = GIBIBYTE if path.suffix != ".json" else max(path.stat().st_size + 1, 1 << 24)
    answer = ANSWER.format(path=literal(str(path)), size=size)
    for status, error, kind in database.execute(
        f'select status, error, data."resultType" from {answer}'
    ).fetchall():
        if status != "success":
            raise DefinitionError(f"Prometheus did not answer ({error or status}), expected status success")
        if kind not in {"vector", "matrix"}:
            raise DefinitionError(f"has a result of type {kind}, expected vector or matrix")
    database.execute(SAMPLES.format(name=f"{name}_samples", series=SERIES, answer=answer))
    labels = database.execute(
        f"select distinct unnest(map_keys(labels)) as label from {name}_samples order by label"
    ).fetchall()
    if missing := [" or ".join(kind) for kind in NAMED if not {*kind} & {label for (label,) in labels}]:
        raise DefinitionError(
            f"its series lack the label {' and '.join(missing)}, expected those of dcgm-exporter or"
            " node_exporter"
            if labels
            else "has no series, expected metrics of dcgm-exporter or node_exporter"
        )
    columns = [
        f"labels[{literal(label)}] as {identifier('metric' if label == '__name__' else label)}"
        for (label,) in labels
        if label not in {"timestamp", "value", "metric"}
    ]
    shown = ", ".join(('"timestamp"', '"value"', *columns))
    database.execute(f"create or replace temp view {name} as select {shown} from {name}_samples")
