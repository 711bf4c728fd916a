"""
The command line: one file for each command, found by looking.

A module without a leading underscore defines ``command``, a short function that calls the library, and
``PURPOSE``, which says where ``gwa --help`` lists it. Other packages add commands by entry points in the
group ``gwa.commands``. Nothing heavy is imported before a command runs, so that ``gwa --help`` answers at
once.
"""

import sys
import warnings
from io import StringIO

import click

from gwa.cli._commands import FrontRow
from gwa.cli._terminal import echo, say
from gwa.errors import USAGE, ArgumentError, GwaError, QueryError
from gwa.util import interrupts
from gwa.util.filenames import as_text
from gwa.util.version import __version__

GREETING = """\
gwa reads the accounting logs of clusters, grids and clouds, and answers what is in them.

Three commands to try:
  gwa sample -o sample.sacct           a small log that shows everything, if you have none at hand
  gwa report sample.sacct              a page: how busy, who, how long did jobs wait, what went wrong
  gwa convert LOG -o trace.parquet     your own log: any that 'gwa formats' lists, every row accounted for

'gwa --help' lists all commands, 'gwa COMMAND --help' explains one.
"""


@click.group(
    cls=FrontRow,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="gwa %(version)s")
@click.pass_context
def gwa(ctx: click.Context) -> None:
    """
    Toolbox and archive for workload traces of clusters, grids and clouds.

    A TRACE is a .gwf, a store (.duckdb), Parquet, SQLite, or any log that 'gwa formats' lists.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa report sample.sacct
    """
    if ctx.invoked_subcommand is None:
        say(GREETING, nl=False)


def main() -> None:
    """
    Run the command line.

    Errors that a user can mend are a line or two; the exit status is then 2 after errors of usage, else 1.
    """
    with interrupts.watched():
        # From here on there is something to tidy up.
        interrupts.end_by_signals()
        status = _run()
        # What is left is to end: nothing that another Ctrl-C could stop.
        interrupts.ignore_signals()
    sys.exit(status if isinstance(status, int) else 0)


def _run() -> object:
    """Run the command line and return its exit status, or what its command returned."""
    try:
        with warnings.catch_warnings():
            if "--debug" not in sys.argv:
                # Such as overflows in fits that lead nowhere: they are refused, in words of ours.
                warnings.simplefilter("ignore", RuntimeWarning)
            return gwa.main(standalone_mode=False, prog_name="gwa")
    except click.exceptions.Exit as exit_request:
        return exit_request.exit_code
    except click.ClickException as error:
        message = StringIO()
        error.show(message)
        echo(message.getvalue(), err=True, nl=False)
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except (KeyboardInterrupt, Exception) as error:
        if interrupts.requested() or isinstance(error, KeyboardInterrupt | click.Abort):
            echo("gwa: stopped", err=True)
            return interrupts.status()
        if "--debug" in sys.argv:
            raise
        echo(f"gwa: {_explain(error)}", err=True)
        return USAGE if isinstance(error, ArgumentError) else 1


def _explain(error: Exception) -> str:
    """Say in a line what went wrong and, where it helps, what to do; of a query, all that the engine says."""
    import duckdb

    from gwa.store.engines.duckdb import ADVICE, DAMAGED
    from gwa.util.atomic import ENGINE

    if isinstance(error, QueryError):
        return str(error)

    line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if isinstance(error, GwaError):
        return as_text(" ".join(str(error).split()))
    if isinstance(error, duckdb.OutOfMemoryException):
        return f"not enough memory: {line}; --memory raises the limit"
    if isinstance(error, duckdb.Error) and DAMAGED in line:
        return f"the store is damaged, {ADVICE} ({line})"
    if isinstance(error, (OSError, *ENGINE)):
        return f"cannot read or write: {line}"
    message = f"something went wrong inside gwa ({type(error).__name__}: {line})"
    return f"{message}; please report it with what --debug shows"
