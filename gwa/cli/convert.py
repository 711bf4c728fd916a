"""Convert logs to a trace in a standard format."""

import shlex
from pathlib import Path
from typing import Any

import click

from gwa.cli._common import OUTPUT, PATH, SOURCES, options, reading, tell
from gwa.cli._terminal import echo


@click.command(name="convert")
@SOURCES
@OUTPUT
@click.option(
    "--with", "own", type=PATH, metavar="MY.sql", help="Read the source by a definition of your own."
)
@click.option("--attempts", is_flag=True, help="One job for each attempt of a task (Google traces).")
@click.option("--anonymize", is_flag=True, help="Replace names by keyed pseudonyms.")
@click.option(
    "--key", type=PATH, metavar="FILE", help="The key of the pseudonyms, made if it does not exist."
)
@click.option(
    "--append",
    "more",
    is_flag=True,
    help="Join logs to a store: next month's, say; those in it change nothing.",
)
@click.option(
    "--partition", type=click.Choice(["month"]), help="Make Parquet a folder with a file for each month."
)
@click.option("--strict", is_flag=True, help="Stop at the first bad row.")
@options
def command(
    sources: tuple[Path, ...],
    out: Path,
    own: Path | None,
    anonymize: bool,
    key: Path | None,
    more: bool,
    strict: bool,
    **params: Any,
) -> None:
    """
    Convert logs to a trace in a standard format.

    Several SOURCES, a folder or a pattern are one trace; - is standard input. The suffix of OUT
    says what to write: .gwf, .gwf.gz, .gwf.zst, .duckdb, .parquet, .sqlite or .swf. Bad rows are
    counted and reported, not fatal.

    \b
    Example:
      gwa convert sample_traces/swf/tiny.swf -o tiny.gwf
    """
    words = ["gwa", "convert", *(source.name for source in sources), "-o", out.name]
    arguments: dict[str, Any] = {
        "name": str(own) if own else params["name"],
        "options": reading(params, strict=strict),
    }
    if more:
        if anonymize:
            raise click.UsageError("--append keeps rows with their names; anonymize the store that it makes")
        _append(sources, out, [*words, "--append"], arguments, quiet=params["quiet"])
        return
    from gwa.formats.convert import convert as run
    from gwa.store.anonymize import read_key

    account = run(
        sources,
        out,
        command=shlex.join([*words, *(["--partition", params["partition"]] if params["partition"] else [])]),
        key=read_key(key) if anonymize else None,
        by_month=bool(params["partition"]),
        **arguments,
    )
    tell(out, account, quiet=params["quiet"])


def _append(
    sources: tuple[Path, ...], out: Path, words: list[str], arguments: dict[str, Any], *, quiet: bool
) -> None:
    """Append to a store, and say what it held already."""
    from gwa.formats.append import append

    account, repeated = append(sources, out, command=shlex.join(words), **arguments)
    if not quiet:
        for path in repeated:
            echo(f"{path}: is in {out.name} already, and changes nothing", err=True)
    tell(out, account, quiet=quiet)
