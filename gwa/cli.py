"""The command line: one short function for each command."""

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gwa import __version__
from gwa.errors import GwaError

if TYPE_CHECKING:
    from gwa.reading import Reading
    from gwa.trace import Trace

F = TypeVar("F", bound=Callable[..., Any])

SIZE = re.compile(r"\d+(\.\d+)? *[KMGT]i?B", re.IGNORECASE)
SOURCES = click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
TRACE = click.argument("trace", type=click.Path(path_type=Path))


class Group(click.Group):
    """Commands in the order in which they are used, not of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in order of definition."""
        del ctx
        return list(self.commands)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="gwa %(version)s")
def gwa() -> None:
    r"""
    Toolbox and archive for workload traces of clusters, grids and clouds.

    A TRACE is a .gwf, a store (.duckdb), Parquet, SQLite, or any log that 'gwa formats' lists.

    \b
    Examples:
      gwa convert accounting.swf.gz -o trace.gwf
      gwa report trace.gwf --html
    """


def reading_options(command: F) -> F:
    """Add the options of every command that reads a trace."""
    options = (
        click.option("--format", "name", metavar="NAME", help="Read the source as this format."),
        click.option(
            "--system",
            type=click.Path(path_type=Path),
            metavar="FILE.toml",
            help="What is known of the system.",
        ),
        click.option("--memory", metavar="SIZE", help="Memory limit of the engine, such as 2GB."),
        click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Threads of the engine."),
        click.option("--quiet", is_flag=True, help="Say nothing but errors."),
        click.option("--debug", is_flag=True, help="Show where an error comes from."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _reading(said: dict[str, Any], *, strict: bool = False) -> "Reading":
    from gwa.engine import Engine
    from gwa.reading import Reading
    from gwa.system import read_system
    from gwa.terminal import progress

    if said["memory"] and not SIZE.fullmatch(said["memory"]):
        message = f"'{said['memory']}' is no size, expected one such as 2GB"
        raise click.BadParameter(message, param_hint="--memory")
    system = read_system(said["system"]) if said["system"] else None
    engine = Engine(said["memory"], said["threads"])
    return Reading(system, strict, engine, progress(quiet=said["quiet"]))


def _open(trace: Path, said: dict[str, Any]) -> "Trace":
    from gwa.convert import read
    from gwa.trace import Trace, title

    return Trace(read([trace], said["name"], _reading(said)), title([trace]))


@gwa.command()
@SOURCES
@click.option(
    "-o",
    "--output",
    "out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="File to write.",
)
@click.option("--strict", is_flag=True, help="Stop at the first bad row.")
@reading_options
def convert(sources: tuple[Path, ...], out: Path, strict: bool, **said: Any) -> None:
    r"""
    Convert logs to a trace in a standard format.

    Several SOURCES are one trace. The suffix of OUT says what to write: .gwf, .gwf.gz, .gwf.zst,
    .duckdb, .parquet, .sqlite or .swf. Bad rows are counted and reported, not fatal.

    \b
    Example:
      gwa convert sample_traces/swf/tiny.swf -o tiny.gwf
    """
    from gwa.convert import convert as run

    words = ["gwa", "convert", *(source.name for source in sources), "-o", out.name]
    account = run(
        sources, out, name=said["name"], reading=_reading(said, strict=strict), command=shlex.join(words)
    )
    if not said["quiet"]:
        losses = f"{account.comments:,} comments, {account.folded:,} folded, {account.rejected:,} rejected"
        click.echo(f"{out}: {account.jobs:,} jobs from {account.rows:,} rows ({losses})", err=True)


@gwa.command()
@TRACE
@click.option("--html", "html", is_flag=True, help="One self-contained page (what you get without a flag).")
@click.option("--pdf", "pdf", is_flag=True, help="A document for printing.")
@click.option("--json", "as_json", is_flag=True, help="Everything as data.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=".",
    help="Folder to write to.",
)
@reading_options
@click.pass_context
def report(
    ctx: click.Context, /, trace: Path, html: bool, pdf: bool, as_json: bool, folder: Path, **said: Any
) -> None:
    r"""
    Write a report on a trace.

    \b
    Example:
      gwa report sample_traces/swf/tiny.swf --html
    """
    from gwa.report.write import write

    wanted = {"html": html or not (pdf or as_json), "pdf": pdf, "json": as_json}
    with _open(trace, said) as opened:
        made = opened.report(progress=_reading(said).progress)
        for path in write(made, folder, opened.name, [name for name, wish in wanted.items() if wish]):
            click.echo(path)
    if made.failed:
        click.echo("gwa: some sections could not be made: they say so in their place", err=True)
        ctx.exit(1)


@gwa.command()
@TRACE
@click.option("--only", default="", metavar="PREFIX", help="Only facts whose id begins so.")
@reading_options
def facts(trace: Path, only: str, **said: Any) -> None:
    r"""
    Print the facts of a trace as JSON: {"id": value}.

    Values are in full precision and SI units. Ids do not change between versions.

    \b
    Example:
      gwa facts sample_traces/swf/tiny.swf --only utilization
    """
    with _open(trace, said) as opened:
        click.echo(json.dumps(opened.facts(only), indent=1, ensure_ascii=False))


@gwa.command()
@TRACE
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@reading_options
@click.pass_context
def check(ctx: click.Context, /, trace: Path, as_json: bool, **said: Any) -> None:
    r"""
    Check the quality of a trace.

    Prints what is wrong (error), doubtful (warning) or worth knowing (info). The exit status is 1
    when there is an error.

    \b
    Example:
      gwa check sample_traces/swf/tiny.swf
    """
    from gwa.quality import problems
    from gwa.terminal import table

    with _open(trace, said) as opened:
        found = problems(opened.store)
    table(("kind", "count", "what"), [(one.level, one.count, one.meaning) for one in found], as_json=as_json)
    if any(one.level == "error" for one in found):
        ctx.exit(1)


@gwa.command()
@TRACE
@click.argument("query")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@reading_options
def sql(trace: Path, query: str, as_json: bool, **said: Any) -> None:
    r"""
    Query a trace with SQL: a table on a terminal, CSV when piped.

    The table jobs has the 29 fields of GWF; ran has the jobs that ran, with start_time, end_time
    and cpu_seconds. Others are header, sources, rejects, repairs and dependencies.

    \b
    Example:
      gwa sql sample_traces/swf/tiny.swf "select user_id, count(*) from jobs group by all order by 2 desc"
    """
    import duckdb

    from gwa.errors import TraceError
    from gwa.terminal import table

    with _open(trace, said) as opened:
        try:
            result = opened.store.connection.execute(query)
            names = [column[0] for column in result.description or []]
            rows = result.fetchall()
        except duckdb.Error as error:
            raise TraceError(f"the query failed: {str(error).strip().splitlines()[0]}") from error
    table(names, rows, as_json=as_json)


@gwa.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def formats(name: str | None, as_json: bool) -> None:
    r"""
    List the formats that can be read and written, or explain the one called NAME.

    \b
    Example:
      gwa formats swf
    """
    from gwa.convert import all_formats, format_called
    from gwa.terminal import table

    if name:
        one = format_called(name)
        click.echo(f"{one.title}\n\n{one.notes.strip()}")
        return
    rows = [
        (one.name, one.title, " ".join(one.suffixes), "read, write" if one.write else "read")
        for one in all_formats()
    ]
    table(("name", "format", "files", "can"), rows, as_json=as_json)


def main() -> None:
    """Run the command line; errors that a user can mend are one line, and the exit status is 1."""
    debug = "--debug" in sys.argv
    try:
        status = gwa.main(standalone_mode=False, prog_name="gwa")
    except click.exceptions.Exit as leave:
        status = leave.exit_code
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("gwa: stopped", err=True)
        status = 130
    except BrokenPipeError:
        sys.stderr.close()
        status = 0
    except Exception as error:
        if debug:
            raise
        click.echo(f"gwa: {_explain(error)}", err=True)
        status = 1
    sys.exit(status if isinstance(status, int) else 0)


def _explain(error: Exception) -> str:
    """Say in a line what went wrong and, where it helps, what to do."""
    import duckdb

    line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if isinstance(error, GwaError):
        return " ".join(str(error).split())
    if isinstance(error, duckdb.OutOfMemoryException):
        return f"not enough memory: {line}; --memory raises the limit"
    if isinstance(error, duckdb.IOException | OSError):
        return f"cannot read or write: {line}"
    what = f"something went wrong inside gwa ({type(error).__name__}: {line})"
    return f"{what}; please report it with what --debug shows"
