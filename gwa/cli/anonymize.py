"""Replace the names in a trace."""

from pathlib import Path
from typing import Any

import click

from gwa.cli._commands import Purpose
from gwa.cli._common import TRACE, claimed, options, output, pseudonyms, reading, tell, tell_replaced

PURPOSE = Purpose.PUBLISH


@click.command(name="anonymize")
@TRACE
@output
@pseudonyms
@options
def command(
    trace: Path, out: Path, key: Path | None, keep: frozenset[str], force: bool, **params: Any
) -> None:
    """
    Replace names with pseudonyms.

    Users, groups, executables, projects, hosts, sites and queues are replaced. Numbers, times and the time
    zone stay; comments, texts of the header and refused lines are left out. Names given to --keep stay:
    queues, qos, partitions, sites, platforms, vos, projects, groups or executables; those of them that hold
    the name of a user, or another that goes, are replaced and listed.

    The same key gives the same pseudonyms, so traces of two years join. Without --key it is kept
    in your configuration. Keep it secret, and out of what you publish.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa anonymize sample.sacct -o public.gwf --key my.key --keep queues
    """
    from gwa.formats.convert import convert_anonymized
    from gwa.store.anonymize import read_key

    with claimed([out], force=force):
        account = convert_anonymized(
            [trace],
            out,
            read_key(key),
            keep=keep,
            name=params["name"],
            options=reading(params),
            tell=tell_replaced,
        )
    tell(out, account, quiet=params["quiet"])
