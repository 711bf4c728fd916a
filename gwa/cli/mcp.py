"""Let an assistant ask traces."""

import os
from pathlib import Path
from typing import Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import DEBUG, PATH, QUIET, flag, takes
from gwa.cli._terminal import echo

PURPOSE = Purpose.REPORT

TOKEN: Final = "GWA_MCP_TOKEN"  # noqa: S105 - the name of a variable


@click.command(name="mcp")
@click.argument("traces", nargs=-1, required=True, type=PATH, metavar="TRACE|FOLDER...")
@flag("--anonymize is_anonymous", "Tell pseudonyms instead of names.")
@takes("--http port", "PORT", "Serve HTTP on 127.0.0.1 instead.", type=click.IntRange(1, 65535))
@click.option("--memory", metavar="SIZE", help="Memory limit of the query engine of each trace, such as 2GB.")
@QUIET
@DEBUG
def command(
    traces: tuple[Path, ...],
    *,
    is_anonymous: bool,
    port: int | None,
    memory: str | None,
    quiet: bool,
    debug: bool,
) -> None:
    """
    Let an assistant ask traces, by the Model Context Protocol.

    The assistant starts this command and speaks with it over standard input and output. Its tools give the
    first answers, facts with their definitions, breakdowns, findings, advice, comparisons, bounds of waits,
    replays on a changed machine, and SQL over the tables of the trace alone, 200 rows and 20 s at most. Every
    answer says which part of the trace it is about, what makes conclusions unsafe, and what is not recorded.
    Nothing is written. With --anonymize, names are pseudonyms that last as long as the server.

    With --http, it serves http://127.0.0.1:PORT/mcp to clients that send a token, which is printed, or taken
    from the variable GWA_MCP_TOKEN. It needs the package mcp: pip install 'gridworkloads[mcp]'.

    In the settings of an assistant, this is a server such as
    {"command": "gwa", "args": ["mcp", "/data/cluster.duckdb"]}.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa mcp sample.sacct < /dev/null
    """
    from secrets import token_urlsafe
    from threading import Thread

    from gwa.assistant.desk import Desk
    from gwa.assistant.server import HOST, load, serve_http, server
    from gwa.assistant.server import PATH as WHERE
    from gwa.assistant.tools import USUAL

    del debug
    Thread(target=load).start()
    with Desk.open(traces, memory, is_anonymous=is_anonymous) as desk:
        desk.prepare(USUAL)
        made = server(desk)
        if port is None:
            made.run("stdio")
            return
        token = os.environ.get(TOKEN) or token_urlsafe(24)
        if not quiet:
            told = "" if os.environ.get(TOKEN) else f"; token: {token}"
            echo(f"gwa: serving {', '.join(desk.traces)} at http://{HOST}:{port}{WHERE}{told}", err=True)
        serve_http(made, port, token)
