"""
The summaries that jobstats leaves in Slurm's AdminComment: ``JS1:`` and base64 of gzip of JSON.

What is said of each node of a job becomes numbers of the job. A comment is a stranger's text: no more of it
is unpacked than `MAXIMUM_SUMMARY`, and what cannot be read is told apart from what was not measured.

Source: jobstats (Princeton University) and its epilog, June 2026. A summary has ``total_time`` in seconds of
wall time, ``gpus``, and by the name of each node ``cpus``, ``total_time`` (CPU seconds),
``total_memory`` and ``used_memory`` (bytes, allocated and at its peak) and, by the number of each GPU,
``gpu_utilization`` (a mean in %), ``gpu_total_memory`` and ``gpu_used_memory`` (bytes, at its peak).
Keys are absent where an exporter was down and, for the use of GPUs, where a GPU is divided (MIG).
"""

from binascii import a2b_base64
from typing import TYPE_CHECKING, Final
from zlib import MAX_WBITS, decompressobj
from zlib import error as ZlibError  # noqa: N812 - the name of an error

import duckdb

from gwa.util.arrow_columns import texts

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_FUNCTION: Final = "jobstats_text"
"""What a SELECT calls with a comment to get the JSON of its summary, or `BROKEN`."""

PREFIX: Final = "JS1:"

BROKEN: Final = "broken"

MAXIMUM_SUMMARY: Final = 1 << 24
"""The bytes of the longest summary: one of ten thousand nodes has four million."""

GZIP: Final = MAX_WBITS | 16

SHAPE: Final = (
    '{"nodes":"MAP(VARCHAR, STRUCT(total_time DOUBLE,'
    " total_memory DOUBLE, used_memory DOUBLE, gpu_utilization MAP(VARCHAR, DOUBLE),"
    ' gpu_used_memory MAP(VARCHAR, DOUBLE)))"}'
)
"""What of a summary is read."""

# A value below 0 stands for none. What is unknown of one node or GPU is unknown of all.
MACROS: Final = (
    """jobstats_total(x) as case
        when list_bool_and(list_transform(x, lambda y: coalesce(y >= 0 and y < 1e18, false))) then list_sum(x)
    end""",
    """jobstats_uses(x) as case
        when list_bool_and(list_transform(x, lambda y: coalesce(y between 0 and 100, false))) then x
    end""",
    f"""jobstats_summary(text) as list_transform(
        [map_values(from_json(case when json_valid(text) then text end, '{SHAPE}').nodes)],
        lambda nodes: {{
            'nodes': len(nodes),
            'times': list_transform(nodes, lambda y: y.total_time),
            'memory': jobstats_total(list_transform(nodes, lambda y: y.used_memory)) / 1024,
            'allocated': jobstats_total(list_transform(nodes, lambda y: y.total_memory)) / 1024,
            'uses': jobstats_uses(
                flatten(list_transform(nodes, lambda y: coalesce(map_values(y.gpu_utilization), [])))
            ),
            'sizes': flatten(list_transform(nodes, lambda y: coalesce(map_values(y.gpu_used_memory), [])))
        }}
    )[1]""",
)
"""
What is made of the text of a summary: the numbers of its nodes, of its GPUs, and of what each of these used.

CPU times in seconds and the use of GPUs in % are lists, memory is in KB. Memory used is the sum of the peaks
of nodes, which need not fall together. Without nodes there is none of them.
"""

FUNCTIONS: Final = frozenset({TEXT_FUNCTION, *(macro.partition("(")[0] for macro in MACROS)})
"""The names that `define_jobstats` defines."""


def uses_jobstats(sql: str) -> bool:
    """Whether *sql* reads summaries of jobstats."""
    return f"{TEXT_FUNCTION}(" in sql


def define_jobstats(database: duckdb.DuckDBPyConnection) -> None:
    """Define `TEXT_FUNCTION` and `MACROS`, where they are not yet: it takes a sixth of a second."""
    query = "select count(*) from duckdb_functions() where function_name = $name"
    if database.execute(query, {"name": TEXT_FUNCTION}).fetchall() != [(0,)]:
        return
    # DuckDB looks up the annotations of what it is given: those of a lambda are none.
    database.create_function(  # type: ignore[call-overload]
        TEXT_FUNCTION,
        lambda comments: _texts(comments),  # noqa: PLW0108 - see above
        ["varchar"],
        "varchar",
        type="arrow",
    )
    for macro in MACROS:
        database.execute(f"create or replace temp macro {macro}")


def _texts(comments: "pa.ChunkedArray") -> "pa.Array":
    """Return the JSON of the summaries in some *comments*."""
    return texts(map(summary_text, comments.to_pylist()))


def summary_text(comment: str) -> str:
    """
    Return the JSON of the summary in a *comment*, in which blanks may be; `BROKEN` where there is none.

    >>> summary_text("JS1:H4sIAAAAAAACA6tWystPSS1WsqqurQUA c/SGdAwAAAA=")
    '{"nodes":{}}'
    >>> summary_text("JS1:H4sIAAAAAAACA6tWyst"), summary_text("JS1:?")
    ('broken', 'broken')
    """
    try:
        # What is no letter of base64, such as a blank, is passed over.
        packed = a2b_base64(comment[comment.index(PREFIX) + len(PREFIX) :])
        unpacking = decompressobj(GZIP)
        text = unpacking.decompress(packed, MAXIMUM_SUMMARY)
        return text.decode() if unpacking.eof else BROKEN
    except (ValueError, ZlibError):
        return BROKEN
