"""Traces as the options of a command say: opened, filtered, with measurements joined."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gwa.cli._output import SAME_RESULT, tell_joined
from gwa.cli._terminal import echo, progress
from gwa.util.filenames import as_text

if TYPE_CHECKING:
    from gwa.formats.measure import Joined
    from gwa.store.engines.config import Engine
    from gwa.store.options import ReadOptions
    from gwa.trace import Trace


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
    from gwa.formats.measure import join_measurements, read

    given = read(params["measurements"], params["on"], params["stated"])
    return replace(options, join=lambda store: joined.append(join_measurements(store, given))), joined


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
    from gwa.store.options import ReadOptions
    from gwa.store.system import read_system

    columns = {"map": params["map_"]} if params.get("map_") else {}
    return ReadOptions(
        system=read_system(params["system"]) if params["system"] else None,
        strict=strict,
        engine=engine(params),
        progress=progress(quiet=params["quiet"]),
        cluster=params.get("cluster"),
        format_options={**_set(params["set_"]), **columns},
    )


def described(traces: Sequence[Path], options: "ReadOptions", *, quiet: bool) -> "ReadOptions":
    """
    Return *options* with the description of the system that lies beside the only one of *traces*, and say so.

    One that was given with --system goes before it.
    """
    from gwa.store.system import described_beside

    beside = described_beside(traces[0]) if len(traces) == 1 and options.system is None else None
    if beside is None:
        return options
    if not quiet:
        echo(
            f"{as_text(beside[0].name)}: lies beside {as_text(traces[0].name)} and describes its system",
            err=True,
        )
    return replace(options, system=beside[1])


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
    read_options, joined = joining(described([trace], reading(params), quiet=params["quiet"]), params)
    read_options = replace(read_options, requests=takes_requests)
    with Trace(open_trace([trace], params["name"], read_options), title([trace])) as whole:
        tell_joined(trace, joined, quiet=params["quiet"])
        whole.store.stated.update(stated)
        if params.get("window") and whole.store.holds != "requests":
            from gwa.breakdown.maintenance import MaintenanceWindow

            whole.store.stated["window"] = MaintenanceWindow.parse(params["window"], whole.store.system)
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

    names = ("queues", "groups", "users", "projects", "sites", "where")
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
    from gwa.metrics.stated_shares import read_shares

    readers = {
        "carbon": read_carbon,
        "quota": read_quotas,
        "rates": read_rates,
        "shares": read_shares,
        "thresholds": read_thresholds,
    }
    return {name: read(params[name]) for name, read in readers.items() if params.get(name)}
