"""Arguments and options that commands share, and how a trace is opened with them."""

import json
import os
import re
import secrets
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import replace
from functools import wraps
from hashlib import sha256
from io import StringIO
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click
from click.core import ParameterSource

from gwa.cli._terminal import echo
from gwa.errors import EngineError
from gwa.report.output import outputs
from gwa.util.filenames import as_text

if TYPE_CHECKING:
    from gwa.formats.measure import Joined
    from gwa.metrics.quality import ConversionNotes
    from gwa.store.account import Account
    from gwa.store.engines.config import Engine
    from gwa.store.options import ReadOptions
    from gwa.trace import Trace

F = TypeVar("F", bound=Callable[..., Any])


class _InputPath(click.Path):
    """A path that a command reads, and never writes to while it runs."""

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Return the path, protected until the command ends."""
        from gwa.util.protection import protected

        path: Any = super().convert(value, param, ctx)
        if ctx:
            ctx.with_resource(protected([path]))
        return path


class Range(click.FloatRange):
    """A number within a range: 'nan' is within none, though it lies beyond no end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; one that is none is a usage error."""
        number = super().convert(value, param, ctx)
        if isnan(number):
            self.fail(f"'{value}' is no number within {self._describe_range()}", param, ctx)
        return number


PATH: Final = _InputPath(path_type=Path)
OUTPUT_PATH: Final = click.Path(path_type=Path)

SOURCES: Final = click.argument("sources", nargs=-1, required=True, type=PATH)
TRACE: Final = click.argument("trace", type=PATH)
FORCE: Final = click.option(
    "--force",
    is_flag=True,
    help="Replace also what gwa did not write from the same input with the same options.",
)


def output(command: F) -> F:
    """Add the option that names the output file, and the one that replaces another."""
    return _with(
        command,
        click.option(
            "-o", "--output", "out", required=True, type=OUTPUT_PATH, metavar="OUT", help="Output file."
        ),
        FORCE,
    )


PART_LENGTH: Final = 80
"""Characters of the name of a page that say of what part of a trace it is."""

SHOWN_NAMES: Final = 5

SAME_RESULT: Final = frozenset(
    {"out", "folder", "force", "quiet", "alert", "debug", "memory", "threads", "engine_name", "strings"}
)
"""Parameters that change nothing of what a file says."""


@contextmanager
def claimed(
    paths: Sequence[Path], *, force: bool, but: Collection[str] = (), of: Path | None = None
) -> Iterator[None]:
    """
    Claim the outputs *paths* of the command that runs until the end of a ``with``.

    Raise `OutputError` if one is there that gwa did not write from the same input with the same options,
    unless *force* is set. Parameters called as in *but* are no such options. If the command reads several
    traces, and the outputs are *of* one, that is their input.
    """
    from gwa.util.written import claimed as claimed_of

    context = click.get_current_context()
    with ExitStack() as stack:
        if "folder" in context.params:  # what is written is a folder, which need not be there yet
            stack.enter_context(_made(paths[0].parent))
        for folder in dict.fromkeys(path.parent for path in paths):
            beside = [path for path in paths if path.parent == folder]
            stack.enter_context(claimed_of(beside, _origin(context, folder, but, of), force=force))
        yield


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a *folder*, and those above it; what is made and stays empty goes at the end of a ``with``."""
    from gwa.util.atomic import make_folder

    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    make_folder(folder)
    try:
        yield
    finally:
        with suppress(OSError):
            for path in missing:
                path.rmdir()


def _origin(context: click.Context, folder: Path, but: Collection[str], of: Path | None) -> str:
    """Return what a command makes its outputs of: its inputs, as seen from *folder*, and its options."""
    values = {
        param.name: _as_seen(context.params.get(param.name or ""), param.type, folder)
        for param in context.command.params
        if param.name not in SAME_RESULT | set(but)
    }
    values |= {"traces": _as_seen(of, PATH, folder)} if of else {}
    # By what it does: a command has the same outputs under its former name.
    made_by = getattr(context.command.callback, "__module__", context.command_path)
    return json.dumps([made_by, values], sort_keys=True)


def _as_seen(value: Any, kind: object, folder: Path) -> Any:
    """Return the *value* of a parameter, with paths relative to *folder*: both may move together."""
    if isinstance(value, list | tuple):
        return [_as_seen(one, kind, folder) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(kind, _InputPath) and value is not None:
        if str(value) == "-":  # standard input has another content each time
            return secrets.token_hex(16)
        return os.path.relpath(os.path.realpath(value), os.path.realpath(folder))
    return value if isinstance(value, bool | int | float) or value is None else str(value)


def to_file(command: F) -> F:
    """Add the option that writes what a command prints on standard output to a file, whole or not at all."""

    @click.option(
        "-o",
        "--output",
        "out",
        type=OUTPUT_PATH,
        metavar="OUT",
        help="Output file instead of standard output.",
    )
    @FORCE
    @wraps(command)
    def writing(*arguments: Any, out: Path | None, force: bool, **params: Any) -> Any:
        from gwa.util.atomic import writable, write_whole

        if out is None:
            return command(*arguments, **params)
        writable(out)
        text = StringIO()
        with claimed([out], force=force):
            try:
                with redirect_stdout(text):
                    result = command(*arguments, **params)
            except click.exceptions.Exit:  # a status that says something of the result
                write_whole(out, text.getvalue())
                raise
            write_whole(out, text.getvalue())
        return result

    return cast("F", writing)


ARRIVALS: Final = click.option(
    "--arrivals",
    metavar="NAME",
    help="Arrival process instead of the model's own; 'gwa model list' lists them.",
)
JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def pseudonyms(command: F) -> F:
    """Add the options that say how names are replaced."""
    return _with(
        command,
        click.option(
            "--key", type=PATH, metavar="FILE", help="Key file of the pseudonyms; created if missing."
        ),
        click.option(
            "--keep",
            multiple=True,
            metavar="NAMES",
            callback=_names_to_keep,
            help="Kinds of names to keep, such as queues,partitions (repeatable).",
        ),
    )


def _names_to_keep(_: click.Context, __: click.Parameter, values: Sequence[str]) -> frozenset[str]:
    from gwa.store.pseudonyms import KEEPABLE

    names = frozenset(name.strip() for value in values for name in value.split(","))
    for name in sorted(names - KEEPABLE.keys()):
        raise click.BadParameter(f"'{name}' cannot be kept, expected some of {', '.join(KEEPABLE)}")
    return names


SOURCE_FORMAT: Final = click.option(
    "--format", "name", metavar="NAME", help="Input format; by default it is detected."
)


def options(command: F, *, source_format: Callable[[F], F] = SOURCE_FORMAT) -> F:
    """Add the options of every command that reads a trace; *source_format* says what its source is."""
    return _with(
        limits(command),
        source_format,
        click.option(
            "--system",
            type=PATH,
            metavar="FILE.toml",
            help="Description of the system: processors, nodes, time zone.",
        ),
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
    )


def _map(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    from gwa.formats.tables.mapping import read_statement

    return read_statement(text) if text else None


def require_known(names: Sequence[str], known: Sequence[str], kind: str, option: str) -> None:
    """Raise a usage error that suggests the nearest of the *known* names if one of *names* is none."""
    from difflib import get_close_matches

    for name in names:
        if name not in known:
            nearest = get_close_matches(name, known, 3, cutoff=0.3) or list(known)
            message = f"there is no {kind} '{name}', the nearest are: {', '.join(nearest)}"
            raise click.BadParameter(message, param_hint=option)


def flags(command: F) -> F:
    """Add a flag for each kind of output."""
    for output in reversed(outputs().values()):
        command = click.option(f"--{output.name}", output.name, is_flag=True, help=output.help)(command)
    return command


def looks(command: F) -> F:
    """Add the options that say how an output looks and which language it speaks."""
    return _with(
        command,
        click.option(
            "--theme",
            type=PATH,
            metavar="DIR",
            help="Folder with templates, style sheets and languages of your own.",
        ),
        click.option("--lang", default="en", metavar="CODE", help="Language, as languages/CODE.po has it."),
        click.option(
            "--strings",
            type=OUTPUT_PATH,
            metavar="FILE.po",
            help="Write the texts to translate into a new language.",
        ),
    )


def looking(params: dict[str, Any]) -> dict[str, Any]:
    """Return what those options express, as the keyword arguments of `gwa.report.output.write`."""
    from gwa.report.language import read_language

    language = read_language(params["lang"], params["theme"])
    return {"theme": params["theme"], "language": language}


def page_name(title: str, *parts: str) -> str:
    """
    Return the name, without a suffix, of a page called *title* on what the *parts* say.

    Where the parts have letters that names of files have not, or are long, a hash of them tells them apart.

    >>> page_name("sample", "2026-01..2026-03", "", "users,waits"), page_name("a b", "where n_procs > 1")
    ('sample-2026-01..2026-03-users,waits', 'a b-where_n_procs_1-df636b')
    """
    text = "-".join(filter(None, parts))
    plain = re.sub(r"[^\w.~@+,-]+", "_", text)[:PART_LENGTH].strip("_")
    end = () if plain == text else (sha256(text.encode(errors="replace")).hexdigest()[:6],)
    return "-".join(filter(None, (title, plain, *end)))


def part_in_words(period: str | None, params: dict[str, Any]) -> list[str]:
    """Return what tells pages on parts of a trace, that of a *period* say, and their languages apart."""
    named = {"queue": params["queues"], "group": params["groups"], "site": params["sites"]}
    return [
        period or "",
        *("-".join((kind, *names)) for kind, names in named.items() if names),
        f"where {params['where']}" if params["where"] else "",
        params["lang"] if params["lang"] != "en" else "",
    ]


def write_texts(params: dict[str, Any]) -> None:
    """
    Write the texts for a translator where ``--strings`` asks for them, and print the path.

    The traces must be open, so that none of them is written over.
    """
    from gwa.report.output import write_strings
    from gwa.util.written import claimed as claimed_of

    if params["strings"]:
        with claimed_of([params["strings"]], "texts to translate", force=params["force"]):
            write_strings(params["strings"])
        echo(params["strings"])


def given(_: click.Context, parameter: click.Parameter, value: str | Sequence[str] | None) -> Any:
    """Return the *value* of an option; an empty one, such as that of an unset variable, is a usage error."""
    for one in [value] if isinstance(value, str) else value or ():
        if not one.strip():
            raise click.BadParameter(f"is empty, expected a {parameter.metavar or 'value'}")
    return value


def parts(command: F) -> F:
    """Add the options that filter a trace."""
    return _with(
        command,
        click.option(
            "--period",
            metavar="WHEN",
            callback=given,
            help="Restrict to a period: 2007, 2007-03..2007-05, day 3..10, last-month"
            " (this-month, -week, -year).",
        ),
        click.option(
            "--today",
            metavar="DATE",
            callback=given,
            help="Date that last-month is relative to; by default the end of the log's known load.",
        ),
        click.option(
            "--queue",
            "queues",
            multiple=True,
            metavar="NAME",
            callback=given,
            help="Restrict to this queue (repeatable).",
        ),
        click.option(
            "--user-group",
            "groups",
            multiple=True,
            metavar="NAME",
            callback=given,
            help="Restrict to this group of users (repeatable).",
        ),
        click.option(
            "--site",
            "sites",
            multiple=True,
            metavar="NAME",
            callback=given,
            help="Restrict to this cluster, or site of a grid (repeatable).",
        ),
        click.option(
            "--where",
            metavar="SQL",
            callback=given,
            help="Restrict to jobs that meet a condition, such as 'n_procs > 1'.",
        ),
    )


THRESHOLDS: Final = click.option(
    "--thresholds", type=PATH, metavar="FILE.toml", help="Thresholds of alerts instead of the defaults."
)


def statements(command: F) -> F:
    """Add the options that state what a trace does not hold."""
    return _with(
        command,
        click.option(
            "--carbon", type=PATH, metavar="FILE", help="Carbon intensity in g CO2 per kWh, as CSV or TOML."
        ),
        click.option(
            "--quota", type=PATH, metavar="FILE.toml", help="Core-hours granted to projects or users."
        ),
        click.option("--rates", type=PATH, metavar="FILE.toml", help="Prices, for the cost of jobs."),
        THRESHOLDS,
    )


def measurements(command: F) -> F:
    """Add the options that join measurements to the jobs of what is read."""
    return _with(
        command,
        click.option(
            "--measurements",
            type=PATH,
            multiple=True,
            metavar="FILE",
            help="Join measurements, such as the use of GPUs; see 'gwa formats measurements' (repeatable).",
        ),
        click.option(
            "--measurements-on",
            "on",
            metavar="COLUMN",
            callback=given,
            help="Column of the ids of jobs in them, where it is not the usual one.",
        ),
        click.option(
            "--measurements-map",
            "stated",
            metavar="FIELD=COLUMN:UNIT,…",
            callback=given,
            help="What the columns of another table hold, such as gpu_utilization=util:%.",
        ),
    )


def joining(options: "ReadOptions", params: dict[str, Any]) -> "tuple[ReadOptions, list[Joined]]":
    """
    Return *options* with which reading a trace joins the measurements that the shared options name, if any.

    The list that is returned gets the account of it. Raise `DefinitionError` for files of no known kind.
    """
    joined: list[Joined] = []
    if not params.get("measurements"):
        if params.get("on") or params.get("stated"):
            raise click.UsageError("what measurements hold is said, expected --measurements FILE as well")
        return options, joined
    from gwa.formats.measure import join_table
    from gwa.formats.measure import measurements as read

    table = read(params["measurements"], params["on"], params["stated"])
    return replace(options, join=lambda store: joined.append(join_table(store, table))), joined


def tell_joined(name: object, joined: "Sequence[Joined]", *, quiet: bool) -> None:
    """Say on standard error how many jobs have measurements, and what of these is of none."""
    for one in () if quiet else joined:
        text = f"{name}: {one.jobs:,} of {one.of:,} jobs have measurements, {one.values:,} values"
        if one.unmatched:
            text += f"; {one.unmatched:,} ids match no job, or several (rejects)"
        echo(as_text(text), err=True)


def engines(command: F) -> F:
    """Add the option that chooses what answers the queries."""
    return click.option(
        "--engine",
        "engine_name",
        metavar="NAME",
        callback=_engine_name,
        default="duckdb",
        help="Query engine: duckdb (the default), spark on this machine, or spark://HOST:PORT.",
    )(command)


def _engine_name(_: click.Context, __: click.Parameter, name: str) -> str:
    from gwa.store.engines.config import Engine

    try:
        return Engine(name=name).name
    except EngineError as error:
        raise click.BadParameter(str(error)) from error


def limits(command: F) -> F:
    """Add the options of every command that fills a store."""
    return _with(
        command,
        click.option(
            "--memory",
            metavar="SIZE",
            help="Memory limit of all processes, at least 350MB; about 2GB by default.",
        ),
        click.option(
            "--threads", type=click.IntRange(min=1), metavar="N", help="Threads of the query engine."
        ),
        click.option("-q", "--quiet", is_flag=True, help="Print errors only."),
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
    )


def _with(command: F, *added: Callable[[F], F]) -> F:
    for option in reversed(added):
        command = option(command)
    return command


def engine(params: dict[str, Any]) -> "Engine":
    """Return the limits that the shared options express; raise a usage error for nonsense."""
    from gwa.store.engines.config import MINIMUM_MEMORY, SIZE_PATTERN, Engine, parse_size

    if params["memory"] and not SIZE_PATTERN.fullmatch(params["memory"]):
        message = f"'{params['memory']}' is not a size, expected one such as 2GB"
        raise click.BadParameter(message, param_hint="--memory")
    if params["memory"] and parse_size(params["memory"]) < MINIMUM_MEMORY:
        message = f"{params['memory']} is not enough, expected at least {MINIMUM_MEMORY // 10**6}MB"
        raise click.BadParameter(message, param_hint="--memory")
    return Engine(params["memory"], params["threads"], params.get("engine_name", "duckdb"))


def reading(params: dict[str, Any], *, strict: bool = False) -> "ReadOptions":
    """Return how to read a trace, as the shared options say; raise a usage error for nonsense."""
    from gwa.cli._terminal import progress
    from gwa.store.options import ReadOptions
    from gwa.store.system import read_system

    attempts = {"attempts": "true"} if params.get("attempts") else {}
    columns = {"map": params["map_"]} if params.get("map_") else {}
    return ReadOptions(
        system=read_system(params["system"]) if params["system"] else None,
        strict=strict,
        engine=engine(params),
        progress=progress(quiet=params["quiet"]),
        cluster=params.get("cluster"),
        format_options={**_set(params["set_"]), **attempts, **columns},
    )


def _set(pairs: Sequence[str]) -> dict[str, str]:
    """Return the options of a format, given as KEY=VALUE."""
    values = dict(pair.partition("=")[::2] for pair in pairs)
    for key in values:
        if not key.isidentifier():
            message = f"'{key}' is not a name of an option, expected KEY=VALUE"
            raise click.BadParameter(message, param_hint="-O")
    return values


@contextmanager
def opened(trace: Path, params: dict[str, Any]) -> "Iterator[Trace]":
    """Open a trace with the shared options, filtered as they ask for, until the end of a ``with``."""
    with opened_whole(trace, params) as whole:
        yield part_of(whole, params)


@contextmanager
def opened_whole(trace: Path, params: dict[str, Any], *, takes_requests: bool = False) -> "Iterator[Trace]":
    """
    Open a trace with the shared options but those that filter it, until the end of a ``with``.

    A trace of requests to language models is refused unless the command *takes_requests*, too.
    """
    from gwa.formats.open import open_trace
    from gwa.trace import Trace, title

    stated = _stated(params)
    read_options, joined = joining(reading(params), params)
    read_options = replace(read_options, requests=takes_requests)
    with Trace(open_trace([trace], params["name"], read_options), title([trace])) as whole:
        tell_joined(trace, joined, quiet=params["quiet"])
        whole.store.stated.update(stated)
        yield whole


@contextmanager
def opened_requests(trace: Path, params: dict[str, Any]) -> "Iterator[Trace]":
    """Open a trace of requests to language models; raise `UnknownFormat` for one of jobs."""
    from gwa.errors import UnknownFormat

    with opened_whole(trace, params, takes_requests=True) as whole:
        if whole.store.holds != "requests":
            raise UnknownFormat(f"{trace}: holds jobs, expected a trace of requests to language models")
        yield whole


def refuse_for_requests(trace: Path, allowed: Collection[str]) -> None:
    """Raise a usage error for an option that says something of jobs: *trace* holds requests."""
    context = click.get_current_context()
    for param in context.command.params:
        name = param.name or ""
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_given and name not in SAME_RESULT | {*allowed, "traces", "trace"}:
            raise click.UsageError(
                f"{param.opts[0]} is of jobs, and {trace.name} holds requests to language models"
            )


def part_of(whole: "Trace", params: dict[str, Any], period: str | None = None) -> "Trace":
    """Return the part of a trace that the shared options ask for, or that of another *period*."""
    from gwa.store.subset import Subset

    names = ("queues", "groups", "sites", "where")
    chosen = period or period_of(whole, params)
    subset = Subset(chosen, **{name: params[name] for name in names if params.get(name)})
    return whole.filter(subset) if subset else whole


def earlier_part(whole: "Trace", part: "Trace", period: str, params: dict[str, Any]) -> "Trace":
    """
    Return the part of another *period* that *part* is compared with; ``previous`` is the one before.

    Raise a usage error for ``previous`` if *part* is of no period, and `TraceError` or `DefinitionError`
    where the log has nothing before.
    """
    from gwa.metrics.periods import PREVIOUS, before, dated

    if period != PREVIOUS:
        return part_of(whole, params, dated(period, whole.store, params["today"]))
    if part.period is None:
        raise click.UsageError("previous is the period before another one, expected --period as well")
    return part_of(whole, params, before(part.period, whole.system))


def period_of(whole: "Trace", params: dict[str, Any]) -> str | None:
    """Return the period that the options ask for; of one that has a name, tell the dates."""
    from gwa.metrics.periods import dated, is_named, known_day

    period: str | None = params.get("period")
    if period is None or not is_named(period):
        return period
    dates = dated(period, whole.store, params["today"])
    if not params["quiet"]:
        basis = (
            f"today is {params['today']}" if params["today"] else f"the log knows {known_day(whole.store)}"
        )
        echo(f"gwa: {period} is {dates}: {basis}", err=True)
    return dates


def _stated(params: dict[str, Any]) -> dict[str, object]:
    """Return what the files of `statements` say; raise `DefinitionError` for nonsense."""
    from gwa.breakdown.charge.rates import read_rates
    from gwa.metrics.alerts import read_thresholds
    from gwa.metrics.carbon import read_carbon
    from gwa.metrics.quotas import read_quotas

    readers = {
        "carbon": read_carbon,
        "quota": read_quotas,
        "rates": read_rates,
        "thresholds": read_thresholds,
    }
    return {name: read(params[name]) for name, read in readers.items() if params.get(name)}


def noting(options: "ReadOptions") -> "tuple[ReadOptions, list[ConversionNotes]]":
    """Return *options* with which reading a trace puts its notes into the list that is returned, too."""
    from gwa.metrics.quality import conversion_notes

    notes: list[ConversionNotes] = []
    return replace(options, inspect=lambda store: notes.append(conversion_notes(store))), notes


def tell_replaced(names: Sequence[str]) -> None:
    """Say on standard error which names were to be kept, and were replaced since they hold another name."""
    if names:
        shown = ", ".join(map(repr, names[:SHOWN_NAMES])) + (", …" if len(names) > SHOWN_NAMES else "")
        echo(
            f"gwa: {len(names):,} name{'s' if len(names) > 1 else ''} that --keep lists"
            f" {'hold' if len(names) > 1 else 'holds'} a name which goes, and became"
            f" {'pseudonyms' if len(names) > 1 else 'a pseudonym'}: {as_text(shown)}",
            err=True,
        )


def account_in_words(account: "Account", what: str = "jobs") -> str:
    """Return how many jobs, or *what* a trace is of, were made of how many rows, and what of the others."""
    others = f"{account.comments:,} comments, {account.folded:,} folded, {account.rejected:,} rejected"
    if account.skipped:
        others += f", {account.skipped:,} in files not read"
    return f"{account.jobs:,} {what} from {account.rows:,} rows ({others})"


def tell(out: Path, account: "Account", notes: "Sequence[ConversionNotes]" = (), *, quiet: bool) -> None:
    """Say on standard error what was written, what became of the rows, and what is worth knowing."""
    if quiet:
        return
    parts = [f"{out}: {account_in_words(account, *(note.of for note in notes[:1]))}"]
    for note in notes:
        parts += note.told
        if note.count:
            # SWF cannot hold notes.
            where = "" if ".swf" in out.suffixes else f": gwa check {shlex.quote(str(out))}"
            parts.append(f"{note.count} note{'s' if note.count > 1 else ''}{where}")
        if note.extensions and ".swf" in out.suffixes:
            parts.append(f"left out, as SWF cannot hold them: {', '.join(note.extensions)}")
    echo(as_text("; ".join(parts)), err=True)
