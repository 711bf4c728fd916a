"""Convert logs to a trace in a standard format."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import SOURCES, flag, measurements, options, pseudonyms, reads, says
from gwa.cli._output import claimed, noting, output, tell, tell_joined, tell_replaced
from gwa.cli._reading import described, engine, joining, reading
from gwa.cli._terminal import echo
from gwa.util.filenames import as_text

if TYPE_CHECKING:
    from gwa.formats.measure import Joined
    from gwa.store.account import Account

PURPOSE = Purpose.READ

MAXIMUM_HEADER: Final = 1 << 16
"""Bytes at the beginning of a text in which what it lacks is looked for."""


@click.command(name="convert")
@SOURCES
@output
@reads("--with own", "MY.sql", "Converter of your own for the input format; see 'gwa formats --own'.")
@says(
    "--cluster",
    "NAME",
    "Cluster that the logs are of, where they do not name it; with --append, a store has several.",
)
@flag("--anonymize", "Replace names with keyed pseudonyms.")
@pseudonyms
@flag("--append more", "Add logs, such as next month's, to a store; logs that it has already are skipped.")
@click.option(
    "--since",
    type=click.Choice(["last"]),
    help="Add what logs that grow hold since they were last read.",
)
@click.option(
    "--partition", type=click.Choice(["month"]), help="Write Parquet as a folder with a file for each month."
)
@flag("--strict", "Stop at the first bad row.")
@measurements
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

    Several SOURCES, a folder or a pattern become one trace; - is standard input. The suffix of OUT
    selects the format: .gwf, .gwf.gz, .gwf.zst, .duckdb, .parquet, .sqlite or .swf. Bad rows are
    counted and reported, not fatal. An OUT that exists is replaced if gwa wrote it from the same SOURCES with
    the same options, any other with --force only.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa convert sample.sacct -o sample.duckdb
    """
    words = ["gwa", "convert", *(as_text(source.name) for source in sources), "-o", as_text(out.name)]
    words += ["--map", params["map_"]] if params["map_"] else []
    words += ["--cluster", params["cluster"]] if params["cluster"] else []
    words += [word for path in params["measurements"] for word in ("--measurements", as_text(path.name))]
    read_options = reading(params, strict=strict)
    if not (more or params["since"]):  # a store that is appended to has its description
        read_options = described(sources, read_options, quiet=params["quiet"])
    read_options, joined = joining(read_options, params)
    read_options, notes = noting(read_options)
    arguments: dict[str, Any] = {
        "name": str(own) if own else params["name"],
        "options": read_options,
    }
    partition = ["--partition", params["partition"]] if params["partition"] else []
    if more or params["since"]:
        if anonymize:
            raise click.UsageError(
                "--append keeps rows with their names: append without --anonymize, and make of that store one"
                " for others, each time with the same key: gwa anonymize STORE -o OUT"
            )
        # What is joined to a store that is appended to already counts over what was joined to it before.
        arguments["options"] = replace(read_options, join=None)
        arguments["since_last"] = bool(params["since"])
        words += ["--since", params["since"]] if params["since"] else ["--append"]
        account = _append(
            sources, out, [*words, *partition], arguments, by_month=bool(partition), quiet=params["quiet"]
        )
        tell(out, account, notes, quiet=params["quiet"])
        tell_joined(out, _joined_to(out, params), quiet=params["quiet"])
        return
    from gwa.formats.convert import convert as run
    from gwa.formats.convert import convert_anonymized
    from gwa.store.anonymize import read_key

    arguments["by_month"] = bool(partition)
    with claimed([out], force=params["force"]):
        if anonymize:
            account = convert_anonymized(
                sources, out, read_key(key), keep=params["keep"], tell=tell_replaced, **arguments
            )
        else:
            account = run(sources, out, command=shlex.join([*words, *partition]), **arguments)
    tell(out, account, notes, quiet=params["quiet"])
    tell_joined(out, joined, quiet=params["quiet"])
    if not params["quiet"]:
        _tell_lost(out)
        echo(as_text(f"next: gwa report {shlex.quote(str(out))}"), err=True)


def _tell_lost(out: Path) -> None:
    """Say that a text which was written lacks the numbers that jobs had in the source."""
    from gwa.store.system import GIVEN_NUMBERS

    if out.is_file() and out.suffix.lower() in {".gwf", ".swf"}:
        with out.open("rb") as text:
            is_lost = GIVEN_NUMBERS.encode() in text.read(MAXIMUM_HEADER)
        if is_lost:
            echo(
                as_text(
                    f"{out}: holds no job numbers of the source, which tell missing rows from silence:"
                    " .duckdb, .parquet and .sqlite do"
                ),
                err=True,
            )


def _joined_to(out: Path, params: dict[str, Any]) -> "list[Joined]":
    """Join the measurements that the options name, if any, to the store *out*; return the account of it."""
    from gwa.formats.measure import measure
    from gwa.store.options import ReadOptions

    if not params["measurements"]:
        return []
    limits = ReadOptions(engine=engine(params))
    return [measure(out, params["measurements"], on=params["on"], stated=params["stated"], options=limits)]


def _append(
    sources: tuple[Path, ...],
    out: Path,
    words: list[str],
    arguments: dict[str, Any],
    *,
    by_month: bool,
    quiet: bool,
) -> "Account":
    """Append to a store, say what it held already, and return its account."""
    from gwa.formats.append import append
    from gwa.formats.append_months import append_by_month

    def say(said: str) -> None:
        if not quiet:
            echo(said, err=True)

    add = append_by_month if by_month else append
    account, repeated = add(sources, out, command=shlex.join(words), tell=say, **arguments)
    for path in repeated:
        say(f"{path}: is in {out.name} already, and changes nothing")
    return account
