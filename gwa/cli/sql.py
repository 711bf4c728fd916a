"""Query a trace."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import JSON, TRACE, options
from gwa.cli._output import to_file
from gwa.cli._reading import opened_whole
from gwa.cli._terminal import table

if TYPE_CHECKING:
    from gwa.store.engines.answers import Rows
    from gwa.store.store import Store

PURPOSE = Purpose.READ


@click.command(name="sql")
@TRACE
@click.argument("query")
@JSON
@options
@to_file
def command(trace: Path, query: str, as_json: bool, **params: Any) -> None:
    """
    Query a trace with SQL.

    Prints a table on a terminal, CSV when piped. The table jobs has the 29 fields of GWF and the extension
    fields, such as n_gpus; ran has the jobs that ran, with start_time, end_time and cpu_seconds. Other
    tables: header, sources, rejects, repairs and dependencies. A trace of requests to language models has the
    table requests instead. Queries read the trace only and write nothing. They use functions that compute
    with their arguments, by name, and run in a process of their own, which has the memory of --memory.
    In CSV, text that a spreadsheet would take for a formula begins with an apostrophe. Times with a zone are
    shown in the zone of the trace.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa sql sample.sacct "select user_id, count(*) from jobs group by all order by 2 desc"
    """
    with opened_whole(trace, params, takes_requests=True) as opened_trace:
        answer = _answer(opened_trace.store, query)
    table(answer.columns, answer.rows, as_json=as_json, is_query=True)


def _answer(store: "Store", query: str) -> "Rows":
    """Return what *query* yields; raise `QueryError` if it fails, or uses what it may not."""
    from gwa.errors import DefinitionError, QueryError
    from gwa.store.confined import Confined
    from gwa.store.engines.restricted import check_statements, parser

    try:
        with parser() as database:
            check_statements(database, query)
    except DefinitionError as error:
        raise QueryError(f"the query failed: {error}") from error
    with Confined(store) as confined:
        return confined.rows(query)
