"""Query a trace."""

from pathlib import Path
from typing import Any

import click

from gwa.cli._common import JSON, TRACE, opened, options


@click.command(name="sql")
@TRACE
@click.argument("query")
@JSON
@options
def command(trace: Path, query: str, as_json: bool, **params: Any) -> None:
    """
    Query a trace with SQL: a table on a terminal, CSV when piped.

    The table jobs has the 29 fields of GWF; ran has the jobs that ran, with start_time, end_time
    and cpu_seconds. Others are header, sources, rejects, repairs and dependencies.

    \b
    Example:
      gwa sql sample_traces/swf/tiny.swf "select user_id, count(*) from jobs group by all order by 2 desc"
    """
    import duckdb

    from gwa.cli._terminal import table
    from gwa.errors import TraceError

    with opened(trace, params) as opened_trace:
        try:
            result = opened_trace.store.connection.execute(query)
            names = [column[0] for column in result.description or []]
            rows = result.fetchall()
        except duckdb.Error as error:
            raise TraceError(f"the query failed: {str(error).strip().splitlines()[0]}") from error
    table(names, rows, as_json=as_json)
