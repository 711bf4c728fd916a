"""Replace the names in a trace."""

from pathlib import Path
from typing import Any

import click

from gwa.cli._common import OUTPUT, PATH, TRACE, options, reading, tell


@click.command(name="anonymize")
@TRACE
@OUTPUT
@click.option(
    "--key", type=PATH, metavar="FILE", help="The key of the pseudonyms, made if it does not exist."
)
@options
def command(trace: Path, out: Path, key: Path | None, **params: Any) -> None:
    """
    Replace users, groups, executables, projects, hosts and sites by pseudonyms.

    The same key gives the same pseudonyms, so traces of two years join. Without --key it is kept
    in your configuration. Keep it secret, and out of what you publish. Numbers stay as they are.

    \b
    Example:
      gwa anonymize sample_traces/swf/tiny.swf -o public.gwf --key my.key
    """
    from gwa.formats.convert import convert
    from gwa.store.anonymize import read_key

    account = convert([trace], out, name=params["name"], options=reading(params), key=read_key(key))
    tell(out, account, quiet=params["quiet"])
