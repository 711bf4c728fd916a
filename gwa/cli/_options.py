"""Arguments and options that several commands have, and how their values are checked."""

from collections.abc import Callable, Sequence
from math import isnan
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from gwa.errors import EngineError, GwaError
from gwa.report.output import outputs

F = TypeVar("F", bound=Callable[..., Any])


class Options:
    """Options that several commands have: adds them to a command, whose help lists them in this order."""

    def __init__(self, *added: Callable[[Any], Any]) -> None:
        """Put the options *added* together; they may be groups of options themselves."""
        self.added = added

    def __call__(self, command: F) -> F:
        """Return *command* with the options."""
        for option in reversed(self.added):
            command = option(command)
        return command


class InputPath(click.Path):
    """A path that a command reads, and never writes to while it runs."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, protected until the command ends."""
        from gwa.util.protection import protected

        path: Any = super().convert(value, param, ctx)
        if ctx:
            ctx.with_resource(protected([path]))
        return path


class OutputPath(click.Path):
    """A path that a command writes to: ``-`` is standard output, where that is written to, never a file."""

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Return the path, or None for standard output; a usage error where only files are written."""
        if str(value) != "-":
            return super().convert(value, param, ctx)
        if not self.allow_dash:
            self.fail("'-' is no file or folder, and this is not written to standard output", param, ctx)
        return None


class Range(click.FloatRange):
    """A number within a range: 'nan' is within none, though it lies beyond no end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; one that is none is a usage error."""
        number = super().convert(value, param, ctx)
        if isnan(number):
            self.fail(f"'{value}' is no number within {self._describe_range()}", param, ctx)
        return number


class PolicyName(click.Choice[str]):
    """The name of a policy: one of gwa, which are the choices, a registered one, or package:function."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; what is none, or cannot be loaded, is a usage error."""
        if value in self.choices:
            return str(value)
        from gwa.simulation.backfilling import known

        try:
            return known(value)
        except GwaError as error:
            self.fail(str(error), param, ctx)


# --- How values are checked ---


def given(_: click.Context, parameter: click.Parameter, value: str | Sequence[str] | None) -> Any:
    """Return the *value* of an option; an empty one, such as that of an unset variable, is a usage error."""
    for one in [value] if isinstance(value, str) else value or ():
        if not one.strip():
            raise click.BadParameter(f"is empty, expected a {parameter.metavar or 'value'}")
    return value


def require_known(names: Sequence[str], known: Sequence[str], kind: str, option: str) -> None:
    """Raise a usage error that suggests the nearest of the *known* names if one of *names* is none."""
    from difflib import get_close_matches

    for name in names:
        if name not in known:
            nearest = get_close_matches(name, known, 3, cutoff=0.3) or list(known)
            message = f"there is no {kind} '{name}', the nearest are: {', '.join(nearest)}"
            raise click.BadParameter(message, param_hint=option)


def _names_to_keep(_: click.Context, __: click.Parameter, values: Sequence[str]) -> frozenset[str]:
    from gwa.store.pseudonyms import KEEPABLE

    names = frozenset(name.strip() for value in values for name in value.split(","))
    for name in sorted(names - KEEPABLE.keys()):
        raise click.BadParameter(f"'{name}' cannot be kept, expected some of {', '.join(KEEPABLE)}")
    return names


def _map(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    from gwa.formats.tables.mapping import read_statement

    return read_statement(text) if text else None


def _engine_name(_: click.Context, __: click.Parameter, name: str) -> str:
    from gwa.store.engines.config import Engine

    try:
        return Engine(name=name).name
    except EngineError as error:
        raise click.BadParameter(str(error)) from error


# --- Arguments and options ---

PATH: Final = InputPath(path_type=Path)

OUTPUT_PATH: Final = OutputPath(path_type=Path)


def takes(names: str, metavar: str, about: str, **others: Any) -> Callable[[F], F]:
    """Return the option for a value; *about* is its help, blanks part its *names*."""
    return click.option(*names.split(), metavar=metavar, help=about, **others)


def reads(names: str, metavar: str, about: str, **others: Any) -> Callable[[F], F]:
    """Return the option for a file or folder that is read."""
    return takes(names, metavar, about, type=PATH, **others)


def writes(names: str, metavar: str, about: str, **others: Any) -> Callable[[F], F]:
    """Return the option for a file or folder that is written."""
    return takes(names, metavar, about, type=OUTPUT_PATH, **others)


def flag(names: str, about: str) -> Callable[[F], F]:
    """Return the option that is given or not."""
    return click.option(*names.split(), is_flag=True, help=about)


def says(names: str, metavar: str, about: str, **others: Any) -> Callable[[F], F]:
    """Return the option for a text that is not empty."""
    return takes(names, metavar, about, callback=given, **others)


def shown(names: str, kind: Any, default: Any, about: str, **others: Any) -> Callable[[F], F]:
    """Return the option for a value of a *kind*, whose *default* its help shows."""
    return click.option(*names.split(), type=kind, default=default, show_default=True, help=about, **others)


OUT: Final = takes(
    "-o --output out",
    "OUT",
    "Output file instead of standard output.",
    type=OutputPath(path_type=Path, allow_dash=True),
)

SOURCES: Final = click.argument("sources", nargs=-1, required=True, type=PATH)

TRACE: Final = click.argument("trace", type=PATH)

ARRIVALS: Final = takes(
    "--arrivals", "NAME", "Arrival process instead of the model's own; 'gwa model list' lists them."
)

JSON: Final = flag("--json as_json", "Print JSON.")

QUIET: Final = flag("-q --quiet", "Print errors only.")

DEBUG: Final = flag("--debug", "Show the traceback of an error.")

TODAY: Final = says(
    "--today", "DATE", "Date that last-month is relative to; by default the end of the log's known load."
)

THRESHOLDS: Final = reads("--thresholds", "FILE.toml", "Thresholds of alerts instead of the defaults.")


def output_folder(about: str = "Output folder.", **others: Any) -> Callable[[F], F]:
    """Return the option that names the folder to write to; *about* is its help."""
    return click.option("-o", "--output", "folder", type=OUTPUT_PATH, metavar="DIR", help=about, **others)


def printing(name: str, print_it: Callable[[], None], about: str) -> Callable[[F], F]:
    """Return the flag *name*, with which a command prints what needs no input instead of all else."""

    def print_and_exit(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted:
            print_it()
            ctx.exit()

    return click.option(
        name, is_flag=True, is_eager=True, expose_value=False, callback=print_and_exit, help=about
    )


def flags(command: F) -> F:
    """Add a flag for each kind of output."""
    return Options(
        *(
            click.option(f"--{kind.name}", kind.name, is_flag=True, help=kind.help)
            for kind in outputs().values()
        )
    )(command)


limits: Final = Options(
    takes("--memory", "SIZE", "Memory limit of all processes, at least 350MB; about 2GB by default."),
    takes(
        "--threads",
        "N",
        "Threads of the query engine; by default one for each core that may be used.",
        type=click.IntRange(min=1),
    ),
    QUIET,
    DEBUG,
)
"""The options of every command that fills a store."""


def options_with(source: Callable[[Any], Any]) -> Options:
    """Return the options of every command that reads a trace, of which *source* says what its source is."""
    return Options(
        source,
        reads("--system", "FILE.toml", "Description of the system: processors, nodes, time zone."),
        click.option(
            "-O",
            "--option",
            "set_",
            multiple=True,
            metavar="KEY=VALUE",
            help="Option of the input format (repeatable).",
        ),
        click.option(
            "--map",
            "map_",
            metavar="COLUMNS",
            callback=_map,
            help="Meaning of the columns of a table, or a file with it; see 'gwa formats table'.",
        ),
        limits,
    )


options: Final = options_with(
    click.option("--format", "name", metavar="NAME", help="Input format; by default it is detected.")
)

pseudonyms: Final = Options(
    reads("--key", "FILE", "Key file of the pseudonyms; created if missing."),
    takes(
        "--keep",
        "NAMES",
        "Kinds of names to keep, such as queues,partitions (repeatable).",
        multiple=True,
        callback=_names_to_keep,
    ),
)
"""How names are replaced."""

looks: Final = Options(
    reads("--theme", "DIR", "Folder with templates, style sheets and languages of your own."),
    click.option("--lang", default="en", metavar="CODE", help="Language, as languages/CODE.po has it."),
    writes("--strings", "FILE.po", "Write the texts to translate into a new language."),
)
"""How an output looks, and which language it speaks."""


def looking(params: dict[str, Any]) -> dict[str, Any]:
    """Return what `looks` express, as the keyword arguments of `gwa.report.output.write`."""
    from gwa.report.language import read_language

    language = read_language(params["lang"], params["theme"])
    return {"theme": params["theme"], "language": language}


parts_by_name: Final = Options(
    says("--user users", "NAME", "Restrict to this user (repeatable).", multiple=True),
    says("--project projects", "NAME", "Restrict to this project (repeatable).", multiple=True),
)
"""Of whose jobs."""

parts_but_by_name: Final = Options(
    says(
        "--period",
        "WHEN",
        "Restrict to a period: 2007, 2007-03..2007-05, day 3..10, last-month (this-month, -week, -year).",
    ),
    TODAY,
    says("--queue queues", "NAME", "Restrict to this queue (repeatable).", multiple=True),
    says("--user-group groups", "NAME", "Restrict to this group of users (repeatable).", multiple=True),
    says("--site sites", "NAME", "Restrict to this cluster, or site of a grid (repeatable).", multiple=True),
    says("--where", "SQL", "Restrict to jobs that meet a condition, such as 'n_procs > 1'."),
)
"""Of which part of a trace, where a command has names of its own."""

parts: Final = Options(parts_by_name, parts_but_by_name)
"""Of which part of a trace."""

statements: Final = Options(
    reads("--carbon", "FILE", "Carbon intensity in g CO2 per kWh, as CSV or TOML."),
    reads("--quota", "FILE.toml", "Core-hours granted to projects or users."),
    reads("--rates", "FILE.toml", "Prices, for the cost of jobs."),
    reads("--shares", "FILE", "Shares of accounts and users, as 'sshare -a -P' prints them."),
    says(
        "--window",
        "FROM..TO",
        "A maintenance window, such as 2026-12-01T06:00..2026-12-01T18:00: what it would meet.",
    ),
    THRESHOLDS,
)
"""What a trace does not hold."""

measurements: Final = Options(
    reads(
        "--measurements",
        "FILE",
        "Join measurements, such as the use of GPUs; see 'gwa formats measurements' (repeatable).",
        multiple=True,
    ),
    says(
        "--measurements-on on", "COLUMN", "Column of the ids of jobs in them, where it is not the usual one."
    ),
    says(
        "--measurements-map stated",
        "FIELD=COLUMN:UNIT,…",
        "What the columns of another table hold, such as gpu_utilization=util:%.",
    ),
)
"""What is joined to the jobs of what is read."""

engines: Final = takes(
    "--engine engine_name",
    "NAME",
    "Query engine: duckdb (the default), spark on this machine, or spark://HOST:PORT.",
    callback=_engine_name,
    default="duckdb",
)
"""What answers the queries."""
